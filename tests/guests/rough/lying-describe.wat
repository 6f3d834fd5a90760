;; Says that it wants two thousand million hooks, which lie beyond its memory.
;; == describe
(i32.store (i32.const 540) (i32.const 0x7fffffff))
;; == run
(call $continue)
