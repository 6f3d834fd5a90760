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
    pub(super) fn of(reading: Reading, sets: &[Set], switches: &Switches) -> Option<Self> {
        let hooks: Vec<_> =
            sets.iter().flat_map(|set| set.held(switches)).map(|(hook, loss)| Held::new(hook, loss)).collect();
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

/// What user settings switch off among the hooks of plugins and skills, and what of it is accepted: also for those that
/// are loaded later, since a name that is written before its plugin comes would disarm it as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Switches {
    read: Disabled,
    /// Nothing was read before; what is read first is what the host began with.
    accepted: Option<Disabled>,
}

impl Switches {
    /// Whether `hook` is switched off.
    pub(super) fn off(&self, hook: &Hook) -> bool {
        self.read.covers(hook) && (!is_on_a_gate(hook) || self.is_accepted(hook))
    }

    /// Whether it would be, and that waits.
    pub(super) fn waits(&self, hook: &Hook) -> bool {
        self.read.covers(hook) && !self.off(hook)
    }

    /// What is read now. What is no longer switched off is to be accepted once more when it is again.
    pub(super) fn set(&mut self, read: Disabled, reloading: Reloading) {
        self.accepted = match (self.accepted.take(), reloading) {
            (Some(before), Reloading::Guarded) => Some(before.and(&read)),
            _ => Some(read.clone()),
        };
        self.read = read;
    }

    pub(super) fn accept(&mut self) {
        self.accepted = Some(self.read.clone());
    }

    fn is_accepted(&self, hook: &Hook) -> bool {
        self.accepted.as_ref().is_some_and(|accepted| accepted.covers(hook))
    }
}

impl Disabled {
    fn and(mut self, other: &Self) -> Self {
        self.names.retain(|name| other.names.contains(name));
        self.all &= other.all;
        self
    }
}

/// A set before a reload, and how far it was in force.
pub(super) struct Guards<'a> {
    pub(super) before: &'a [Entry],
    pub(super) switches: &'a Switches,
    pub(super) trust: Trust,
}

impl Guards<'_> {
    /// The new reading, and in it what it would have taken from gates, where that stood.
    pub(super) fn keep(&self, mut new: Vec<Entry>, taken: &[Taken]) -> Vec<Entry> {
        let found = self.counterparts(&new);
        let losses: Vec<_> =
            found.iter().map(|(guard, counterpart)| counterpart.is_none().then(|| loss(guard, &new, taken))).collect();
        let known: HashSet<_> = found.iter().filter_map(|(_, counterpart)| counterpart.as_ref().map(address)).collect();
        for entry in new.iter_mut().filter(|entry| !known.contains(&address(&entry.hook))) {
            let mut lost = found.iter().zip(&losses).filter_map(|((guard, _), loss)| Some((guard, loss.as_ref()?)));
            if lost.any(|(guard, loss)| stands_in(&entry.hook, guard, loss)) {
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
    fn counterparts(&self, new: &[Entry]) -> Vec<Found<'_>> {
        let mut from = 0;
        let mut found = Vec::new();
        for guard in self.before.iter().filter(|entry| self.guarded(entry)).map(|entry| &entry.hook) {
            let stands = |at: &usize| !self.switches.off(&new[*at].hook) && does_the_same(&new[*at].hook, guard);
            // Where nothing has changed the next one is the one.
            let at = (from..new.len()).chain(0..from).find(stands);
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
            Standing::Kept(_) => true,
            Standing::StandIn => false,
            Standing::Firm => !self.switches.off(hook),
        };
        in_force && is_on_a_gate(hook) && (self.trust == Trust::Trusted || !is_projects(hook))
    }
}

/// Takes out what is kept although it has come back as it was; what then stands in for nobody is firm.
pub(super) fn settle(entries: &mut Vec<Entry>, switches: &Switches) -> Vec<Arc<Hook>> {
    if !entries.iter().any(|entry| entry.standing != Standing::Firm) {
        return Vec::new();
    }
    let all = entries.clone();
    let in_force = |entry: &&Entry| !entry.is_kept() && !switches.off(&entry.hook);
    let there = |kept: &Hook| all.iter().filter(in_force).any(|entry| does_the_same(&entry.hook, kept));
    let back = |entry: &mut Entry| entry.is_kept() && there(&entry.hook);
    let back: Vec<_> = entries.extract_if(.., back).map(|entry| entry.hook).collect();
    let kept: Vec<_> = entries.iter().filter(|entry| entry.is_kept()).cloned().collect();
    for entry in entries.iter_mut().filter(|entry| entry.standing == Standing::StandIn) {
        let of =
            |kept: &Entry| matches!(&kept.standing, Standing::Kept(loss) if stands_in(&entry.hook, &kept.hook, loss));
        if !kept.iter().any(of) {
            entry.standing = Standing::Firm;
        }
    }
    back
}

/// Whether what is held back in these sets, and what stands in for it, is the same.
pub(super) fn same_reading(before: (&[Set], &Switches), now: (&[Set], &Switches)) -> bool {
    let (then, since) = (holding(before), holding(now));
    let same = |(a, b): (&&Set, &&Set)| a.key == b.key && same_gates(&a.entries, &b.entries);
    before.1 == now.1 && then.len() == since.len() && then.iter().zip(&since).all(same)
}

fn holding<'a>((sets, switches): (&'a [Set], &Switches)) -> Vec<&'a Set> {
    sets.iter().filter(|set| set.held(switches).next().is_some()).collect()
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

/// Whether `new` has come for `kept`: what merely has a name of another scope is a guard of its own.
fn stands_in(new: &Hook, kept: &Hook, loss: &Loss) -> bool {
    same_name(new, kept) && (new.source == kept.source || matches!(loss, Loss::Replaced { .. }))
}

fn same_name(a: &Hook, b: &Hook) -> bool {
    a.spec.event == b.spec.event && a.spec.name == b.spec.name
}

fn loss(guard: &Hook, new: &[Entry], taken: &[Taken]) -> Loss {
    let is_guard =
        |one: &&Taken| one.source == guard.source && one.event == guard.spec.event && one.name == guard.spec.name;
    if let Some(taken) = taken.iter().find(is_guard) {
        return taken.loss.clone();
    }
    let namesake = new.iter().find(|entry| entry.hook.source == guard.source && same_name(&entry.hook, guard));
    match namesake {
        None => Loss::Gone,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::{CommandHook, HookSpec};
    use crate::id::Generation;
    use crate::registry::{Change, NewHook, Registry, SetKey};
    use crate::source::Reach;

    fn hook(source: &Source, name: &str, command: &str) -> NewHook {
        let spec = HookSpec::new(EventName::PreToolUse, name, CommandHook::new(command).into());
        NewHook::new(spec, source.clone())
    }

    fn settings(hooks: Vec<NewHook>, disabled: &[&str], trust: Trust) -> Change {
        let names = disabled.iter().map(|name| (*name).to_owned()).collect();
        Change::Settings { hooks, disabled: Disabled { names, all: false }, trust, unasked: 0, taken: Vec::new() }
    }

    fn asked(registry: &Registry) -> Vec<String> {
        let now = registry.snapshot();
        now.hooks().filter(|hook| !now.is_disabled(hook)).map(|hook| hook.spec.name.to_string()).collect()
    }

    fn package(source: &Source) -> SetKey {
        SetKey::Package(source.clone(), "p".to_owned())
    }

    #[test]
    fn a_package_that_takes_a_name_that_is_switched_off_does_not_lose_its_guard() {
        let (registry, source) = (Registry::new(Reloading::Guarded), Source::Plugin("p".into()));
        registry.apply(settings(Vec::new(), &["off"], Trust::Untrusted));
        let (key, reach) = (package(&source), Reach::Everywhere);
        let hooks = vec![hook(&source, "guard", "1")];
        let since = registry.apply(Change::Replace { key: key.clone(), reach: reach.clone(), hooks }).generation;
        let hooks = vec![hook(&source, "off", "1")];
        registry.apply(Change::Renew { key, since, reach, hooks });
        assert_eq!(asked(&registry), ["guard"]);
    }

    #[test]
    fn a_package_is_renewed_only_where_it_is_still_the_one_that_was_read() {
        let (registry, source) = (Registry::new(Reloading::Guarded), Source::Plugin("p".into()));
        let hooks = |names: &[&str]| names.iter().map(|name| hook(&source, name, name)).collect::<Vec<_>>();
        let (key, reach) = (package(&source), Reach::Everywhere);
        let load = |names| Change::Replace { key: key.clone(), reach: reach.clone(), hooks: hooks(names) };
        let renew = |since, names| Change::Renew { key: key.clone(), since, reach: reach.clone(), hooks: hooks(names) };
        let first = registry.apply(load(&["a", "b"])).generation;
        let second = registry.apply(load(&["a", "b"])).generation;
        assert_eq!(registry.apply(renew(first, &["c"])).generation, Generation(0));
        // What was dropped by itself does not come back.
        let event = EventName::PreToolUse;
        registry.apply(Change::Remove { source: source.clone(), event, name: "b".into() });
        let third = registry.apply(renew(second, &["a", "b", "c"])).generation;
        assert_eq!(asked(&registry), ["a", "c"]);
        registry.apply(Change::RemoveAll(source.clone().into()));
        assert_eq!(registry.apply(renew(third, &["a"])).generation, Generation(0));
        assert!(asked(&registry).is_empty());
    }

    #[test]
    fn what_was_never_trusted_guarded_nothing() {
        let registry = Registry::new(Reloading::Guarded);
        let [user, project] = [Scope::User, Scope::Project].map(Source::Settings);
        let both = vec![hook(&user, "users", "1"), hook(&project, "projects", "2")];
        registry.apply(settings(both, &[], Trust::Untrusted));
        registry.apply(settings(Vec::new(), &[], Trust::Untrusted));
        assert_eq!(asked(&registry), ["users"]);
        assert!(registry.snapshot().is_open());
    }

    #[test]
    fn a_guard_of_another_scope_is_no_stand_in_for_its_name() {
        let registry = Registry::new(Reloading::Guarded);
        let [user, project] = [Scope::User, Scope::Project].map(Source::Settings);
        registry.apply(settings(vec![hook(&project, "a", "1")], &[], Trust::Trusted));
        registry.apply(settings(vec![hook(&user, "a", "2")], &[], Trust::Trusted));
        registry.apply(settings(Vec::new(), &[], Trust::Trusted));
        assert_eq!(registry.snapshot().waiting().unwrap().hooks.len(), 2);
    }
}
