//! The moments of an agent's life: the one table of events, what each hands to its hooks, and what comes back.
//!
//! Owns names, classes, payloads and verdicts (HOOKS.md, 1). Who is asked, how, and how answers are folded, is
//! said elsewhere. Everything that depends on the kind of event reads [`EventName::class`].

mod compaction;
mod context;
mod custom;
mod notice;
mod prompt;
mod session;
mod subagent;
mod tool;
mod turn;

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use compaction::{PostCompact, PostCompactInput, PreCompact, PreCompactInput};
pub use context::{Agent, Context};
pub use custom::{Custom, CustomEvent, CustomInput};
pub use notice::{Notification, NotificationInput};
pub use prompt::{PromptInput, UserPromptSubmit};
pub use session::{SessionEnd, SessionEndInput, SessionStart, Stop, StopInput};
pub use subagent::{SubagentInput, SubagentStart, SubagentStop};
pub use tool::{
    Consent, Original, PermissionRequest, PostToolUse, PostToolUseFailure, PreToolUse, ToolCall, ToolFailure,
    ToolOutcome,
};
pub use turn::{TurnEnd, TurnEndInput, TurnStart, TurnStartInput};

use crate::id::{HookName, ToolName};

/// A JSON object: keys in the order in which they were given.
pub type Object = Map<String, Value>;

/// What an event is, as far as dispatching it depends on that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventClass {
    /// It is about a tool call: `if` counts.
    pub tool: bool,
    /// A `matcher` is tested against the tool's name.
    pub matcher: bool,
    /// A block is honoured. Such an event is a *gate*; the others are *observed*.
    pub gate: bool,
    /// A modified input is taken.
    pub input: bool,
    /// A modified output is taken.
    pub output: bool,
    /// Context goes to somebody.
    pub context: bool,
}

/// What an embedder's own event may do; all off by default.
pub type CustomClass = EventClass;

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident: $($flag:ident)*;)*) => {
        /// The name of an event.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum EventName {
            $($(#[$doc])* $name,)*
            /// An event that the embedder declared.
            Custom(CustomEvent),
        }

        impl EventName {
            /// The fifteen built-in events, in the order of HOOKS.md, 1.
            pub const BUILT_IN: [EventName; [$(stringify!($name)),*].len()] = [$(EventName::$name),*];

            /// The name as settings write it.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => stringify!($name),)*
                    Self::Custom(event) => event.name(),
                }
            }

            /// What the event is.
            pub fn class(&self) -> EventClass {
                match self {
                    $(Self::$name => EventClass { $($flag: true,)* ..EventClass::default() },)*
                    Self::Custom(event) => event.class(),
                }
            }
        }
    };
}

events! {
    /// Before a tool runs.
    PreToolUse: tool matcher gate input context;
    /// When the rules are about to decide on a permission.
    PermissionRequest: tool matcher gate input context;
    /// After a tool ran.
    PostToolUse: tool matcher gate output context;
    /// After a tool failed.
    PostToolUseFailure: tool output context;
    /// When a prompt is sent.
    UserPromptSubmit: gate output context;
    /// When a session begins.
    SessionStart: output context;
    /// When a session ends.
    SessionEnd: ;
    /// When the agent is about to stop.
    Stop: gate context;
    /// When a turn begins.
    TurnStart: context;
    /// When a turn has ended.
    TurnEnd: context;
    /// Before the history is compacted.
    PreCompact: gate;
    /// After the history was compacted.
    PostCompact: context;
    /// When a sub-agent begins.
    SubagentStart: context;
    /// When a sub-agent has ended.
    SubagentStop: context;
    /// When a person is told something.
    Notification: ;
}

impl EventName {
    /// The built-in event of this name, written exactly so.
    pub fn built_in(name: &str) -> Option<Self> {
        Self::BUILT_IN.into_iter().find(|event| event.as_str() == name)
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The events that a host knows: the built-in ones and those its embedder declared.
#[derive(Clone, Debug, Default)]
pub struct Events {
    custom: Vec<CustomEvent>,
}

impl Events {
    /// With these beside the built-in ones. A declaration that repeats a name is dropped: the first one holds.
    pub fn with(custom: impl IntoIterator<Item = CustomEvent>) -> Self {
        let mut events = Self::default();
        for event in custom {
            if events.named(event.name()).is_none() {
                events.custom.push(event);
            }
        }
        events
    }

    /// The event of this name.
    pub fn named(&self, name: &str) -> Option<EventName> {
        EventName::built_in(name)
            .or_else(|| self.custom.iter().find(|e| e.name() == name).cloned().map(EventName::Custom))
    }

    /// Every name, built-in ones first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        const NAMES: [EventName; 15] = EventName::BUILT_IN;
        static BUILT_IN: std::sync::LazyLock<Vec<String>> =
            std::sync::LazyLock::new(|| NAMES.iter().map(|e| e.as_str().to_owned()).collect());
        BUILT_IN.iter().map(String::as_str).chain(self.custom.iter().map(CustomEvent::name))
    }
}

/// One moment, as a hook sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Which event.
    pub name: EventName,
    /// The tool; on an event without one, the event's name.
    pub tool: ToolName,
    /// The tool's arguments, or the event's payload.
    pub input: Arc<Object>,
    /// What the tool printed, or why it failed.
    pub output: Option<Arc<str>>,
    /// After a tool ran: what was asked for, where that differs from what ran.
    pub original: Option<Original>,
    /// The call's id, where the agent has one.
    pub tool_use_id: Option<String>,
    /// Stop: which attempt of the turn this is, from 1.
    pub attempt: Option<u32>,
}

impl Event {
    /// An event without a tool.
    pub fn plain(name: EventName, input: Object) -> Self {
        let tool = ToolName::new(name.as_str());
        Self { name, tool, input: Arc::new(input), output: None, original: None, tool_use_id: None, attempt: None }
    }

    /// An event about a tool call.
    pub fn tool(name: EventName, call: &ToolCall) -> Self {
        Self {
            name,
            tool: call.tool.clone(),
            input: Arc::new(call.input.clone()),
            output: None,
            original: None,
            tool_use_id: call.id.clone(),
            attempt: None,
        }
    }

    /// The text of a prompt event.
    pub fn prompt(&self) -> Option<&str> {
        match self.name {
            EventName::UserPromptSubmit => self.input.get("prompt").and_then(Value::as_str),
            _ => None,
        }
    }

    /// The text that a modified output replaces: the tool's output or error, or the prompt.
    pub fn text(&self) -> Option<&str> {
        self.output.as_deref().or_else(|| self.prompt())
    }

    /// The same event with another such text.
    #[must_use]
    pub fn with_text(&self, text: &str) -> Self {
        let mut event = self.clone();
        if self.name == EventName::UserPromptSubmit {
            event.input = Arc::new(prompt::payload(text));
        } else {
            event.output = Some(text.into());
        }
        event
    }

    /// The same event with other arguments.
    #[must_use]
    pub fn with_input(&self, input: Object) -> Self {
        Self { input: Arc::new(input), ..self.clone() }
    }
}

/// The arguments after `rewrite` was merged into them, key by key (shallow).
pub fn merged(input: &Object, rewrite: &Object) -> Object {
    let mut out = input.clone();
    for (key, value) in rewrite {
        out.insert(key.clone(), value.clone());
    }
    out
}

/// What the folded answers of a dispatch come to, in the words of the command line (HOOKS.md, 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Go on.
    Allow,
    /// Don't.
    Block,
    /// A person is to be asked.
    Ask,
    /// The permission is refused.
    Deny,
    /// No hook gave an opinion on the permission.
    Passthrough,
    /// The project is not trusted: no hook was asked.
    Untrusted,
}

impl Decision {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Passthrough => "passthrough",
            Self::Untrusted => "untrusted",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What every verdict can say of itself, for those who print or log verdicts of any event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The decision; `None` stands for allow.
    pub decision: Option<Decision>,
    /// Why.
    pub reason: Option<String>,
    /// The winning rewrite as the hook gave it.
    pub modified_input: Option<Object>,
    /// The arguments to run, where they changed.
    pub input: Option<Object>,
    /// The text that replaces the output, the error or the prompt.
    pub modified_output: Option<String>,
    /// What the hooks had to add.
    pub context: Option<String>,
    /// What PreToolUse hooks said about a permission prompt.
    pub consent: Option<Consent>,
    /// Whether the agent is to stop altogether.
    pub stop: bool,
    /// Stop: a hook wanted the agent to go on too often, and was ignored.
    pub capped: bool,
    /// Environment variables that SessionStart hooks exported.
    pub exports: Vec<(String, String)>,
}

/// A typed verdict. Implemented by the fifteen verdicts and [`Custom`]; not meant for others.
pub trait Verdict: Clone + fmt::Debug + Send + Sync + 'static {
    /// What it says, in the words that all verdicts share.
    fn summary(&self) -> Summary;

    /// The verdict of a dispatch for which nobody had anything to say.
    fn unopposed() -> Self;
}

/// The hook whose word a verdict is, or whose rewrite is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedBy {
    /// The hook.
    pub hook: HookName,
    /// Who brought it.
    pub source: crate::source::Source,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_fifteen_events_and_six_gates() {
        assert_eq!(EventName::BUILT_IN.len(), 15);
        let gates: Vec<_> = EventName::BUILT_IN.iter().filter(|e| e.class().gate).map(EventName::as_str).collect();
        assert_eq!(gates, ["PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop", "PreCompact"]);
    }

    #[test]
    fn a_declared_event_cannot_take_a_built_in_name() {
        let events = Events::with([
            CustomEvent::new("Deploy", CustomClass::default()),
            CustomEvent::new("Stop", CustomClass::default()),
        ]);
        assert_eq!(events.named("Stop"), Some(EventName::Stop));
        assert_eq!(events.names().count(), 16);
    }
}
