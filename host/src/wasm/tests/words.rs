//! What goes in, what comes out, and what a guest may import.

use serde_json::json;

use super::asking::{Asking, PASS, guest, guest_with, importing, load, object, plugins, text};
use crate::matching::Commands;
use crate::outcome::{Cause, Outcome};

/// Blocks with the text at this place of the parameters.
fn told(at: usize) -> Vec<u8> {
    let (text, size) = (at, at + 4);
    guest(&format!("(call $block (i32.load offset={text} (local.get $in)) (i32.load offset={size} (local.get $in)))"))
}

#[tokio::test]
async fn a_plugin_is_told_what_happens_and_where() {
    let plugins = plugins();
    let mut asking = Asking::bash("git push");
    asking.event.tool_use_id = Some("t1".into());
    asking.cx = asking.cx.sub_agent("s2", "a1", "helper");
    // The places of the parameters in memory, as the canonical ABI lays them out.
    for (at, expected) in [
        (0, "PreToolUse"),
        (8, "guard"),
        (16, "bash"),
        (24, r#"{"command":"git push"}"#),
        (52, "s2"),
        (60, "s1"),
        (76, "/project"),
        (88, "/project"),
        (100, "a1"),
        (112, "helper"),
        (140, "t1"),
        (180, "{}"),
    ] {
        assert_eq!(asking.reason(&*load(&plugins, &told(at)).await).await, expected, "at {at}");
    }
    asking.commands = Some(Commands::default());
    assert_eq!(asking.reason(&*load(&plugins, &told(180)).await).await, r#"{"commands":[],"parsed":false}"#);
}

#[tokio::test]
async fn a_plugin_reads_the_config_of_its_hook() {
    let reads = "(call $get (i32.const 256)) (call $block (i32.load (i32.const 256)) (i32.load (i32.const 260)))";
    let code = load(&plugins(), &guest(reads)).await;
    let mut asking = Asking::bash("ls");
    assert_eq!(asking.reason(&*code).await, "{}");
    asking.config = object(json!({"words": ["a", "b"]}));
    assert_eq!(asking.reason(&*code).await, r#"{"words":["a","b"]}"#);
}

#[tokio::test]
async fn a_rewrite_that_is_no_object_is_no_answer() {
    let plugins = plugins();
    let rewrites = |json: &str, size: usize| {
        guest_with(
            &format!("(data (i32.const 1200) \"{json}\")"),
            &format!("(call $rewrite (i32.const 1200) (i32.const {size}))"),
        )
    };
    let code = load(&plugins, &rewrites("{}", 2)).await;
    assert!(matches!(Asking::bash("ls").of(&*code).await.outcome, Outcome::Continue(change) if change.input.is_some()));
    for json in ["[1]", "{ ", "nul"] {
        let code = load(&plugins, &rewrites(json, json.len())).await;
        assert!(matches!(Asking::bash("ls").cause(&*code).await, Cause::NotAnAnswer(_)), "{json}");
    }
}

#[tokio::test]
async fn an_err_is_the_plugins_own_failure_and_an_empty_reason_is_given_one() {
    let plugins = plugins();
    let code = load(&plugins, &guest("(call $fail (i32.const 1024) (i32.const 5))")).await;
    assert_eq!(Asking::bash("ls").cause(&*code).await, Cause::Failed("guest".into()));
    let code = load(&plugins, &guest("(call $block (i32.const 1024) (i32.const 0))")).await;
    assert_eq!(Asking::bash("ls").reason(&*code).await, "blocked by a plugin that gave no reason");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_none() {
    let plugins = plugins();
    let nowhere = load(&plugins, &guest("(call $block (i32.const 0x7fffffff) (i32.const 5))")).await;
    assert!(matches!(Asking::bash("ls").cause(&*nowhere).await, Cause::NotAnAnswer(_)));
    let no_utf8 = guest_with(r#"(data (i32.const 1200) "\ff")"#, "(call $block (i32.const 1200) (i32.const 1))");
    let no_utf8 = load(&plugins, &no_utf8).await;
    assert!(matches!(Asking::bash("ls").cause(&*no_utf8).await, Cause::NotAnAnswer(_)));
}

#[tokio::test]
async fn a_program_is_denied_as_a_value_and_with_a_warning() {
    // '0', and 1 where it was there, 2 where it ran, 4 where the error is another one.
    let runs = "(call $program
          (i32.const 1024) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 300))
        (call $number (i32.add
          (call $available (i32.const 1024) (i32.const 5))
          (i32.add
            (i32.shl (i32.eqz (i32.load8_u (i32.const 300))) (i32.const 1))
            (i32.shl (i32.load8_u (i32.const 304)) (i32.const 2)))))";
    let code = load(&plugins(), &guest(runs)).await;
    assert_eq!(Asking::bash("ls").context(&*code).await, "0");
    let asked = Asking::bash("ls").of(&*code).await;
    assert_eq!(asked.warnings, ["plugin `guest` was denied `guest`: the permission `run` is not granted"]);
}

#[tokio::test]
async fn wasi_is_there_and_empty_handed() {
    let import = r#"(import "wasi:cli/environment@0.2.0" (instance $environment
        (export "get-environment" (func (result (list (tuple string string)))))
        (export "get-arguments" (func (result (list string))))))"#;
    let functions = [
        ("env", r#"(func $environment "get-environment") (memory $memory) (realloc $realloc)"#, "(param i32)"),
        ("args", r#"(func $environment "get-arguments") (memory $memory) (realloc $realloc)"#, "(param i32)"),
    ];
    let run = "(call $env (i32.const 256)) (call $args (i32.const 264))
        (call $number (i32.add (i32.load (i32.const 260)) (i32.load (i32.const 268))))";
    let code = load(&plugins(), &importing(&text(run), import, &functions)).await;
    assert_eq!(Asking::bash("ls").context(&*code).await, "0");
}

#[tokio::test]
async fn time_stands_still_for_describe_alone() {
    let import = r#"(import "wasi:clocks/wall-clock@0.2.0" (instance $clock
        (type $datetime' (record (field "seconds" u64) (field "nanoseconds" u32)))
        (export "datetime" (type $datetime (eq $datetime')))
        (export "now" (func (result $datetime)))))"#;
    let functions = [("now", r#"(func $clock "now") (memory $memory)"#, "(param i32)")];
    let now = "(call $now (i32.const 304)) (i64.ne (i64.load (i32.const 304)) (i64.const 0))";
    let text =
        text(&format!("(call $number {now})")).replace("(;DESCRIBE;)", &format!("(if {now} (then unreachable))"));
    let code = load(&plugins(), &importing(&text, import, &functions)).await;
    assert_eq!(Asking::bash("ls").context(&*code).await, "1");
}

#[tokio::test]
async fn a_plugin_that_ends_itself_gave_no_answer() {
    let import = r#"(import "wasi:cli/exit@0.2.0" (instance $exit (export "exit" (func (param "status" (result))))))"#;
    let functions = [("exit", r#"(func $exit "exit")"#, "(param i32)")];
    let text = text(&format!("(call $exit (i32.const 1)) {PASS}"));
    let code = load(&plugins(), &importing(&text, import, &functions)).await;
    match Asking::bash("ls").cause(&*code).await {
        Cause::Trapped { message, .. } => assert_eq!(message, "the plugin ended itself with exit code 1"),
        other => panic!("{other:?}"),
    }
}
