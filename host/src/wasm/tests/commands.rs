//! WASI commands: what they are given, what of their end is an answer, and that they are held as components are.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::asking::{Asking, SPIN, binary, load, object, plugins, plugins_with, text};
use crate::event::{Event, EventName, ToolCall};
use crate::hook::OUR_VARIABLES;
use crate::outcome::{Block, Cause, Change, Limit, Outcome, Permission, Said};
use crate::plugin::Code;
use crate::source::Source;
use crate::wasm::component::{self, Origin};
use crate::wasm::{CompileCache, Inspection, Kind, Limits, LoadError, Owner};

/// A core module with this `_start`, and this text to print.
fn saying(text: &str, run: &str) -> Vec<u8> {
    with("", text, run)
}

fn with(more: &str, text: &str, run: &str) -> Vec<u8> {
    let escaped: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let whole = include_str!("command.wat").replace("(;TEXT;)", &escaped).replace("(;RUN;)", run);
    binary(&whole.replace("(;LENGTH;)", &text.len().to_string()).replace("(;MORE;)", more))
}

/// A component that complains and then does this.
fn run(does: &str) -> Vec<u8> {
    binary(&include_str!("run.wat").replace("(;RUN;)", does))
}

async fn command(text: &str, run: &str) -> Arc<dyn Code> {
    load(&plugins(), &saying(text, run)).await
}

async fn outcome(bytes: &[u8]) -> Outcome {
    Asking::bash("ls").of(&*load(&plugins(), bytes).await).await.outcome
}

async fn refused(bytes: &[u8]) -> LoadError {
    plugins().load(bytes, Owner::new(Source::Sdk), Limits::default()).await.unwrap_err()
}

fn exited(reason: &str) -> Outcome {
    Outcome::Block(Block::new(reason, Said::ByExitCode))
}

#[tokio::test]
async fn a_core_modules_exit_code_is_taken_as_it_is() {
    assert_eq!(outcome(&saying("", "")).await, Outcome::pass());
    assert_eq!(outcome(&saying("", "(call $exit (i32.const 0)) unreachable")).await, Outcome::pass());
    let complains =
        |code: i64| saying("first\nlast\n", &format!("(call $print (i32.const 2)) (call $exit (i32.const {code}))"));
    assert_eq!(outcome(&complains(2)).await, exited("first\nlast"));
    for code in [1, 3, 125, 128, 200, 255, 256, 70_000, -1, -2_147_483_648] {
        assert_eq!(outcome(&complains(code)).await, exited(&format!("Exit code {code}: last")));
    }
    let broken = outcome(&complains(127)).await;
    assert_eq!(broken, Outcome::Block(Block::new("Exit code 127: last", Said::ByBreaking)));
}

#[tokio::test]
async fn each_failed_exit_of_a_component_counts_as_2() {
    assert_eq!(outcome(&run("(i32.const 0)")).await, Outcome::pass());
    assert_eq!(outcome(&run("(i32.const 1)")).await, exited("not today"));
    assert_eq!(outcome(&run("(call $exit (i32.const 0)) unreachable")).await, Outcome::pass());
    assert_eq!(outcome(&run("(call $exit (i32.const 1)) unreachable")).await, exited("not today"));
}

#[tokio::test]
async fn a_trap_is_no_answer_and_tells_what_was_complained_of() {
    for bytes in [saying("panicked at guard.c\n", "(call $print (i32.const 2)) unreachable"), run("unreachable")] {
        let asked = Asking::bash("ls").of(&*load(&plugins(), &bytes).await).await;
        assert!(matches!(&asked.outcome, Outcome::NoAnswer(Cause::Trapped { .. })), "{:?}", asked.outcome);
        assert!(["panicked at guard.c", "not today"].contains(&asked.log[0].message.as_str()), "{:?}", asked.log);
    }
}

#[tokio::test]
async fn json_is_read_in_full_on_exit_0_and_the_code_stands_above_it() {
    let says = async |text: &str| outcome(&saying(text, "(call $print (i32.const 1))")).await;
    let change = Change {
        input: Some(object(json!({"command": "ls -l"}))),
        context: Some("longer".into()),
        ..Change::default()
    };
    let text = r#"{"modifiedInput": {"command": "ls -l"}, "context": "longer"}"#;
    assert_eq!(says(text).await, Outcome::Continue(change));
    assert_eq!(says(r#"{"block": true, "reason": "policy"}"#).await, Outcome::block("policy"));
    assert_eq!(says("plain").await, Outcome::Continue(Change { context: Some("plain".into()), ..Change::default() }));
    // On a gate a WASI command's silence blocks, so that what tries to be JSON and fails is no answer.
    assert!(matches!(says("{not json").await, Outcome::NoAnswer(Cause::NotAnAnswer(_))));
    let vetoed =
        saying(r#"{"block": false, "reason": "mine"}"#, "(call $print (i32.const 1)) (call $exit (i32.const 1))");
    assert_eq!(outcome(&vetoed).await, exited("mine\nExit code 1"));
}

#[tokio::test]
async fn silence_on_a_permission_is_no_opinion() {
    let call = ToolCall::new("bash", object(json!({"command": "ls"})));
    let asking = Asking { event: Event::tool(EventName::PermissionRequest, &call), ..Asking::bash("ls") };
    for (text, expected) in [
        ("", None),
        ("fine", None),
        (r#"{"context": "x"}"#, None),
        (r#"{"permission": "deny"}"#, Some(Permission::Deny)),
    ] {
        match asking.of(&*command(text, "(call $print (i32.const 1))").await).await.outcome {
            Outcome::Continue(change) => assert_eq!(change.permission, expected, "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn it_finds_our_variables_and_its_config_and_nothing_of_the_hosts() {
    let mut asking = Asking { config: object(json!({"words": ["a b", 1]})), ..Asking::bash("echo 'ä\0'") };
    asking.event.output = Some("whole\0output".into());
    asking.event.attempt = Some(2);
    let context = asking.context(&*command("", "(call $variables)").await).await;
    let variables: Vec<_> = context.split_terminator('\0').map(|each| each.split_once('=').unwrap()).collect();
    let value = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
    assert_eq!(value("CLAUDE_TOOL_NAME"), Some("bash"));
    assert_eq!(value("CLAUDE_TOOL_INPUT"), Some(r#"{"command":"echo 'ä\u0000'"}"#));
    assert_eq!(value("CLAUDE_TOOL_OUTPUT"), Some("whole\u{fffd}output"));
    assert_eq!((value("HOOK_EVENT"), value("HOOK_ATTEMPT")), (Some("PreToolUse"), Some("2")));
    assert_eq!((value("CLAUDE_SESSION_ID"), value("CLAUDE_PROJECT_DIR")), (Some("s1"), Some("/project")));
    assert_eq!(value("HOOK_CONFIG"), Some(r#"{"words":["a b",1]}"#));
    for (name, _) in &variables {
        assert!(OUR_VARIABLES.contains(name) || *name == "HOOK_CONFIG", "{name}");
        assert!(!name.ends_with("_FILE"), "{name}: there are no files");
    }
    assert!(!context.contains("visible-to-the-host"));
}

#[tokio::test]
async fn a_component_finds_the_same_variables() {
    // All that was handed over, with the pointers to it.
    let tells = "(call $variables (i32.const 80))
        (call $write (call $get) (i32.const 4096) (i32.sub (global.get $free) (i32.const 4096)) (i32.const 64))
        (i32.const 1)";
    let asking = Asking { config: object(json!({"word": "w"})), ..Asking::bash("ls") };
    let reason = asking.reason(&*load(&plugins(), &run(tells)).await).await;
    for text in [r#"{"command":"ls"}"#, "CLAUDE_TOOL_NAME", "HOOK_CONFIG", r#"{"word":"w"}"#, "/project"] {
        assert!(reason.contains(text), "{text}: {reason:?}");
    }
    assert!(!reason.contains("visible-to-the-host") && !reason.contains("_FILE"), "{reason:?}");
}

#[tokio::test]
async fn its_one_argument_is_the_hooks_name() {
    assert_eq!(Asking::bash("ls").context(&*command("", "(call $arguments)").await).await, "guard\0");
}

#[tokio::test]
async fn a_payload_of_many_megabytes_is_told_whole_and_can_be_echoed_at_once() {
    // Grows to 960 pages; of 20 MB, all is written at once, and then the code counts.
    let echoes = "(drop (memory.grow (i32.const 900))) (call $variables) (call $exit (i32.const 7))";
    let code = command("", echoes).await;
    let large = "x".repeat(20_000_000);
    assert_eq!(Asking::bash(&large).of(&*code).await.outcome, exited("Exit code 7"));
}

#[tokio::test]
async fn stdin_is_at_its_end_and_there_are_no_files() {
    // Each number is printed as a letter: errno of the read and how much was read; errno of the others.
    let reads = "(i32.store (i32.const 32) (i32.const 2048)) (i32.store (i32.const 36) (i32.const 100))
        (i32.store (i32.const 40) (i32.const 9))
        (call $letter (call $fd_read (i32.const 0) (i32.const 32) (i32.const 1) (i32.const 40)))
        (call $letter (i32.load (i32.const 40)))";
    assert_eq!(Asking::bash("ls").context(&*command("", reads).await).await, "aa");
    // 8 is `badf`, `i`: no descriptor beyond the three, hence no folder to open anything in.
    let opens = "(call $letter (call $fd_prestat_get (i32.const 3) (i32.const 0)))
        (call $letter (call $path_open (i32.const 3) (i32.const 0) (i32.const 1024) (i32.const 11) (i32.const 0)
          (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 16)))";
    assert_eq!(Asking::bash("ls").context(&*command("/etc/passwd", opens).await).await, "ii");
}

#[tokio::test]
async fn clocks_and_random_numbers_are_there() {
    let asks = "(call $letter (call $clock_time_get (i32.const 0) (i64.const 0) (i32.const 32)))
        (if (i64.eqz (i64.load (i32.const 32))) (then unreachable))
        (call $letter (call $random_get (i32.const 32) (i32.const 8)))
        (if (i64.eqz (i64.load (i32.const 32))) (then unreachable))";
    assert_eq!(Asking::bash("ls").context(&*command("", asks).await).await, "aa");
}

#[tokio::test]
async fn what_it_prints_too_much_is_dropped_and_its_exit_code_is_kept() {
    let floods = |fd: u32, code: u32| {
        format!(
            "(local $n i32)
            (loop $again
              (call $write (i32.const {fd}) (i32.const 65536) (i32.const 524288))
              (local.set $n (i32.add (local.get $n) (i32.const 1)))
              (br_if $again (i32.lt_u (local.get $n) (i32.const 100))))
            (call $print (i32.const 2)) (call $exit (i32.const {code}))"
        )
    };
    let asked = Asking::bash("ls").of(&*command("no", &floods(1, 2)).await).await;
    assert_eq!((asked.outcome, asked.warnings), (exited("no"), vec!["its output was cut".to_owned()]));
    assert_eq!(outcome(&saying("no", &floods(1, 3))).await, exited("Exit code 3: no"));
    let asked = Asking::bash("ls").of(&*command("no", &floods(2, 2)).await).await;
    assert!(matches!(asked.outcome, Outcome::Block(_)), "{:?}", asked.outcome);
    assert_eq!(asked.warnings, ["its stderr was cut"]);
    let asked = Asking::bash("ls").of(&*command("", &floods(1, 0)).await).await;
    assert_eq!(asked.warnings, ["its output was cut"]);
    let cut = format!("(i32.store8 (i32.const 65536) (i32.const 123)) {}", floods(1, 0).replace("(local $n i32)", ""));
    let cut = saying("", &format!("(local $n i32) {cut}"));
    assert!(matches!(outcome(&cut).await, Outcome::NoAnswer(Cause::NotAnAnswer(why)) if why.contains("cut")));
}

#[tokio::test]
async fn one_that_never_returns_is_ended_in_time() {
    let limit = Duration::from_millis(50);
    for bytes in [saying("", SPIN), run(SPIN)] {
        let code = load(&plugins(), &bytes).await;
        assert_eq!(Asking::bash("ls").within(limit).cause(&*code).await, Cause::TimedOut(limit));
    }
    let limits = Limits { processor: Duration::from_millis(30), ..Limits::default() };
    let code = plugins().load(&saying("", SPIN), Owner::new(Source::Sdk), limits).await.unwrap();
    assert_eq!(Asking::bash("ls").cause(&*code).await, Cause::Limit(Limit::Processor(limits.processor)));
}

#[tokio::test]
async fn memory_stack_and_tables_have_their_limits() {
    let allocates = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
    assert_eq!(outcome(&saying("", allocates)).await, Outcome::NoAnswer(Cause::Limit(Limit::Memory(64 << 20))));
    let recurses = "(func $recurse (param i32) (result i32)
        (i32.add (call $recurse (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))";
    let deep = with(recurses, "", "(drop (call $recurse (i32.const 0)))");
    assert_eq!(outcome(&deep).await, Outcome::NoAnswer(Cause::Limit(Limit::Stack(512 << 10))));
    let grows = "(if (i32.eq (table.grow $t (ref.null func) (i32.const 30000)) (i32.const -1)) (then unreachable))";
    let table = with("(table $t 1 funcref)", "", grows);
    assert_eq!(outcome(&table).await, Outcome::NoAnswer(Cause::Limit(Limit::Table(20_000))));
}

#[tokio::test]
async fn a_call_leaves_nothing_in_memory() {
    let counts = "(i32.store (i32.const 32) (i32.add (i32.load (i32.const 32)) (i32.const 1)))
        (call $letter (i32.load (i32.const 32)))";
    let code = load(&plugins_with(1, 1), &saying("", counts)).await;
    for _ in 0..3 {
        assert_eq!(Asking::bash("ls").context(&*code).await, "b");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_calls_at_a_time_gets_its_own_answer() {
    let plugins = plugins_with(4, 64);
    for bytes in [saying("", "(call $variables)"), run("(i32.const 0)")] {
        let code = load(&plugins, &bytes).await;
        let calls = (0..32).map(|n| {
            let code = Arc::clone(&code);
            tokio::spawn(async move { (n, Asking::bash(&format!("echo {n};")).of(&*code).await.outcome) })
        });
        for call in calls.collect::<Vec<_>>() {
            match call.await.unwrap() {
                (n, Outcome::Continue(Change { context: Some(context), .. })) => {
                    assert!(context.contains(&format!(r#"{{"command":"echo {n};"}}"#)), "{context:?}");
                }
                (_, other) => assert_eq!(other, Outcome::pass()),
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_gives_its_place_back() {
    let plugins = plugins_with(1, 0);
    let (spins, answers) = (load(&plugins, &saying("", SPIN)).await, load(&plugins, &saying("", "")).await);
    let asking = Asking::bash("ls");
    assert!(tokio::time::timeout(Duration::from_millis(30), asking.of(&*spins)).await.is_err());
    assert_eq!(asking.of(&*answers).await.outcome, Outcome::pass());
}

#[tokio::test]
async fn what_cannot_be_started_is_refused_at_load() {
    let start = |body: &str| with(&format!("(func $begin {body}) (start $begin)"), "", "");
    assert!(matches!(refused(&start(SPIN)).await, LoadError::Start(Cause::TimedOut(_))));
    assert!(matches!(refused(&start("unreachable")).await, LoadError::Start(Cause::Trapped { .. })));
    assert!(matches!(refused(&start("(call $exit (i32.const 0))")).await, LoadError::Start(Cause::Trapped { .. })));
    let large = binary(r#"(module (memory 1025) (func (export "_start")))"#);
    assert_eq!(refused(&large).await, LoadError::Start(Cause::Limit(Limit::Memory(64 << 20))));
    let takes = binary(r#"(module (func (export "_start") (param i32)))"#);
    assert!(matches!(refused(&takes).await, LoadError::WrongTypes(why) if why.contains("`_start`")));
    // Who waits for another thread cannot be ended, and memory that is shared is in no ledger.
    for threads in ["(memory 1 1 shared)", "(import \"env\" \"memory\" (memory 1 1 shared))", "(memory i64 1)"] {
        let shared = binary(&format!(r#"(module {threads} (func (export "_start")))"#));
        assert!(matches!(refused(&shared).await, LoadError::Malformed(_) | LoadError::MissingImports(_)), "{threads}");
    }
    let global = binary(r#"(module (global (export "_start") i32 (i32.const 0)))"#);
    assert_eq!(refused(&global).await, LoadError::CoreModule { exports: vec!["_start".into()] });
}

#[tokio::test]
async fn an_import_of_anything_but_preview_1_is_refused_and_named() {
    let importing = |module: &str, name: &str| {
        binary(&format!(r#"(module (import "{module}" "{name}" (func)) (func (export "_start")))"#))
    };
    for (module, name, why) in [
        ("env", "abort", "nothing but `wasi_snapshot_preview1`"),
        ("wasi_unstable", "fd_write", "links `wasi_snapshot_preview1`"),
        ("tacklebox:hooks/log@0.1.0", "write", "nothing but `wasi_snapshot_preview1`"),
    ] {
        let error = refused(&importing(module, name)).await.to_string();
        assert!(error.contains(&format!("`{module}::{name}`")) && error.contains(why), "{error}");
    }
    for (name, kind) in [("throw_dice", "no such function"), ("fd_write", "another type")] {
        let error = refused(&importing("wasi_snapshot_preview1", name)).await;
        assert!(matches!(&error, LoadError::WrongTypes(why) if why.contains(name)), "{kind}: {error}");
    }
}

#[tokio::test]
async fn a_file_that_is_both_a_plugin_and_a_command_is_a_plugin() {
    let lifted = r#"(core module $both-core (func (export "run") (result i32) i32.const 1))
        (core instance $both-core (instantiate $both-core))
        (func $both-run (result (result)) (canon lift (core func $both-core "run")))
        (instance $both (export "run" (func $both-run)))
        (export "wasi:cli/run@0.2.6" (instance $both))"#;
    let typed = text("(call $continue)");
    let end = typed.rfind(')').unwrap();
    let both = binary(&format!("{} {lifted})", &typed[..end]));
    assert_eq!(Inspection::of(&both).unwrap().kind, Kind::Plugin("0.1.0".into()));
    let code = load(&plugins(), &both).await;
    assert!(code.describes_itself());
    assert_eq!(Asking::bash("ls").of(&*code).await.outcome, Outcome::pass());
}

#[tokio::test]
async fn a_command_says_nothing_of_itself_and_is_called_as_its_owner_says() {
    let (plugins, bytes) = (plugins(), saying("", ""));
    for (owner, name) in [
        (Owner::new(Source::Sdk).otherwise("guard"), "guard"),
        (Owner::new(Source::Sdk).otherwise("guard").named("mine"), "guard"),
        (Owner::new(Source::Sdk), "command"),
    ] {
        let code = plugins.load(&bytes, owner, Limits::default()).await.unwrap();
        assert!(!code.describes_itself() && code.info().hooks.is_empty());
        assert_eq!(code.info().name.as_str(), name);
    }
}

#[tokio::test]
async fn compiled_modules_are_kept_and_taken_again() {
    let home = tempfile::tempdir().unwrap();
    let cache = CompileCache::at(home.path().join("compiled"));
    let guard = saying("kept", "(call $print (i32.const 1))");
    for origin in [Origin::Compiler, Origin::Cache] {
        let host = plugins().caching_in(cache.clone());
        let compiled = component::compile(&host.room, &host.shelf, host.cache.as_ref(), &guard).await.unwrap();
        assert_eq!(compiled.origin, origin);
        assert_eq!(Asking::bash("ls").context(&*load(&host, &guard).await).await, "kept");
    }
    assert_eq!(cache.stock().unwrap().entries, 1);
}
