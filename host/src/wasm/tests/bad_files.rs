//! Files that are no plugin, and what is said of them.

use super::asking::{PASS, binary, guest, load, plugins, plugins_with, text};
use crate::diagnostic::printable;
use crate::id::PluginName;
use crate::outcome::{Cause, Limit};
use crate::source::Source;
use crate::wasm::{Kind, Limits, LoadError, Owner, Plugins};

async fn refused(plugins: &Plugins, bytes: &[u8]) -> LoadError {
    plugins.load(bytes, Owner::new(Source::Sdk), Limits::default()).await.unwrap_err()
}

#[tokio::test]
async fn a_file_that_is_no_component_is_refused_by_what_it_is() {
    let plugins = plugins();
    assert_eq!(refused(&plugins, b"").await, LoadError::Empty);
    assert_eq!(refused(&plugins, b"#!/bin/sh").await, LoadError::NotWasm);
    assert_eq!(refused(&plugins, &vec![0; (64 << 20) + 1]).await, LoadError::TooLarge { bytes: (64 << 20) + 1 });
    assert_eq!(refused(&plugins, &binary("(module)")).await, LoadError::CoreModule { exports: vec![] });
    assert!(matches!(refused(&plugins, b"\0asm\x0d\0\x01\0\x0b\x01\xff").await, LoadError::Malformed(_)));
}

#[tokio::test]
async fn a_file_that_is_still_being_written_is_cut_short() {
    let (plugins, whole) = (plugins(), guest(PASS));
    for at in [1, 4, 7, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        assert_eq!(refused(&plugins, &whole[..at]).await, LoadError::CutShort, "{at} bytes");
    }
}

#[tokio::test]
async fn a_component_of_another_world_is_told_what_was_expected() {
    let other = r#"(component
        (core module $m (func (export "f") (result i32) i32.const 1))
        (core instance $i (instantiate $m))
        (func $greet (result u32) (canon lift (core func $i "f")))
        (instance $greeter (export "greet" (func $greet)))
        (export "example:greeter/greeter@1.0.0" (instance $greeter)))"#;
    let plugins = plugins();
    let error = refused(&plugins, &binary(other)).await.to_string();
    assert!(error.contains("`example:greeter/greeter@1.0.0`"), "{error}");
    assert!(error.contains("`tacklebox:hooks/callback@0.1.x`"), "{error}");
    assert!(error.contains("`wasi:cli/run@0.2.x`"), "{error}");
    let preview = binary(&other.replace("example:greeter/greeter@1.0.0", "wasi:cli/run@0.3.0"));
    assert!(matches!(refused(&plugins, &preview).await, LoadError::OtherWorld { .. }));
    let newer = binary(&other.replace("example:greeter/greeter@1.0.0", "tacklebox:hooks/callback@0.2.0"));
    assert_eq!(refused(&plugins, &newer).await, LoadError::OtherVersion { found: "0.2.0".into() });
}

#[tokio::test]
async fn a_patch_of_the_interface_is_run() {
    let patched = text(PASS).replace("@0.1.0", "@0.1.3");
    let plugins = plugins();
    load(&plugins, &binary(&patched)).await;
    assert_eq!(plugins.inspect(&binary(&patched)).unwrap().kind, Kind::Plugin("0.1.3".into()));
}

#[tokio::test]
async fn an_import_that_the_host_lacks_is_named() {
    let import = r#"(import "wasi:keyvalue/store@0.2.0" (instance (export "open" (func))))
        (import "tacklebox:hooks/telepathy@0.1.0" (instance (export "read" (func))))"#;
    let guest = binary(&text(PASS).replace("(;IMPORTS;)", import));
    let error = refused(&plugins(), &guest).await.to_string();
    assert!(error.contains("`wasi:keyvalue/store@0.2.0` (not among the WASI 0.2 interfaces"), "{error}");
    assert!(error.contains("`tacklebox:hooks/telepathy@0.1.0` (not in interface version 0.1.0"), "{error}");
}

#[tokio::test]
async fn a_function_that_wasi_lacks_is_named() {
    let import = r#"(import "wasi:random/random@0.2.0" (instance (export "throw-dice" (func (result u64)))))"#;
    let guest = binary(&text(PASS).replace("(;IMPORTS;)", import));
    let error = refused(&plugins(), &guest).await;
    assert!(matches!(&error, LoadError::WrongTypes(why) if why.contains("throw-dice")), "{error}");
}

#[tokio::test]
async fn a_record_with_another_field_is_refused_at_load() {
    let other = text(PASS).replace(r#"(field "extra" string)"#, r#"(field "extra" string) (field "more" u32)"#);
    let error = refused(&plugins(), &binary(&other)).await;
    assert!(matches!(&error, LoadError::WrongTypes(why) if why.contains("fields")), "{error}");
}

#[tokio::test]
async fn a_plugin_that_cannot_describe_itself_is_refused() {
    let describing = |what: &str| binary(&text(PASS).replace("(;DESCRIBE;)", what));
    let plugins = plugins();
    let error = refused(&plugins, &describing("unreachable")).await;
    assert!(matches!(error, LoadError::Describe(Cause::Trapped { .. })), "{error}");
    let error = refused(&plugins, &describing("(loop $again (br $again))")).await;
    assert!(matches!(error, LoadError::Describe(Cause::TimedOut(_))), "{error}");
    // State errors are values: with nothing to keep it in, `add` answers and the plugin is there.
    load(&plugins, &describing("(call $add (i32.const 1100) (i32.const 7) (i64.const 1) (i32.const 256))")).await;
}

#[tokio::test]
async fn a_plugin_needs_a_name_from_somebody() {
    let nameless = binary(&text(PASS).replace("(;DESCRIBE;)", "(i32.store (i32.const 516) (i32.const 0))"));
    let plugins = plugins();
    assert_eq!(refused(&plugins, &nameless).await, LoadError::NoName);
    let owner = Owner::new(Source::Sdk).named("given");
    let code = plugins.load(&nameless, owner, Limits::default()).await.unwrap();
    assert_eq!(code.info().name, PluginName::from(""));
}

#[tokio::test]
async fn a_plugin_wants_at_most_256_hooks() {
    // Room for all the registrations, each of which is zeros: empty names, nothing optional.
    let wanting = |hooks: usize| {
        let module = text(PASS).replace(r#"(memory (export "memory") 2)"#, r#"(memory (export "memory") 4)"#);
        binary(&module.replace("(call $info (i32.const 0))", &format!("(call $info (i32.const {hooks}))")))
    };
    let plugins = plugins();
    assert_eq!(load(&plugins, &wanting(256)).await.info().hooks.len(), 256);
    assert_eq!(refused(&plugins, &wanting(257)).await, LoadError::TooManyHooks(257));
}

#[tokio::test]
async fn a_component_of_too_many_parts_is_refused() {
    let plugins = plugins();
    let instances = "(core instance (instantiate $heap_module))".repeat(101);
    let module = format!("(core module $heap_module) {instances}");
    let many = binary(&text(PASS).replace("(;IMPORTS;)", &module));
    assert_eq!(refused(&plugins, &many).await, LoadError::TooManyInstances(103));
    let memories = format!("(core module $m (memory 1)) {}", "(core instance (instantiate $m))".repeat(8));
    let many = binary(&text(PASS).replace("(;IMPORTS;)", &memories));
    assert_eq!(refused(&plugins, &many).await, LoadError::TooManyMemories(9));
}

/// Components that instantiate each other, `each` times at every one of so many levels; the innermost has a core instance.
fn nested(levels: usize, each: usize) -> Vec<u8> {
    let mut text = "(component (component (core module $m) (core instance (instantiate $m)))".to_owned();
    for level in 0..levels {
        let instances = "(instance (instantiate $inner))".repeat(each);
        text += &format!("(component (alias outer 1 {level} (component $inner)) {instances})");
    }
    text += &format!("(instance (instantiate {levels}))");
    text += r#"(instance $none) (export "tacklebox:hooks/callback@0.1.0" (instance $none)))"#;
    binary(&text)
}

#[tokio::test]
async fn instances_that_nest_are_counted_before_anything_is_compiled() {
    let plugins = plugins();
    // The compiler would write out ten billions, of less than a kilobyte.
    assert_eq!(refused(&plugins, &nested(10, 10)).await, LoadError::TooNested(2 * 11_usize.pow(10)));
    assert_eq!(refused(&plugins, &nested(60, 10)).await, LoadError::TooNested(usize::MAX));
    assert!(matches!(refused(&plugins, &nested(3, 10)).await, LoadError::WrongTypes(_)));
}

#[tokio::test]
async fn what_is_said_of_a_file_is_safe_to_print() {
    let export = |name: &str| {
        format!(r#"(component (core module $m (func (export "{name}"))) (core instance $i (instantiate $m)))"#)
    };
    let plugins = plugins();
    for text in [export("\\1b[2J"), export("\\e2\\80\\ae")] {
        let error = refused(&plugins, &binary(&text)).await.to_string();
        assert_eq!(error, printable(&error));
    }
    for error in [
        LoadError::OtherWorld { exports: vec!["a\u{1b}[2J".into()] },
        LoadError::OtherVersion { found: "0.2\n".into() },
        LoadError::Malformed("unknown import: `\u{202e}`\n\nCaused by:\n  1".into()),
        LoadError::Describe(Cause::Failed("all\u{7}\nis well".into())),
    ] {
        let error = error.to_string();
        assert_eq!(error, printable(&error));
    }
}

#[tokio::test]
async fn a_plugin_that_begins_too_large_never_fits() {
    let large = text(PASS).replace(r#"(memory (export "memory") 2)"#, r#"(memory (export "memory") 1025)"#);
    let error = refused(&plugins(), &binary(&large)).await;
    assert_eq!(error, LoadError::Describe(Cause::Limit(Limit::Memory(64 << 20))));
    let two = text(PASS).replace("(;IMPORTS;)", "(core module $m (memory 1)) (core instance (instantiate $m))");
    let error = refused(&plugins_with(1, 1), &binary(&two)).await.to_string();
    assert!(error.contains("never fits: it takes 2 places, and the sandbox has 1"), "{error}");
}

#[test]
fn a_file_is_inspected_without_running_it() {
    let bytes = guest(PASS);
    let seen = plugins().inspect(&bytes).unwrap();
    assert_eq!(seen.kind, Kind::Plugin("0.1.0".into()));
    assert_eq!(seen.exports, ["tacklebox:hooks/callback@0.1.0"]);
    assert_eq!(seen.imports.len(), 5);
    assert_eq!((seen.core_instances, seen.size), (2, bytes.len()));
    let module = plugins().inspect(&binary(r#"(module (func (export "_start")))"#)).unwrap();
    assert_eq!(module.kind, Kind::Module { command: true });
}

#[tokio::test]
async fn what_is_said_of_a_file_has_an_end_however_many_names_it_holds() {
    let exports: String = (0..5_000).map(|n| format!(r#"(export "{n}{}" (func $f))"#, "x".repeat(1_000))).collect();
    let module = binary(&format!("(module (func $f) {exports})"));
    let imports: String = (0..5_000).map(|n| format!(r#"(import "{}" "{n}" (func))"#, "y".repeat(1_000))).collect();
    let command = binary(&format!(r#"(module {imports} (func (export "_start")))"#));
    for (file, more) in [(module, "4980 more"), (command, "4980 more")] {
        let said = refused(&plugins(), &file).await.to_string();
        assert!(said.len() < 10_000 && said.contains(more), "{}: {said:.400}", said.len());
    }
}
