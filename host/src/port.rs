//! The seams between Tacklebox and its embedder: the facade an agent calls, and what the embedder supplies.
//!
//! Object-safe throughout, so that an embedder's tests can put their own in the place of ours.

mod audit;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

pub use audit::{Audit, AuditedHook, DroppedBy, SessionAudit, Words};

use crate::event::{
    Context, Custom, CustomEvent, CustomInput, Notification, NotificationInput, PermissionRequest, PostCompact,
    PostCompactInput, PostToolUse, PostToolUseFailure, PreCompact, PreCompactInput, PreToolUse, PromptInput,
    SessionEnd, SessionEndInput, SessionStart, Stop, StopInput, SubagentInput, SubagentStart, SubagentStop, ToolCall,
    ToolFailure, ToolOutcome, TurnEnd, TurnEndInput, TurnStart, TurnStartInput, UserPromptSubmit,
};
use crate::record::DispatchRecord;
use crate::report::Answer;

/// What an agent calls at the moments of its life: one method an event, each with its own verdict.
///
/// No method fails: what goes wrong is in the answer's report. No method has a default body, so that nothing which
/// stands between an agent and its hooks can lose an event by not mentioning it.
#[async_trait]
pub trait HookRuntime: Send + Sync {
    /// Before a tool runs.
    async fn pre_tool_use(&self, call: &ToolCall, cx: &Context) -> Answer<PreToolUse>;

    /// The PreToolUse hooks once more, about a call that a PermissionRequest hook rewrote: blocks and permissions
    /// count, rewrites and contexts do not.
    async fn recheck_tool_use(&self, call: &ToolCall, cx: &Context) -> Answer<PreToolUse>;

    /// When the rules are about to decide on a permission; `call` is what PreToolUse left.
    async fn permission_request(&self, call: &ToolCall, cx: &Context) -> Answer<PermissionRequest>;

    /// After a tool ran.
    async fn post_tool_use(&self, outcome: &ToolOutcome, cx: &Context) -> Answer<PostToolUse>;

    /// After a tool failed.
    async fn post_tool_use_failure(&self, failure: &ToolFailure, cx: &Context) -> Answer<PostToolUseFailure>;

    /// When a prompt is sent.
    async fn user_prompt_submit(&self, input: &PromptInput, cx: &Context) -> Answer<UserPromptSubmit>;

    /// When a session begins.
    async fn session_start(&self, cx: &Context) -> Answer<SessionStart>;

    /// When a session ends. Afterwards its `once` marks, whom it set aside and what plugins kept in it are forgotten, and
    /// the hooks that it brought or that were registered for it alone are dropped.
    async fn session_end(&self, input: &SessionEndInput, cx: &Context) -> Answer<SessionEnd>;

    /// When the agent is about to stop.
    async fn stop(&self, input: &StopInput, cx: &Context) -> Answer<Stop>;

    /// When a turn begins.
    async fn turn_start(&self, input: &TurnStartInput, cx: &Context) -> Answer<TurnStart>;

    /// When a turn has ended.
    async fn turn_end(&self, input: &TurnEndInput, cx: &Context) -> Answer<TurnEnd>;

    /// Before the history is compacted.
    async fn pre_compact(&self, input: &PreCompactInput, cx: &Context) -> Answer<PreCompact>;

    /// After the history was compacted.
    async fn post_compact(&self, input: &PostCompactInput, cx: &Context) -> Answer<PostCompact>;

    /// When a sub-agent begins.
    async fn subagent_start(&self, input: &SubagentInput, cx: &Context) -> Answer<SubagentStart>;

    /// When a sub-agent has ended.
    async fn subagent_stop(&self, input: &SubagentInput, cx: &Context) -> Answer<SubagentStop>;

    /// When a person is told something.
    async fn notification(&self, input: &NotificationInput, cx: &Context) -> Answer<Notification>;

    /// At an event of the embedder's own.
    async fn custom(&self, event: &CustomEvent, input: &CustomInput, cx: &Context) -> Answer<Custom>;
}

/// What the embedder's own rules say to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It may run.
    Allow,
    /// A person is to be asked; a hook's approval spares that.
    Ask,
    /// A person is to be asked, whatever hooks say.
    AskAlways,
    /// It may not run; no hook is asked.
    Deny {
        /// Why.
        reason: String,
    },
}

/// The embedder's rules.
pub trait Rules: Send + Sync {
    /// What they say to this call.
    fn decide(&self, call: &ToolCall, cx: &Context) -> Rule;
}

impl<F: Fn(&ToolCall, &Context) -> Rule + Send + Sync> Rules for F {
    fn decide(&self, call: &ToolCall, cx: &Context) -> Rule {
        self(call, cx)
    }
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It may run, just so.
    Approved,
    /// It may not.
    Denied {
        /// Why, where the person said so.
        reason: Option<String>,
    },
}

/// How a person is asked.
#[async_trait]
pub trait Prompt: Send + Sync {
    /// Shows `call` and why it is asked about, and waits. Nobody there, or closed without an answer, is
    /// [`Approval::Denied`].
    async fn ask(&self, call: &ToolCall, reason: Option<&str>, cx: &Context) -> Approval;
}

/// How a tool runs.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Runs the call: what it printed, or why it failed.
    ///
    /// # Errors
    ///
    /// The text for the model that says why the tool failed.
    async fn run(&self, call: &ToolCall, cx: &Context) -> Result<String, String>;
}

/// A model that prompt hooks ask. With the feature `http`, `provider::HttpModel` is one.
#[async_trait]
pub trait Model: Send + Sync {
    /// Asks the question once, and gives the model's whole text. Whoever calls keeps the time, and drops the future
    /// when it is up.
    ///
    /// # Errors
    ///
    /// Why there is no text. No error may hold a key: what it says is shown and logged.
    async fn ask(&self, question: &Question) -> Result<String, ModelError>;
}

/// One question to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The system's text.
    pub system: String,
    /// The user's text.
    pub user: String,
    /// The most tokens of the reply.
    pub max_tokens: u32,
    /// Which model the hook asks for; without it, the provider's own choice.
    pub model: Option<String>,
}

/// Why a model gave no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Neither the hook nor the provider says which model to ask.
    #[error("no model is named")]
    NoModel,
    /// It is not set up as it should be.
    #[error("{0}")]
    Unusable(String),
    /// There was no connection.
    #[error("the model provider cannot be reached: {0}")]
    Unreachable(String),
    /// It answered with another status than success.
    #[error("the model provider answered with status {status}{}", detail(.message.as_deref()))]
    Status {
        /// The status.
        status: u16,
        /// What it said about it.
        message: Option<String>,
    },
    /// It did not answer in time.
    #[error("the model provider took too long")]
    TimedOut,
    /// Its answer broke off.
    #[error("the model provider's answer was cut off: {0}")]
    CutOff(String),
    /// Its answer is larger than anyone reads.
    #[error("the model provider's answer is larger than {} KiB", .0 >> 10)]
    TooLarge(usize),
    /// Its answer is not what the protocol says.
    #[error("the model provider's answer cannot be read: {0}")]
    Unreadable(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

fn detail(message: Option<&str>) -> String {
    message.map(|message| format!(": {message}")).unwrap_or_default()
}

/// Where each dispatch is recorded: who ran, what was decided, and digests instead of contents. `sink::JsonLines` is a
/// file.
pub trait Sink: Send + Sync {
    /// Takes the record of a dispatch that has ended, the untrusted ones included. The agent waits for it, so it should
    /// not wait for a disk; it is called on a thread that may block where there is a tokio runtime.
    fn record(&self, record: &DispatchRecord);
}

/// What the embedder supplied for hooks to be run with; nothing unless it did.
#[derive(Clone, Default)]
pub struct Ports {
    /// Answers prompt hooks.
    pub model: Option<Arc<dyn Model>>,
    /// Keeps a record of sessions' hooks.
    pub audit: Option<Arc<dyn Audit>>,
    /// Is handed the record of each dispatch.
    pub sink: Option<Arc<dyn Sink>>,
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (model, audit, sink) = (self.model.is_some(), self.audit.is_some(), self.sink.is_some());
        f.debug_struct("Ports").field("model", &model).field("audit", &audit).field("sink", &sink).finish()
    }
}
