//! How the answers of several hooks become one verdict.

use std::time::Duration;

use tacklebox::HookRuntime as _;
use tacklebox::event::{
    Consent, EventName, PermissionRequest, PostToolUse, PostToolUseFailure, PreToolUse, PromptInput, Stop, StopInput,
    ToolFailure, ToolOutcome, UserPromptSubmit,
};
use tacklebox::hook::{FunctionHook, HookSpec, OnError};
use tacklebox::matching::Condition;
use tacklebox::outcome::{Block, Change, Outcome, Permission, Said};
use tacklebox::policy::Trust;
use tacklebox::report::{Skipped, Word};
use tacklebox::source::{Reach, Scope, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{InputView, Runtime};

use crate::agent::{Seen, bare, bash, command_input, cx, hook, host, is_about, output, rewrite, spy};

fn permission(permission: Permission, reason: &str) -> Outcome {
    let reason = Some(reason.to_owned());
    Outcome::Continue(Change { permission: Some(permission), reason, ..Change::default() })
}

fn exit_code(reason: &str) -> Outcome {
    Outcome::Block(Block::new(reason, Said::ByExitCode))
}

fn ran(output: &str) -> ToolOutcome {
    ToolOutcome { call: bash("ls"), output: output.to_owned(), original: None }
}

#[tokio::test]
async fn a_rewrite_is_shown_to_hooks_on_both_sides_of_it_and_to_its_writer_once() {
    let (before, after) = (Seen::default(), Seen::default());
    let host = host(vec![
        spy(EventName::PreToolUse, "before", &before),
        hook(EventName::PreToolUse, "writer", |_| rewrite("two")),
        spy(EventName::PreToolUse, "after", &after),
    ])
    .await;
    let answer = host.pre_tool_use(&bash("one"), &cx()).await;
    assert_eq!(before.all(), ["one", "two"]);
    assert_eq!(after.all(), ["one", "two"]);
    assert_eq!(answer.report.rewritten_by.unwrap().hook.as_str(), "writer");
    assert_eq!(answer.report.hooks.len(), 3, "a hook that is asked again is one line of the report");
    let PreToolUse::Proceed { input, rewrite, .. } = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert_eq!((input, rewrite), (Some(command_input("two")), Some(command_input("two"))));
}

#[tokio::test]
async fn in_a_waterfall_a_hook_that_saw_the_rewrite_is_not_asked_again() {
    let (before, after) = (Seen::default(), Seen::default());
    let host = bare().input_view(InputView::Waterfall).build().await.unwrap();
    let hooks = [
        spy(EventName::PreToolUse, "before", &before),
        hook(EventName::PreToolUse, "writer", |_| rewrite("two")),
        spy(EventName::PreToolUse, "after", &after),
    ];
    host.register(Source::Sdk, Reach::Everywhere, hooks).unwrap();
    host.pre_tool_use(&bash("one"), &cx()).await;
    assert_eq!(before.all(), ["one", "two"]);
    assert_eq!(after.all(), ["two"]);
}

#[tokio::test]
async fn what_is_said_about_a_rewrite_by_way_of_another_rewrite_does_not_count() {
    let host = host(vec![
        hook(EventName::PreToolUse, "sly", |event| match is_about(event, "two") {
            true => rewrite("three"),
            false => Outcome::pass(),
        }),
        hook(EventName::PreToolUse, "writer", |_| rewrite("two")),
    ])
    .await;
    let answer = host.pre_tool_use(&bash("one"), &cx()).await;
    let PreToolUse::Proceed { input, .. } = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert_eq!(input, Some(command_input("two")));
}

#[tokio::test]
async fn once_hooks_and_observers_are_not_asked_about_a_rewrite() {
    let (once, observer) = (Seen::default(), Seen::default());
    let noted = observer.clone();
    let look_on = FunctionHook::observer(move |event, _| {
        noted.note(&event);
        async {}
    });
    let host = host(vec![
        HookSpec { once: true, ..spy(EventName::PreToolUse, "once", &once) },
        HookSpec::new(EventName::PreToolUse, "observer", look_on.into()),
        hook(EventName::PreToolUse, "writer", |_| rewrite("two")),
    ])
    .await;
    host.pre_tool_use(&bash("one"), &cx()).await;
    assert_eq!(once.all(), ["one"]);
    assert_eq!(observer.all(), ["one"]);
}

#[tokio::test]
async fn an_approval_counts_only_for_the_input_it_was_given_on() {
    let approve = |name: &str| {
        hook(EventName::PermissionRequest, name, |event| match is_about(event, "one") {
            true => permission(Permission::Allow, "fine"),
            false => Outcome::pass(),
        })
    };
    let alone = host(vec![approve("approver")]).await;
    let answer = alone.permission_request(&bash("one"), &cx()).await;
    assert!(matches!(answer.verdict, PermissionRequest::Allow { .. }), "{:?}", answer.verdict);

    let rewritten =
        host(vec![approve("approver"), hook(EventName::PermissionRequest, "writer", |_| rewrite("two"))]).await;
    let answer = rewritten.permission_request(&bash("one"), &cx()).await;
    assert!(matches!(answer.verdict, PermissionRequest::Passthrough { .. }), "{:?}", answer.verdict);
}

#[tokio::test]
async fn an_approval_that_is_repeated_on_the_rewrite_counts_and_so_does_the_writers_own() {
    let writer = hook(EventName::PermissionRequest, "writer", |_| {
        Outcome::Continue(Change {
            input: Some(command_input("two")),
            permission: Some(Permission::Allow),
            ..Change::default()
        })
    });
    let answer = host(vec![writer]).await.permission_request(&bash("one"), &cx()).await;
    assert!(matches!(answer.verdict, PermissionRequest::Allow { .. }), "{:?}", answer.verdict);

    let always = hook(EventName::PermissionRequest, "approver", |_| permission(Permission::Allow, "always"));
    let writer = hook(EventName::PermissionRequest, "writer", |_| rewrite("two"));
    let answer = host(vec![always, writer]).await.permission_request(&bash("one"), &cx()).await;
    assert!(matches!(answer.verdict, PermissionRequest::Allow { .. }), "{:?}", answer.verdict);
}

#[tokio::test]
async fn an_ask_beats_an_allow_wherever_it_stands_and_keeps_its_reason() {
    let allow = || hook(EventName::PreToolUse, "allow", |_| permission(Permission::Allow, "fine"));
    let ask = || hook(EventName::PreToolUse, "ask", |_| permission(Permission::Ask, "look first"));
    for hooks in [vec![allow(), ask()], vec![ask(), allow()]] {
        let answer = host(hooks).await.pre_tool_use(&bash("one"), &cx()).await;
        let PreToolUse::Proceed { consent, .. } = answer.verdict else { panic!("{:?}", answer.verdict) };
        assert_eq!(consent, Consent::Ask { reason: Some("look first".into()) });
    }
}

#[tokio::test]
async fn a_deny_blocks_and_ends_the_chain() {
    let later = Seen::default();
    let deny = |event| hook(event, "deny", |_| permission(Permission::Deny, "never"));
    let host = host(vec![
        deny(EventName::PreToolUse),
        spy(EventName::PreToolUse, "later", &later),
        deny(EventName::PermissionRequest),
    ])
    .await;
    let verdict = host.pre_tool_use(&bash("one"), &cx()).await.verdict;
    assert_eq!(verdict, PreToolUse::Blocked { reason: "never".into(), context: None, stop: false });
    let verdict = host.permission_request(&bash("one"), &cx()).await.verdict;
    assert_eq!(verdict, PermissionRequest::Deny { reason: "never".into(), stop: false });
    assert!(later.all().is_empty());
}

#[tokio::test]
async fn sources_that_may_not_approve_have_no_opinion_but_may_still_refuse() {
    let host = bare().sources_that_may_approve([Source::Managed]).build().await.unwrap();
    let allow = hook(EventName::PermissionRequest, "h", |_| permission(Permission::Allow, "fine"));
    host.register(Source::Sdk, Reach::Everywhere, [allow]).unwrap();
    let verdict = host.permission_request(&bash("one"), &cx()).await.verdict;
    assert!(matches!(verdict, PermissionRequest::Passthrough { .. }), "{verdict:?}");
    let deny = hook(EventName::PermissionRequest, "h", |_| permission(Permission::Deny, "no"));
    host.register(Source::Sdk, Reach::Everywhere, [deny]).unwrap();
    let verdict = host.permission_request(&bash("one"), &cx()).await.verdict;
    assert!(matches!(verdict, PermissionRequest::Deny { .. }), "{verdict:?}");
}

#[tokio::test]
async fn an_approval_with_an_if_is_read_strictly() {
    let mut approve = hook(EventName::PermissionRequest, "git", |_| permission(Permission::Allow, "git is fine"));
    approve.condition = Some(Condition::new("bash(git *)").0);
    let host = host(vec![approve]).await;
    let cases = [
        ("git status", true),
        ("git status && git log", true),
        ("git status && curl x | sh", false),
        ("git log > ~/.bashrc", false),
        ("X=1 git fetch", false),
    ];
    for (command, approved) in cases {
        let verdict = host.permission_request(&bash(command), &cx()).await.verdict;
        assert_eq!(matches!(verdict, PermissionRequest::Allow { .. }), approved, "{command}: {verdict:?}");
    }
}

#[tokio::test]
async fn outputs_are_a_chain_so_that_a_redaction_stays() {
    let seen = Seen::default();
    let host = host(vec![
        hook(EventName::PostToolUse, "redact", |event| {
            let text = event.text().unwrap_or_default();
            output(&text.replace("hunter2", "[redacted]"))
        }),
        spy(EventName::PostToolUse, "spy", &seen),
        hook(EventName::PostToolUse, "shout", |event| output(&event.text().unwrap_or_default().to_uppercase())),
    ])
    .await;
    let answer = host.post_tool_use(&ran("pass hunter2"), &cx()).await;
    assert_eq!(seen.all(), ["pass [redacted]"]);
    assert_eq!(answer.verdict.for_model("pass hunter2"), "PASS [REDACTED]");
}

#[tokio::test]
async fn a_failing_formatter_neither_hides_an_output_nor_keeps_the_next_hook_from_redacting_it() {
    let host = host(vec![
        hook(EventName::PostToolUse, "format", |_| exit_code("not formatted")),
        hook(EventName::PostToolUse, "redact", |_| output("clean")),
    ])
    .await;
    let answer = host.post_tool_use(&ran("dirty"), &cx()).await;
    assert_eq!(answer.verdict.for_model("dirty"), "clean\nnot formatted");
}

#[tokio::test]
async fn a_block_in_words_withholds_an_output() {
    let host = host(vec![hook(EventName::PostToolUse, "secret", |_| Outcome::block("not for you"))]).await;
    let answer = host.post_tool_use(&ran("hunter2"), &cx()).await;
    assert!(matches!(answer.verdict, PostToolUse::Withheld { .. }));
    assert_eq!(answer.verdict.for_model("hunter2"), "not for you");
}

#[tokio::test]
async fn an_error_text_is_replaced_like_an_output() {
    let host = host(vec![hook(EventName::PostToolUseFailure, "redact", |_| output("failed"))]).await;
    let failure = ToolFailure { call: bash("ls"), error: "token abc".into(), original: None };
    let verdict = host.post_tool_use_failure(&failure, &cx()).await.verdict;
    assert_eq!(verdict, PostToolUseFailure::Shown { error: Some("failed".into()), context: None });
}

#[tokio::test]
async fn a_rewritten_prompt_goes_before_the_guard_that_stood_first() {
    let host = host(vec![
        hook(EventName::UserPromptSubmit, "guard", |event| match event.text().unwrap_or_default().contains("secret") {
            true => Outcome::block("no secrets"),
            false => Outcome::pass(),
        }),
        hook(EventName::UserPromptSubmit, "writer", |_| output("the secret is")),
    ])
    .await;
    let verdict = host.user_prompt_submit(&PromptInput { prompt: "hello".into() }, &cx()).await.verdict;
    assert_eq!(verdict, UserPromptSubmit::Blocked { reason: "no secrets".into(), context: None, stop: false });
}

#[tokio::test]
async fn an_echoed_cut_copy_is_refused_and_a_text_that_ends_so_itself_is_not() {
    let echo = || hook(EventName::PostToolUse, "echo", |_| output("half [output truncated]"));
    let answer = host(vec![echo()]).await.post_tool_use(&ran("whole"), &cx()).await;
    // A function on a gate: its missing answer blocks.
    assert!(matches!(answer.verdict, PostToolUse::Withheld { .. }), "{:?}", answer.verdict);
    assert_eq!(answer.report.hooks[0].word(), Word::Failed);

    let answer = host(vec![echo()]).await.post_tool_use(&ran("whole [output truncated]"), &cx()).await;
    assert_eq!(answer.verdict.for_model(""), "half [output truncated]");
}

#[tokio::test]
async fn an_argument_that_comes_back_cut_is_refused() {
    let writer = |on_error| HookSpec {
        on_error: Some(on_error),
        ..hook(EventName::PreToolUse, "writer", |_| rewrite("ls [output truncated]"))
    };
    let passing = host(vec![writer(OnError::Pass)]).await.pre_tool_use(&bash("ls -la"), &cx()).await;
    assert!(matches!(passing.verdict, PreToolUse::Proceed { input: None, .. }), "{:?}", passing.verdict);
    let blocking = host(vec![writer(OnError::Block)]).await.pre_tool_use(&bash("ls -la"), &cx()).await;
    assert!(matches!(blocking.verdict, PreToolUse::Blocked { .. }), "{:?}", blocking.verdict);
}

#[tokio::test]
async fn a_panic_of_a_function_blocks_a_gate_and_is_said_by_name() {
    let broken = hook(EventName::PreToolUse, "broken", |_| panic!("out of cheese"));
    let answer = host(vec![broken]).await.pre_tool_use(&bash("ls"), &cx()).await;
    let PreToolUse::Blocked { reason, .. } = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert!(reason.contains("broken") && reason.contains("out of cheese"), "{reason}");
    assert!(answer.report.warnings[0].to_string().contains("out of cheese"));
}

#[tokio::test]
async fn a_function_that_never_answers_is_ended_by_its_timeout() {
    let hang = FunctionHook::new(|_, _| std::future::pending::<Outcome>());
    let timeout = Some(Duration::from_millis(20));
    let host = host(vec![HookSpec { timeout, ..HookSpec::new(EventName::Stop, "hang", hang.into()) }]).await;
    let verdict = host.stop(&StopInput { reason: "done".into(), attempt: 1 }, &cx()).await.verdict;
    assert!(matches!(&verdict, Stop::GoesOn { reason } if reason.contains("timed out")), "{verdict:?}");
}

#[tokio::test]
async fn equal_hooks_run_once_and_the_report_says_so() {
    let seen = Seen::default();
    let one = spy(EventName::PreToolUse, "one", &seen);
    let two = HookSpec { name: "two".into(), ..one.clone() };
    let answer = host(vec![one, two]).await.pre_tool_use(&bash("ls"), &cx()).await;
    assert_eq!(seen.all(), ["ls"]);
    assert_eq!(answer.report.hooks[1].skipped, Some(Skipped::Duplicate));
}

#[tokio::test]
async fn a_sessions_hooks_are_asked_in_it_alone() {
    let seen = Seen::default();
    let host = bare().build().await.unwrap();
    let child = Source::Session("child".into());
    let reach = Reach::Session("child".into());
    host.register(child.clone(), reach, [spy(EventName::PreToolUse, "h", &seen)]).unwrap();
    let parent = cx();
    host.pre_tool_use(&bash("parent"), &parent).await;
    host.pre_tool_use(&bash("sibling"), &parent.sub_agent("sibling", "a2", "worker")).await;
    host.pre_tool_use(&bash("child"), &parent.sub_agent("child", "a1", "worker")).await;
    assert_eq!(seen.all(), ["child"]);
    assert_eq!(host.unregister_all(child).hooks, 1);
    host.pre_tool_use(&bash("gone"), &parent.sub_agent("child", "a1", "worker")).await;
    assert_eq!(seen.all(), ["child"]);
}

#[tokio::test]
async fn without_trust_no_hook_of_any_source_runs_where_the_project_brings_any() {
    let seen = Seen::default();
    let host = Runtime::builder(Trust::Untrusted, Surroundings::default()).without_settings().build().await.unwrap();
    host.register(Source::Sdk, Reach::Everywhere, [spy(EventName::PreToolUse, "mine", &seen)]).unwrap();
    let alone = host.pre_tool_use(&bash("one"), &cx()).await.verdict;
    assert!(matches!(alone, PreToolUse::Proceed { .. }), "a project that brings nothing is trusted: {alone:?}");

    let project = Source::Settings(Scope::Project);
    host.register(project, Reach::Everywhere, [spy(EventName::Stop, "theirs", &seen)]).unwrap();
    let answer = host.pre_tool_use(&bash("two"), &cx()).await;
    assert_eq!(answer.verdict, PreToolUse::Untrusted);
    assert!(answer.report.hooks.is_empty());
    assert_eq!(seen.all(), ["one"]);
}

#[tokio::test]
async fn a_refusal_is_heard_although_the_rewrite_beside_it_is_refused() {
    let both = |permission| {
        let input = Some(command_input("ls [output truncated]"));
        let change = Change { input, permission: Some(permission), reason: Some("why".into()), ..Change::default() };
        HookSpec {
            on_error: Some(OnError::Pass),
            ..hook(EventName::PreToolUse, "both", move |_| Outcome::Continue(change.clone()))
        }
    };
    let denied = host(vec![both(Permission::Deny)]).await.pre_tool_use(&bash("ls -la"), &cx()).await;
    assert_eq!(denied.verdict, PreToolUse::Blocked { reason: "why".into(), context: None, stop: false });
    assert_eq!(denied.report.hooks[0].word(), Word::Blocked);
    let asked = host(vec![both(Permission::Ask)]).await.pre_tool_use(&bash("ls -la"), &cx()).await.verdict;
    let ask = Consent::Ask { reason: Some("why".into()) };
    assert_eq!(asked, PreToolUse::Proceed { input: None, rewrite: None, context: None, consent: ask });
}

#[tokio::test]
async fn a_rewriter_approves_what_it_wrote_only_where_its_if_covers_that() {
    for (writes, approved) in [("ls -1", true), ("rm -rf /", false)] {
        let change =
            Change { input: Some(command_input(writes)), permission: Some(Permission::Allow), ..Change::default() };
        let mut writer = hook(EventName::PermissionRequest, "writer", move |_| Outcome::Continue(change.clone()));
        writer.condition = Some(Condition::new("bash(ls *)").0);
        let verdict = host(vec![writer]).await.permission_request(&bash("ls -la"), &cx()).await.verdict;
        assert_eq!(matches!(verdict, PermissionRequest::Allow { .. }), approved, "{writes}: {verdict:?}");
    }
}

#[tokio::test]
async fn a_denial_says_its_context_once() {
    let deny = |_: &tacklebox::event::Event| {
        let context = Some("because".to_owned());
        Outcome::Continue(Change { context, permission: Some(Permission::Deny), ..Change::default() })
    };
    let verdict = host(vec![hook(EventName::PermissionRequest, "deny", deny)])
        .await
        .permission_request(&bash("ls"), &cx())
        .await
        .verdict;
    assert_eq!(verdict, PermissionRequest::Deny { reason: "because".into(), stop: false });
}

#[tokio::test]
async fn a_redactor_that_breaks_and_was_to_fail_closed_withholds_the_output() {
    let broken = |on_error| HookSpec {
        on_error,
        ..hook(EventName::PostToolUse, "redact", |_| Outcome::Block(Block::new("killed", Said::ByBreaking)))
    };
    let closed = host(vec![broken(Some(OnError::Block))]).await.post_tool_use(&ran("secret"), &cx()).await.verdict;
    assert_eq!(closed.for_model("secret"), "killed");
    let open = host(vec![broken(None)]).await.post_tool_use(&ran("output"), &cx()).await.verdict;
    assert_eq!(open.for_model("output"), "output\nkilled");
}

#[tokio::test]
async fn what_was_complained_of_is_told_beside_an_output_that_is_withheld() {
    let host = host(vec![
        hook(EventName::PostToolUse, "format", |_| exit_code("not formatted")),
        hook(EventName::PostToolUse, "secret", |_| Outcome::block("hidden")),
    ])
    .await;
    let verdict = host.post_tool_use(&ran("x"), &cx()).await.verdict;
    assert_eq!(verdict.for_model("x"), "hidden\nnot formatted");
}

#[tokio::test]
async fn an_observer_that_panics_blocks_nothing() {
    let broken = FunctionHook::observer(|_, _| async { panic!("broken") });
    let host = host(vec![HookSpec::new(EventName::PreToolUse, "observer", broken.into())]).await;
    let answer = host.pre_tool_use(&bash("ls"), &cx()).await;
    assert!(matches!(answer.verdict, PreToolUse::Proceed { .. }), "{:?}", answer.verdict);
    assert_eq!(answer.report.warnings.len(), 1);
}

#[tokio::test]
async fn an_agent_is_not_kept_from_stopping_for_ever() {
    let more = |most| HookSpec { max_attempts: most, ..hook(EventName::Stop, "more", |_| Outcome::block("go on")) };
    for (most, attempt, stops) in [(None, 8, false), (None, 9, true), (Some(1), 1, false), (Some(1), 2, true)] {
        let input = StopInput { reason: "done".into(), attempt };
        let verdict = host(vec![more(most)]).await.stop(&input, &cx()).await.verdict;
        match stops {
            true => assert_eq!(verdict, Stop::Stops { context: None, capped: true }),
            false => assert_eq!(verdict, Stop::GoesOn { reason: "go on".into() }),
        }
    }
}

#[tokio::test]
async fn in_a_waterfall_rewrites_add_up() {
    let set = |key: &'static str| {
        hook(EventName::PreToolUse, key, move |_| {
            let input = [(key.to_owned(), 1.into())].into_iter().collect();
            Outcome::Continue(Change { input: Some(input), ..Change::default() })
        })
    };
    let host = bare().input_view(InputView::Waterfall).build().await.unwrap();
    host.register(Source::Sdk, Reach::Everywhere, [set("a"), set("b")]).unwrap();
    let verdict = host.pre_tool_use(&bash("ls"), &cx()).await.verdict;
    let PreToolUse::Proceed { input: Some(input), .. } = verdict else { panic!("{verdict:?}") };
    assert_eq!(serde_json::Value::Object(input), serde_json::json!({"command": "ls", "a": 1, "b": 1}));
}

#[tokio::test]
async fn a_session_that_ends_takes_its_hooks_with_it() {
    let seen = Seen::default();
    let host = bare().build().await.unwrap();
    let mine = |reach| host.register(Source::Skill("s".into()), reach, [spy(EventName::PreToolUse, "h", &seen)]);
    mine(Reach::Session("s1".into())).unwrap();
    mine(Reach::Session("s2".into())).unwrap();
    host.session_end(&tacklebox::event::SessionEndInput::default(), &cx()).await;
    assert_eq!(host.hooks().len(), 1);
    host.pre_tool_use(&bash("one"), &cx()).await;
    assert!(seen.all().is_empty());
}
