//! A dispatch that may take so long as a whole. The clock is the test's.

use std::time::Duration;

use tacklebox::event::{
    Consent, EventName, PostToolUse, PostToolUseFailure, PreToolUse, PromptInput, SessionStart, Stop, StopInput,
    ToolFailure, ToolOutcome, TurnStart, TurnStartInput, UserPromptSubmit,
};
use tacklebox::hook::{FunctionHook, HookSpec, OnError};
use tacklebox::outcome::{Cause, Outcome};
use tacklebox::report::{Skipped, Word};
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};
use tokio::time::Instant;

use crate::agent::{Seen, bare, bash, cx, hook, is_about, output, rewrite, spy};

const SECOND: Duration = Duration::from_secs(1);

/// A host whose dispatches may take two seconds.
async fn within_two_seconds(hooks: Vec<HookSpec>) -> Runtime {
    let host = bare().budget(2 * SECOND).build().await.unwrap();
    host.register(Source::Sdk, Reach::Everywhere, hooks).unwrap();
    host
}

/// A hook that goes on after so many seconds. What its silence means is said: pass.
fn slow(event: EventName, name: &str, seconds: u32) -> HookSpec {
    answers_after(event, name, seconds, Outcome::pass())
}

fn answers_after(event: EventName, name: &str, seconds: u32, answer: Outcome) -> HookSpec {
    let run = FunctionHook::new(move |_, _| {
        let answer = answer.clone();
        async move {
            tokio::time::sleep(SECOND * seconds).await;
            answer
        }
    });
    HookSpec { on_error: Some(OnError::Pass), ..HookSpec::new(event, name, run.into()) }
}

fn passing(spec: HookSpec) -> HookSpec {
    HookSpec { on_error: Some(OnError::Pass), ..spec }
}

fn names_the_budget(reason: &str, hook: &str) {
    assert!(reason.contains("budget of 2s") && reason.contains(hook), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_could_not_be_asked_in_time_blocks_whatever_its_silence_means() {
    let seen = Seen::default();
    let host = within_two_seconds(vec![
        slow(EventName::PreToolUse, "slow", 1),
        slow(EventName::PreToolUse, "slower", 1),
        passing(spy(EventName::PreToolUse, "guard", &seen)),
    ])
    .await;
    let began = Instant::now();
    let answer = host.pre_tool_use(&bash("ls"), &cx()).await;
    let PreToolUse::Blocked { reason, .. } = answer.verdict else { panic!("{:?}", answer.verdict) };
    names_the_budget(&reason, "guard");
    assert_eq!((answer.report.hooks[2].skipped, began.elapsed()), (Some(Skipped::Budget), 2 * SECOND));
    assert!(seen.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_hook_has_at_most_what_is_left_and_its_own_time_limit_stays_its_own() {
    let own = |limit| HookSpec { timeout: Some(limit), ..slow(EventName::PreToolUse, "late", 100) };
    let host = within_two_seconds(vec![slow(EventName::PreToolUse, "slow", 1), own(SECOND / 2)]).await;
    let answer = host.pre_tool_use(&bash("ls"), &cx()).await;
    assert!(matches!(answer.verdict, PreToolUse::Proceed { .. }), "its own limit, its own `onError`");
    assert_eq!(answer.report.hooks[1].outcome, Some(Outcome::NoAnswer(Cause::TimedOut(SECOND / 2))));

    let host = within_two_seconds(vec![slow(EventName::PreToolUse, "slow", 1), own(10 * SECOND)]).await;
    let began = Instant::now();
    let answer = host.pre_tool_use(&bash("ls"), &cx()).await;
    assert_eq!(began.elapsed(), 2 * SECOND);
    assert_eq!(answer.report.hooks[1].outcome, Some(Outcome::NoAnswer(Cause::OverBudget(2 * SECOND))));
    assert_eq!(answer.report.decided_by.unwrap().hook.as_str(), "late");
    let PreToolUse::Blocked { reason, .. } = answer.verdict else { panic!("{:?}", answer.verdict) };
    names_the_budget(&reason, "late");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_asked_is_skipped_and_said_by_name() {
    let seen = Seen::default();
    let host = within_two_seconds(vec![
        slow(EventName::TurnStart, "slow", 3),
        spy(EventName::TurnStart, "one", &seen),
        spy(EventName::TurnStart, "two", &seen),
    ])
    .await;
    let answer = host.turn_start(&TurnStartInput::default(), &cx()).await;
    assert_eq!(answer.verdict, TurnStart::Told { context: None });
    let report = answer.report;
    let skipped: Vec<_> = report.hooks.iter().map(|hook| hook.skipped).collect();
    assert_eq!(skipped, [None, Some(Skipped::Budget), Some(Skipped::Budget)]);
    let said: Vec<_> = report.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 3);
    assert!(said[1].contains("`one`") && said[1].contains("budget of 2s"), "{said:?}");
    assert!(seen.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_would_not_have_been_asked_anyway_blocks_nothing() {
    let seen = Seen::default();
    let once = HookSpec { once: true, ..spy(EventName::PreToolUse, "once", &seen) };
    let fast = spy(EventName::PreToolUse, "fast", &seen);
    let twin = HookSpec { name: "twin".into(), ..fast.clone() };
    let host = bare().budget(2 * SECOND).build().await.unwrap();
    host.register(Source::Sdk, Reach::Everywhere, [once.clone()]).unwrap();
    host.pre_tool_use(&bash("first"), &cx()).await;
    let slow = hook_that_blocks_the_thread(EventName::PreToolUse);
    host.register(Source::Managed, Reach::Everywhere, [fast, slow]).unwrap();
    host.register(Source::Managed, Reach::Everywhere, [twin]).unwrap();
    let answer = host.pre_tool_use(&bash("second"), &cx()).await;
    assert!(matches!(answer.verdict, PreToolUse::Proceed { .. }), "{:?}", answer.verdict);
    let skipped: Vec<_> = answer.report.hooks.iter().map(|hook| hook.skipped).collect();
    assert_eq!(skipped, [None, None, Some(Skipped::Duplicate), Some(Skipped::Once)]);
}

/// It answers, and only then the whole budget is over.
fn hook_that_blocks_the_thread(event: EventName) -> HookSpec {
    let run = FunctionHook::new(|_, _| async {
        tokio::time::advance(3 * SECOND).await;
        Outcome::pass()
    });
    HookSpec::new(event, "slow", run.into())
}

#[tokio::test(start_paused = true)]
async fn a_once_hook_that_was_not_asked_is_asked_the_next_time() {
    let seen = Seen::default();
    let once = HookSpec { once: true, ..spy(EventName::TurnStart, "once", &seen) };
    let host = within_two_seconds(vec![slow(EventName::TurnStart, "slow", 3), once]).await;
    host.turn_start(&TurnStartInput::default(), &cx()).await;
    assert!(seen.all().is_empty());
    assert_eq!(host.unregister(Source::Sdk, EventName::TurnStart, "slow").hooks, 1);
    host.turn_start(&TurnStartInput::default(), &cx()).await;
    assert_eq!(seen.all().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_recheck_of_a_rewrite_is_within_the_budget_too() {
    let guard = passing(hook(EventName::PreToolUse, "guard", |event| match is_about(event, "rm") {
        true => Outcome::block("no"),
        false => Outcome::pass(),
    }));
    let seen = Seen::default();
    let writer = answers_after(EventName::PreToolUse, "writer", 1, rewrite("rm"));
    let slow_again = passing(slow(EventName::PreToolUse, "slow", 1));
    let host =
        within_two_seconds(vec![slow_again, passing(spy(EventName::PreToolUse, "spy", &seen)), guard, writer]).await;
    let answer = host.pre_tool_use(&bash("ls"), &cx()).await;
    let PreToolUse::Blocked { reason, .. } = answer.verdict else { panic!("{:?}", answer.verdict) };
    names_the_budget(&reason, "slow");
    assert_eq!(answer.report.hooks[0].recheck, Some(Outcome::NoAnswer(Cause::OverBudget(2 * SECOND))));
    assert_eq!(seen.all(), ["ls"]);
}

#[tokio::test(start_paused = true)]
async fn a_redactor_that_was_not_asked_lets_no_output_and_no_error_through() {
    let redactor = |event| passing(hook(event, "redact", |_| output("clean")));
    let ran = ToolOutcome { call: bash("ls"), output: "hunter2".into(), original: None };
    let failed = ToolFailure { call: bash("ls"), error: "hunter2".into(), original: None };
    // The one before it took all the time there was; or it is itself cut off.
    for (first, takes) in [("slow", 2), ("redact", 3)] {
        let hooks = |event: EventName| match first {
            "slow" => vec![slow(event.clone(), "slow", takes), redactor(event)],
            _ => vec![answers_after(event, "redact", takes, output("clean"))],
        };
        let answer = within_two_seconds(hooks(EventName::PostToolUse)).await.post_tool_use(&ran, &cx()).await;
        let PostToolUse::Withheld { reason, .. } = &answer.verdict else { panic!("{:?}", answer.verdict) };
        names_the_budget(reason, "redact");
        let host = within_two_seconds(hooks(EventName::PostToolUseFailure)).await;
        let PostToolUseFailure::Shown { error: Some(error), .. } =
            host.post_tool_use_failure(&failed, &cx()).await.verdict
        else {
            panic!("shown as it was")
        };
        names_the_budget(&error, "redact");
        assert!(!error.contains("hunter2"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_not_sent_and_a_first_message_not_replaced() {
    let host = within_two_seconds(vec![slow(EventName::UserPromptSubmit, "slow", 3)]).await;
    let verdict = host.user_prompt_submit(&PromptInput { prompt: "hello".into() }, &cx()).await.verdict;
    assert!(matches!(&verdict, UserPromptSubmit::Blocked { reason, .. } if reason.contains("budget")), "{verdict:?}");

    let writer = hook(EventName::SessionStart, "writer", |_| output("the password is hunter2"));
    let host = within_two_seconds(vec![writer, slow(EventName::SessionStart, "redactor", 3)]).await;
    let verdict = host.session_start(&cx()).await.verdict;
    assert_eq!(verdict, SessionStart::Begun { initial_message: None, context: None, exports: Vec::new() });
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_sent_on_and_not_for_ever() {
    let host = within_two_seconds(vec![slow(EventName::Stop, "slow", 3)]).await;
    for (attempt, goes_on) in [(1, true), (9, false)] {
        let verdict = host.stop(&StopInput { reason: "done".into(), attempt }, &cx()).await.verdict;
        assert_eq!(matches!(verdict, Stop::GoesOn { .. }), goes_on, "{verdict:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_was_slow_through_no_fault_of_its_own_is_not_set_aside() {
    let host = within_two_seconds(vec![
        slow(EventName::TurnStart, "slow", 3),
        passing(HookSpec { timeout: Some(SECOND), ..slow(EventName::TurnStart, "victim", 0) }),
    ])
    .await;
    for _ in 0..7 {
        let report = host.turn_start(&TurnStartInput::default(), &cx()).await.report;
        assert_eq!(report.hooks[1].skipped, Some(Skipped::Budget));
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_budget_hooks_take_as_long_as_they_may() {
    let host = bare().build().await.unwrap();
    let slow = |name: &str| HookSpec { timeout: Some(100 * SECOND), ..slow(EventName::PreToolUse, name, 90) };
    host.register(Source::Sdk, Reach::Everywhere, [slow("one"), slow("two")]).unwrap();
    let answer = host.pre_tool_use(&bash("ls"), &cx()).await;
    let consent = Consent::Unset;
    assert_eq!(answer.verdict, PreToolUse::Proceed { input: None, rewrite: None, context: None, consent });
    assert!(answer.report.hooks.iter().all(|hook| hook.word() == Word::Continued));
}
