//! Events that an embedder declares for itself.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Decision, EventClass, Object, Summary, Verdict};

/// An event of the embedder's own; settings may name it.
#[derive(Clone, Debug)]
pub struct CustomEvent {
    name: Arc<str>,
    class: EventClass,
}

impl CustomEvent {
    /// Declares an event. `class.tool` follows from `class.matcher`: what can be matched is about a tool.
    pub fn new(name: impl Into<Arc<str>>, class: EventClass) -> Self {
        Self { name: name.into(), class: EventClass { tool: class.tool || class.matcher, ..class } }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is.
    pub fn class(&self) -> EventClass {
        self.class
    }
}

impl PartialEq for CustomEvent {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for CustomEvent {}

impl Hash for CustomEvent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// What an event of the embedder's own hands to its hooks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CustomInput {
    /// The tool it is about; without one, hooks see the event's name.
    pub tool: Option<String>,
    /// The payload.
    pub input: Object,
    /// The text a modified output replaces.
    pub output: Option<String>,
}

/// The verdict on an event of the embedder's own.
#[derive(Clone, Debug, PartialEq)]
pub enum Custom {
    /// Go on.
    Proceed {
        /// The payload to go on with, where it changed.
        input: Option<Object>,
        /// The winning rewrite, as the hook gave it.
        rewrite: Option<Object>,
        /// The text that replaces the output.
        output: Option<String>,
        /// What the hooks had to add.
        context: Option<String>,
    },
    /// Don't.
    Blocked {
        /// Why.
        reason: String,
        /// What the hooks had to add so far.
        context: Option<String>,
    },
    /// The project is not trusted: no hook was asked.
    Untrusted,
}

impl Verdict for Custom {
    fn summary(&self) -> Summary {
        match self.clone() {
            Self::Proceed { input, rewrite, output, context } => {
                Summary { input, modified_input: rewrite, modified_output: output, context, ..Summary::default() }
            }
            Self::Blocked { reason, context } => {
                Summary { decision: Some(Decision::Block), reason: Some(reason), context, ..Summary::default() }
            }
            Self::Untrusted => Summary { decision: Some(Decision::Untrusted), ..Summary::default() },
        }
    }

    fn unopposed() -> Self {
        Self::Proceed { input: None, rewrite: None, output: None, context: None }
    }
}
