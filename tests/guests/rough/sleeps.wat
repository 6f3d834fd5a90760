;; Waits for an hour on a clock of WASI's.
;; == imports
(import "wasi:io/poll@0.2.0" (instance $poll
  (export "pollable" (type $pollable (sub resource)))
  (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
(alias export $poll "pollable" (type $pollable))
(import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
  (alias outer 1 $pollable (type $outer))
  (export "pollable" (type $inner (eq $outer)))
  (export "subscribe-duration" (func (param "when" u64) (result (own $inner))))))
;; == run
(call $block-on (call $subscribe (i64.const 3600000000000)))
(call $continue)
