//! The guests of the workspace, in Rust and with the SDK: one that misbehaves as it is told, and the examples.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::asking::{Asking, binary, load, object, plugins};
use crate::ask::{Asked, LogLevel};
use crate::matching::Commands;
use crate::outcome::{Cause, Limit, Outcome, Permission};
use crate::plugin::Code;
use crate::source::Source;
use crate::wasm::{Limits, LoadError, Owner};

pub(super) fn file(path: &str) -> Vec<u8> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    std::fs::read(workspace.join(path)).unwrap()
}

async fn misbehave() -> Arc<dyn Code> {
    load(&plugins(), &file("tests/guests/misbehave/misbehave.wasm")).await
}

pub(super) fn told(config: Value) -> Asking {
    Asking { config: object(config), ..Asking::bash("git status") }
}

async fn does(code: &dyn Code, deed: &str) -> Asked {
    told(json!({"do": deed})).of(code).await
}

async fn fails(code: &dyn Code, deed: &str) -> Cause {
    told(json!({"do": deed})).cause(code).await
}

#[tokio::test]
async fn each_misdeed_costs_one_call_and_is_named() {
    let code = misbehave().await;
    assert_eq!(fails(&*code, "recurse").await, Cause::Limit(Limit::Stack(512 << 10)));
    assert_eq!(fails(&*code, "allocate").await, Cause::Limit(Limit::Memory(64 << 20)));
    assert_eq!(fails(&*code, "huge").await, Cause::Limit(Limit::Answer(1 << 20)));
    assert_eq!(fails(&*code, "err").await, Cause::Failed("misbehave failed as it was told".into()));
    assert!(matches!(fails(&*code, "invalid-json").await, Cause::NotAnAnswer(_)));
    assert!(matches!(fails(&*code, "not-object").await, Cause::NotAnAnswer(_)));
    let spin = told(json!({"do": "spin"})).within(Duration::from_millis(50)).cause(&*code).await;
    assert_eq!(spin, Cause::TimedOut(Duration::from_millis(50)));
    assert_eq!(does(&*code, "continue").await.outcome, Outcome::pass());
}

#[tokio::test]
async fn a_panic_is_told_with_its_function_and_its_text() {
    let asked = does(&*misbehave().await, "panic").await;
    match asked.outcome {
        Outcome::NoAnswer(Cause::Trapped { backtrace, .. }) => {
            let named = backtrace.iter().any(|function| function.ends_with("a_function_that_panics"));
            assert!(named, "{backtrace:?}");
        }
        other => panic!("{other:?}"),
    }
    assert!(asked.log.iter().any(|line| line.level == LogLevel::Error && line.message.contains("as it was told")));
}

#[tokio::test]
async fn what_it_does_in_good_order_is_heard() {
    let code = misbehave().await;
    assert_eq!(told(json!({"do": "block"})).reason(&*code).await, "misbehave blocks as it was told");
    for (deed, expected) in [("allow", Permission::Allow), ("ask", Permission::Ask), ("deny", Permission::Deny)] {
        match does(&*code, deed).await.outcome {
            Outcome::Continue(change) => assert_eq!(change.permission, Some(expected)),
            other => panic!("{other:?}"),
        }
    }
    for count in ["1", "2"] {
        assert_eq!(told(json!({"do": "state"})).context(&*code).await, count);
        assert_eq!(told(json!({"do": "remember"})).context(&*code).await, "1");
    }
    assert_eq!(told(json!({"do": "process"})).context(&*code).await, "denied");
    assert_eq!(does(&*code, "process").await.warnings.len(), 1);
    let flood = does(&*code, "log-flood").await;
    assert_eq!((flood.log.len(), flood.warnings.len()), (100, 1));
}

#[tokio::test]
async fn it_sees_all_that_it_is_told() {
    let mut asking = told(json!({"do": "echo"}));
    asking.commands = Some(Commands::default());
    asking.event.attempt = Some(3);
    let echo: Value = serde_json::from_str(&asking.context(&*misbehave().await).await).unwrap();
    assert_eq!(echo["input"]["toolInput"], json!({"command": "git status"}));
    assert_eq!(echo["context"]["sessionId"], "s1");
    assert_eq!(echo["context"]["attempt"], 3);
    assert_eq!(echo["context"]["recheck"], false);
    assert_eq!(echo["context"]["extra"]["commands"], json!([]));
    assert_eq!(echo["config"], json!({"do": "echo"}));
}

#[tokio::test]
async fn what_it_says_of_itself_is_read() {
    let code = misbehave().await;
    let hook = &code.info().hooks[0];
    assert_eq!(
        (code.info().name.as_str(), hook.event.as_str(), hook.name.as_str()),
        ("misbehave", "PreToolUse", "misbehave")
    );
    assert_eq!((hook.matcher.as_deref(), hook.condition.as_deref()), (Some("bash"), Some("bash(*)")));
    assert_eq!(hook.timeout, Some(Duration::from_secs(1)));
}

#[tokio::test]
async fn the_broken_guests_are_refused_each_for_its_reason() {
    let plugins = plugins();
    for (name, expected) in [
        ("missing-import", "`tacklebox:hooks/telepathy@0.1.0` (not in interface version 0.1.0"),
        (
            "newer-interface",
            "built for `tacklebox:hooks/callback@0.2.0`, and this host runs `tacklebox:hooks/callback@0.1.x`",
        ),
        ("other-world", "exports `example:greeter/greeter@1.0.0`; expected `tacklebox:hooks/callback@0.1.x`"),
    ] {
        let text = String::from_utf8(file(&format!("tests/guests/broken/{name}.wat"))).unwrap();
        let error: LoadError =
            plugins.load(&binary(&text), Owner::new(Source::Sdk), Limits::default()).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{name}: {error}");
    }
}
