;; Blocks with a reason of 50 MiB.
;; == run
(drop (memory.grow (i32.const 900)))
(call $block (i32.const 131072) (i32.const 52428800))
