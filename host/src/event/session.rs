//! A session's beginning and end, and the agent's wish to stop.

use super::notice::observed;
use super::{Decision, Object, Summary, Verdict};

/// What a session begins with.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionStart {
    /// It begins.
    Begun {
        /// The text that replaces the first user message.
        initial_message: Option<String>,
        /// What the session is to know.
        context: Option<String>,
        /// Environment variables that hooks exported through `CLAUDE_ENV_FILE`, for the agent's own shell.
        exports: Vec<(String, String)>,
    },
    /// The project is not trusted: no hook was asked.
    Untrusted,
}

impl Verdict for SessionStart {
    fn summary(&self) -> Summary {
        match self.clone() {
            Self::Begun { initial_message, context, exports } => {
                Summary { modified_output: initial_message, context, exports, ..Summary::default() }
            }
            Self::Untrusted => Summary { decision: Some(Decision::Untrusted), ..Summary::default() },
        }
    }

    fn unopposed() -> Self {
        Self::Begun { initial_message: None, context: None, exports: Vec::new() }
    }
}

/// How a session ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionEndInput {
    /// Why it ended.
    pub reason: String,
}

impl SessionEndInput {
    /// The payload for hooks: `{reason}`.
    pub fn payload(&self) -> Object {
        Object::from_iter([("reason".to_owned(), self.reason.as_str().into())])
    }
}

observed! {
    /// The end of a session was announced.
    SessionEnd without context
}

/// The agent is about to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopInput {
    /// Why it wants to.
    pub reason: String,
    /// Which attempt of this turn it is: 1, 2, ..
    pub attempt: u32,
}

impl StopInput {
    /// The payload for hooks: `{reason, attempt}`.
    pub fn payload(&self) -> Object {
        Object::from_iter([
            ("reason".to_owned(), self.reason.as_str().into()),
            ("attempt".to_owned(), self.attempt.into()),
        ])
    }
}

/// Whether the agent stops.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// It stops.
    Stops {
        /// What the hooks had to add.
        context: Option<String>,
        /// A hook wanted it to go on, and has wanted that too often in this turn: its block was ignored.
        capped: bool,
    },
    /// It goes on, with the reason (and what hooks gave as context) as what it is to do.
    GoesOn {
        /// What is still to be done.
        reason: String,
    },
    /// The project is not trusted: no hook was asked.
    Untrusted,
}

impl Verdict for Stop {
    fn summary(&self) -> Summary {
        match self.clone() {
            Self::Stops { context, capped } => Summary { context, capped, ..Summary::default() },
            Self::GoesOn { reason } => {
                Summary { decision: Some(Decision::Block), reason: Some(reason), ..Summary::default() }
            }
            Self::Untrusted => Summary { decision: Some(Decision::Untrusted), ..Summary::default() },
        }
    }

    fn unopposed() -> Self {
        Self::Stops { context: None, capped: false }
    }
}
