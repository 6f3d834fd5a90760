//! What is still on its way when its session ends, and the next session of that id.

use std::sync::Arc;
use std::time::Duration;

use tacklebox::event::{
    EventName, PostToolUse, PostToolUseFailure, PreToolUse, SessionEndInput, ToolFailure, ToolOutcome, TurnStart,
    TurnStartInput,
};
use tacklebox::hook::{FunctionHook, HookSpec, OnError};
use tacklebox::outcome::{Cause, Outcome};
use tacklebox::report::{Answer, Report, Skipped, Word};
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};
use tokio::sync::Semaphore;

use crate::agent::{Seen, bash, cx, host, rewrite, spy};

/// A hook that is asked, and answers when it is told to.
#[derive(Clone)]
struct Held {
    asked: Arc<Semaphore>,
    goes: Arc<Semaphore>,
}

impl Held {
    fn new() -> Self {
        Self { asked: Arc::new(Semaphore::new(0)), goes: Arc::new(Semaphore::new(0)) }
    }

    fn hook(&self, event: EventName, name: &str, answer: Outcome) -> HookSpec {
        let held = self.clone();
        let run = FunctionHook::new(move |_, _| {
            let (held, answer) = (held.clone(), answer.clone());
            async move {
                held.asked.add_permits(1);
                held.goes.acquire().await.unwrap().forget();
                answer
            }
        });
        HookSpec { timeout: Some(Duration::from_secs(300)), ..HookSpec::new(event, name, run.into()) }
    }

    async fn is_asked(&self) {
        self.asked.acquire().await.unwrap().forget();
    }

    fn go(&self) {
        self.goes.add_permits(1);
    }
}

fn passing(spec: HookSpec) -> HookSpec {
    HookSpec { on_error: Some(OnError::Pass), ..spec }
}

async fn end(host: &Runtime) {
    host.session_end(&SessionEndInput::default(), &cx()).await;
}

async fn turn(host: &Runtime) -> Answer<TurnStart> {
    host.turn_start(&TurnStartInput::default(), &cx()).await
}

fn skipped(report: &Report, hook: &str) -> Option<Skipped> {
    report.hooks.iter().find(|line| line.name.as_str() == hook).and_then(|line| line.skipped)
}

#[tokio::test]
async fn a_dispatch_that_outlives_its_session_begins_no_call_and_a_guard_blocks_whatever_its_silence_means() {
    let (held, seen) = (Held::new(), Seen::default());
    let first = held.hook(EventName::PreToolUse, "first", Outcome::pass());
    let host = host(vec![first, passing(spy(EventName::PreToolUse, "guard", &seen))]).await;
    let (call, cx) = (bash("ls"), cx());
    let (answer, ()) = tokio::join!(host.pre_tool_use(&call, &cx), async {
        held.is_asked().await;
        end(&host).await;
        held.go();
    });
    let PreToolUse::Blocked { reason, .. } = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert!(reason.contains("`guard`") && reason.contains("session has ended"), "{reason}");
    assert_eq!(answer.report.hooks[0].outcome, Some(Outcome::pass()), "what ran counts");
    assert_eq!(skipped(&answer.report, "guard"), Some(Skipped::SessionEnded));
    let said: Vec<_> = answer.report.warnings.iter().map(ToString::to_string).collect();
    assert!(said.iter().any(|said| said.contains("it was not asked: its session has ended")), "{said:?}");
    assert!(seen.all().is_empty());

    held.go();
    assert!(matches!(host.pre_tool_use(&call, &cx).await.verdict, PreToolUse::Proceed { .. }), "the next session");
    assert_eq!(seen.all(), ["ls"]);
}

#[tokio::test]
async fn the_recheck_of_a_rewrite_is_not_begun_after_the_end() {
    let (held, seen) = (Held::new(), Seen::default());
    let writer = held.hook(EventName::PreToolUse, "writer", rewrite("rm"));
    let host = host(vec![passing(spy(EventName::PreToolUse, "guard", &seen)), writer]).await;
    let (call, cx) = (bash("ls"), cx());
    let (answer, ()) = tokio::join!(host.pre_tool_use(&call, &cx), async {
        held.is_asked().await;
        end(&host).await;
        held.go();
    });
    assert!(matches!(answer.verdict, PreToolUse::Blocked { .. }), "{:?}", answer.verdict);
    assert_eq!(answer.report.hooks[0].recheck, Some(Outcome::NoAnswer(Cause::SessionEnded)));
    assert_eq!(seen.all(), ["ls"]);
}

#[tokio::test]
async fn a_redactor_that_comes_after_the_end_lets_no_output_and_no_error_through() {
    let (held, seen) = (Held::new(), Seen::default());
    let of =
        |event: EventName| [held.hook(event.clone(), "first", Outcome::pass()), passing(spy(event, "redactor", &seen))];
    let hooks = [of(EventName::PostToolUse), of(EventName::PostToolUseFailure)].concat();
    let (host, cx) = (host(hooks).await, cx());
    let outcome = ToolOutcome { call: bash("ls"), output: "hunter2".into(), original: None };
    let ends = async || {
        held.is_asked().await;
        end(&host).await;
        held.go();
    };
    let (answer, ()) = tokio::join!(host.post_tool_use(&outcome, &cx), ends());
    assert!(matches!(answer.verdict, PostToolUse::Withheld { .. }), "{:?}", answer.verdict);
    let failure = ToolFailure { call: bash("ls"), error: "hunter2".into(), original: None };
    let (answer, ()) = tokio::join!(host.post_tool_use_failure(&failure, &cx), ends());
    let shown = PostToolUseFailure::for_model(&answer.verdict, "hunter2");
    assert!(shown.contains("session has ended") && !shown.contains("hunter2"), "{shown}");
    assert!(seen.all().is_empty());
}

#[tokio::test]
async fn a_late_call_neither_takes_nor_frees_a_once_mark_of_the_next_session() {
    let held = Held::new();
    let once = HookSpec { once: true, ..held.hook(EventName::TurnStart, "once", Outcome::pass()) };
    let host = host(vec![once]).await;
    let (late, ()) = tokio::join!(turn(&host), async {
        held.is_asked().await;
        end(&host).await;
        // Asked in the new session, although the old one still asks it.
        let ((), new) = tokio::join!(held.is_asked(), async {
            held.go();
            held.go();
            turn(&host).await
        });
        assert_eq!(new.report.hooks[0].word(), Word::Continued);
    });
    assert_eq!(late.report.hooks[0].word(), Word::Continued);
    assert_eq!(skipped(&turn(&host).await.report, "once"), Some(Skipped::Once));
    end(&host).await;

    // An old one that fails frees no mark but its own.
    let late = HookSpec { once: true, ..held.hook(EventName::TurnStart, "once", Outcome::NoAnswer(Cause::Cancelled)) };
    host.register(Source::Sdk, Reach::Everywhere, [late.clone()]).unwrap();
    tokio::join!(turn(&host), async {
        held.is_asked().await;
        end(&host).await;
        let ran = FunctionHook::new(|_, _| async { Outcome::pass() });
        let answers = HookSpec { kind: ran.into(), ..late };
        host.register(Source::Sdk, Reach::Everywhere, [answers]).unwrap();
        assert_eq!(turn(&host).await.report.hooks[0].word(), Word::Continued);
        held.go();
    });
    assert_eq!(skipped(&turn(&host).await.report, "once"), Some(Skipped::Once));
}

#[tokio::test]
async fn a_once_hook_that_comes_late_leaves_its_mark_to_the_next_session() {
    let (held, seen) = (Held::new(), Seen::default());
    let once = HookSpec { once: true, ..spy(EventName::TurnStart, "once", &seen) };
    let host = host(vec![held.hook(EventName::TurnStart, "first", Outcome::pass()), once]).await;
    let (late, ()) = tokio::join!(turn(&host), async {
        held.is_asked().await;
        end(&host).await;
        held.go();
    });
    assert_eq!(skipped(&late.report, "once"), Some(Skipped::SessionEnded));
    held.go();
    assert_eq!(skipped(&turn(&host).await.report, "once"), None);
    assert_eq!(seen.all().len(), 1);
}

#[tokio::test]
async fn what_fails_late_is_not_held_against_the_hook_in_the_next_session() {
    let held = Held::new();
    let broke = Outcome::NoAnswer(Cause::Failed("as ever".into()));
    let host = host(vec![held.hook(EventName::TurnStart, "broken", broke)]).await;
    let late = async || turn(&host).await;
    let (.., ()) = tokio::join!(late(), late(), late(), late(), async {
        for _ in 0..4 {
            held.is_asked().await;
        }
        end(&host).await;
        (0..4).for_each(|_| held.go());
    });
    for _ in 0..4 {
        held.go();
        let report = turn(&host).await.report;
        assert!(!report.warnings.iter().any(|said| said.to_string().contains("set aside")), "{report:?}");
    }
}

#[tokio::test]
async fn an_end_that_is_announced_twice_does_not_end_the_next_session() {
    let (held, seen) = (Held::new(), Seen::default());
    let goodbye = held.hook(EventName::SessionEnd, "goodbye", Outcome::pass());
    let once = HookSpec { once: true, ..spy(EventName::TurnStart, "once", &seen) };
    let (host, own) = (Arc::new(host(vec![goodbye, once]).await), Source::Session("s1".into()));
    let announced = |host: Arc<Runtime>| tokio::spawn(async move { end(&host).await });
    let first = announced(host.clone());
    held.is_asked().await;
    let second = announced(host.clone());
    held.is_asked().await;
    held.go();
    first.await.unwrap();
    let hook = spy(EventName::TurnStart, "own", &seen);
    host.register(own.clone(), Reach::Session("s1".into()), [hook]).unwrap();
    turn(&host).await;
    held.go();
    second.await.unwrap();
    assert!(host.hooks().iter().any(|hook| hook.source == own), "the new session keeps its hooks");
    assert_eq!(skipped(&turn(&host).await.report, "once"), Some(Skipped::Once), "and its marks");
}
