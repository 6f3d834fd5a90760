//! How an agent's own tests stand a fake in for the host: its code knows hooks by the trait `HookRuntime` alone, so a
//! test chooses the verdicts and looks at which events were announced. No settings, no processes, no plugins.
//!
//! `cargo run -p tacklebox --example with_fake`

use std::sync::Arc;

use async_trait::async_trait;
use tacklebox::event::{Consent, Context, Object, PostToolUse, PreToolUse, ToolCall};
use tacklebox::gate::ToolGate;
use tacklebox::port::{Rule, Tool};
use tacklebox::{FakeRuntime, HookRuntime};

/// The agent under test. In production, `hooks` is a `Runtime`.
struct Agent {
    gate: ToolGate,
}

impl Agent {
    fn new(hooks: Arc<dyn HookRuntime>) -> Self {
        Self { gate: ToolGate::new(hooks, Arc::new(|_: &ToolCall, _: &Context| Rule::Allow)) }
    }

    /// Runs one call of the model's, and gives what the model is to read.
    async fn step(&self, command: &str) -> String {
        let call = ToolCall::new("bash", input(command));
        self.gate.pass(&call, &Context::new("session-1"), &Echo).await.for_model()
    }
}

/// A tool that says what it was to run.
struct Echo;

#[async_trait]
impl Tool for Echo {
    async fn run(&self, call: &ToolCall, _: &Context) -> Result<String, String> {
        Ok(format!("ran {}", call.input["command"]))
    }
}

fn input(command: &str) -> Object {
    Object::from_iter([("command".to_owned(), command.into())])
}

/// Nothing chosen: a host without hooks, which has nothing against anything.
async fn a_call_runs_where_nobody_objects() {
    let hooks = Arc::new(FakeRuntime::new());
    assert_eq!(Agent::new(hooks.clone()).step("ls").await, r#"ran "ls""#);
    assert_eq!(hooks.calls(), ["PreToolUse", "PermissionRequest", "PostToolUse"]);
}

/// A block: the tool is not run, and so nothing is announced after it.
async fn a_blocked_call_does_not_run() {
    let no = PreToolUse::Blocked { reason: "not today".to_owned(), context: None, stop: false };
    let hooks = Arc::new(FakeRuntime::new().answers(no));
    assert_eq!(Agent::new(hooks.clone()).step("ls").await, "not today");
    assert_eq!(hooks.calls(), ["PreToolUse"]);
}

/// Verdicts of several events: the arguments change on the way in, the output on the way out.
async fn a_rewritten_call_runs_as_rewritten() {
    let rewritten = Some(input("ls -1"));
    let pre =
        PreToolUse::Proceed { input: rewritten.clone(), rewrite: rewritten, context: None, consent: Consent::Unset };
    let hooks = FakeRuntime::new().answers(pre);
    assert_eq!(Agent::new(Arc::new(hooks)).step("ls").await, r#"ran "ls -1""#);

    let hidden = PostToolUse::Withheld { reason: "hidden".to_owned(), context: None, stop: false };
    let hooks = FakeRuntime::new().answers(hidden);
    assert_eq!(Agent::new(Arc::new(hooks)).step("ls").await, "hidden");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    a_call_runs_where_nobody_objects().await;
    a_blocked_call_does_not_run().await;
    a_rewritten_call_runs_as_rewritten().await;
}
