//! What one hook answered: it went on (perhaps with changes), it blocked, or it gave no answer.
//!
//! Three failures are three things here: the guest said no ([`Outcome::Block`]), the guest broke ([`Cause::Trapped`]
//! and its kin), the host could not even ask it ([`Cause::CouldNotStart`]). What a missing answer *means* is for
//! `fold`.

use std::fmt;
use std::time::Duration;

use crate::event::Object;

/// The answer of one hook.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It went on.
    Continue(Change),
    /// It said no.
    Block(Block),
    /// It gave no answer; its `onError` says what that means.
    NoAnswer(Cause),
}

/// What a hook wants changed; each event takes the parts that it can honour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// To be merged into the arguments, key by key.
    pub input: Option<Object>,
    /// Replaces the output, the error or the prompt.
    pub output: Option<String>,
    /// Text for the model.
    pub context: Option<String>,
    /// An opinion on the permission.
    pub permission: Option<Permission>,
    /// Why.
    pub reason: Option<String>,
}

/// An opinion on a permission, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Permission {
    /// No prompt is needed.
    Allow,
    /// A person is to be asked.
    Ask,
    /// Refused.
    Deny,
}

/// A no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Why; the model reads it.
    pub reason: String,
    /// How it was said.
    pub said: Said,
    /// Whether the agent is to stop altogether.
    pub stop: bool,
    /// What the model is to read beside the reason.
    pub context: Option<String>,
}

impl Block {
    /// A no, and nothing beside it.
    pub fn new(reason: impl Into<String>, said: Said) -> Self {
        Self { reason: reason.into(), said, stop: false, context: None }
    }
}

/// How a no was said. On PostToolUse it makes a difference: the tool has run, and a formatter that fails must not hide
/// the edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// In words: `block` in JSON, a plugin's `block`, a function's false.
    Explicitly,
    /// By an exit code that the hook chose.
    ByExitCode,
    /// By an exit code that says that the hook broke: 126, 127, or a signal.
    ByBreaking,
    /// It said nothing, and its `onError` is `block`.
    ByNotAnswering,
}

/// Why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It could not be asked: no such program, no process left, a full pool.
    CouldNotStart(String),
    /// It was not done in time.
    TimedOut(Duration),
    /// A plugin trapped.
    Trapped {
        /// What the engine said.
        message: String,
        /// The guest's own frames, innermost first.
        backtrace: Vec<String>,
    },
    /// A plugin reached one of its limits.
    Limit(Limit),
    /// The plugin itself said that it failed.
    Failed(String),
    /// What came back is no proper answer.
    NotAnAnswer(String),
    /// What it wanted changed was refused.
    RefusedRewrite(String),
    /// It was dropped from the registry, and its calls cancelled. On a gate that blocks whatever its `onError` says: the
    /// agent asks again, and meets the new set.
    Cancelled,
    /// A function panicked; or the engine did, while it ran a plugin.
    Panicked(String),
    /// A file that it names is not what was trusted; on a gate that blocks, whatever its `onError` says.
    NotTrusted(String),
    /// The budget of its dispatch was used up before it answered, or before it could be asked; holds the whole budget.
    /// On a gate that blocks, whatever its `onError` says.
    OverBudget(Duration),
    /// Its session ended before it was asked: nothing is begun in a session that is over. On a gate that blocks, whatever
    /// its `onError` says.
    SessionEnded,
}

/// A plugin's limits (HOOKS.md, 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Linear memory, in bytes, of all memories together.
    Memory(usize),
    /// Table elements.
    Table(usize),
    /// Processor time.
    Processor(Duration),
    /// Stack, in bytes.
    Stack(usize),
    /// A string it returned, in bytes.
    Answer(usize),
}

impl Limit {
    fn kind(self) -> &'static str {
        match self {
            Self::Memory(_) => "memory-limit",
            Self::Table(_) => "table-limit",
            Self::Processor(_) => "processor-limit",
            Self::Stack(_) => "stack-limit",
            Self::Answer(_) => "answer-limit",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(bytes) => write!(f, "memory limit of {} MiB reached", bytes >> 20),
            Self::Table(elements) => write!(f, "table limit of {elements} elements reached"),
            Self::Processor(time) => write!(f, "processor time limit of {time:?} reached"),
            Self::Stack(bytes) => write!(f, "stack limit of {} KiB reached", bytes >> 10),
            Self::Answer(bytes) => write!(f, "an answer larger than {} KiB", bytes >> 10),
        }
    }
}

impl Cause {
    /// What it is in a word, without a text that a hook or a payload may have written.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::CouldNotStart(_) => "could-not-start",
            Self::TimedOut(_) => "timed-out",
            Self::OverBudget(_) => "over-budget",
            Self::Trapped { .. } => "trapped",
            Self::Limit(limit) => limit.kind(),
            Self::Failed(_) => "failed",
            Self::NotAnAnswer(_) => "no-proper-answer",
            Self::RefusedRewrite(_) => "refused-rewrite",
            Self::Cancelled => "cancelled",
            Self::Panicked(_) => "panicked",
            Self::NotTrusted(_) => "not-trusted",
            Self::SessionEnded => "session-ended",
        }
    }

    /// Whether the hook was asked and broke, or could not be asked at all.
    pub fn ending(&self) -> Ending {
        match self {
            Self::CouldNotStart(_) | Self::NotTrusted(_) | Self::SessionEnded => Ending::CouldNotStart,
            _ => Ending::Broke,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CouldNotStart(why) => write!(f, "could not start: {why}"),
            Self::TimedOut(after) => write!(f, "timed out after {after:?}"),
            Self::Trapped { message, .. } => write!(f, "trapped: {message}"),
            Self::Limit(limit) => limit.fmt(f),
            Self::Failed(why) => write!(f, "failed: {why}"),
            Self::NotAnAnswer(why) => write!(f, "no proper answer: {why}"),
            Self::RefusedRewrite(why) => write!(f, "its rewrite was refused: {why}"),
            Self::Cancelled => f.write_str("it was dropped while it ran, and cancelled"),
            Self::Panicked(why) => write!(f, "panicked: {why}"),
            Self::NotTrusted(why) => write!(f, "not run: {why}"),
            Self::OverBudget(whole) => write!(f, "the budget of {whole:?} for the whole dispatch was used up"),
            Self::SessionEnded => f.write_str("its session has ended"),
        }
    }
}

/// How the asking of one hook ended: three things that every report keeps apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// It answered.
    Answered,
    /// It was asked and broke.
    Broke,
    /// It could not be asked.
    CouldNotStart,
}

impl Ending {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Broke => "broke",
            Self::CouldNotStart => "could-not-start",
        }
    }
}

impl Outcome {
    /// Going on without a word.
    pub fn pass() -> Self {
        Self::Continue(Change::default())
    }

    /// Saying no in words.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::Block(Block::new(reason, Said::Explicitly))
    }

    /// How the asking ended.
    pub fn ending(&self) -> Ending {
        match self {
            Self::Continue(_) => Ending::Answered,
            Self::Block(block) if block.said == Said::ByBreaking => Ending::Broke,
            Self::Block(_) => Ending::Answered,
            Self::NoAnswer(cause) => cause.ending(),
        }
    }
}
