;; A plugin for the tests: the whole world is imported, and what it does is put in at two places.
;; The answer of `run` is built at 64 (answer), where the helpers of the module write it.
(component
  (import "tacklebox:hooks/types@0.1.0" (instance $types
    (type $text (option string))
    (type $number (option u32))
    (type $input' (record
      (field "event" string) (field "hook" string) (field "tool-name" string)
      (field "tool-input" string) (field "tool-output" $text)))
    (export "hook-input" (type (eq $input')))
    (type $context' (record
      (field "dispatch-id" string) (field "session-id" string) (field "root-session-id" string) (field "turn" u32)
      (field "cwd" $text) (field "project-dir" $text)
      (field "agent-id" $text) (field "agent-type" $text) (field "parent-agent-id" $text) (field "agent-depth" u32)
      (field "tool-use-id" $text) (field "attempt" $number) (field "recheck" bool)
      (field "original-input" $text) (field "changed-by" (list string)) (field "extra" string)))
    (export "hook-context" (type (eq $context')))
    (type $permission' (enum "allow" "ask" "deny"))
    (export "permission" (type $permission (eq $permission')))
    (type $modification' (record
      (field "input" $text) (field "output" $text) (field "context" $text) (field "permission" (option $permission))))
    (export "modification" (type $modification (eq $modification')))
    (type $result' (variant (case "continue") (case "block" string) (case "modify" $modification)))
    (export "hook-result" (type (eq $result')))
    (type $failure' (enum "block" "pass"))
    (export "failure" (type $failure (eq $failure')))
    (type $registration' (record
      (field "event" string) (field "name" string) (field "matcher" $text) (field "condition" $text)
      (field "timeout-ms" $number) (field "once" bool) (field "on-error" (option $failure))))
    (export "hook-registration" (type $registration (eq $registration')))
    (type $info' (record
      (field "name" string) (field "version" string) (field "description" string) (field "hooks" (list $registration))))
    (export "plugin-info" (type (eq $info')))))
  (alias export $types "hook-input" (type $input))
  (alias export $types "hook-context" (type $context))
  (alias export $types "hook-result" (type $result))
  (alias export $types "plugin-info" (type $info))

  (import "tacklebox:hooks/log@0.1.0" (instance $log
    (type $level' (enum "trace" "debug" "info" "warn" "error"))
    (export "level" (type $level (eq $level')))
    (export "write" (func (param "level" $level) (param "message" string)))))
  (import "tacklebox:hooks/config@0.1.0" (instance $config
    (export "get" (func (result string)))))
  (import "tacklebox:hooks/state@0.1.0" (instance $state
    (type $error' (variant (case "too-large" u32) (case "full" u32)))
    (export "error" (type $error (eq $error')))
    (export "set" (func (param "key" string) (param "value" (list u8)) (result (result (error $error)))))
    (export "add" (func (param "key" string) (param "delta" s64) (result (result s64 (error $error)))))))
  (import "tacklebox:hooks/process@0.1.0" (instance $process
    (type $output' (record (field "exit-code" (option s32)) (field "stdout" (list u8)) (field "stderr" (list u8))))
    (export "output" (type $output (eq $output')))
    (type $error' (variant (case "denied") (case "not-found") (case "timed-out") (case "failed" string)))
    (export "error" (type $error (eq $error')))
    (export "available" (func (param "program" string) (result bool)))
    (export "run" (func
      (param "program" string) (param "args" (list string)) (param "stdin" (list u8))
      (result (result $output (error $error)))))))
  (;IMPORTS;)

  ;; Memory stands apart, so that the imports can be lowered before the guest is there.
  (core module $heap
    (memory (export "memory") 2)
    (global $top (export "top") (mut i32) (i32.const 4096))
    (func (export "realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
      (global.set $top (i32.add (local.get $at) (local.get $size)))
      (block $enough (loop $more
        (br_if $enough (i32.le_u (global.get $top) (i32.shl (memory.size) (i32.const 16))))
        (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable))
        (br $more)))
      (local.get $at)))
  (core instance $heap (instantiate $heap))
  (alias core export $heap "memory" (core memory $memory))
  (alias core export $heap "realloc" (core func $realloc))
  (core func $write (canon lower (func $log "write") (memory $memory)))
  (core func $get (canon lower (func $config "get") (memory $memory) (realloc $realloc)))
  (core func $set (canon lower (func $state "set") (memory $memory)))
  (core func $add (canon lower (func $state "add") (memory $memory)))
  (core func $available (canon lower (func $process "available") (memory $memory)))
  (core func $program (canon lower (func $process "run") (memory $memory) (realloc $realloc)))

  (core module $guest
    (import "heap" "memory" (memory 2))
    (import "heap" "top" (global $top (mut i32)))
    (import "host" "write" (func $write (param i32 i32 i32)))
    (import "host" "get" (func $get (param i32)))
    (import "host" "set" (func $set (param i32 i32 i32 i32 i32)))
    (import "host" "add" (func $add (param i32 i32 i64 i32)))
    (import "host" "available" (func $available (param i32 i32) (result i32)))
    (import "host" "program" (func $program (param i32 i32 i32 i32 i32 i32 i32)))
    (data (i32.const 1024) "guest0.1.0a plugin for tests")
    (data (i32.const 1100) "counted")

    ;; `describe` is at 512: name, version, description, no hooks.
    (func $info (param $hooks i32)
      (i32.store (i32.const 512) (i32.const 1024)) (i32.store (i32.const 516) (i32.const 5))
      (i32.store (i32.const 520) (i32.const 1029)) (i32.store (i32.const 524) (i32.const 5))
      (i32.store (i32.const 528) (i32.const 1034)) (i32.store (i32.const 532) (i32.const 18))
      (i32.store (i32.const 536) (i32.const 8192)) (i32.store (i32.const 540) (local.get $hooks)))
    (func (export "describe") (result i32)
      (call $info (i32.const 0))
      (;DESCRIBE;)
      (i32.const 512))

    (func $continue (result i32) (i32.const 64))
    (func $block (param $text i32) (param $size i32) (result i32)
      (i32.store8 (i32.const 68) (i32.const 1))
      (i32.store (i32.const 72) (local.get $text)) (i32.store (i32.const 76) (local.get $size))
      (i32.const 64))
    (func $fail (param $text i32) (param $size i32) (result i32)
      (i32.store8 (i32.const 64) (i32.const 1))
      (i32.store (i32.const 68) (local.get $text)) (i32.store (i32.const 72) (local.get $size))
      (i32.const 64))
    (func $rewrite (param $text i32) (param $size i32) (result i32)
      (i32.store8 (i32.const 68) (i32.const 2))
      (i32.store8 (i32.const 72) (i32.const 1))
      (i32.store (i32.const 76) (local.get $text)) (i32.store (i32.const 80) (local.get $size))
      (i32.const 64))
    ;; A number as context: one byte, '0' and on.
    (func $number (param $number i32) (result i32)
      (i32.store8 (i32.const 128) (i32.add (i32.const 48) (local.get $number)))
      (i32.store8 (i32.const 68) (i32.const 2))
      (i32.store8 (i32.const 96) (i32.const 1))
      (i32.store (i32.const 100) (i32.const 128)) (i32.store (i32.const 104) (i32.const 1))
      (i32.const 64))
    ;; The parameters stand where $in points: event, hook, tool-name, tool-input (at 24), tool-output, the context (at 44).
    (;MORE;)
    (func (export "run") (param $in i32) (result i32)
      (;RUN;)))
  (core instance $guest (instantiate $guest
    (with "heap" (instance $heap))
    (with "host" (instance
      (export "write" (func $write)) (export "get" (func $get)) (export "set" (func $set)) (export "add" (func $add))
      (export "available" (func $available)) (export "program" (func $program))))))
  (alias core export $guest "describe" (core func $core-describe))
  (alias core export $guest "run" (core func $core-run))

  (func $describe (result $info) (canon lift (core func $core-describe) (memory $memory)))
  (func $run (param "input" $input) (param "context" $context) (result (result $result (error string)))
    (canon lift (core func $core-run) (memory $memory) (realloc $realloc)))
  (instance $callback
    (export "hook-input" (type $input))
    (export "hook-context" (type $context))
    (export "hook-result" (type $result))
    (export "plugin-info" (type $info))
    (export "describe" (func $describe))
    (export "run" (func $run)))
  (export "tacklebox:hooks/callback@0.1.0" (instance $callback)))
