;; Takes more table elements than there may be, and traps when they are refused.
;; == more
(table $t 1 funcref)
;; == run
(if (i32.eq (table.grow $t (ref.null func) (i32.const 30000)) (i32.const -1)) (then unreachable))
(call $continue)
