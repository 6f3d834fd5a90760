//! How long a dispatch may take as a whole (HOOKS.md, 8): each hook has at most what is left of it, and what was not
//! asked is said.
//!
//! What it means that a hook could not be asked is for `fold`.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::ask::Asked;
use crate::bus::Record;
use crate::outcome::{Cause, Outcome};
use crate::registry::Hook;
use crate::report::{Skipped, Word};

use super::run::Run;

/// The time of one dispatch, on the clock of the runtime.
#[derive(Clone, Copy, Debug)]
pub(super) enum Budget {
    /// It may take as long as its hooks may.
    Unlimited,
    /// It may take `whole`, and is over at `end`.
    Limited { whole: Duration, end: Instant },
}

/// One hook's share of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// How long the hook may take.
    pub(super) limit: Duration,
    /// That is less than its own time limit.
    shortened: bool,
    of: Budget,
}

impl Budget {
    /// Begins now. One that no clock can hold is none.
    pub(super) fn begin(whole: Option<Duration>) -> Self {
        let limited = whole.and_then(|whole| Some((whole, Instant::now().checked_add(whole)?)));
        limited.map_or(Self::Unlimited, |(whole, end)| Self::Limited { whole, end })
    }

    /// What a hook gets that may take `own`, or that there is nothing left.
    pub(super) fn share(self, own: Duration) -> Result<Share, Cause> {
        let Self::Limited { whole, end } = self else { return Ok(Share { limit: own, shortened: false, of: self }) };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Cause::OverBudget(whole));
        }
        Ok(Share { limit: own.min(left), shortened: left < own, of: self })
    }
}

impl Share {
    /// Keeps an asking within it. What an executor does before and after its own time limit counts too.
    pub(super) async fn hold(self, asking: impl Future<Output = Asked>) -> Asked {
        let Budget::Limited { whole, end } = self.of else { return asking.await };
        let over = Outcome::NoAnswer(Cause::OverBudget(whole));
        let Ok(asked) = timeout_at(end, asking).await else { return over.into() };
        match &asked.outcome {
            // However an executor calls it that the time was up.
            Outcome::NoAnswer(cause) if self.shortened && is_for_want_of_time(cause, end) => {
                Asked { outcome: over, ..asked }
            }
            _ => asked,
        }
    }
}

fn is_for_want_of_time(cause: &Cause, end: Instant) -> bool {
    match cause {
        Cause::TimedOut(_) => true,
        Cause::NotTrusted(_) | Cause::Cancelled | Cause::SessionEnded => false,
        _ => Instant::now() >= end,
    }
}

impl Run<'_> {
    /// Notes that a hook was not asked: there was no time left for it, or no session.
    pub(super) fn note_unasked(&mut self, at: usize, hook: &Arc<Hook>, cause: Cause, recheck: bool) -> Outcome {
        self.warn(hook, format!("it was not asked: {cause}"));
        let why = match cause {
            Cause::SessionEnded => Skipped::SessionEnded,
            _ => Skipped::Budget,
        };
        self.with.bus.tell(|| Record::Skipped { about: self.about(hook), why });
        self.tally(hook, |tally| tally.end(Word::Skipped));
        let outcome = Outcome::NoAnswer(cause);
        let line = self.line(at, hook);
        if recheck {
            line.recheck = Some(outcome.clone());
        }
        if line.outcome.is_none() {
            line.skipped = Some(why);
        }
        outcome
    }
}
