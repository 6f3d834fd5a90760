//! The guests of these tests, and how they are asked.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

pub(super) use super::written::{binary, importing, text};
use crate::ask::{Ask, Asked};
use crate::event::{Context, Event, EventName, Object, ToolCall};
use crate::hook::{CallbackHook, HookKind, HookSpec, Lifetime};
use crate::id::DispatchId;
use crate::life::SessionLife;
use crate::matching::Commands;
use crate::outcome::{Cause, Outcome};
use crate::plugin::Code;
use crate::session::PluginStates;
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::wasm::engine::Room;
use crate::wasm::{Limits, Owner, Plugins};

/// Goes on.
pub(super) const PASS: &str = "(call $continue)";
/// Blocks with the tool's input as reason.
pub(super) const ECHO: &str = "(call $block (i32.load offset=24 (local.get $in)) (i32.load offset=28 (local.get $in)))";
/// Never comes back.
pub(super) const SPIN: &str = "(loop $again (br $again)) unreachable";
/// Counts in its own memory, and gives the number as context.
pub(super) const REMEMBER: &str = "(i32.store (i32.const 200) (i32.add (i32.load (i32.const 200)) (i32.const 1)))
    (call $number (i32.load (i32.const 200)))";
/// Counts in the state, and gives the number as context.
pub(super) const COUNT: &str = "(call $add (i32.const 1100) (i32.const 7) (i64.const 1) (i32.const 256))
    (call $number (i32.load (i32.const 264)))";

/// A guest with this `run`.
pub(super) fn guest(run: &str) -> Vec<u8> {
    guest_with("", run)
}

/// A guest with this `run`, and with more in its module.
pub(super) fn guest_with(more: &str, run: &str) -> Vec<u8> {
    binary(&text(run).replace("(;MORE;)", more))
}

/// An empty sandbox.
pub(super) fn plugins() -> Plugins {
    Plugins::new(PluginStates::new()).unwrap()
}

/// One with so many places and so long a queue.
pub(super) fn plugins_with(places: u32, queue: usize) -> Plugins {
    Plugins::of(Room::with_places(places, queue).unwrap(), PluginStates::new())
}

/// A guest as a plugin in `plugins`.
pub(super) async fn load(plugins: &Plugins, guest: &[u8]) -> Arc<dyn Code> {
    plugins.load(guest, Owner::new(Source::Sdk), Limits::default()).await.unwrap()
}

/// A question with all that belongs to it.
pub(super) struct Asking {
    pub(super) config: Object,
    pub(super) instance: Option<Lifetime>,
    pub(super) event: Event,
    pub(super) cx: Context,
    pub(super) commands: Option<Commands>,
    pub(super) time_limit: Duration,
    /// Without, one that nobody ends.
    pub(super) life: Option<SessionLife>,
    /// The host's environment.
    pub(super) env: &'static [(&'static str, &'static str)],
}

impl Asking {
    /// Whether `bash` may run `command`.
    pub(super) fn bash(command: &str) -> Self {
        let call = ToolCall::new("bash", object(json!({"command": command})));
        Self {
            config: Object::new(),
            instance: None,
            event: Event::tool(EventName::PreToolUse, &call),
            cx: Context::new("s1"),
            commands: None,
            time_limit: Duration::from_secs(20),
            life: None,
            env: &[],
        }
    }

    /// The same, and the plugin's instance is the session's.
    pub(super) fn in_session(mut self, session: &str) -> Self {
        self.cx.session = session.into();
        self.instance = Some(Lifetime::Session);
        self
    }

    /// The same, in this life of its session.
    pub(super) fn living(mut self, life: &SessionLife) -> Self {
        self.life = Some(life.clone());
        self
    }

    /// The same, with less time.
    pub(super) fn within(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// The host's environment is never empty.
    fn surroundings(&self) -> Surroundings {
        let own = [("PATH", "/bin"), ("HOME_MADE", "visible-to-the-host")];
        let env = own.iter().chain(self.env).map(|(name, value)| (name.into(), value.into())).collect();
        Surroundings { project: Some("/project".into()), env, ..Surroundings::default() }
    }

    /// Asks.
    pub(super) async fn of(&self, code: &dyn Code) -> Asked {
        let config = self.config.clone();
        let hook = CallbackHook { config, instance: self.instance, ..CallbackHook::new("") };
        let spec = HookSpec::new(self.event.name.clone(), "guard", HookKind::Callback(hook.clone()));
        let ask = Ask {
            hook: &spec,
            event: &self.event,
            cx: &self.cx,
            life: &self.life.clone().unwrap_or_else(|| self.cx.session.clone().into()),
            dispatch: &DispatchId::fresh(),
            commands: self.commands.as_ref(),
            recheck: false,
            surroundings: &self.surroundings(),
            time_limit: self.time_limit,
            lease: &crate::ask::Lease::default(),
        };
        code.call(&hook, &ask).await
    }

    /// Asks, and gives the context of the answer.
    pub(super) async fn context(&self, code: &dyn Code) -> String {
        match self.of(code).await.outcome {
            Outcome::Continue(change) => change.context.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// Asks, and gives the reason of the block.
    pub(super) async fn reason(&self, code: &dyn Code) -> String {
        match self.of(code).await.outcome {
            Outcome::Block(block) => block.reason,
            other => panic!("{other:?}"),
        }
    }

    /// Asks, and gives the cause of the silence.
    pub(super) async fn cause(&self, code: &dyn Code) -> Cause {
        match self.of(code).await.outcome {
            Outcome::NoAnswer(cause) => cause,
            other => panic!("{other:?}"),
        }
    }
}

/// A machine with something in its environment that no guest is to see.
/// A JSON object.
pub(super) fn object(value: serde_json::Value) -> Object {
    value.as_object().unwrap().clone()
}
