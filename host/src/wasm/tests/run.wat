;; A WASI command that is a component: complains, and then does as it is filled in.
(component
  (import "wasi:io/error@0.2.0" (instance $errors (export "error" (type (sub resource)))))
  (alias export $errors "error" (type $error))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (export "output-stream" (type $stream (sub resource)))
    (alias outer 1 $error (type $outer-error))
    (export "error" (type $error (eq $outer-error)))
    (type $inner (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $inner)))
    (export "[method]output-stream.blocking-write-and-flush"
      (func (param "self" (borrow $stream)) (param "contents" (list u8)) (result (result (error $stream-error)))))))
  (alias export $streams "output-stream" (type $stream))
  (import "wasi:cli/stderr@0.2.0" (instance $stderr
    (alias outer 1 $stream (type $outer-stream))
    (export "output-stream" (type $stream (eq $outer-stream)))
    (export "get-stderr" (func (result (own $stream))))))
  (import "wasi:cli/exit@0.2.0" (instance $exit (export "exit" (func (param "status" (result))))))
  (import "wasi:cli/environment@0.2.0" (instance $environment
    (export "get-environment" (func (result (list (tuple string string)))))))
  ;; What is allocated is laid from 4096 on, and never taken back.
  (core module $memory
    (memory (export "memory") 2)
    (data (i32.const 1024) "not today")
    (global $free (export "free") (mut i32) (i32.const 4096))
    (func (export "realloc") (param i32 i32 i32) (param $bytes i32) (result i32)
      (global.get $free)
      (global.set $free
        (i32.and (i32.add (i32.add (global.get $free) (local.get $bytes)) (i32.const 7)) (i32.const -8)))))
  (core instance $memory (instantiate $memory))
  (core func $get (canon lower (func $stderr "get-stderr")))
  (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush")
    (memory $memory "memory")))
  (core func $variables (canon lower (func $environment "get-environment")
    (memory $memory "memory") (realloc (func $memory "realloc"))))
  (core func $leave (canon lower (func $exit "exit")))
  (core module $command
    (import "host" "memory" (memory 2))
    (import "host" "get" (func $get (result i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (import "host" "exit" (func $exit (param i32)))
    (import "host" "variables" (func $variables (param i32)))
    (import "host" "free" (global $free (mut i32)))
    (;MORE;)
    (func (export "run") (result i32)
      (call $write (call $get) (i32.const 1024) (i32.const 9) (i32.const 64))
      (;RUN;)))
  (core instance $host
    (export "memory" (memory $memory "memory"))
    (export "get" (func $get))
    (export "write" (func $write))
    (export "exit" (func $leave))
    (export "variables" (func $variables))
    (export "free" (global $memory "free")))
  (core instance $command (instantiate $command (with "host" (instance $host))))
  (func $run (result (result)) (canon lift (core func $command "run")))
  (instance $runs (export "run" (func $run)))
  (export "wasi:cli/run@0.2.6" (instance $runs)))
