module plugin-name

go 1.25

require tacklebox v0.1.0

require go.bytecodealliance.org/pkg v0.2.3 // indirect

// Both came with the project, and are downloaded from nowhere.
replace tacklebox => ./sdk

replace go.bytecodealliance.org/pkg => ./sdk/pkg
