;; Calls itself until the stack is full.
;; == more
(func $recurse (param i32) (result i32)
  (i32.add (call $recurse (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
;; == run
(call $recurse (i32.const 0))
