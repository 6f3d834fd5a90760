module plugin-name

go 1.21
