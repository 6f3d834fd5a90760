//! What of an answer is taken: pure checks between what came back and what is folded.
//!
//! A rewrite that is probably an echoed cut copy is refused, and an approval counts only from who may give it.

use serde_json::Value;

use crate::ask::Asked;
use crate::event::{Event, Object};
use crate::matching::Call;
use crate::outcome::{Cause, Change, Outcome, Permission};
use crate::policy::MayApprove;
use crate::registry::Hook;
use crate::text::{MARKER, ends_cut};

/// What an acceptance depends on beside the answer itself.
pub(super) struct Accept<'a> {
    pub(super) hook: &'a Hook,
    pub(super) saw: &'a Event,
    pub(super) call: &'a Call<'a>,
    pub(super) may_approve: &'a MayApprove,
}

impl Accept<'_> {
    /// The answer as far as it is taken.
    pub(super) fn outcome(&self, asked: &Asked) -> Outcome {
        let Outcome::Continue(change) = &asked.outcome else { return asked.outcome.clone() };
        if let Some(why) = self.echoes_a_cut(change, asked.cut) {
            return Outcome::NoAnswer(Cause::RefusedRewrite(why));
        }
        Outcome::Continue(self.effective(change.clone()))
    }

    /// Without the parts that this event does not honour, and without an approval that does not count.
    fn effective(&self, mut change: Change) -> Change {
        let class = self.saw.name.class();
        change.input = change.input.filter(|_| class.input);
        change.output = change.output.filter(|_| class.output);
        if change.permission == Some(Permission::Allow) && !self.may_approve() {
            change.permission = None;
        }
        change
    }

    fn may_approve(&self) -> bool {
        let strictly = match &self.hook.spec.condition {
            Some(condition) => condition.approves(self.call),
            None => true,
        };
        strictly && self.may_approve.allows(&self.hook.spec, &self.hook.source)
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
