;; Overwrites all of its own memory, its answer too.
;; == run
(memory.fill (i32.const 0) (i32.const 255) (i32.shl (memory.size) (i32.const 16)))
(i32.const 64)
