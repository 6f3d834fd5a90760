//! What a dispatch would do, in words, without running anything. Which words is `report`'s.

use crate::event::{Context, Event};
use crate::hook::sight::{Look, Sight};
use crate::registry::Hook;
use crate::report::{ELSEWHERE, Explained, Skipped, why};

use super::Dispatcher;
use super::plan::{Candidate, Fit, Plan};

impl Dispatcher {
    /// For each hook of the event, in order: whether it would be asked, and which test decided.
    pub fn explain(&self, event: &Event, cx: &Context) -> Vec<Explained> {
        let snapshot = self.registry.snapshot();
        let look = Look::new(event, &self.tools);
        let sight = look.sight(event);
        let mut candidates = Plan::new(&snapshot, &sight, cx).candidates.into_iter();
        let explain = |hook: &std::sync::Arc<Hook>| {
            let here = hook.reach.covers(&cx.session, &cx.root_session);
            let candidate = here.then(|| candidates.next()).flatten();
            let (asked, because) = match candidate {
                Some(candidate) => self.because(&candidate, &sight, cx),
                None => (false, ELSEWHERE.to_owned()),
            };
            let (name, source) = (hook.spec.name.clone(), hook.source.clone());
            Explained { hook: name, source, generation: hook.generation, asked, because }
        };
        snapshot.at(&event.name).iter().map(explain).collect()
    }

    fn because(&self, candidate: &Candidate, sight: &Sight<'_>, cx: &Context) -> (bool, String) {
        let hook = &candidate.hook;
        let kept = match candidate.fit {
            Fit::Kept(why) => Some(why),
            Fit::Asked => self.kept(hook, cx),
            Fit::Missed(_) => None,
        };
        let because = kept.map_or_else(|| why(&hook.spec, sight), |kept| kept.as_str().to_owned());
        (candidate.fit == Fit::Asked && kept.is_none(), because)
    }

    /// What earlier dispatches of the session keep it from.
    fn kept(&self, hook: &Hook, cx: &Context) -> Option<Skipped> {
        let life = self.lives.known(&cx.session)?;
        if self.aside.holds(hook, &life) {
            return Some(Skipped::SetAside);
        }
        (hook.spec.once && self.once.has_run(hook, &life)).then_some(Skipped::Once)
    }
}
