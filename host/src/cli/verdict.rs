//! The verdict as one JSON object (HOOKS.md, 11). Owns its keys; one without a value is left out.

use serde::Serialize;

use crate::event::{Consent, Decision, Object};
use crate::report::{HookReport, Skipped};

use super::host;
use super::moment::Answered;

/// What a program reads.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VerdictJson {
    event: String,
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_input: Option<Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consent: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stop: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<String>,
    #[serde(skip_serializing_if = "Object::is_empty")]
    exports: Object,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    capped: bool,
    revision: u64,
    hooks: Vec<HookJson>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct HookJson {
    name: String,
    source: String,
    kind: &'static str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    millis: f64,
}

impl VerdictJson {
    /// Of this answer; `before` are the warnings that came before those of the dispatch.
    pub(super) fn new(answered: Answered, before: Vec<String>) -> Self {
        let Answered { summary, report } = answered;
        let decision = summary.decision.unwrap_or(Decision::Allow);
        let untrusted = (decision == Decision::Untrusted).then(host::untrusted);
        let in_dispatch = report.warnings.iter().map(ToString::to_string);
        Self {
            event: report.event.to_string(),
            decision: decision.as_str(),
            reason: summary.reason.or(untrusted),
            modified_input: summary.modified_input,
            input: summary.input,
            modified_output: summary.modified_output,
            additional_context: summary.context,
            consent: summary.consent.as_ref().and_then(consent),
            stop: summary.stop,
            messages: report.messages,
            exports: summary.exports.into_iter().map(|(name, value)| (name, value.into())).collect(),
            capped: summary.capped,
            revision: report.revision.0,
            hooks: report.hooks.iter().map(HookJson::new).collect(),
            warnings: before.into_iter().chain(in_dispatch).collect(),
        }
    }
}

impl HookJson {
    fn new(hook: &HookReport) -> Self {
        Self {
            name: hook.name.to_string(),
            source: hook.source.to_string(),
            kind: hook.kind.as_str(),
            outcome: hook.word().as_str(),
            reason: hook.reason().or(hook.skipped.map(Skipped::as_str)).map(str::to_owned),
            error: hook.error(),
            millis: (hook.took.as_secs_f64() * 1_000_000.0).round() / 1000.0,
        }
    }
}

fn consent(consent: &Consent) -> Option<&'static str> {
    match consent {
        Consent::Unset => None,
        Consent::Allow => Some("allow"),
        Consent::Ask { .. } => Some("ask"),
    }
}
