;; Wants to be asked at an event that does not exist.
;; == more
(data (i32.const 1200) "NoSuchEvent")
;; == describe
(i32.store (i32.const 540) (i32.const 1))
(i32.store (i32.const 8192) (i32.const 1200)) (i32.store (i32.const 8196) (i32.const 11))
(i32.store (i32.const 8200) (i32.const 1024)) (i32.store (i32.const 8204) (i32.const 5))
;; == run
(call $continue)
