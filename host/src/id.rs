//! Newtypes for everything that is known by a name or a number, so that a session is never passed for an agent.
//! Owns no meaning: what a name refers to is said where it is looked up.

use std::fmt;
use std::sync::Arc;

macro_rules! text_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes the text as it is; any text is a valid name.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The text it was made from.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::new(text)
            }
        }
    )*};
}

text_id! {
    /// The name a hook is registered under; with event and source it says which hook is meant.
    HookName;
    /// The name of a plugin; what it *is*, is its digest.
    PluginName;
    /// One agent's session. Every agent has its own, under a root session.
    SessionId;
    /// One agent.
    AgentId;
    /// A tool's name, as the embedder announces it.
    ToolName;
}

/// One dispatch: all hooks of one event see the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DispatchId(Arc<str>);

impl DispatchId {
    /// A new one, unlike any other.
    pub fn fresh() -> Self {
        Self(uuid::Uuid::now_v7().to_string().into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DispatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How often the set of one source was registered: 1, 2, ..
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation(pub u64);

/// How often the registry as a whole was changed: 0 is the empty one it began with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision(pub u64);

/// What a guarded host's readings would take from gates, as it was shown: another number as soon as it is different.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reading(pub u64);

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
