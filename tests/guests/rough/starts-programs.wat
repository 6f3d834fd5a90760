;; Runs `true` a hundred times, and gives the error of the last as context: 3 is `failed`.
;; == more
(data (i32.const 1200) "true")
;; == run
(loop $again
  (call $program (i32.const 1200) (i32.const 4) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 300))
  (local.set $n (i32.add (local.get $n) (i32.const 1)))
  (br_if $again (i32.lt_u (local.get $n) (i32.const 100))))
(call $number (i32.load8_u (i32.const 304)))
