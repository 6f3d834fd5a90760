//! Does not ask again about a compaction that was blocked, until there is more to compact.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::event::{Context, PreCompact, PreCompactInput};
use crate::id::SessionId;
use crate::port::HookRuntime;
use crate::report::Answer;

/// What came of a wish to compact.
#[derive(Clone, Debug, PartialEq)]
pub enum Compaction {
    /// The hooks were asked.
    Asked(Box<Answer<PreCompact>>),
    /// They were not: they blocked it at this size, or a larger one.
    StillBlocked {
        /// What they said then.
        reason: String,
    },
}

impl Compaction {
    /// Whether the history may be compacted.
    pub fn may_proceed(&self) -> bool {
        matches!(self, Self::Asked(answer) if answer.verdict == PreCompact::Proceed)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    history: u64,
    tokens: Option<u64>,
}

impl Size {
    /// By tokens where both are known, else by messages.
    fn is_larger_than(self, other: Self) -> bool {
        match (self.tokens, other.tokens) {
            (Some(tokens), Some(before)) => tokens > before,
            _ => self.history > other.history,
        }
    }
}

/// Asks PreCompact hooks, and remembers for each session the size at which they blocked.
#[derive(Debug, Default)]
pub struct CompactGate {
    blocked: Mutex<HashMap<SessionId, (Size, String)>>,
}

impl CompactGate {
    /// A gate that remembers nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks whether the history may be compacted now.
    pub async fn ask(&self, hooks: &dyn HookRuntime, input: &PreCompactInput, cx: &Context) -> Compaction {
        let size = Size { history: input.history_length, tokens: input.token_count };
        if let Some((_, reason)) = self.remembered(cx).filter(|(before, _)| !size.is_larger_than(*before)) {
            return Compaction::StillBlocked { reason };
        }
        let answer = hooks.pre_compact(input, cx).await;
        let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        match &answer.verdict {
            PreCompact::Blocked { reason } => blocked.insert(cx.session.clone(), (size, reason.clone())),
            PreCompact::Proceed | PreCompact::Untrusted => blocked.remove(&cx.session),
        };
        Compaction::Asked(Box::new(answer))
    }

    /// Forgets a session that has ended.
    pub fn end_session(&self, session: &SessionId) {
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }

    fn remembered(&self, cx: &Context) -> Option<(Size, String)> {
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner).get(&cx.session).cloned()
    }
}
