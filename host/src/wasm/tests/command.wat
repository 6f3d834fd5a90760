;; A WASI command of preview 1, whose `_start` is to be filled in.
(module
  (import "wasi_snapshot_preview1" "args_get" (func $args_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_get" (func $fd_prestat_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (memory (export "memory") 16)
  (data (i32.const 1024) "(;TEXT;)")
  (;MORE;)

  ;; Writes so many bytes from there. What cannot print all of it exits with 99, as a program that takes care does.
  (func $write (param $fd i32) (param $at i32) (param $length i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $length))
    (if (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8)) (then (call $exit (i32.const 99))))
    (if (i32.ne (i32.load (i32.const 8)) (local.get $length)) (then (call $exit (i32.const 99)))))

  ;; Prints the text to that stream.
  (func $print (param $fd i32) (call $write (local.get $fd) (i32.const 1024) (i32.const (;LENGTH;))))

  ;; Prints `0` and up as a letter: `a` for 0.
  (func $letter (param $number i32)
    (i32.store8 (i32.const 16) (i32.add (local.get $number) (i32.const 97)))
    (call $write (i32.const 1) (i32.const 16) (i32.const 1)))

  ;; Prints all arguments, each with a NUL behind it.
  (func $arguments
    (drop (call $args_sizes_get (i32.const 24) (i32.const 28)))
    (drop (call $args_get (i32.const 4096) (i32.const 65536)))
    (call $write (i32.const 1) (i32.const 65536) (i32.load (i32.const 28))))

  ;; Prints all variables, each with a NUL behind it.
  (func $variables
    (drop (call $environ_sizes_get (i32.const 24) (i32.const 28)))
    (drop (call $environ_get (i32.const 4096) (i32.const 65536)))
    (call $write (i32.const 1) (i32.const 65536) (i32.load (i32.const 28))))

  (func (export "_start") (;RUN;)))
