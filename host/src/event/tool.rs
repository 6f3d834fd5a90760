//! The four events about a tool call.

use super::{Decision, Object, Summary, Verdict};
use crate::id::{HookName, ToolName};

/// A tool call that the model asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub tool: ToolName,
    /// Its arguments.
    pub input: Object,
    /// The call's id, where the agent has one.
    pub id: Option<String>,
}

impl ToolCall {
    /// A call without an id.
    pub fn new(tool: impl Into<ToolName>, input: Object) -> Self {
        Self { tool: tool.into(), input, id: None }
    }

    /// The same call with other arguments.
    #[must_use]
    pub fn with_input(&self, input: Object) -> Self {
        Self { input, ..self.clone() }
    }
}

/// What was asked for before hooks changed it, and who did.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// The arguments as the model gave them.
    pub input: Object,
    /// The hooks that changed them, in order.
    pub changed_by: Vec<HookName>,
}

/// A tool call that has run.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// The call as it ran.
    pub call: ToolCall,
    /// What it printed.
    pub output: String,
    /// What was asked for, where that differs.
    pub original: Option<Original>,
}

/// A tool call that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// The call as it ran.
    pub call: ToolCall,
    /// Why it failed.
    pub error: String,
    /// What was asked for, where that differs.
    pub original: Option<Original>,
}

/// What PreToolUse hooks say about asking a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Consent {
    /// Nothing.
    #[default]
    Unset,
    /// No prompt is needed.
    Allow,
    /// A person is to be asked; no hook lifts this.
    Ask {
        /// Why.
        reason: Option<String>,
    },
}

/// Whether a tool may run, and with which arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum PreToolUse {
    /// It may, as far as these hooks are concerned.
    Proceed {
        /// The arguments to run, where they changed.
        input: Option<Object>,
        /// The winning rewrite, as the hook gave it.
        rewrite: Option<Object>,
        /// What the model is to read beside the result.
        context: Option<String>,
        /// What was said about asking a person.
        consent: Consent,
    },
    /// It may not.
    Blocked {
        /// Why; for the model.
        reason: String,
        /// What the hooks had to add so far.
        context: Option<String>,
        /// Whether the agent is to stop altogether.
        stop: bool,
    },
    /// The project is not trusted: no hook was asked.
    Untrusted,
}

impl Verdict for PreToolUse {
    fn summary(&self) -> Summary {
        match self.clone() {
            Self::Proceed { input, rewrite, context, consent } => {
                let (decision, reason) = match &consent {
                    Consent::Ask { reason } => (Some(Decision::Ask), reason.clone()),
                    Consent::Unset | Consent::Allow => (None, None),
                };
                let consent = Some(consent).filter(|c| *c != Consent::Unset);
                Summary { decision, reason, input, modified_input: rewrite, context, consent, ..Summary::default() }
            }
            Self::Blocked { reason, context, stop } => {
                Summary { decision: Some(Decision::Block), reason: Some(reason), context, stop, ..Summary::default() }
            }
            Self::Untrusted => Summary { decision: Some(Decision::Untrusted), ..Summary::default() },
        }
    }

    fn unopposed() -> Self {
        Self::Proceed { input: None, rewrite: None, context: None, consent: Consent::Unset }
    }
}

/// What PermissionRequest hooks say to a permission.
///
/// The reason holds what the hooks gave as reason or as context. A changed input goes back through the PreToolUse
/// hooks and the rules before anything runs; [`ToolGate`](crate::gate::ToolGate) does that.
#[derive(Clone, Debug, PartialEq)]
pub enum PermissionRequest {
    /// No hook gave an opinion. Never the same as `Allow`.
    Passthrough {
        /// The arguments to run, where they changed.
        input: Option<Object>,
        /// The winning rewrite, as the hook gave it.
        rewrite: Option<Object>,
        /// What the hooks had to add.
        reason: Option<String>,
    },
    /// A hook looked and approved.
    Allow {
        /// The arguments to run, where they changed.
        input: Option<Object>,
        /// The winning rewrite, as the hook gave it.
        rewrite: Option<Object>,
        /// Why.
        reason: Option<String>,
    },
    /// A person is to be asked.
    Ask {
        /// The arguments to run, where they changed.
        input: Option<Object>,
        /// The winning rewrite, as the hook gave it.
        rewrite: Option<Object>,
        /// Why.
        reason: Option<String>,
    },
    /// Refused.
    Deny {
        /// Why.
        reason: String,
        /// Whether the agent is to stop altogether.
        stop: bool,
    },
    /// The project is not trusted: no hook was asked.
    Untrusted,
}

impl PermissionRequest {
    /// The arguments to run, where they changed.
    pub fn input(&self) -> Option<&Object> {
        match self {
            Self::Passthrough { input, .. } | Self::Allow { input, .. } | Self::Ask { input, .. } => input.as_ref(),
            Self::Deny { .. } | Self::Untrusted => None,
        }
    }
}

impl Verdict for PermissionRequest {
    fn summary(&self) -> Summary {
        let (decision, input, modified_input, reason, stop) = match self.clone() {
            Self::Passthrough { input, rewrite, reason } => (Decision::Passthrough, input, rewrite, reason, false),
            Self::Allow { input, rewrite, reason } => (Decision::Allow, input, rewrite, reason, false),
            Self::Ask { input, rewrite, reason } => (Decision::Ask, input, rewrite, reason, false),
            Self::Deny { reason, stop } => (Decision::Deny, None, None, Some(reason), stop),
            Self::Untrusted => (Decision::Untrusted, None, None, None, false),
        };
        Summary { decision: Some(decision), reason, input, modified_input, stop, ..Summary::default() }
    }

    fn unopposed() -> Self {
        Self::Passthrough { input: None, rewrite: None, reason: None }
    }
}

/// What the model sees of a tool's output.
#[derive(Clone, Debug, PartialEq)]
pub enum PostToolUse {
    /// The output is shown.
    Shown {
        /// The text that replaces it.
        output: Option<String>,
        /// Why a hook that ended with a blocking exit code was not content; the model reads it after the output.
        complaint: Option<String>,
        /// What the model is to read after the output.
        context: Option<String>,
    },
    /// The output is withheld; the model sees the reason in its place.
    Withheld {
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

impl PostToolUse {
    /// What the model is to read where the tool printed `output`.
    pub fn for_model(&self, output: &str) -> String {
        let (text, after) = match self {
            Self::Shown { output: changed, complaint, context } => {
                (changed.as_deref().unwrap_or(output), [complaint, context])
            }
            Self::Withheld { reason, context, .. } => (reason.as_str(), [&None, context]),
            Self::Untrusted => (output, [&None, &None]),
        };
        let after = after.into_iter().flatten().map(String::as_str);
        std::iter::once(text).chain(after).collect::<Vec<_>>().join("\n")
    }
}

impl Verdict for PostToolUse {
    fn summary(&self) -> Summary {
        match self.clone() {
            Self::Shown { output, complaint, context } => Summary {
                decision: complaint.is_some().then_some(Decision::Block),
                reason: complaint,
                modified_output: output,
                context,
                ..Summary::default()
            },
            Self::Withheld { reason, context, stop } => Summary {
                decision: Some(Decision::Block),
                reason: Some(reason.clone()),
                modified_output: Some(reason),
                context,
                stop,
                ..Summary::default()
            },
            Self::Untrusted => Summary { decision: Some(Decision::Untrusted), ..Summary::default() },
        }
    }

    fn unopposed() -> Self {
        Self::Shown { output: None, complaint: None, context: None }
    }
}

/// What the model sees of a tool's error.
#[derive(Clone, Debug, PartialEq)]
pub enum PostToolUseFailure {
    /// The error is shown.
    Shown {
        /// The text that replaces it.
        error: Option<String>,
        /// What the model is to read after the error.
        context: Option<String>,
    },
    /// The project is not trusted: no hook was asked.
    Untrusted,
}

impl PostToolUseFailure {
    /// What the model is to read where the tool failed with `error`.
    pub fn for_model(&self, error: &str) -> String {
        match self {
            Self::Shown { error: changed, context } => {
                let text = changed.as_deref().unwrap_or(error);
                std::iter::once(text).chain(context.as_deref()).collect::<Vec<_>>().join("\n")
            }
            Self::Untrusted => error.to_owned(),
        }
    }
}

impl Verdict for PostToolUseFailure {
    fn summary(&self) -> Summary {
        match self.clone() {
            Self::Shown { error, context } => Summary { modified_output: error, context, ..Summary::default() },
            Self::Untrusted => Summary { decision: Some(Decision::Untrusted), ..Summary::default() },
        }
    }

    fn unopposed() -> Self {
        Self::Shown { error: None, context: None }
    }
}
