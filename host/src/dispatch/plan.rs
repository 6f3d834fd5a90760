//! Who is to be asked: pure, and able to say of every hook which test decided.

use std::sync::Arc;

use crate::event::{Context, Event};
use crate::hook::{HookSpec, OnError};
use crate::matching::{Call, Commands, ConditionVerdict, MatcherHit, ToolTable};
use crate::registry::{Disabled, Hook, Snapshot};
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
}

/// Whether a hook is asked, and which test decided.
#[derive(Clone, Debug)]
pub enum Fit {
    /// It is.
    Asked(Hit),
    /// It matched, and is kept from running.
    Kept(Skipped),
    /// It does not match.
    Missed(Miss),
}

/// What let a hook through.
#[derive(Clone, Debug, Default)]
pub struct Hit {
    /// What its matcher found; `None` where the event has none.
    pub matcher: Option<MatcherHit>,
    /// What its `if` found; `None` where it has none, or the event has no tool.
    pub condition: Option<ConditionVerdict>,
}

/// What kept a hook out.
#[derive(Clone, Debug)]
pub enum Miss {
    /// Its matcher does not fit the tool.
    Matcher,
    /// Its `if` does not hold.
    Condition(ConditionVerdict),
}

/// What matching depends on.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The event.
    pub event: &'a Event,
    /// What a shell parser made of the tool's command.
    pub commands: Option<&'a Commands>,
    /// The tools.
    pub tools: &'a ToolTable,
}

impl Sight<'_> {
    /// Whether `hook` matches, and which test decided.
    pub fn of(&self, hook: &HookSpec) -> Result<Hit, Miss> {
        let class = self.event.name.class();
        let mut hit = Hit::default();
        if class.matcher {
            hit.matcher = Some(hook.matcher.test(self.event.tool.as_str()).ok_or(Miss::Matcher)?);
        }
        if let Some(condition) = hook.condition.as_ref().filter(|_| class.tool) {
            let verdict = condition.test(&Call::new(self.event, self.commands, self.tools));
            if !verdict.runs() {
                return Err(Miss::Condition(verdict));
            }
            hit.condition = Some(verdict);
        }
        Ok(hit)
    }
}

impl Plan {
    /// The plan for one dispatch.
    pub fn new(snapshot: &Snapshot, sight: &Sight<'_>, cx: &Context) -> Self {
        let mut candidates: Vec<Candidate> = Vec::new();
        for hook in snapshot.at(&sight.event.name) {
            if hook.reach.covers(&cx.session, &cx.root_session) {
                let fit = fit(hook, sight, &snapshot.disabled, &candidates);
                candidates.push(Candidate { hook: hook.clone(), fit });
            }
        }
        Self { candidates }
    }

    /// The hooks that will be asked, with their place.
    pub fn asked(&self) -> impl Iterator<Item = (usize, &Arc<Hook>)> {
        self.candidates
            .iter()
            .enumerate()
            .filter(|(_, candidate)| matches!(candidate.fit, Fit::Asked(_)))
            .map(|(at, candidate)| (at, &candidate.hook))
    }
}

fn fit(hook: &Hook, sight: &Sight<'_>, disabled: &Disabled, before: &[Candidate]) -> Fit {
    let hit = match sight.of(&hook.spec) {
        Ok(hit) => hit,
        Err(miss) => return Fit::Missed(miss),
    };
    if disabled.covers(hook) {
        return Fit::Kept(Skipped::Disabled);
    }
    let twin = |candidate: &Candidate| matches!(candidate.fit, Fit::Asked(_)) && equals(&candidate.hook, hook);
    if before.iter().any(twin) {
        return Fit::Kept(Skipped::Duplicate);
    }
    Fit::Asked(hit)
}

/// Whether two hooks would do the same: settings scopes count together, each plugin and skill apart.
fn equals(a: &Hook, b: &Hook) -> bool {
    let together = a.source == b.source || (settings(&a.source) && settings(&b.source));
    together && a.spec.same_effect(&b.spec) && same_code(a, b)
}

fn settings(source: &Source) -> bool {
    source.kind() == SourceKind::Settings
}

/// Which of a plugin's hooks is asked depends on the name it is told.
fn same_code(a: &Hook, b: &Hook) -> bool {
    match (&a.code, &b.code) {
        (None, None) => true,
        (Some(x), Some(y)) => x.digest() == y.digest() && a.spec.told_name() == b.spec.told_name(),
        _ => false,
    }
}

impl Hit {
    /// Whether the hook is asked although its `if` could not be tested.
    pub fn is_certain(&self) -> bool {
        self.condition.as_ref().is_none_or(ConditionVerdict::is_certain)
    }
}

/// What a hook's missing answer means, for those who list hooks.
pub fn silence(hook: &HookSpec) -> OnError {
    hook.means_by_silence()
}
