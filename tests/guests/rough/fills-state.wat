;; Keeps something under 300 keys, and gives what came of the last as context: 0 where it was kept, 1 where it was refused.
;; == run
(loop $again
  (i32.store8 (i32.const 1100) (i32.add (i32.const 33) (i32.div_u (local.get $n) (i32.const 64))))
  (i32.store8 (i32.const 1101) (i32.add (i32.const 33) (i32.rem_u (local.get $n) (i32.const 64))))
  (call $set (i32.const 1100) (i32.const 2) (i32.const 1024) (i32.const 5) (i32.const 256))
  (local.set $n (i32.add (local.get $n) (i32.const 1)))
  (br_if $again (i32.lt_u (local.get $n) (i32.const 300))))
(call $number (i32.load8_u (i32.const 256)))
