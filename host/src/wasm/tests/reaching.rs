//! Guests that reach for files through WASI, each with one deed, on the path that the tool's command is.

use super::asking::{Asking, PASS, binary, importing, text};
use crate::outcome::Outcome;
use crate::plugin::Code;

/// Errors of `wasi:filesystem`, by their place in its list.
pub(super) const NO_ENTRY: u8 = 20;
pub(super) const NOT_PERMITTED: u8 = 31;
/// There is no such folder at all.
pub(super) const NO_FOLDER: u8 = 50;

/// A deed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed {
    /// Blocks with what the file holds.
    Read,
    /// Makes the file, or empties it, and writes `guest` into it.
    Write,
    /// Makes a link named `guest` that leads to the path.
    Link,
    /// Blocks with the path under which the folder is seen.
    Name,
}

const IMPORTS: &str = r#"(import "wasi:filesystem/types@0.2.0" (instance $fs
    (export "descriptor" (type $descriptor (sub resource)))
    (type $error' (enum "access" "would-block" "already" "bad-descriptor" "busy" "deadlock" "quota" "exist"
      "file-too-large" "illegal-byte-sequence" "in-progress" "interrupted" "invalid" "io" "is-directory" "loop"
      "too-many-links" "message-size" "name-too-long" "no-device" "no-entry" "no-lock" "insufficient-memory"
      "insufficient-space" "not-directory" "not-empty" "not-recoverable" "unsupported" "no-tty" "no-such-device"
      "overflow" "not-permitted" "pipe" "read-only" "invalid-seek" "text-file-busy" "cross-device"))
    (export "error-code" (type $error (eq $error')))
    (type $path' (flags "symlink-follow"))
    (export "path-flags" (type $path (eq $path')))
    (type $how' (flags "create" "directory" "exclusive" "truncate"))
    (export "open-flags" (type $how (eq $how')))
    (type $flags' (flags "read" "write" "file-integrity-sync" "data-integrity-sync" "requested-write-sync"
      "mutate-directory"))
    (export "descriptor-flags" (type $flags (eq $flags')))
    (export "[method]descriptor.open-at" (func (param "self" (borrow $descriptor)) (param "path-flags" $path)
      (param "path" string) (param "open-flags" $how) (param "flags" $flags)
      (result (result (own $descriptor) (error $error)))))
    (export "[method]descriptor.read" (func (param "self" (borrow $descriptor)) (param "length" u64)
      (param "offset" u64) (result (result (tuple (list u8) bool) (error $error)))))
    (export "[method]descriptor.write" (func (param "self" (borrow $descriptor)) (param "buffer" (list u8))
      (param "offset" u64) (result (result u64 (error $error)))))
    (export "[method]descriptor.symlink-at" (func (param "self" (borrow $descriptor)) (param "old-path" string)
      (param "new-path" string) (result (result (error $error)))))))
  (alias export $fs "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
    (export "descriptor" (type $folder (eq $descriptor)))
    (export "get-directories" (func (result (list (tuple (own $folder) string)))))))"#;

const FUNCTIONS: [(&str, &str, &str); 5] = [
    ("folders", r#"(func $preopens "get-directories") (memory $memory) (realloc $realloc)"#, "(param i32)"),
    (
        "open",
        r#"(func $fs "[method]descriptor.open-at") (memory $memory) (realloc $realloc)"#,
        "(param i32 i32 i32 i32 i32 i32 i32)",
    ),
    ("fetch", r#"(func $fs "[method]descriptor.read") (memory $memory) (realloc $realloc)"#, "(param i32 i64 i64 i32)"),
    (
        "lay",
        r#"(func $fs "[method]descriptor.write") (memory $memory) (realloc $realloc)"#,
        "(param i32 i32 i32 i64 i32)",
    ),
    (
        "link",
        r#"(func $fs "[method]descriptor.symlink-at") (memory $memory) (realloc $realloc)"#,
        "(param i32 i32 i32 i32 i32 i32)",
    ),
];

/// The path: what stands in the tool's input between `{"command":"` and `"}`.
const PATH: &str = "(i32.add (i32.load offset=24 (local.get $in)) (i32.const 12))
    (i32.sub (i32.load offset=28 (local.get $in)) (i32.const 14))";

/// Goes on with the error, as a number, where the result at `at` is one.
fn or_fail(at: u32, payload: u32) -> String {
    let code = format!("(i32.load8_u (i32.const {}))", at + payload);
    format!("(if (i32.load8_u (i32.const {at})) (then (return (call $number {code}))))")
}

/// A guest that does this in the `nth` of its folders.
pub(super) fn reaching(deed: Deed, nth: u32) -> Vec<u8> {
    let open = |how: u32, flags: u32| {
        format!(
            "(call $open (local.get $folder) (i32.const 1) {PATH} (i32.const {how}) (i32.const {flags}) (i32.const 272)) {}",
            or_fail(272, 4)
        )
    };
    let file = "(i32.load (i32.const 276))";
    let deed = match deed {
        Deed::Read => format!(
            "{} (call $fetch {file} (i64.const 100) (i64.const 0) (i32.const 288)) {}
            (call $block (i32.load (i32.const 292)) (i32.load (i32.const 296)))",
            open(0, 1),
            or_fail(288, 4)
        ),
        Deed::Write => format!(
            "{} (call $lay {file} (i32.const 1024) (i32.const 5) (i64.const 0) (i32.const 320)) {}
            (call $block (i32.const 1024) (i32.const 5))",
            open(1 | 8, 2),
            or_fail(320, 8)
        ),
        Deed::Link => format!(
            "(call $link (local.get $folder) {PATH} (i32.const 1024) (i32.const 5) (i32.const 336)) {}
            (call $block (i32.const 1024) (i32.const 5))",
            or_fail(336, 1)
        ),
        Deed::Name => {
            "(call $block (i32.load offset=4 (local.get $at)) (i32.load offset=8 (local.get $at)))".to_owned()
        }
    };
    let run = format!(
        "(local $at i32) (local $folder i32)
        (call $folders (i32.const 256))
        (if (i32.le_u (i32.load (i32.const 260)) (i32.const {nth}))
          (then (return (call $number (i32.const {NO_FOLDER})))))
        (local.set $at (i32.add (i32.load (i32.const 256)) (i32.const {})))
        (local.set $folder (i32.load (local.get $at)))
        {deed}",
        nth * 12
    );
    importing(&text(&run), IMPORTS, &FUNCTIONS)
}

/// A guest that traps while it describes itself, where it has a folder or a program then.
pub(super) fn reaching_early() -> Vec<u8> {
    let early = "(call $folders (i32.const 256)) (if (i32.load (i32.const 260)) (then unreachable))
        (if (call $available (i32.const 1024) (i32.const 5)) (then unreachable))";
    importing(&text(PASS).replace("(;DESCRIBE;)", early), IMPORTS, &FUNCTIONS)
}

/// What it comes to on this path: what the guest blocks with, else the number of the error.
pub(super) async fn try_on(code: &dyn Code, path: &str) -> Result<String, u8> {
    match Asking::bash(path).of(code).await.outcome {
        Outcome::Block(block) => Ok(block.reason),
        Outcome::Continue(change) => {
            let number = change.context.unwrap();
            Err(number.as_bytes()[0] - b'0')
        }
        other => panic!("{other:?}"),
    }
}

/// A guest that gives the number of its variables, and blocks with the value of the first.
pub(super) fn seeing() -> Vec<u8> {
    let import = r#"(import "wasi:cli/environment@0.2.0" (instance $env
        (export "get-environment" (func (result (list (tuple string string)))))))"#;
    let functions =
        [("variables", r#"(func $env "get-environment") (memory $memory) (realloc $realloc)"#, "(param i32)")];
    let run = "(local $at i32)
        (call $variables (i32.const 256))
        (local.set $at (i32.load (i32.const 256)))
        (if (i32.ne (i32.load (i32.const 260)) (i32.const 1)) (then (return (call $number (i32.load (i32.const 260))))))
        (call $block (i32.load offset=8 (local.get $at)) (i32.load offset=12 (local.get $at)))";
    importing(&text(run), import, &functions)
}

/// How the network of `wasi:sockets` begins, up to the kinds of its errors.
const NETWORK: &str = r#"(import "wasi:sockets/network@0.2.0" (instance $network
        (export "network" (type $net (sub resource)))
        (type $error' (enum "unknown" "access-denied" "not-supported" "invalid-argument" "out-of-memory" "timeout"
          "concurrency-conflict" "not-in-progress" "would-block" "invalid-state" "new-socket-limit"
          "address-not-bindable" "address-in-use" "remote-unreachable" "connection-refused" "connection-reset"
          "connection-aborted" "datagram-too-large" "name-unresolvable" "temporary-resolver-failure"
          "permanent-resolver-failure"))"#;

/// A guest that looks up the name that the command is, or connects to 127.0.0.1 at this port; with the number of the
/// error of `wasi:sockets`, which is what refuses.
pub(super) fn looking_up() -> Vec<u8> {
    let import = [
        NETWORK,
        r#"
        (export "error-code" (type $error (eq $error')))))
      (alias export $network "network" (type $net))
      (alias export $network "error-code" (type $error))
      (import "wasi:sockets/instance-network@0.2.0" (instance $mine
        (export "network" (type $n (eq $net)))
        (export "instance-network" (func (result (own $n))))))
      (import "wasi:sockets/ip-name-lookup@0.2.0" (instance $names
        (export "network" (type $n (eq $net)))
        (export "error-code" (type $e (eq $error)))
        (export "resolve-address-stream" (type $stream (sub resource)))
        (export "resolve-addresses" (func (param "network" (borrow $n)) (param "name" string)
          (result (result (own $stream) (error $e)))))))"#,
    ]
    .concat();
    let functions = [
        ("mine", r#"(func $mine "instance-network")"#, "(result i32)"),
        ("lookup", r#"(func $names "resolve-addresses") (memory $memory)"#, "(param i32 i32 i32 i32)"),
    ];
    let run = format!(
        "(call $lookup (call $mine) {PATH} (i32.const 272)) {} (call $block (i32.const 1024) (i32.const 5))",
        or_fail(272, 4)
    );
    importing(&text(&run), &import, &functions)
}

/// A guest that makes a socket.
pub(super) fn connecting() -> Vec<u8> {
    let import = [
        NETWORK,
        r#"
        (export "error-code" (type $error (eq $error')))
        (type $family' (enum "ipv4" "ipv6"))
        (export "ip-address-family" (type $family (eq $family')))
        (type $four' (tuple u8 u8 u8 u8))
        (export "ipv4-address" (type $four (eq $four')))
        (type $six' (tuple u16 u16 u16 u16 u16 u16 u16 u16))
        (export "ipv6-address" (type $six (eq $six')))
        (type $at4' (record (field "port" u16) (field "address" $four)))
        (export "ipv4-socket-address" (type $at4 (eq $at4')))
        (type $at6' (record (field "port" u16) (field "flow-info" u32) (field "address" $six) (field "scope-id" u32)))
        (export "ipv6-socket-address" (type $at6 (eq $at6')))
        (type $at' (variant (case "ipv4" $at4) (case "ipv6" $at6)))
        (export "ip-socket-address" (type $at (eq $at')))))
      (alias export $network "network" (type $net))
      (alias export $network "error-code" (type $error))
      (alias export $network "ip-address-family" (type $family))
      (alias export $network "ip-socket-address" (type $address))
      (import "wasi:sockets/instance-network@0.2.0" (instance $mine
        (export "network" (type $n (eq $net)))
        (export "instance-network" (func (result (own $n))))))
      (import "wasi:sockets/tcp@0.2.0" (instance $tcp
        (export "network" (type $n (eq $net)))
        (export "error-code" (type $e (eq $error)))
        (export "ip-socket-address" (type $a (eq $address)))
        (export "tcp-socket" (type $socket (sub resource)))
        (export "[method]tcp-socket.start-connect" (func (param "self" (borrow $socket)) (param "network" (borrow $n))
          (param "remote-address" $a) (result (result (error $e)))))))
      (alias export $tcp "tcp-socket" (type $socket))
      (import "wasi:sockets/tcp-create-socket@0.2.0" (instance $create
        (export "error-code" (type $e (eq $error)))
        (export "ip-address-family" (type $f (eq $family)))
        (export "tcp-socket" (type $s (eq $socket)))
        (export "create-tcp-socket" (func (param "address-family" $f) (result (result (own $s) (error $e)))))))"#,
    ]
    .concat();
    let functions = [
        ("mine", r#"(func $mine "instance-network")"#, "(result i32)"),
        ("socket", r#"(func $create "create-tcp-socket") (memory $memory)"#, "(param i32 i32)"),
        (
            "connect",
            r#"(func $tcp "[method]tcp-socket.start-connect") (memory $memory)"#,
            "(param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)",
        ),
    ];
    let zeros = "(i32.const 0) ".repeat(6);
    let run = format!(
        "(call $socket (i32.const 0) (i32.const 272)) {}
        (call $connect (i32.load (i32.const 276)) (call $mine) (i32.const 0)
          (i32.const 80) (i32.const 127) (i32.const 0) (i32.const 0) (i32.const 1) {zeros} (i32.const 304)) {}
        (call $block (i32.const 1024) (i32.const 5))",
        or_fail(272, 4),
        or_fail(304, 1)
    );
    importing(&text(&run), &import, &functions)
}

/// What does not compile must not pass for what is refused.
#[test]
fn each_of_these_is_a_component() {
    for deed in [Deed::Read, Deed::Write, Deed::Link, Deed::Name] {
        assert!(reaching(deed, 0).starts_with(b"\0asm"));
    }
    assert!(binary("(component)").starts_with(b"\0asm"));
}
