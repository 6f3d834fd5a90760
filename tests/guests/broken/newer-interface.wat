;; A plugin of an interface that this host is too old for: `callback@0.2.0`, here with one function that differs.
(component
  (core module $guest
    (func (export "run") (result i32) i32.const 0))
  (core instance $guest (instantiate $guest))
  (alias core export $guest "run" (core func $core-run))
  (func $run (result bool) (canon lift (core func $core-run)))
  (instance $callback (export "run" (func $run)))
  (export "tacklebox:hooks/callback@0.2.0" (instance $callback)))
