//! The history's compaction.

use super::notice::observed;
use super::{Decision, Object, Summary, Verdict};

/// The history is about to be compacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreCompactInput {
    /// How many messages it has.
    pub history_length: u64,
    /// How many tokens it has, where that is known.
    pub token_count: Option<u64>,
}

impl PreCompactInput {
    /// The payload for hooks: `{historyLength, tokenCount?}`.
    pub fn payload(&self) -> Object {
        let mut input = Object::from_iter([("historyLength".to_owned(), self.history_length.into())]);
        if let Some(tokens) = self.token_count {
            input.insert("tokenCount".to_owned(), tokens.into());
        }
        input
    }
}

/// Whether the history is compacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreCompact {
    /// It is.
    Proceed,
    /// It is left as it is.
    Blocked {
        /// Why.
        reason: String,
    },
    /// The project is not trusted: no hook was asked.
    Untrusted,
}

impl Verdict for PreCompact {
    fn summary(&self) -> Summary {
        match self.clone() {
            Self::Proceed => Summary::default(),
            Self::Blocked { reason } => {
                Summary { decision: Some(Decision::Block), reason: Some(reason), ..Summary::default() }
            }
            Self::Untrusted => Summary { decision: Some(Decision::Untrusted), ..Summary::default() },
        }
    }

    fn unopposed() -> Self {
        Self::Proceed
    }
}

/// The history was compacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostCompactInput {
    /// Whether that worked.
    pub success: bool,
}

impl PostCompactInput {
    /// The payload for hooks: `{success}`.
    pub fn payload(&self) -> Object {
        Object::from_iter([("success".to_owned(), self.success.into())])
    }
}

observed! {
    /// The history was compacted; the context is for the session.
    PostCompact with context
}
