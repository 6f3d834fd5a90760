//! What each event hands to its hooks, and what its verdict makes of an answer.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tacklebox::event::{
    Custom, CustomEvent, CustomInput, Event, EventClass, EventName, NotificationInput, Object, Original,
    PostCompactInput, PreCompact, PreCompactInput, PromptInput, SessionEndInput, SessionStart, Stop, StopInput,
    SubagentInput, ToolFailure, ToolOutcome, TurnEndInput, TurnStart, TurnStartInput, UserPromptSubmit,
};
use tacklebox::outcome::{Change, Outcome};
use tacklebox::policy::Trust;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime as _, Runtime};

use crate::agent::{bash, command_input, cx, hook, host, output};

/// A host on which every built-in event is watched, and what was seen.
async fn watched() -> (Runtime, Arc<Mutex<Vec<Event>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let hooks = EventName::BUILT_IN.into_iter().map(|name| {
        let seen = seen.clone();
        hook(name, "watch", move |event| {
            seen.lock().unwrap().push(event.clone());
            Outcome::pass()
        })
    });
    (host(hooks.collect()).await, seen)
}

fn original() -> Option<Original> {
    Some(Original { input: command_input("ls -la"), changed_by: vec!["h".into()] })
}

#[tokio::test]
async fn every_event_hands_over_what_the_table_says() {
    let (host, seen) = watched().await;
    let (call, cx) = (bash("ls"), cx());
    host.pre_tool_use(&call, &cx).await;
    host.permission_request(&call, &cx).await;
    host.post_tool_use(&ToolOutcome { call: call.clone(), output: "out".into(), original: original() }, &cx).await;
    host.post_tool_use_failure(&ToolFailure { call, error: "err".into(), original: None }, &cx).await;
    host.user_prompt_submit(&PromptInput { prompt: "grüß".into() }, &cx).await;
    host.session_start(&cx).await;
    host.stop(&StopInput { reason: "done".into(), attempt: 2 }, &cx).await;
    host.turn_start(&TurnStartInput { turn_count: 3 }, &cx).await;
    let turn =
        TurnEndInput { turn_count: 3, input_tokens: Some(5), cache_read_input_tokens: Some(1), ..Default::default() };
    host.turn_end(&turn, &cx).await;
    host.pre_compact(&PreCompactInput { history_length: 9, token_count: None }, &cx).await;
    host.post_compact(&PostCompactInput { success: true }, &cx).await;
    host.subagent_start(&SubagentInput { name: "worker".into() }, &cx).await;
    host.subagent_stop(&SubagentInput { name: "worker".into() }, &cx).await;
    host.notification(&NotificationInput { message: "look".into() }, &cx).await;
    host.session_end(&SessionEndInput { reason: "quit".into() }, &cx).await;

    let expected: [(&str, &str, Value, Option<&str>); 15] = [
        ("PreToolUse", "bash", json!({"command": "ls"}), None),
        ("PermissionRequest", "bash", json!({"command": "ls"}), None),
        ("PostToolUse", "bash", json!({"command": "ls"}), Some("out")),
        ("PostToolUseFailure", "bash", json!({"command": "ls"}), Some("err")),
        ("UserPromptSubmit", "UserPromptSubmit", json!({"prompt": "grüß", "promptLength": 4}), None),
        ("SessionStart", "SessionStart", json!({"sessionId": "s1"}), None),
        ("Stop", "Stop", json!({"reason": "done", "attempt": 2}), None),
        ("TurnStart", "TurnStart", json!({"turnCount": 3}), None),
        ("TurnEnd", "TurnEnd", json!({"turnCount": 3, "inputTokens": 5, "cacheReadInputTokens": 1}), None),
        ("PreCompact", "PreCompact", json!({"historyLength": 9}), None),
        ("PostCompact", "PostCompact", json!({"success": true}), None),
        ("SubagentStart", "SubagentStart", json!({"name": "worker"}), None),
        ("SubagentStop", "SubagentStop", json!({"name": "worker"}), None),
        ("Notification", "Notification", json!({"message": "look"}), None),
        ("SessionEnd", "SessionEnd", json!({"reason": "quit"}), None),
    ];
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), expected.len());
    for (event, (name, tool, input, output)) in seen.iter().zip(expected) {
        assert_eq!((event.name.as_str(), event.tool.as_str()), (name, tool));
        assert_eq!(Value::Object((*event.input).clone()), input, "{name}");
        assert_eq!(event.output.as_deref(), output, "{name}");
    }
    assert_eq!(seen[2].original, original());
    assert_eq!(seen[6].attempt, Some(2));
}

/// An answer that wants everything, at every event: only what the table grants has an effect.
#[tokio::test]
async fn an_event_takes_of_an_answer_what_its_row_says_and_no_more() {
    let greedy = |_: &Event| {
        Outcome::Continue(Change {
            input: Some(command_input("rewritten")),
            output: Some("replaced".into()),
            context: Some("context".into()),
            ..Change::default()
        })
    };
    let host = host(EventName::BUILT_IN.into_iter().map(|name| hook(name, "greedy", greedy)).collect()).await;
    let (call, cx) = (bash("ls"), cx());
    let pre = host.pre_tool_use(&call, &cx).await.verdict;
    assert_eq!(
        pre,
        tacklebox::event::PreToolUse::Proceed {
            input: Some(command_input("rewritten")),
            rewrite: Some(command_input("rewritten")),
            context: Some("context".into()),
            consent: Default::default(),
        }
    );
    let post = host.post_tool_use(&ToolOutcome { call: call.clone(), output: "out".into(), original: None }, &cx).await;
    assert_eq!(post.verdict.for_model("out"), "replaced\ncontext");
    let failed = host.post_tool_use_failure(&ToolFailure { call, error: "err".into(), original: None }, &cx).await;
    assert_eq!(failed.verdict.for_model("err"), "replaced\ncontext");
    let sent = host.user_prompt_submit(&PromptInput { prompt: "hi".into() }, &cx).await.verdict;
    assert_eq!(sent, UserPromptSubmit::Send { prompt: Some("replaced".into()), context: Some("context".into()) });
    let begun = host.session_start(&cx).await.verdict;
    let SessionStart::Begun { initial_message, context, .. } = begun else { panic!("{begun:?}") };
    assert_eq!((initial_message.as_deref(), context.as_deref()), (Some("replaced"), Some("context")));
    let turn = host.turn_start(&TurnStartInput::default(), &cx).await.verdict;
    assert_eq!(turn, TurnStart::Told { context: Some("context".into()) });
    assert_eq!(host.pre_compact(&PreCompactInput::default(), &cx).await.verdict, PreCompact::Proceed);
}

#[tokio::test]
async fn a_block_counts_on_gates_and_decides_nothing_elsewhere() {
    let blocking = |name: EventName| {
        [hook(name.clone(), "no", |_| Outcome::block("no")), hook(name, "after", |_| Outcome::pass())]
    };
    let host = host(EventName::BUILT_IN.into_iter().flat_map(blocking).collect()).await;
    let cx = cx();
    let stop = host.stop(&StopInput { reason: "done".into(), attempt: 1 }, &cx).await.verdict;
    assert_eq!(stop, Stop::GoesOn { reason: "no".into() });
    let compact = host.pre_compact(&PreCompactInput::default(), &cx).await.verdict;
    assert_eq!(compact, PreCompact::Blocked { reason: "no".into() });
    let turn = host.turn_start(&TurnStartInput::default(), &cx).await;
    assert_eq!(turn.verdict, TurnStart::Told { context: None });
    assert_eq!(turn.report.hooks.len(), 2, "the chain goes on");
    assert_eq!(turn.report.decided_by, None);
}

#[tokio::test]
async fn a_context_is_cut_per_hook_and_per_dispatch() {
    let long = |name: &str| {
        hook(EventName::TurnStart, name, |_| {
            Outcome::Continue(Change { context: Some("ü".repeat(40_000)), ..Change::default() })
        })
    };
    let one = host(vec![long("a")]).await.turn_start(&TurnStartInput::default(), &cx()).await.verdict;
    let TurnStart::Told { context: Some(context) } = one else { panic!("{one:?}") };
    assert_eq!(context.chars().count(), 30_000);
    assert!(context.ends_with("[output truncated]"));
    // Functions that differ, since equal hooks run once.
    let many = ["a", "b", "c", "d"].map(long);
    let many = host(many.into()).await.turn_start(&TurnStartInput::default(), &cx()).await.verdict;
    let TurnStart::Told { context: Some(context) } = many else { panic!("{many:?}") };
    assert_eq!(context.chars().count(), 100_000);
}

#[tokio::test]
async fn an_embedders_own_event_has_the_class_it_was_declared_with() {
    let gate = EventClass { gate: true, output: true, ..EventClass::default() };
    let (deploy, seen) = (CustomEvent::new("Deploy", gate), CustomEvent::new("Seen", EventClass::default()));
    let host = Runtime::builder(Trust::Trusted, Surroundings::default())
        .without_settings()
        .event(deploy.clone())
        .event(seen.clone())
        .build()
        .await
        .unwrap();
    let hooks = [
        hook(EventName::Custom(deploy.clone()), "rewrite", |_| output("calm")),
        hook(EventName::Custom(deploy.clone()), "guard", |event| match event.text() {
            Some("loud") => Outcome::block("not so loud"),
            _ => Outcome::pass(),
        }),
        hook(EventName::Custom(seen.clone()), "no", |_| Outcome::block("no")),
    ];
    host.register(Source::Sdk, Reach::Everywhere, hooks).unwrap();
    let input = CustomInput { output: Some("loud".into()), input: Object::new(), tool: None };
    let verdict = host.custom(&deploy, &input, &cx()).await.verdict;
    assert!(matches!(&verdict, Custom::Proceed { output: Some(text), .. } if text == "calm"), "{verdict:?}");
    let verdict = host.custom(&seen, &input, &cx()).await.verdict;
    assert!(matches!(verdict, Custom::Proceed { output: None, .. }), "{verdict:?}");
    assert_eq!(host.events().named("Deploy"), Some(EventName::Custom(deploy)));
}
