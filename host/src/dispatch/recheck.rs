//! A rewrite cannot pass a guard, wherever it stands (HOOKS.md, 6).
//!
//! When a chain ends with other arguments or another prompt than it began with, every hook that matches those and has
//! neither seen exactly them nor written them is asked about them, also one that did not match before.

use crate::event::Event;
use crate::hook::sight::Look;
use crate::registry::Hook;

use super::fold::{Flow, Fold};
use super::plan::{Candidate, Fit, Plan, equals};
use super::run::{Run, Told};

impl Run<'_> {
    /// Asks about what the chain left, where that differs from what it was given.
    pub(super) async fn recheck(&mut self, plan: &Plan, fold: &mut Fold) {
        if let Some(changed) = fold.changed() {
            self.again(plan, &changed, fold).await;
        }
    }

    /// Asks every hook that matches `event` and does not know it.
    pub(super) async fn again(&mut self, plan: &Plan, event: &Event, fold: &mut Fold) {
        let look = Look::new(event, &self.with.tools);
        let mut asked: Vec<&Hook> = Vec::new();
        for (at, candidate) in plan.candidates.iter().enumerate() {
            let hook = &candidate.hook;
            let known = fold.knows(at, event) || asked.iter().any(|other| equals(other, hook));
            if known || !is_asked_again(candidate) || look.sight(event).of(&hook.spec).is_err() {
                continue;
            }
            asked.push(hook);
            let told = Told { event, look: &look, recheck: true };
            let (outcome, _) = self.ask(at, hook, &told).await;
            if fold.retake(at, &hook.spec, event, &outcome) == Flow::Ends {
                self.ended_by(at);
                return;
            }
        }
    }
}

/// What was kept from running stays so; `once` hooks and those that only look on are not asked.
fn is_asked_again(candidate: &Candidate) -> bool {
    let kept = candidate.disabled || matches!(candidate.fit, Fit::Kept(_));
    !kept && !candidate.hook.spec.once && !candidate.hook.spec.observes()
}
