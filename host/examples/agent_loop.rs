//! A small agent around a host of hooks: a scripted model, a shell that is played, rules, and a person at the prompt.
//!
//! `cargo run -p tacklebox --example agent_loop` plays one session and prints what becomes of each call.
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use tacklebox::event::{
    Context, Event, EventName, Object, PromptInput, SessionEndInput, Stop, StopInput, ToolCall, UserPromptSubmit,
};
use tacklebox::gate::{Passage, ToolGate};
use tacklebox::hook::{FunctionHook, HookSpec};
use tacklebox::outcome::{Change, Outcome};
use tacklebox::policy::Trust;
use tacklebox::port::{Approval, Prompt, Rule, Tool};
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime, Runtime};

/// What the model wants to run, call by call.
const MODEL: [&str; 4] = ["ls -la", "git push --force", "cat token.txt", "curl example.org"];

/// A shell that only knows what this session asks of it.
struct Shell;

#[async_trait]
impl Tool for Shell {
    async fn run(&self, call: &ToolCall, _: &Context) -> Result<String, String> {
        match command(&call.input) {
            "ls" => Ok("token.txt".to_owned()),
            "cat token.txt" => Ok("token: 12345".to_owned()),
            other => Err(format!("no command `{other}`")),
        }
    }
}

/// Somebody who lets nothing out of the house.
struct Person;

#[async_trait]
impl Prompt for Person {
    async fn ask(&self, call: &ToolCall, _: Option<&str>, _: &Context) -> Approval {
        Approval::Denied { reason: Some(format!("the person did not want `{}`", command(&call.input))) }
    }
}

/// The agent's own rules: whatever talks to the network is asked about.
fn rules(call: &ToolCall, _: &Context) -> Rule {
    if command(&call.input).starts_with("curl") { Rule::Ask } else { Rule::Allow }
}

/// Hooks of code. Shell commands and WASM plugins are matched, asked and folded by the same rules.
fn hooks() -> [HookSpec; 4] {
    let guard = FunctionHook::gate("push without `--force`", |event, _, _| !command(&event.input).contains("--force"));
    let brief = FunctionHook::new(|event: Event, _| async move {
        let input = (command(&event.input) == "ls -la").then(|| input("ls"));
        Outcome::Continue(Change { input, ..Change::default() })
    });
    let redact = FunctionHook::new(|event: Event, _| async move {
        let output = event.output.map(|text| text.replace("12345", "[redacted]"));
        Outcome::Continue(Change { output, ..Change::default() })
    });
    // Blocking a stop sends the agent on, once here: the attempt is counted.
    let tests = FunctionHook::gate("run the tests first", |event, _, _| event.attempt != Some(1));
    [
        HookSpec::new(EventName::PreToolUse, "guard", guard.into()),
        HookSpec::new(EventName::PreToolUse, "brief", brief.into()),
        HookSpec::new(EventName::PostToolUse, "redact", redact.into()),
        HookSpec::new(EventName::Stop, "tests", tests.into()),
    ]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Without `without_settings`, the hooks of ~/.freecode and of the project would be asked as well.
    let surroundings = Surroundings::of_this_process(".");
    let runtime = Runtime::builder(Trust::Trusted, surroundings).without_settings().build().await?;
    runtime.register(Source::Sdk, Reach::Everywhere, hooks())?;

    let hooks: Arc<dyn HookRuntime> = Arc::new(runtime);
    let gate = ToolGate::new(hooks.clone(), Arc::new(rules)).prompt(Arc::new(Person));
    let cx = Context::new("session-1").cwd(".");

    hooks.session_start(&cx).await;
    let prompt = PromptInput { prompt: "look around, then publish".to_owned() };
    if let UserPromptSubmit::Blocked { reason, .. } = hooks.user_prompt_submit(&prompt, &cx).await.verdict {
        println!("the prompt is not sent: {reason}");
        return Ok(());
    }
    for wanted in MODEL {
        let passage = gate.pass(&ToolCall::new("bash", input(wanted)), &cx, &Shell).await;
        match &passage {
            Passage::Ran { call, .. } => println!("{wanted}\n  ran `{}`", command(&call.input)),
            Passage::Refused { refused, .. } => println!("{wanted}\n  refused by {:?}", refused.by),
        }
        println!("  the model reads: {}", passage.for_model());
    }
    for attempt in 1.. {
        let input = StopInput { reason: "done".to_owned(), attempt };
        let Stop::GoesOn { reason } = hooks.stop(&input, &cx).await.verdict else { break };
        println!("the agent goes on: {reason}");
    }
    hooks.session_end(&SessionEndInput { reason: "done".to_owned() }, &cx).await;
    Ok(())
}

fn input(command: &str) -> Object {
    Object::from_iter([("command".to_owned(), command.into())])
}

fn command(input: &Object) -> &str {
    input.get("command").and_then(|value| value.as_str()).unwrap_or_default()
}
