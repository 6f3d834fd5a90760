//! The record of a session's hooks that an embedder may keep.

use std::sync::{Arc, Mutex};

use tacklebox::event::{Context, EventName, SessionEndInput, TurnStartInput};
use tacklebox::hook::{CommandHook, HookSpec, KindName};
use tacklebox::id::Generation;
use tacklebox::outcome::Outcome;
use tacklebox::port::{DroppedBy, SessionAudit, Words};
use tacklebox::report::Word;
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};

use crate::agent::{bare, bash, cx, hook, rewrite};

type Kept = Arc<Mutex<Vec<SessionAudit>>>;

async fn audited() -> (Runtime, Kept) {
    let kept = Kept::default();
    let keep = kept.clone();
    let host = bare().audit(Arc::new(move |record: &SessionAudit| keep.lock().unwrap().push(record.clone())));
    (host.build().await.unwrap(), kept)
}

fn pass(event: EventName, name: &str) -> HookSpec {
    hook(event, name, |_| Outcome::pass())
}

fn names(record: &SessionAudit) -> Vec<&str> {
    record.hooks.iter().map(|hook| hook.name().as_str()).collect()
}

#[tokio::test]
async fn the_end_of_a_session_tells_what_was_active_and_how_it_did() {
    let (host, kept) = audited().await;
    let child = Context::new("root").sub_agent("child", "a1", "worker");
    let reach = Reach::Session("child".into());
    let guard = hook(EventName::PreToolUse, "guard", |event| match event.input["command"].as_str() {
        Some("rm") => Outcome::block("no"),
        Some("ls") => rewrite("ls -1"),
        _ => Outcome::pass(),
    });
    let broken = hook(EventName::TurnStart, "broken", |_| panic!("again"));
    host.register(Source::Session("child".into()), reach.clone(), [guard, broken]).unwrap();
    let mut command = HookSpec::new(EventName::PreToolUse, "command", CommandHook::new("true").into());
    command.once = true;
    host.register(Source::Skill("s".into()), reach, [command]).unwrap();
    host.register(Source::Sdk, Reach::Everywhere, [pass(EventName::PreToolUse, "everywhere")]).unwrap();
    for text in ["rm", "ls", "cat", "cat"] {
        host.pre_tool_use(&bash(text), &child).await;
    }
    for _ in 0..7 {
        host.turn_start(&TurnStartInput::default(), &child).await;
    }
    let before = std::time::SystemTime::now();
    host.session_end(&SessionEndInput::default(), &child).await;
    let kept = kept.lock().unwrap();
    let [record] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!((record.session.as_str(), record.why), ("child", DroppedBy::SessionEnd));
    assert_eq!(record.root_session, Some("root".into()));
    assert!(record.at >= before);
    assert_eq!(names(record), ["command", "guard", "broken"]);
    let [command, guard, broken] = record.hooks.as_slice() else { panic!() };
    assert_eq!((command.kind(), command.generation), (KindName::Command, Generation(1)));
    assert_eq!(command.words, Words { continued: 1, skipped: 3, ..Words::default() });
    assert!(format!("{:?}", command.spec).contains("\"true\""), "how it was");
    let words = Words { continued: 2, blocked: 1, modified: 1, ..Words::default() };
    assert_eq!((guard.asked, guard.words, guard.set_aside), (4, words, false));
    assert_eq!((broken.words.of(Word::Failed), broken.words.of(Word::Skipped), broken.set_aside), (5, 2, true));
}

#[tokio::test]
async fn every_way_in_which_hooks_of_a_session_go_is_told() {
    let (host, kept) = audited().await;
    let source = Source::Session("s1".into());
    let (own, tree) = (Reach::Session("s1".into()), Reach::Tree("s1".into()));
    host.register(source.clone(), own.clone(), [pass(EventName::Stop, "a"), pass(EventName::Stop, "b")]).unwrap();
    host.register(source.clone(), own.clone(), [pass(EventName::Stop, "a")]).unwrap();
    host.unregister(source.clone(), EventName::Stop, "b");
    host.unregister_all(source.clone());
    host.register(Source::Skill("s".into()), tree, [pass(EventName::Stop, "skill")]).unwrap();
    host.register(Source::Session("s2".into()), Reach::Everywhere, [pass(EventName::Stop, "other")]).unwrap();
    host.register(Source::Sdk, Reach::Everywhere, [pass(EventName::Stop, "no session's")]).unwrap();
    host.shutdown().await;
    let told: Vec<_> = kept
        .lock()
        .unwrap()
        .iter()
        .map(|record| (record.session.to_string(), record.why, names(record).join(" ")))
        .collect();
    let one = |why, names: &str| ("s1".to_owned(), why, names.to_owned());
    assert_eq!(
        told,
        [
            one(DroppedBy::Replaced, "a"),
            one(DroppedBy::Unregistered, "b"),
            one(DroppedBy::Unregistered, "a"),
            one(DroppedBy::Shutdown, "skill"),
            ("s2".to_owned(), DroppedBy::Shutdown, "other".to_owned()),
        ]
    );
}

#[tokio::test]
async fn an_audit_may_use_the_host() {
    let place: Arc<std::sync::OnceLock<Arc<Runtime>>> = Arc::default();
    let there = place.clone();
    let audit = move |record: &SessionAudit| {
        let host = there.get().unwrap();
        assert!(host.hooks().iter().all(|hook| hook.source != Source::Session(record.session.clone())));
        host.register(Source::Sdk, Reach::Everywhere, [pass(EventName::Stop, "after")]).unwrap();
        host.unregister_all(Source::Sdk);
    };
    let host = Arc::new(bare().audit(Arc::new(audit)).build().await.unwrap());
    assert!(place.set(host.clone()).is_ok());
    let source = Source::Session("s1".into());
    host.register(source.clone(), Reach::Session("s1".into()), [pass(EventName::Stop, "a")]).unwrap();
    host.unregister_all(source);
    assert_eq!((host.hooks().len(), host.diagnostics().len()), (0, 0), "{:?}", host.diagnostics());
}

#[tokio::test]
async fn an_audit_that_panics_harms_nobody_and_is_said() {
    let host = bare().audit(Arc::new(|_: &SessionAudit| panic!("no room"))).build().await.unwrap();
    let source = Source::Session("s1".into());
    host.register(source.clone(), Reach::Session("s1".into()), [pass(EventName::Stop, "a")]).unwrap();
    let dropped = host.unregister_all(source);
    assert_eq!(dropped.hooks, 1);
    dropped.ended().await;
    assert!(host.diagnostics()[0].to_string().contains("audit of session `s1` panicked"));
    host.session_end(&SessionEndInput::default(), &cx()).await;
    assert_eq!(host.diagnostics().len(), 1, "a session without hooks of its own leaves no record");
}
