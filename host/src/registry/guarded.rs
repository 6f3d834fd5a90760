//! What a guarded reload holds back: it adds at once, and what it would take from a gate stays until that is accepted.
//!
//! Owns which hooks of the former reading are kept, where they stand, and what is told of it. An embedder's own
//! registering and dropping is not guarded.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Place;
use crate::event::EventName;
use crate::id::{HookName, Reading};
use crate::policy::Trust;
use crate::source::{Scope, Source};

use super::draft::{Entry, Set, Standing};
use super::{Disabled, Hook, address};

/// What a reload may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reloading {
    /// Everything at once.
    #[default]
    Whole,
    /// It adds at once; what it would take from a gate waits.
    Guarded,
}

/// What readings would have taken from gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which reading it is: another one as soon as anything of it is different.
    pub reading: Reading,
    /// The hooks that stay until it is accepted, in the order in which they are asked.
    pub hooks: Vec<Held>,
}

/// A hook that stays until a reading is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The hook.
    pub hook: HookName,
    /// The gate.
    pub event: EventName,
    /// Who brought it.
    pub source: Source,
    /// Where it was written.
    pub place: Place,
    /// What the reading does to it.
    pub loss: Loss,
}

/// What a reading does to a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It holds it no longer.
    Gone,
    /// It is another one now, by its words or by its plugin's bytes.
    Changed {
        /// Where the one is that has its name now.
        now: Place,
    },
    /// Another one takes its place.
    Replaced {
        /// Where that one is.
        by: Place,
    },
    /// Settings switch it off.
    Disabled,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("is gone"),
            Self::Changed { .. } => f.write_str("has changed"),
            Self::Replaced { by } => write!(f, "is replaced by {by}"),
            Self::Disabled => f.write_str("is disabled"),
        }
    }
}

/// A hook that is written in a settings file, and that settings took away again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Who brought it.
    pub source: Source,
    /// Its event.
    pub event: EventName,
    /// Its name.
    pub name: HookName,
    /// How.
    pub loss: Loss,
}

impl Waiting {
    pub(super) fn of(reading: Reading, sets: &[Set]) -> Option<Self> {
        let hooks: Vec<_> = sets.iter().flat_map(Set::held).map(|(hook, loss)| Held::new(hook, loss)).collect();
        (!hooks.is_empty()).then_some(Self { reading, hooks })
    }
}

impl Held {
    fn new(hook: &Hook, loss: &Loss) -> Self {
        let spec = &hook.spec;
        Self {
            hook: spec.name.clone(),
            event: spec.event.clone(),
            source: hook.source.clone(),
            place: spec.place.clone(),
            loss: loss.clone(),
        }
    }
}

/// A hook that guarded a gate, and the one of the new reading that stands for it.
type Found<'a> = (&'a Arc<Hook>, Option<Arc<Hook>>);

/// A set before a reload, and how far it was in force.
pub(super) struct Guards<'a> {
    pub(super) before: &'a [Entry],
    pub(super) disabled: &'a Disabled,
    pub(super) trust: Trust,
}

impl Guards<'_> {
    /// The new reading, and in it what it would have taken from gates, where that stood.
    pub(super) fn keep(&self, mut new: Vec<Entry>, disabled: &Disabled, taken: &[Taken]) -> Vec<Entry> {
        let found = self.counterparts(&new, disabled);
        let losses: Vec<_> = found
            .iter()
            .map(|(guard, counterpart)| counterpart.is_none().then(|| loss(guard, &new, disabled, taken)))
            .collect();
        let known: HashSet<_> = found.iter().filter_map(|(_, counterpart)| counterpart.as_ref().map(address)).collect();
        for entry in new.iter_mut().filter(|entry| !known.contains(&address(&entry.hook))) {
            let lost = |(guard, counterpart): &Found<'_>| counterpart.is_none() && same_name(guard, &entry.hook);
            if found.iter().any(lost) {
                entry.standing = Standing::StandIn;
            }
        }
        let mut before: Option<&Arc<Hook>> = None;
        for ((guard, counterpart), loss) in found.iter().zip(losses) {
            if let Some(loss) = loss {
                let entry = Entry { hook: (*guard).clone(), standing: Standing::Kept(loss) };
                new.insert(place(guard, before, &new), entry);
            }
            before = Some(counterpart.as_ref().unwrap_or(guard));
        }
        new
    }

    /// Each hook that guarded a gate, with the new one that does exactly the same.
    fn counterparts(&self, new: &[Entry], disabled: &Disabled) -> Vec<Found<'_>> {
        let mut from = 0;
        let mut found = Vec::new();
        for guard in self.before.iter().filter(|entry| self.guarded(entry)).map(|entry| &entry.hook) {
            // Where nothing has changed the next one is the one.
            let at = (from..new.len()).chain(0..from).find(|at| stands_for(&new[*at].hook, guard, disabled));
            from = at.map_or(from, |at| at + 1);
            found.push((guard, at.map(|at| new[at].hook.clone())));
        }
        found
    }

    /// Whether a gate had this hook: what stands in for one that is kept does not count, so that nothing piles up while
    /// a file is edited; neither does what was switched off, or was never trusted.
    fn guarded(&self, entry: &Entry) -> bool {
        let hook = &entry.hook;
        let in_force = match entry.standing {
            Standing::Kept(_) | Standing::Spared => true,
            Standing::StandIn => false,
            Standing::Firm => !self.disabled.covers(hook),
        };
        in_force && is_on_a_gate(hook) && (self.trust == Trust::Trusted || !is_projects(hook))
    }
}

/// What settings newly switch off among the plugins' and skills' hooks on gates waits, too.
pub(super) fn spare(entries: &mut [Entry], before: &Disabled, now: &Disabled) {
    for entry in entries {
        let (was, is) = (before.covers(&entry.hook), now.covers(&entry.hook));
        match entry.standing {
            Standing::Firm if !was && is && is_on_a_gate(&entry.hook) => entry.standing = Standing::Spared,
            Standing::Spared if !is => entry.standing = Standing::Firm,
            _ => {}
        }
    }
}

/// Takes out what is kept although it has come back as it was; what then stands in for nobody is firm.
pub(super) fn settle(entries: &mut Vec<Entry>, disabled: &Disabled) -> Vec<Arc<Hook>> {
    if !entries.iter().any(|entry| entry.standing != Standing::Firm) {
        return Vec::new();
    }
    let all = entries.clone();
    let in_force = |entry: &Entry| match entry.standing {
        Standing::Kept(_) => false,
        Standing::Spared => true,
        Standing::Firm | Standing::StandIn => !disabled.covers(&entry.hook),
    };
    let there = |kept: &Hook| all.iter().any(|entry| in_force(entry) && does_the_same(&entry.hook, kept));
    let back = |entry: &mut Entry| entry.is_kept() && there(&entry.hook);
    let back: Vec<_> = entries.extract_if(.., back).map(|entry| entry.hook).collect();
    let kept: Vec<_> = entries.iter().filter(|entry| entry.is_kept()).map(|entry| entry.hook.clone()).collect();
    for entry in entries.iter_mut().filter(|entry| !entry.is_kept()) {
        let named = kept.iter().any(|kept| same_name(kept, &entry.hook));
        match entry.standing {
            Standing::StandIn if !named => entry.standing = Standing::Firm,
            _ => {}
        }
    }
    back
}

/// Whether what is held back in these sets, and what stands in for it, is the same.
pub(super) fn same_reading(before: &[Set], now: &[Set]) -> bool {
    let holding =
        |sets: &'_ [Set]| -> Vec<Set> { sets.iter().filter(|set| set.held().next().is_some()).cloned().collect() };
    let (before, now) = (holding(before), holding(now));
    let same = |(a, b): (&Set, &Set)| a.key == b.key && same_gates(&a.entries, &b.entries);
    before.len() == now.len() && before.iter().zip(&now).all(same)
}

fn same_gates(a: &[Entry], b: &[Entry]) -> bool {
    let on_gates =
        |entries: &[Entry]| entries.iter().filter(|entry| is_on_a_gate(&entry.hook)).cloned().collect::<Vec<_>>();
    let (a, b) = (on_gates(a), on_gates(b));
    let same = |(a, b): (&Entry, &Entry)| {
        a.standing == b.standing && a.hook.spec.name == b.hook.spec.name && does_the_same(&a.hook, &b.hook)
    };
    a.len() == b.len() && a.iter().zip(&b).all(same)
}

fn stands_for(new: &Hook, guard: &Hook, disabled: &Disabled) -> bool {
    !disabled.covers(new) && does_the_same(new, guard)
}

/// Whether one guards as the other does. Whose word it is counts: a project's hook stands for no user's. A hook whose
/// plugin was not there blocked whatever came, so one whose plugin is there now is another: a closed gate is not opened
/// by a reload. The script that a command names is not looked at; where trust is a store's, its seal does that.
fn does_the_same(new: &Hook, guard: &Hook) -> bool {
    new.source == guard.source
        && new.reach == guard.reach
        && new.spec.same_effect(&guard.spec)
        && new.same_code(guard)
        && new.missing.is_some() == guard.missing.is_some()
}

fn same_name(a: &Hook, b: &Hook) -> bool {
    a.spec.event == b.spec.event && a.spec.name == b.spec.name
}

fn loss(guard: &Hook, new: &[Entry], disabled: &Disabled, taken: &[Taken]) -> Loss {
    let is_guard =
        |one: &&Taken| one.source == guard.source && one.event == guard.spec.event && one.name == guard.spec.name;
    if let Some(taken) = taken.iter().find(is_guard) {
        return taken.loss.clone();
    }
    let namesake = new.iter().find(|entry| entry.hook.source == guard.source && same_name(&entry.hook, guard));
    match namesake {
        None => Loss::Gone,
        Some(now) if disabled.covers(&now.hook) => Loss::Disabled,
        Some(now) => Loss::Changed { now: now.hook.spec.place.clone() },
    }
}

/// Where `guard` goes: before the one that has its name now, else behind the one that it stood behind.
fn place(guard: &Hook, before: Option<&Arc<Hook>>, new: &[Entry]) -> usize {
    let namesake = new.iter().position(|entry| !entry.is_kept() && same_name(&entry.hook, guard));
    let behind = |before: &Arc<Hook>| new.iter().position(|entry| Arc::ptr_eq(&entry.hook, before)).map(|at| at + 1);
    namesake.or_else(|| before.and_then(behind)).unwrap_or(0)
}

fn is_on_a_gate(hook: &Hook) -> bool {
    hook.spec.event.class().gate
}

fn is_projects(hook: &Hook) -> bool {
    matches!(hook.source, Source::Settings(Scope::Project | Scope::Local))
}
