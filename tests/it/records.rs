//! A line a dispatch, in a file: who ran and what was decided, and nothing of what was said.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tacklebox::event::{
    Context, Event, EventName, Object, PromptInput, StopInput, ToolCall, ToolFailure, ToolOutcome, TurnStartInput,
};
use tacklebox::hook::{CommandHook, HookSpec, OnError};
use tacklebox::outcome::{Cause, Change, Limit, Outcome, Permission};
use tacklebox::policy::Trust;
use tacklebox::port::Sink;
use tacklebox::record::DispatchRecord;
use tacklebox::sink::JsonLines;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime as _, Runtime};

use crate::agent::{bare, bash, cx, hook, output, rewrite};
use crate::program::World;

/// A sink of an embedder's own, which keeps what it is handed.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Value>>>);

impl Sink for Kept {
    fn record(&self, record: &DispatchRecord) {
        self.0.lock().unwrap().push(serde_json::from_slice(&record.to_line()).unwrap());
    }
}

impl Kept {
    async fn host(&self, hooks: Vec<HookSpec>) -> Runtime {
        let host = bare().sink(Arc::new(self.clone())).build().await.unwrap();
        host.register(Source::Sdk, Reach::Everywhere, hooks).unwrap();
        host
    }

    fn last(&self) -> Value {
        self.0.lock().unwrap().last().unwrap().clone()
    }
}

fn digest(text: &str) -> Value {
    let sha256: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"sha256": sha256, "bytes": text.len()})
}

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn permits(permission: Permission) -> Outcome {
    Outcome::Continue(Change { permission: Some(permission), reason: Some("because".into()), ..Change::default() })
}

#[tokio::test]
async fn a_line_says_who_ran_and_what_was_decided_and_digests_what_was_said() {
    let kept = Kept::default();
    let rewrites = hook(EventName::PreToolUse, "rewrites", |_| {
        let Outcome::Continue(change) = rewrite("ls -l") else { unreachable!() };
        Outcome::Continue(Change {
            context: Some("über".into()),
            permission: Some(Permission::Ask),
            reason: Some("hm".into()),
            ..change
        })
    });
    let first = HookSpec { once: true, ..hook(EventName::PreToolUse, "first", |_| Outcome::pass()) };
    let broken = hook(EventName::PreToolUse, "broken", |_| panic!("hunter2"));
    let broken = HookSpec { on_error: Some(OnError::Pass), ..broken };
    let host = kept.host(vec![first, broken, rewrites]).await;
    host.pre_tool_use(&bash("ls"), &cx()).await;
    let sub = cx().sub_agent("s1/a", "a1", "helper");
    let call =
        ToolCall::new("bash", Object::from_iter([("b".to_owned(), "1 2".into()), ("a".to_owned(), json!([1, "é"]))]));
    host.pre_tool_use(&call, &sub).await;
    let answer = host.pre_tool_use(&call, &sub).await;
    let mut line = kept.last();
    let hooks = line["hooks"].take();
    assert!(line["time"].as_u64().unwrap() > 1_700_000_000_000 && line["millis"].is_f64(), "{line}");
    line.as_object_mut().unwrap().retain(|key, _| !["time", "millis", "hooks"].contains(&key.as_str()));
    let by = json!({"hook": "rewrites", "source": "sdk"});
    assert_eq!(
        line,
        json!({
            "type": "dispatch", "dispatch": answer.report.dispatch.as_str(), "event": "PreToolUse", "session": "s1/a",
            "rootSession": "s1", "agentId": "a1", "agentType": "helper", "depth": 1, "tool": "bash",
            "revision": answer.report.revision.0, "decision": "ask", "decidedBy": by, "rewrittenBy": by,
            // Keys as they were given, and no space between them.
            "input": digest("{\"b\":\"1 2\",\"a\":[1,\"é\"]}"),
            "inputAfter": digest("{\"b\":\"1 2\",\"a\":[1,\"é\"],\"command\":\"ls -l\"}"),
            "reason": digest("hm"), "context": digest("über"), "warnings": 2,
        })
    );
    let word = |at: usize, key: &str| hooks[at][key].clone();
    assert_eq!(word(0, "skipped"), "has run once in this session");
    assert_eq!((word(0, "outcome"), hooks[0].get("ending")), (json!("skipped"), None));
    assert_eq!(
        (word(1, "outcome"), word(1, "ending"), word(1, "cause")),
        (json!("failed"), json!("broke"), json!("panicked"))
    );
    assert_eq!(
        (word(2, "name"), word(2, "source"), word(2, "kind")),
        (json!("rewrites"), json!("sdk"), json!("function"))
    );
    assert_eq!(
        (word(2, "outcome"), word(2, "ending"), word(2, "generation")),
        (json!("modified"), json!("answered"), json!(1))
    );
    let main = kept.0.lock().unwrap()[0].clone();
    assert!(["rootSession", "agentId", "depth", "output"].iter().all(|key| main.get(key).is_none()), "{main}");
}

#[tokio::test]
async fn outputs_errors_and_prompts_are_digested_as_they_came_and_as_they_go() {
    let kept = Kept::default();
    let events = [EventName::PostToolUse, EventName::PostToolUseFailure, EventName::UserPromptSubmit];
    let host = kept.host(events.map(|event| hook(event, "redacts", |_| output("clean"))).to_vec()).await;
    let sees = |kept: &Kept, before: &str| {
        let line = kept.last();
        assert_eq!((&line["output"], &line["outputAfter"]), (&digest(before), &digest("clean")), "{line}");
    };
    host.post_tool_use(&ToolOutcome { call: bash("ls"), output: "one".into(), original: None }, &cx()).await;
    sees(&kept, "one");
    host.post_tool_use_failure(&ToolFailure { call: bash("ls"), error: "two".into(), original: None }, &cx()).await;
    sees(&kept, "two");
    host.user_prompt_submit(&PromptInput { prompt: "three".into() }, &cx()).await;
    sees(&kept, "three");
    assert_eq!(kept.last()["input"], digest(r#"{"prompt":"three","promptLength":5}"#));
}

#[tokio::test]
async fn each_kind_of_verdict_has_its_word() {
    let kept = Kept::default();
    let answer = |event: &Event| match event.input.get("say").and_then(Value::as_str) {
        Some("allow") => permits(Permission::Allow),
        Some("ask") => permits(Permission::Ask),
        Some("deny") => permits(Permission::Deny),
        Some("block") => Outcome::block("no"),
        _ => Outcome::pass(),
    };
    let events = [EventName::PreToolUse, EventName::PermissionRequest, EventName::PostToolUse];
    let mut hooks = events.map(|event| hook(event, "h", answer)).to_vec();
    hooks.push(hook(EventName::Stop, "h", |_| Outcome::block("go on")));
    let host = kept.host(hooks).await;
    let word = || kept.last()["decision"].as_str().unwrap().to_owned();
    let call = |say: &str| ToolCall::new("bash", Object::from_iter([("say".to_owned(), say.into())]));
    for (say, before, permission, after) in [
        ("", "allow", "passthrough", "allow"),
        ("allow", "allow", "allow", "allow"),
        ("ask", "ask", "ask", "allow"),
        ("deny", "block", "deny", "allow"),
        ("block", "block", "deny", "block"),
    ] {
        host.pre_tool_use(&call(say), &cx()).await;
        assert_eq!(word(), before, "{say}");
        host.recheck_tool_use(&call(say), &cx()).await;
        assert_eq!((word().as_str(), &kept.last()["recheck"]), (before, &json!(true)), "{say}");
        host.permission_request(&call(say), &cx()).await;
        assert_eq!(word(), permission, "{say}");
        host.post_tool_use(&ToolOutcome { call: call(say), output: String::new(), original: None }, &cx()).await;
        assert_eq!(word(), after, "{say}");
    }
    host.stop(&StopInput { reason: "done".into(), attempt: 1 }, &cx()).await;
    assert_eq!(word(), "block");
    host.turn_start(&TurnStartInput::default(), &cx()).await;
    assert_eq!((word().as_str(), kept.last()["hooks"].as_array().unwrap().len()), ("allow", 0));
}

#[tokio::test]
async fn without_trust_a_line_is_written_too() {
    let world = World::with(r#"{"hooks": {"PreToolUse": [{"name": "g", "command": "exit 0"}]}}"#);
    let surroundings = Surroundings { project: Some(world.path("project")), ..Surroundings::default() };
    let kept = Kept::default();
    let host = Runtime::builder(Trust::Untrusted, surroundings).sink(Arc::new(kept.clone())).build().await.unwrap();
    host.pre_tool_use(&bash("ls"), &cx()).await;
    let line = kept.last();
    assert_eq!((&line["decision"], &line["hooks"]), (&json!("untrusted"), &json!([])));
    assert_eq!(line["input"], digest(r#"{"command":"ls"}"#));
}

/// A sink that breaks is no reason for an agent to.
#[tokio::test]
async fn a_sink_that_panics_costs_nobody_a_verdict() {
    struct Breaks;
    impl Sink for Breaks {
        fn record(&self, _: &DispatchRecord) {
            panic!("on purpose");
        }
    }
    let host = bare().sink(Arc::new(Breaks)).build().await.unwrap();
    host.register(Source::Sdk, Reach::Everywhere, [hook(EventName::Stop, "h", |_| Outcome::block("go on"))]).unwrap();
    let answer = host.stop(&StopInput { reason: "done".into(), attempt: 1 }, &cx()).await;
    assert!(matches!(answer.verdict, tacklebox::event::Stop::GoesOn { .. }));
}

/// A digest would tell that nothing was hidden; so every place where a text can be is filled with one.
#[tokio::test]
async fn nothing_that_was_said_is_in_the_file() {
    const SECRET: &str = "hunter2";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    let host = bare().sink(Arc::new(JsonLines::append(&path).unwrap())).build().await.unwrap();
    let says_all = |_: &Event| {
        Outcome::Continue(Change {
            input: Some(Object::from_iter([("command".to_owned(), SECRET.into())])),
            output: Some(SECRET.into()),
            context: Some(SECRET.into()),
            permission: Some(Permission::Ask),
            reason: Some(SECRET.into()),
        })
    };
    let causes = [
        Cause::CouldNotStart(SECRET.into()),
        Cause::Trapped { message: SECRET.into(), backtrace: vec![SECRET.into()] },
        Cause::Limit(Limit::Memory(1)),
        Cause::Failed(SECRET.into()),
        Cause::NotAnAnswer(SECRET.into()),
        Cause::RefusedRewrite(SECRET.into()),
        Cause::Panicked(SECRET.into()),
        Cause::NotTrusted(SECRET.into()),
    ];
    let events = [
        EventName::PreToolUse,
        EventName::PermissionRequest,
        EventName::PostToolUse,
        EventName::PostToolUseFailure,
        EventName::UserPromptSubmit,
        EventName::Stop,
    ];
    let mut hooks = Vec::new();
    for event in &events {
        for (at, cause) in causes.iter().enumerate() {
            let cause = cause.clone();
            let silent = hook(event.clone(), &format!("silent-{at}"), move |_| Outcome::NoAnswer(cause.clone()));
            hooks.push(HookSpec { on_error: Some(OnError::Pass), ..silent });
        }
        hooks.push(hook(event.clone(), "says-all", says_all));
        let shell = CommandHook::new("echo hunter2; echo hunter2 >&2; exit 2");
        hooks.push(HookSpec::new(event.clone(), "shell", shell.into()));
    }
    host.register(Source::Sdk, Reach::Everywhere, hooks).unwrap();
    let cx = Context::new("s").cwd(folder.path());
    let original = Some(tacklebox::event::Original {
        input: Object::from_iter([("x".to_owned(), SECRET.into())]),
        changed_by: vec![],
    });
    host.pre_tool_use(&bash(SECRET), &cx).await;
    host.permission_request(&bash(SECRET), &cx).await;
    host.post_tool_use(&ToolOutcome { call: bash(SECRET), output: SECRET.into(), original: original.clone() }, &cx)
        .await;
    host.post_tool_use_failure(&ToolFailure { call: bash(SECRET), error: SECRET.into(), original }, &cx).await;
    host.user_prompt_submit(&PromptInput { prompt: SECRET.into() }, &cx).await;
    let answer = host.stop(&StopInput { reason: SECRET.into(), attempt: 1 }, &cx).await;
    assert!(format!("{:?}", answer.report.hooks).contains(SECRET), "there was something to hide");
    drop(host);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 6);
    assert!(!text.contains(SECRET), "{text}");
    assert!(text.contains("could-not-start") && text.contains("memory-limit") && text.contains("refused-rewrite"));
}

const GUARD: &str = r#"{"hooks": {"PreToolUse": [{"name": "guard", "command": "echo hunter2 >&2; exit 2"}]}}"#;

#[test]
fn the_program_appends_a_line_for_each_dispatch_it_makes() {
    let world = World::with(GUARD);
    let one = world.run(&["run", "PreToolUse", "--tool", "bash", "--trust", "--records", "r.jsonl"]);
    assert_eq!((one.code, one.err.as_str()), (Some(2), ""));
    let batch =
        b"{\"event\":\"PreToolUse\",\"tool\":\"bash\",\"session\":\"a\"}\n{\"event\":\"Stop\",\"session\":\"b\"}\n";
    let said = world.feed(&["run", "--batch", "-", "--records", "r.jsonl"], batch);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let lines = lines(&world.path("project/r.jsonl"));
    let told: Vec<_> =
        lines.iter().map(|line| (line["session"].as_str().unwrap(), line["decision"].as_str().unwrap())).collect();
    assert_eq!(told, [("cli", "block"), ("a", "untrusted"), ("b", "untrusted")]);
    assert_eq!((&lines[0]["reason"], &lines[0]["hooks"][0]["kind"]), (&digest("hunter2"), &json!("command")));
    assert!(lines[0]["hooks"][0]["millis"].is_f64());
}

#[test]
fn the_program_runs_nothing_where_its_records_cannot_be_kept() {
    let world = World::with(r#"{"hooks": {"Stop": [{"command": "touch ran"}]}}"#);
    std::os::unix::fs::symlink(world.path("elsewhere"), world.path("project/link")).unwrap();
    for (file, part) in [("link", "symbolic link"), ("none/r.jsonl", "none/r.jsonl"), (".", "`--records`")] {
        let said = world.run(&["run", "Stop", "--trust", "--records", file]);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{}", said.err);
        assert!(said.err.contains(part) && said.err.contains("hint:"), "{}", said.err);
    }
    assert!(!world.path("project/ran").exists() && !world.path("elsewhere").exists());
}

/// Programs that an agent starts for each of its calls share one file.
#[test]
fn programs_at_once_leave_whole_lines() {
    let world = World::with(GUARD);
    let args = ["run", "PreToolUse", "--tool", "bash", "--trust", "--records", "r.jsonl"];
    let running: Vec<_> = (0..4).map(|_| world.command(&args).spawn().unwrap()).collect();
    for program in running {
        assert_eq!(program.wait_with_output().unwrap().status.code(), Some(2));
    }
    assert_eq!(lines(&world.path("project/r.jsonl")).len(), 4);
}
