//! The prompt on its way to the model.

use serde_json::Value;

use super::{Decision, Object, Summary, Verdict};

/// The text that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptInput {
    /// The whole text; which one that is, the embedder says.
    pub prompt: String,
}

/// What hooks see of a prompt: the text, and how many characters the whole of it has.
pub(super) fn payload(prompt: &str) -> Object {
    let mut input = Object::new();
    input.insert("prompt".into(), prompt.into());
    input.insert("promptLength".into(), Value::from(prompt.chars().count()));
    input
}

impl PromptInput {
    /// The payload for hooks: `{prompt, promptLength}`.
    pub fn payload(&self) -> Object {
        payload(&self.prompt)
    }
}

/// Whether a prompt is sent, and as which text.
#[derive(Clone, Debug, PartialEq)]
pub enum UserPromptSubmit {
    /// It is sent.
    Send {
        /// The text that replaces it.
        prompt: Option<String>,
        /// What the model is to read beside it.
        context: Option<String>,
    },
    /// It is not sent.
    Blocked {
        /// Why.
        reason: String,
        /// What the hooks had to add so far.
        context: Option<String>,
        /// Whether the agent is to stop altogether.
        stop: bool,
    },
    /// The project is not trusted: no hook was asked.
    Untrusted,
}

impl Verdict for UserPromptSubmit {
    fn summary(&self) -> Summary {
        match self.clone() {
            Self::Send { prompt, context } => Summary { modified_output: prompt, context, ..Summary::default() },
            Self::Blocked { reason, context, stop } => {
                Summary { decision: Some(Decision::Block), reason: Some(reason), context, stop, ..Summary::default() }
            }
            Self::Untrusted => Summary { decision: Some(Decision::Untrusted), ..Summary::default() },
        }
    }

    fn unopposed() -> Self {
        Self::Send { prompt: None, context: None }
    }
}
