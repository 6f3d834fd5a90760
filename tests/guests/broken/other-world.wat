;; A component of another world: nothing in it is a hook.
(component
  (core module $guest
    (func (export "greet") (result i32) i32.const 42))
  (core instance $guest (instantiate $guest))
  (alias core export $guest "greet" (core func $core-greet))
  (func $greet (result u32) (canon lift (core func $core-greet)))
  (instance $greeter (export "greet" (func $greet)))
  (export "example:greeter/greeter@1.0.0" (instance $greeter)))
