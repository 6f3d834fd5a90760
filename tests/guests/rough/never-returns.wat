;; Calls the host, which runs `sleep 1000` for it, and gives the error as context: 2 is `timed-out`.
;; == more
(data (i32.const 1200) "sleep1000")
(data (i32.const 1216) "\b5\04\00\00\04\00\00\00")
;; == run
(call $program (i32.const 1200) (i32.const 5) (i32.const 1216) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 300))
(call $number (i32.load8_u (i32.const 304)))
