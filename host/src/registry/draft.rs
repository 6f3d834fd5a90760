//! The sets of a snapshot to come, and what each change does to them. What of it has to wait is `guarded`'s.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::bus::Count;
use crate::event::EventName;
use crate::id::{Generation, HookName, Reading};
use crate::policy::Trust;
use crate::source::{Reach, Source};

use super::guarded::{self, Loss, Reloading, Switches};
use super::{Change, Counter, Hook, NewHook, SetKey, Snapshot, counts};

/// The hooks that were brought together.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) key: SetKey,
    pub(super) generation: Generation,
    pub(super) entries: Vec<Entry>,
    /// What the embedder dropped of it, one by one: reading the package anew does not bring it back.
    unwanted: Vec<(EventName, HookName)>,
}

/// A hook in its set.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) hook: Arc<Hook>,
    pub(super) standing: Standing,
}

/// Why a hook is in its set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It belongs there.
    Firm,
    /// It has come for one that is kept, and goes as freely as it came until that one is let go.
    StandIn,
    /// It belongs there no longer, which waits.
    Kept(Loss),
}

impl Set {
    fn new(key: SetKey, generation: Generation, entries: Vec<Entry>) -> Self {
        Self { key, generation, entries, unwanted: Vec::new() }
    }

    pub(super) fn hooks(&self) -> impl Iterator<Item = &Arc<Hook>> {
        self.entries.iter().map(|entry| &entry.hook)
    }

    /// What only stays in force until a reading is accepted, and what that would do to it.
    pub(super) fn held<'a>(&'a self, switches: &'a Switches) -> impl Iterator<Item = (&'a Arc<Hook>, &'a Loss)> {
        self.entries.iter().filter_map(|entry| match &entry.standing {
            Standing::Kept(loss) => Some((&entry.hook, loss)),
            _ if switches.waits(&entry.hook) => Some((&entry.hook, &Loss::Disabled)),
            _ => None,
        })
    }
}

impl Entry {
    pub(super) fn firm(hook: Arc<Hook>) -> Self {
        Self { hook, standing: Standing::Firm }
    }

    pub(super) fn is_kept(&self) -> bool {
        matches!(self.standing, Standing::Kept(_))
    }
}

/// The sets of a snapshot to come.
pub(super) struct Draft {
    pub(super) sets: Vec<Set>,
    pub(super) switches: Switches,
    pub(super) trust: Trust,
    pub(super) unasked: usize,
    pub(super) closed: bool,
    pub(super) gone: Vec<Arc<Hook>>,
    pub(super) cancels: bool,
    reloading: Reloading,
}

impl Draft {
    /// Of a registry in which nothing is registered yet.
    pub(super) fn empty() -> Self {
        Self {
            sets: Vec::new(),
            switches: Switches::default(),
            trust: Trust::Untrusted,
            unasked: 0,
            closed: false,
            gone: Vec::new(),
            cancels: false,
            reloading: Reloading::Whole,
        }
    }

    pub(super) fn of(before: &Snapshot, reloading: Reloading) -> Self {
        Self {
            sets: before.sets.clone(),
            switches: before.switches.clone(),
            trust: before.trust,
            unasked: before.unasked,
            closed: before.closed,
            gone: Vec::new(),
            cancels: false,
            reloading,
        }
    }

    /// What was not there before.
    pub(super) fn registered(&self, before: &Snapshot) -> Vec<Count> {
        let known: HashSet<_> = before.hooks().map(Arc::as_ptr).collect();
        let new = self.sets.iter().flat_map(Set::hooks).filter(|hook| !known.contains(&Arc::as_ptr(hook)));
        counts(&new.cloned().collect::<Vec<_>>())
    }

    /// The reading that waits: the one before, where nothing has changed about what is held back and what stands in for
    /// it. Nobody is to accept what they have not seen.
    pub(super) fn reading(&self, before: &Snapshot) -> Reading {
        let same = guarded::same_reading((&before.sets, &before.switches), (&self.sets, &self.switches));
        if same { before.reading } else { Reading(before.reading.0 + 1) }
    }

    pub(super) fn change(&mut self, change: Change, generations: &mut HashMap<Counter, Generation>) -> Generation {
        let mut next = |key: &SetKey| {
            let counter = generations.entry(key.counter()).or_default();
            counter.0 += 1;
            *counter
        };
        match change {
            Change::Replace { key, reach, hooks } => {
                let generation = next(&key);
                self.put(Set::new(key, generation, firm(hooks, generation, &reach)));
                generation
            }
            Change::Renew { key, since, reach, hooks } => match self.wanted(&key, since, hooks) {
                Some(hooks) => {
                    let generation = next(&key);
                    self.renew(&key, generation, firm(hooks, generation, &reach), &[]);
                    generation
                }
                None => Generation(0),
            },
            Change::Settings { hooks, disabled, trust, unasked, taken } => {
                let generation = next(&SetKey::Settings);
                let new = firm(hooks, generation, &Reach::Everywhere);
                self.renew(&SetKey::Settings, generation, new, &taken);
                self.switches.set(disabled, self.reloading);
                (self.trust, self.unasked) = (trust, unasked);
                generation
            }
            Change::Add { source, reach, hooks } => {
                let key = SetKey::Code(source);
                let generation = next(&key);
                self.add(key, generation, firm(hooks, generation, &reach));
                generation
            }
            Change::Remove { source, event, name } => {
                self.drop_where(|h| h.source == source && is_called(&h.spec, &event, &name));
                self.remember(&source, event, name);
                Generation(0)
            }
            Change::RemoveAllNow(sources) => {
                self.drop_where(|h| sources.covers(&h.source));
                self.cancels = true;
                Generation(0)
            }
            Change::EndSession(session) => {
                self.drop_where(|h| h.source == Source::Session(session.clone()) || h.reach.ends_with(&session));
                Generation(0)
            }
            Change::RemoveAll(sources) => {
                self.drop_where(|h| sources.covers(&h.source));
                Generation(0)
            }
            Change::Close => {
                self.drop_where(|_| true);
                (self.cancels, self.closed) = (true, true);
                Generation(0)
            }
        }
    }

    /// Does what waits.
    pub(super) fn accept(&mut self) {
        self.switches.accept();
        for set in &mut self.sets {
            let (kept, mut left): (Vec<_>, Vec<_>) =
                std::mem::take(&mut set.entries).into_iter().partition(Entry::is_kept);
            left.iter_mut().for_each(|entry| entry.standing = Standing::Firm);
            set.entries = left;
            self.gone.extend(kept.into_iter().map(|entry| entry.hook));
        }
    }

    /// What is kept and has come back as it was is let go, whatever the change was; what stands in for nobody is firm.
    pub(super) fn settle(&mut self) {
        for set in &mut self.sets {
            self.gone.append(&mut guarded::settle(&mut set.entries, &self.switches));
        }
    }

    /// What of these hooks the embedder has not dropped by name; `None` where the set is not the one of this generation.
    fn wanted(&self, key: &SetKey, since: Generation, mut hooks: Vec<NewHook>) -> Option<Vec<NewHook>> {
        let set = self.sets.iter().find(|set| set.key == *key && set.generation == since)?;
        hooks.retain(|new| !set.unwanted.iter().any(|(event, name)| is_called(&new.spec, event, name)));
        Some(hooks)
    }

    /// Puts a new reading in the place of the one before, of which a guarded registry keeps what gates would lose.
    fn renew(&mut self, key: &SetKey, generation: Generation, new: Vec<Entry>, taken: &[guarded::Taken]) {
        let before = self.sets.iter().find(|set| set.key == *key);
        let unwanted = before.map(|set| set.unwanted.clone()).unwrap_or_default();
        let new = match (self.reloading, before) {
            (Reloading::Guarded, Some(set)) => {
                let before = &set.entries;
                guarded::Guards { before, switches: &self.switches, trust: self.trust }.keep(new, taken)
            }
            _ => new,
        };
        self.put(Set { key: key.clone(), generation, entries: new, unwanted });
    }

    fn put(&mut self, new: Set) {
        let kept: HashSet<_> = new.hooks().map(Arc::as_ptr).collect();
        match self.sets.iter_mut().find(|set| set.key == new.key) {
            Some(set) => {
                let before = std::mem::replace(set, new).entries.into_iter().map(|entry| entry.hook);
                self.gone.extend(before.filter(|hook| !kept.contains(&Arc::as_ptr(hook))));
            }
            None => {
                let at = self.sets.partition_point(|set| set.key.rank() <= new.key.rank());
                self.sets.insert(at, new);
            }
        }
    }

    fn add(&mut self, key: SetKey, generation: Generation, new: Vec<Entry>) {
        let mut entries = self.sets.iter().find(|set| set.key == key).map_or_else(Vec::new, |set| set.entries.clone());
        for entry in new {
            let same = |old: &Entry| {
                is_called(&old.hook.spec, &entry.hook.spec.event, &entry.hook.spec.name)
                    && old.hook.reach == entry.hook.reach
            };
            match entries.iter().position(same) {
                Some(at) => entries[at] = entry,
                None => entries.push(entry),
            }
        }
        self.put(Set::new(key, generation, entries));
    }

    fn drop_where(&mut self, gone: impl Fn(&Hook) -> bool) {
        for set in &mut self.sets {
            let (dropped, left): (Vec<_>, Vec<_>) =
                std::mem::take(&mut set.entries).into_iter().partition(|entry| gone(&entry.hook));
            set.entries = left;
            self.gone.extend(dropped.into_iter().map(|entry| entry.hook));
        }
        self.sets.retain(|set| !set.entries.is_empty());
    }

    fn remember(&mut self, source: &Source, event: EventName, name: HookName) {
        let its = |set: &&mut Set| matches!(&set.key, SetKey::Package(of, _) if of == source);
        self.sets.iter_mut().filter(its).for_each(|set| set.unwanted.push((event.clone(), name.clone())));
    }
}

fn firm(hooks: Vec<NewHook>, generation: Generation, reach: &Reach) -> Vec<Entry> {
    hooks.into_iter().map(|hook| Entry::firm(Hook::new(hook, generation, reach))).collect()
}

fn is_called(spec: &crate::hook::HookSpec, event: &EventName, name: &HookName) -> bool {
    spec.event == *event && spec.name == *name
}
