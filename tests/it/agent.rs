//! What these tests play the agent with: hosts without settings, hooks that are functions, calls.

use std::sync::{Arc, Mutex};

use tacklebox::event::{Context, Event, EventName, Object, ToolCall};
use tacklebox::hook::{FunctionHook, HookSpec};
use tacklebox::outcome::{Change, Outcome};
use tacklebox::policy::Trust;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{Runtime, RuntimeBuilder};

/// A host without settings that is about to be built.
pub(crate) fn bare() -> RuntimeBuilder {
    Runtime::builder(Trust::Trusted, Surroundings::default()).without_settings()
}

/// A host with these hooks of code.
pub(crate) async fn host(hooks: Vec<HookSpec>) -> Runtime {
    let runtime = bare().build().await.unwrap();
    runtime.register(Source::Sdk, Reach::Everywhere, hooks).unwrap();
    runtime
}

/// A hook that is a function over the event.
pub(crate) fn hook(
    event: EventName,
    name: &str,
    answer: impl Fn(&Event) -> Outcome + Send + Sync + 'static,
) -> HookSpec {
    let answer = Arc::new(answer);
    let run = move |event: Event, _: Context| {
        let answer = answer.clone();
        async move { answer(&event) }
    };
    HookSpec::new(event, name, FunctionHook::new(run).into())
}

/// A hook that notes what it is asked about and goes on.
pub(crate) fn spy(event: EventName, name: &str, seen: &Seen) -> HookSpec {
    let seen = seen.clone();
    hook(event, name, move |event| {
        seen.note(event);
        Outcome::pass()
    })
}

/// What a [`spy`] saw: the command, else the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    pub(crate) fn note(&self, event: &Event) {
        let command = event.input.get("command").and_then(|value| value.as_str());
        let text = event.text().or(command).unwrap_or_default().to_owned();
        self.0.lock().unwrap().push(text);
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

pub(crate) fn rewrite(command: &str) -> Outcome {
    Outcome::Continue(Change { input: Some(command_input(command)), ..Change::default() })
}

pub(crate) fn output(text: &str) -> Outcome {
    Outcome::Continue(Change { output: Some(text.to_owned()), ..Change::default() })
}

pub(crate) fn command_input(command: &str) -> Object {
    Object::from_iter([("command".to_owned(), command.into())])
}

pub(crate) fn bash(command: &str) -> ToolCall {
    ToolCall::new("bash", command_input(command))
}

pub(crate) fn cx() -> Context {
    Context::new("s1")
}

pub(crate) fn is_about(event: &Event, command: &str) -> bool {
    event.input.get("command").is_some_and(|value| value == command)
}
