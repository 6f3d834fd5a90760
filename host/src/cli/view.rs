//! The verdict as a person reads it. Names and texts from outside are shown line by line, control characters escaped.

use crate::diagnostic::printable;
use crate::event::{Consent, DecidedBy, Decision, Object};
use crate::report::{HookReport, Report, Skipped};

use super::host;
use super::moment::Answered;
use super::style::{self, DIM, HEAD, WARNING};

/// All of it.
pub(super) fn verdict(answered: &Answered, before: &[String]) -> String {
    let Answered { summary, report } = answered;
    let decision = summary.decision.unwrap_or(Decision::Allow);
    let colour = style::decision(decision);
    let mut page = Page(format!("{HEAD}{}{HEAD:#}: {colour}{decision}{colour:#}\n", report.event));
    let untrusted = (decision == Decision::Untrusted).then(host::untrusted);
    page.text("reason", summary.reason.as_deref().or(untrusted.as_deref()));
    page.by("decided by", report.decided_by.as_ref());
    page.text("input to run", summary.input.as_ref().map(json).as_deref());
    page.by("rewritten by", report.rewritten_by.as_ref());
    page.text("new text", summary.modified_output.as_deref());
    page.text("context", summary.context.as_deref());
    page.text("consent", summary.consent.as_ref().map(consent));
    page.text("stop", summary.stop.then_some("the agent is to stop altogether"));
    for (name, value) in &summary.exports {
        page.text("exported", Some(&format!("{name}={value}")));
    }
    for message in &report.messages {
        page.text("message", Some(message));
    }
    page.hooks(report);
    page.warnings(before.iter().cloned().chain(report.warnings.iter().map(ToString::to_string)));
    page.0
}

struct Page(String);

impl Page {
    /// A labelled text, its later lines below its first.
    fn text(&mut self, label: &str, text: Option<&str>) {
        let Some(text) = text else { return };
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        self.0.push_str(&format!("  {label:<13} {}\n", printable(first)));
        for line in lines {
            self.0.push_str(&format!("  {:<13} {}\n", "", printable(line)));
        }
    }

    fn by(&mut self, label: &str, by: Option<&DecidedBy>) {
        let Some(by) = by else { return };
        self.text(label, Some(&format!("{} ({})", by.hook, by.source)));
    }

    fn hooks(&mut self, report: &Report) {
        if report.hooks.is_empty() {
            self.0.push_str(&format!("  {DIM}no hook ran{DIM:#}\n"));
            return;
        }
        let longest = report.hooks.iter().map(|hook| printable(hook.name.as_str()).chars().count()).max().unwrap_or(0);
        for hook in &report.hooks {
            self.hook(hook, longest);
        }
    }

    fn hook(&mut self, hook: &HookReport, longest: usize) {
        let (word, colour) = (hook.word().as_str(), style::word(hook.word()));
        let name = printable(hook.name.as_str());
        let about = format!("{}, {}", printable(&hook.source.to_string()), hook.kind);
        let millis = hook.took.as_secs_f64() * 1000.0;
        self.0.push_str(&format!(
            "  {colour}{word:<10}{colour:#} {name:<longest$}  {DIM}{about}{DIM:#} {millis:>8.1} ms"
        ));
        let said = hook.error().or_else(|| hook.reason().or(hook.skipped.map(Skipped::as_str)).map(str::to_owned));
        if let Some(said) = said {
            self.0.push_str(&format!("  {}", printable(said.lines().next().unwrap_or_default())));
        }
        self.0.push('\n');
        for line in &hook.log {
            self.0.push_str(&format!("  {DIM}{:<10} {}{DIM:#}\n", "log", printable(&line.message)));
        }
    }

    fn warnings(&mut self, warnings: impl Iterator<Item = String>) {
        for warning in warnings {
            self.0.push_str(&format!("  {WARNING}warning{WARNING:#}    {}\n", printable(&warning)));
        }
    }
}

fn json(object: &Object) -> String {
    serde_json::to_string(object).unwrap_or_default()
}

fn consent(consent: &Consent) -> &'static str {
    match consent {
        Consent::Unset => "unset",
        Consent::Allow => "allow: no prompt is needed",
        Consent::Ask { .. } => "ask: a person is to be asked",
    }
}
