;; Takes memory until it is refused, and traps then, as most languages do.
;; == run
(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable
