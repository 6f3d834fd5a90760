//! What is remembered of a hook from one dispatch to the next: whether it only fails, and how often it was asked.

use crate::aside::{MOST_FAILURES, Standing};
use crate::outcome::Outcome;
use crate::registry::{Hook, Tally};

use super::run::Run;

impl Run<'_> {
    /// Counts how it ended, and says so where it is asked no more.
    pub(super) fn set_aside(&mut self, hook: &Hook, outcome: &Outcome) {
        if self.with.aside.note(hook, &self.life, outcome) == Standing::SetAside {
            let last = match outcome {
                Outcome::NoAnswer(cause) => cause.to_string(),
                Outcome::Block(block) => block.reason.clone(),
                Outcome::Continue(_) => String::new(),
            };
            self.tally(hook, Tally::set_aside);
            let times = format!("it failed {MOST_FAILURES} times in a row");
            self.warn(hook, format!("{times} and is set aside for this session; last: {last}"));
        }
    }

    /// For the record of the session, where one is kept.
    pub(super) fn tally(&self, hook: &Hook, count: impl FnOnce(&Tally)) {
        if self.with.ports.audit.is_some() {
            count(&hook.tally);
        }
    }
}
