//! The sub-agents of an agent.

use super::notice::observed;
use super::{Object, Summary, Verdict};

/// A sub-agent begins or has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubagentInput {
    /// What kind of sub-agent it is.
    pub name: String,
}

impl SubagentInput {
    /// The payload for hooks: `{name}`.
    pub fn payload(&self) -> Object {
        Object::from_iter([("name".to_owned(), self.name.as_str().into())])
    }
}

observed! {
    /// A sub-agent has begun; the context is for it.
    SubagentStart with context
}

observed! {
    /// A sub-agent has ended; the context is for its parent.
    SubagentStop with context
}
