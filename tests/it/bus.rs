//! What is told of while it happens.

use tacklebox::HookRuntime as _;
use tacklebox::bus::{Heard, Record, Records};
use tacklebox::event::EventName;
use tacklebox::outcome::Outcome;
use tacklebox::source::{Reach, Source};

use crate::agent::{bare, bash, cx, hook};

/// All that was told, by name and hook; the host is gone by then.
async fn all(mut records: Records) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(heard) = records.next().await {
        let Heard::Record(record) = heard else { panic!("{heard:?}") };
        let hook = record.to_json()["hook"].as_str().map(|hook| format!(" {hook}")).unwrap_or_default();
        names.push(format!("{}{hook}", record.name()));
    }
    names
}

#[tokio::test]
async fn a_dispatch_is_told_step_by_step_and_so_is_what_comes_and_goes() {
    let host = bare().build().await.unwrap();
    let records = host.listen();
    let pass = |name| hook(EventName::PreToolUse, name, |_| Outcome::pass());
    let twin = tacklebox::hook::HookSpec { name: "twin".into(), ..pass("first") };
    let first = tacklebox::hook::HookSpec { name: "first".into(), ..twin.clone() };
    let no = hook(EventName::PreToolUse, "no", |_| Outcome::block("no"));
    host.register(Source::Sdk, Reach::Everywhere, [first, twin, no]).unwrap();
    host.pre_tool_use(&bash("ls"), &cx()).await;
    host.unregister_all(Source::Sdk);
    drop(host);
    assert_eq!(
        all(records).await,
        [
            "hook.registered",
            "hook.triggered first",
            "hook.finished first",
            "hook.skipped twin",
            "hook.triggered no",
            "hook.finished no",
            "hook.blocked no",
            "hook.dropped",
        ]
    );
}

#[tokio::test]
async fn a_missing_answer_is_told_with_its_cause_and_as_a_warning() {
    let host = bare().build().await.unwrap();
    let mut records = host.listen();
    host.register(Source::Sdk, Reach::Everywhere, [hook(EventName::Stop, "broken", |_| panic!("out of cheese"))])
        .unwrap();
    let stop = tacklebox::event::StopInput { reason: "done".into(), attempt: 1 };
    host.stop(&stop, &cx()).await;
    drop(host);
    let (mut failed, mut warned) = (false, false);
    while let Some(Heard::Record(record)) = records.next().await {
        match &*record {
            Record::Failed { cause, .. } => failed = cause.contains("out of cheese"),
            Record::Warning(said) => warned = said.to_string().contains("broken"),
            _ => {}
        }
    }
    assert!(failed && warned);
}
