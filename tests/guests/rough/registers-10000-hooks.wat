;; Wants 10,000 hooks, each of which is zeros: empty names, nothing optional.
;; == describe
(drop (memory.grow (i32.const 16)))
(i32.store (i32.const 540) (i32.const 10000))
;; == run
(call $continue)
