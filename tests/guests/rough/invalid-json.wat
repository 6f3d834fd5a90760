;; Rewrites the input to `{`.
;; == more
(data (i32.const 1200) "{")
;; == run
(call $rewrite (i32.const 1200) (i32.const 1))
