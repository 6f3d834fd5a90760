//! Hooks that fail again and again where nobody waits for a no.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tacklebox::bus::{Heard, Record};
use tacklebox::event::{Context, Event, EventName, PreToolUse, SessionEndInput, ToolFailure, TurnStartInput};
use tacklebox::hook::{CommandHook, FunctionHook, HookSpec, OnError};
use tacklebox::outcome::Outcome;
use tacklebox::report::{Answer, Skipped, Word};
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};

use crate::agent::{bare, bash, cx, hook, host};

async fn turn(host: &Runtime) -> Answer<tacklebox::event::TurnStart> {
    host.turn_start(&TurnStartInput::default(), &cx()).await
}

fn broken(event: EventName) -> HookSpec {
    hook(event, "broken", |_| panic!("out of cheese"))
}

#[tokio::test]
async fn after_five_failures_in_a_row_a_hook_is_asked_no_more_in_its_session() {
    let host = host(vec![broken(EventName::TurnStart)]).await;
    let mut records = host.listen();
    for nth in 1..=5 {
        let report = turn(&host).await.report;
        assert_eq!((report.hooks[0].word(), report.hooks[0].skipped), (Word::Failed, None));
        let said: Vec<_> = report.warnings.iter().map(ToString::to_string).collect();
        let aside = said.iter().filter(|text| text.contains("set aside") && text.contains("broken"));
        assert_eq!(aside.filter(|text| text.contains("out of cheese")).count(), usize::from(nth == 5), "{said:?}");
    }
    let report = turn(&host).await.report;
    assert_eq!((report.hooks[0].word(), report.hooks[0].skipped), (Word::Skipped, Some(Skipped::SetAside)));
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    let event = Event::plain(EventName::TurnStart, TurnStartInput::default().payload());
    let explained = host.explain(&event, &cx());
    assert!(!explained[0].asked && explained[0].because.contains("set aside"), "{explained:?}");

    let other = host.turn_start(&TurnStartInput::default(), &Context::new("s2")).await.report;
    assert_eq!(other.hooks[0].word(), Word::Failed, "another session asks it");
    host.session_end(&SessionEndInput::default(), &cx()).await;
    assert_eq!(turn(&host).await.report.hooks[0].word(), Word::Failed, "it ends with the session");
    drop(host);
    let (mut warned, mut skipped) = (0, 0);
    while let Some(Heard::Record(record)) = records.next().await {
        match &*record {
            Record::Warning(said) if said.to_string().contains("set aside") => warned += 1,
            Record::Skipped { why: Skipped::SetAside, .. } => skipped += 1,
            _ => {}
        }
    }
    assert_eq!((warned, skipped), (1, 1));
}

#[tokio::test]
async fn an_answer_in_between_begins_the_count_anew() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let often = hook(EventName::TurnStart, "often", move |_| match count.fetch_add(1, Ordering::SeqCst) % 5 {
        4 => Outcome::block("no one honours this, but it is an answer"),
        _ => panic!("again"),
    });
    let host = host(vec![often]).await;
    for _ in 0..20 {
        turn(&host).await;
    }
    assert_eq!(asked.load(Ordering::SeqCst), 20);
}

#[tokio::test]
async fn a_command_that_breaks_is_set_aside_and_one_that_says_no_is_not() {
    for (command, aside) in [("exit 127", true), ("kill -9 $$", true), ("exit 2", false), ("exit 1", false)] {
        let host = host(vec![HookSpec::new(EventName::TurnStart, "h", CommandHook::new(command).into())]).await;
        for _ in 0..5 {
            turn(&host).await;
        }
        let skipped = turn(&host).await.report.hooks[0].skipped;
        assert_eq!(skipped, aside.then_some(Skipped::SetAside), "{command}");
    }
}

#[tokio::test]
async fn a_hook_that_a_registration_changes_is_asked_again() {
    let host = host(vec![broken(EventName::TurnStart)]).await;
    for _ in 0..6 {
        turn(&host).await;
    }
    let mended = hook(EventName::TurnStart, "broken", |_| Outcome::pass());
    host.register(Source::Sdk, Reach::Everywhere, [mended]).unwrap();
    assert_eq!(turn(&host).await.report.hooks[0].word(), Word::Continued);
}

#[tokio::test]
async fn a_guard_and_a_redactor_are_asked_however_often_they_fail() {
    let pass = |event| HookSpec { on_error: Some(OnError::Pass), ..broken(event) };
    let host = host(vec![pass(EventName::PreToolUse), pass(EventName::PostToolUseFailure)]).await;
    let failure = ToolFailure { call: bash("ls"), error: "token abc".into(), original: None };
    for _ in 0..8 {
        let answer = host.pre_tool_use(&bash("ls"), &cx()).await;
        assert!(matches!(answer.verdict, PreToolUse::Proceed { .. }));
        assert_eq!(answer.report.hooks[0].word(), Word::Failed);
        assert_eq!(host.post_tool_use_failure(&failure, &cx()).await.report.hooks[0].word(), Word::Failed);
    }
}

#[tokio::test]
async fn a_cancelled_call_does_not_count() {
    let host = Arc::new(bare().build().await.unwrap());
    let hang = || FunctionHook::new(|_, _| std::future::pending::<Outcome>());
    let kind: tacklebox::hook::HookKind = hang().into();
    let spec = HookSpec::new(EventName::TurnStart, "hang", kind);
    for _ in 0..6 {
        host.register(Source::Sdk, Reach::Everywhere, [spec.clone()]).unwrap();
        let asking = tokio::spawn({
            let host = host.clone();
            async move { turn(&host).await.report }
        });
        tokio::task::yield_now().await;
        host.unregister_all_now(Source::Sdk).ended().await;
        assert_eq!(asking.await.unwrap().hooks[0].skipped, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn failures_of_dispatches_at_the_same_time_are_all_counted() {
    let host = Arc::new(host(vec![broken(EventName::TurnStart)]).await);
    let turns: Vec<_> = (0..64)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { turn(&host).await.report })
        })
        .collect();
    let (mut failed, mut warned) = (0, 0);
    for turn in turns {
        let report = turn.await.unwrap();
        failed += usize::from(report.hooks[0].word() == Word::Failed);
        warned += report.warnings.iter().filter(|said| said.to_string().contains("set aside")).count();
    }
    assert!(failed >= 5, "{failed}");
    assert_eq!(warned, 1);
    assert_eq!(turn(&host).await.report.hooks[0].skipped, Some(Skipped::SetAside));
}
