//! Who is to be asked: pure, and able to say of every hook which test decided.

use std::sync::Arc;

use crate::event::Context;
use crate::hook::sight::{Miss, Sight};
use crate::registry::{Hook, Snapshot};
use crate::report::Skipped;
use crate::source::{Source, SourceKind};

/// The hooks of one event, in the order in which they are asked.
#[derive(Debug)]
pub struct Plan {
    /// Those whose reach covers the session.
    pub candidates: Vec<Candidate>,
}

/// A hook and whether it is asked.
#[derive(Debug)]
pub struct Candidate {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Whether it is asked, and which test decided.
    pub fit: Fit,
    /// Settings switch it off, whatever it matches.
    pub disabled: bool,
}

/// Whether a hook is asked, and which test decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It is.
    Asked,
    /// It matched, and is kept from running.
    Kept(Skipped),
    /// It does not match.
    Missed(Miss),
}

impl Plan {
    /// The plan for one dispatch.
    pub fn new(snapshot: &Snapshot, sight: &Sight<'_>, cx: &Context) -> Self {
        let mut candidates: Vec<Candidate> = Vec::new();
        for hook in snapshot.at(&sight.event.name) {
            if hook.reach.covers(&cx.session, &cx.root_session) {
                let disabled = snapshot.is_disabled(hook);
                let fit = fit(hook, sight, disabled, &candidates);
                candidates.push(Candidate { hook: hook.clone(), fit, disabled });
            }
        }
        Self { candidates }
    }

    /// The hooks that will be asked, with their place.
    pub fn asked(&self) -> impl Iterator<Item = (usize, &Arc<Hook>)> {
        self.candidates
            .iter()
            .enumerate()
            .filter(|(_, candidate)| matches!(candidate.fit, Fit::Asked))
            .map(|(at, candidate)| (at, &candidate.hook))
    }
}

fn fit(hook: &Hook, sight: &Sight<'_>, disabled: bool, before: &[Candidate]) -> Fit {
    if let Err(miss) = sight.of(&hook.spec) {
        return Fit::Missed(miss);
    }
    if disabled {
        return Fit::Kept(Skipped::Disabled);
    }
    let twin = |candidate: &Candidate| matches!(candidate.fit, Fit::Asked) && equals(&candidate.hook, hook);
    if before.iter().any(twin) {
        return Fit::Kept(Skipped::Duplicate);
    }
    Fit::Asked
}

/// Whether two hooks would do the same: settings scopes count together, each plugin and skill apart.
pub(super) fn equals(a: &Hook, b: &Hook) -> bool {
    let together = a.source == b.source || (settings(&a.source) && settings(&b.source));
    together && a.spec.same_effect(&b.spec) && a.same_code(b)
}

fn settings(source: &Source) -> bool {
    source.kind() == SourceKind::Settings
}
