//! What of an answer is taken: pure checks between what came back and what is folded.
//!
//! A rewrite that is probably an echoed cut copy is refused, and an approval counts only from who may give it.

use serde_json::Value;

use crate::ask::Asked;
use crate::event::{Event, EventName, Object, merged};
use crate::hook::OnError;
use crate::hook::sight::Look;
use crate::matching::{MatcherHit, ToolTable};
use crate::outcome::{Block, Cause, Change, Outcome, Permission, Said};
use crate::policy::MayApprove;
use crate::registry::Hook;
use crate::text::{MARKER, ends_cut};

/// What an acceptance depends on beside the answer itself.
pub(super) struct Accept<'a> {
    pub(super) hook: &'a Hook,
    pub(super) saw: &'a Event,
    pub(super) look: &'a Look<'a>,
    pub(super) tools: &'a ToolTable,
    pub(super) may_approve: &'a MayApprove,
}

impl Accept<'_> {
    /// The answer as far as it is taken.
    pub(super) fn outcome(&self, asked: &Asked) -> Outcome {
        let Outcome::Continue(change) = &asked.outcome else { return asked.outcome.clone() };
        let mut change = self.effective(change.clone());
        if change.permission == Some(Permission::Deny) {
            return Outcome::Block(denial(change));
        }
        if let Some(why) = self.echoes_a_cut(&change, asked.cut) {
            // Whoever wants a person asked still does, unless silence is stricter.
            let asks = change.permission == Some(Permission::Ask);
            if !asks || self.hook.spec.means_by_silence() == OnError::Block {
                return Outcome::NoAnswer(Cause::RefusedRewrite(why));
            }
            (change.input, change.output) = (None, None);
        }
        Outcome::Continue(change)
    }

    /// Without the parts that this event does not honour, and without an approval that does not count.
    fn effective(&self, mut change: Change) -> Change {
        let class = self.saw.name.class();
        change.input = change.input.filter(|_| class.input);
        change.output = change.output.filter(|_| class.output);
        if !matches!(self.saw.name, EventName::PreToolUse | EventName::PermissionRequest) {
            change.permission = None;
        }
        if change.permission == Some(Permission::Allow) && !self.may_approve(&change) {
            change.permission = None;
        }
        change
    }

    fn may_approve(&self, change: &Change) -> bool {
        let spec = &self.hook.spec;
        // A matcher that was given up on has matched nothing that could be approved.
        let certain = spec.matcher.test(self.look.call(self.saw).tool()) != Some(MatcherHit::PatternLimit);
        certain
            && self.meets_the_condition(change)
            && self.may_approve.allows(spec, &self.hook.source, self.hook.code.as_deref())
    }

    /// Read strictly, and on what would run: the hook's own rewrite, where it approves that.
    fn meets_the_condition(&self, change: &Change) -> bool {
        let Some(condition) = &self.hook.spec.condition else { return true };
        match &change.input {
            None => condition.approves(&self.look.call(self.saw)),
            Some(rewrite) => {
                let event = self.saw.with_input(merged(&self.saw.input, rewrite));
                condition.approves(&Look::new(&event, self.tools).call(&event))
            }
        }
    }

    fn echoes_a_cut(&self, change: &Change, saw_cut: bool) -> Option<String> {
        let class = self.saw.name.class();
        if let Some(output) = change.output.as_deref().filter(|text| class.output && ends_cut(text)) {
            let had_it_whole = !saw_cut && self.saw.text().is_some_and(ends_cut);
            if !had_it_whole {
                return Some(format!(
                    "the text it gave back ends in `{MARKER}`, as a cut copy does ({} bytes)",
                    output.len()
                ));
            }
        }
        let input = change.input.as_ref().filter(|_| class.input)?;
        let key = cut_string(input, &self.saw.input)?;
        Some(format!("the argument `{key}` it gave back ends in `{MARKER}`, as a cut copy does"))
    }
}

/// A deny in its words: its reason, else what it gave as context.
fn denial(change: Change) -> Block {
    let (reason, context) = match change.reason {
        Some(reason) => (Some(reason), change.context),
        None => (change.context, None),
    };
    Block { context, ..Block::new(reason.unwrap_or_else(|| "a hook denied it".to_owned()), Said::Explicitly) }
}

/// The key of an argument in which a string ends in the marker where the original's does not.
fn cut_string<'a>(rewrite: &'a Object, original: &Object) -> Option<&'a str> {
    rewrite.iter().find(|(key, value)| cut_value(value, original.get(*key))).map(|(key, _)| key.as_str())
}

/// Walks without recursion: a payload may be nested as deep as memory allows.
fn cut_value(value: &Value, original: Option<&Value>) -> bool {
    let mut open = vec![(value, original)];
    while let Some((value, original)) = open.pop() {
        match value {
            Value::String(text) if ends_cut(text) && !original.and_then(Value::as_str).is_some_and(ends_cut) => {
                return true;
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(at, item)| (item, original.and_then(|o| o.get(at)))));
            }
            Value::Object(fields) => {
                open.extend(fields.iter().map(|(key, item)| (item, original.and_then(|o| o.get(key)))));
            }
            _ => {}
        }
    }
    false
}
