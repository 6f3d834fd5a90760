;; Writes 10,000 lines.
;; == run
(loop $again
  (call $write (i32.const 2) (i32.const 1024) (i32.const 5))
  (local.set $n (i32.add (local.get $n) (i32.const 1)))
  (br_if $again (i32.lt_u (local.get $n) (i32.const 10000))))
(call $continue)
