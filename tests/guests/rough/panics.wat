;; Panics.
;; == more
(func $a_function_that_panics unreachable)
;; == run
(call $a_function_that_panics) (call $continue)
