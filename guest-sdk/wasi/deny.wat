;; WASI's preview 1 for programs that do not need it, but whose language's runtime imports it: every function is here and refuses.
;; No files, no arguments, no environment, no output. The clock stands still, and what is asked for as random is one byte,
;; repeated. A component that is made with this as its adapter imports nothing of WASI.
;;
;; Errors are those of preview 1: 8 is "no such descriptor", 52 "not supported".
(module
  (import "env" "memory" (memory 0))

  ;; Refusals, by the types of their arguments.
  (func $bad1 (param i32) (result i32) i32.const 8)
  (func $bad2 (param i32 i32) (result i32) i32.const 8)
  (func $bad3 (param i32 i32 i32) (result i32) i32.const 8)
  (func $bad4 (param i32 i32 i32 i32) (result i32) i32.const 8)
  (func $bad5 (param i32 i32 i32 i32 i32) (result i32) i32.const 8)
  (func $bad6 (param i32 i32 i32 i32 i32 i32) (result i32) i32.const 8)
  (func $bad7 (param i32 i32 i32 i32 i32 i32 i32) (result i32) i32.const 8)
  (func $range (param i32 i64 i64) (result i32) i32.const 8)

  ;; Nothing there: a count of none and a size of none.
  (func $none (param i32 i32) (result i32)
    (i32.store (local.get 0) (i32.const 0))
    (i32.store (local.get 1) (i32.const 0))
    i32.const 0)
  (func $done (param i32 i32) (result i32) i32.const 0)
  (export "args_sizes_get" (func $none))
  (export "environ_sizes_get" (func $none))
  (export "args_get" (func $done))
  (export "environ_get" (func $done))

  ;; One second after the beginning, for ever: Go takes a clock at zero for a broken one.
  (func (export "clock_time_get") (param i32 i64 i32) (result i32)
    (i64.store (local.get 2) (i64.const 1000000000))
    i32.const 0)
  (func (export "clock_res_get") (param i32 i32) (result i32)
    (i64.store (local.get 1) (i64.const 1))
    i32.const 0)
  (func (export "poll_oneoff") (param i32 i32 i32 i32) (result i32) i32.const 52)

  (func (export "random_get") (param i32 i32) (result i32)
    (memory.fill (local.get 0) (i32.const 0x5a) (local.get 1))
    i32.const 0)

  (func (export "proc_exit") (param i32) unreachable)
  (func (export "proc_raise") (param i32) (result i32) i32.const 52)
  (func (export "sched_yield") (result i32) i32.const 0)

  (export "fd_close" (func $bad1))
  (export "fd_datasync" (func $bad1))
  (export "fd_sync" (func $bad1))
  (export "fd_fdstat_get" (func $bad2))
  (export "fd_fdstat_set_flags" (func $bad2))
  (export "fd_filestat_get" (func $bad2))
  (export "fd_prestat_get" (func $bad2))
  (export "fd_renumber" (func $bad2))
  (export "fd_tell" (func $bad2))
  (export "fd_prestat_dir_name" (func $bad3))
  (export "fd_read" (func $bad4))
  (export "fd_write" (func $bad4))
  (export "fd_fdstat_set_rights" (func $range))
  (func (export "fd_advise") (param i32 i64 i64 i32) (result i32) i32.const 8)
  (func (export "fd_allocate") (param i32 i64 i64) (result i32) i32.const 8)
  (func (export "fd_filestat_set_size") (param i32 i64) (result i32) i32.const 8)
  (func (export "fd_filestat_set_times") (param i32 i64 i64 i32) (result i32) i32.const 8)
  (func $at (param i32 i32 i32 i64 i32) (result i32) i32.const 8)
  (export "fd_pread" (func $at))
  (export "fd_pwrite" (func $at))
  (export "fd_readdir" (func $at))
  (func (export "fd_seek") (param i32 i64 i32 i32) (result i32) i32.const 8)

  (export "path_create_directory" (func $bad3))
  (export "path_remove_directory" (func $bad3))
  (export "path_unlink_file" (func $bad3))
  (export "path_filestat_get" (func $bad5))
  (export "path_symlink" (func $bad5))
  (export "path_readlink" (func $bad6))
  (export "path_rename" (func $bad6))
  (export "path_link" (func $bad7))
  (func (export "path_filestat_set_times") (param i32 i32 i32 i32 i64 i64 i32) (result i32) i32.const 8)
  (func (export "path_open") (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32) i32.const 8)

  (export "sock_shutdown" (func $bad2))
  (export "sock_accept" (func $bad3))
  (export "sock_send" (func $bad5))
  (export "sock_recv" (func $bad6))
)
