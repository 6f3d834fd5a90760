;; Loops for ever.
;; == run
(loop $again (br $again)) unreachable
