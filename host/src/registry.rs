//! Who is registered: sets of hooks by source, changed one swap at a time and read as immutable snapshots.
//!
//! Knows no files and no patterns. A dispatch takes one [`Snapshot`] and never sees half a change; a dropped hook lives
//! until the last dispatch that asks it has ended, and [`Dropped::ended`] waits for that.

mod life;
mod tally;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use life::Life;
pub use life::{Dropped, Lease, Running};
pub use tally::Tally;

use crate::bus::Count;
use crate::event::EventName;
use crate::hook::HookSpec;
use crate::id::{Generation, HookName, Revision, SessionId};
use crate::plugin::Code;
use crate::policy::Trust;
use crate::report::Entry;
use crate::source::{Reach, Scope, Source, SourceKind, Sources};
use crate::trust::Seal;

/// A registered hook.
#[derive(Debug)]
pub struct Hook {
    /// What it is.
    pub spec: Arc<HookSpec>,
    /// Who brought it.
    pub source: Source,
    /// Which registration of that source brought it.
    pub generation: Generation,
    /// Where it is asked.
    pub reach: Reach,
    /// The plugin that answers it, where one does.
    pub code: Option<Arc<dyn Code>>,
    /// What is checked before each run, where it is trusted as it was.
    pub seal: Option<Seal>,
    /// Why the plugin that should is not there: the hook is asked all the same, and cannot answer.
    pub missing: Option<Arc<str>>,
    /// How often it was asked; counted where the embedder keeps a record of sessions.
    pub tally: Tally,
    running: AtomicUsize,
    // Last, so that whoever waits for the end of it finds the plugin gone.
    life: Arc<watch::Sender<Life>>,
}

impl Hook {
    fn new(new: NewHook, generation: Generation, reach: &Reach) -> Arc<Self> {
        Arc::new(Self {
            spec: Arc::new(new.spec),
            source: new.source,
            generation,
            reach: reach.clone(),
            code: new.code,
            seal: new.seal,
            missing: new.missing,
            tally: Tally::default(),
            running: AtomicUsize::new(0),
            life: Lease::default().0,
        })
    }

    /// Returns when its calls are cancelled, which for most hooks never happens.
    pub async fn cancelled(&self) {
        // The sender lives as long as the hook: this cannot fail.
        let _ = self.life.subscribe().wait_for(|life| *life == Life::Cancelled).await;
    }

    /// It as plain data, which keeps neither it nor its plugin alive.
    fn entry(&self, disabled: &Disabled) -> Entry {
        Entry {
            spec: self.spec.clone(),
            source: self.source.clone(),
            generation: self.generation,
            reach: self.reach.clone(),
            disabled: disabled.covers(self),
        }
    }

    /// What has to end before the hook counts as gone.
    pub fn lease(&self) -> Lease {
        Lease(self.life.clone())
    }

    /// Counts a call of it as running until the guard is dropped.
    pub fn enter(self: &Arc<Self>) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(self.clone())
    }
}

/// A hook that is to be registered.
#[derive(Clone, Debug)]
pub struct NewHook {
    /// What it is.
    pub spec: HookSpec,
    /// Who brings it.
    pub source: Source,
    /// The plugin that answers it, where one does.
    pub code: Option<Arc<dyn Code>>,
    /// What is checked before each run, where it is trusted as it was.
    pub seal: Option<Seal>,
    /// Why the plugin that should is not there.
    pub missing: Option<Arc<str>>,
}

impl NewHook {
    /// One that no plugin answers.
    pub fn new(spec: HookSpec, source: Source) -> Self {
        Self { spec, source, code: None, seal: None, missing: None }
    }

    /// One that this plugin answers.
    pub fn answered_by(spec: HookSpec, source: Source, code: Arc<dyn Code>) -> Self {
        Self { code: Some(code), ..Self::new(spec, source) }
    }
}

/// Which set of a source is meant: what its author registers by hand stands apart from each package it loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetKey {
    /// The settings files, which are merged with each other.
    Settings,
    /// What is registered from code.
    Code(Source),
    /// What a package brought, by the name of what was loaded.
    Package(Source, String),
}

impl SetKey {
    fn rank(&self) -> u8 {
        match self {
            Self::Settings => Source::Settings(crate::source::Scope::User).rank(),
            Self::Code(source) | Self::Package(source, _) => source.rank(),
        }
    }

    /// Settings count their generations together, since they are merged with each other.
    fn counter(&self) -> Counter {
        match self {
            Self::Settings | Self::Code(Source::Settings(_)) | Self::Package(Source::Settings(_), _) => {
                Counter::Settings
            }
            Self::Code(source) | Self::Package(source, _) => Counter::Of(source.clone()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Counter {
    Settings,
    Of(Source),
}

/// What user settings switch off among the user's plugins and skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disabled {
    /// These names.
    pub names: Vec<String>,
    /// All of them.
    pub all: bool,
}

impl Disabled {
    /// Whether `hook` is switched off.
    pub fn covers(&self, hook: &Hook) -> bool {
        matches!(hook.source.kind(), SourceKind::Plugin | SourceKind::Skill)
            && (self.all || self.names.iter().any(|name| name == hook.spec.name.as_str()))
    }
}

/// One change of the registry.
#[derive(Clone, Debug)]
pub enum Change {
    /// Puts this set in the place of the one of the same key, or behind the others of its rank.
    Replace {
        /// Which set.
        key: SetKey,
        /// Where it is asked.
        reach: Reach,
        /// Its hooks, in order.
        hooks: Vec<NewHook>,
    },
    /// Puts the merged settings in the place of those before them.
    Settings {
        /// Their hooks, in order.
        hooks: Vec<NewHook>,
        /// What they switch off elsewhere.
        disabled: Disabled,
        /// Whether the project is trusted.
        trust: Trust,
    },
    /// Adds hooks from code; one of the same event and name takes the former one's place.
    Add {
        /// Who brings them.
        source: Source,
        /// Where they are asked.
        reach: Reach,
        /// The hooks, in order.
        hooks: Vec<NewHook>,
    },
    /// Drops the hooks of this source, event and name.
    Remove {
        /// The source.
        source: Source,
        /// The event.
        event: EventName,
        /// The name.
        name: HookName,
    },
    /// Drops all hooks of these sources; calls of them that run finish.
    RemoveAll(Sources),
    /// Drops all hooks of these sources, and cancels calls of them that run.
    RemoveAllNow(Sources),
    /// Drops what was registered for this session alone, or for it and those under it.
    EndSession(SessionId),
    /// Drops everything, cancels what runs, and takes no change from then on.
    Close,
}

/// What a change came to.
#[derive(Debug)]
pub struct Applied {
    /// The registry's revision from now on.
    pub revision: Revision,
    /// The generation that was registered; 0 where none was.
    pub generation: Generation,
    /// How many hooks of each source were registered.
    pub registered: Vec<Count>,
    /// What is no longer registered.
    pub dropped: Dropped,
    /// The same, as it was. Whoever holds it keeps [`Dropped::ended`] waiting.
    pub gone: Vec<Arc<Hook>>,
    /// Nothing was changed: the registry had been closed before.
    pub closed: bool,
}

fn counts(hooks: &[Arc<Hook>]) -> Vec<Count> {
    let mut counts: Vec<Count> = Vec::new();
    for hook in hooks {
        let (source, generation) = (&hook.source, hook.generation);
        match counts.iter_mut().find(|count| count.source == *source && count.generation == generation) {
            Some(count) => count.count += 1,
            None => counts.push(Count { source: source.clone(), generation, count: 1 }),
        }
    }
    counts
}

#[derive(Clone, Debug)]
struct Set {
    key: SetKey,
    hooks: Vec<Arc<Hook>>,
}

/// The registry as it was at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// How often the registry was changed before.
    pub revision: Revision,
    /// What user settings switch off.
    pub disabled: Disabled,
    /// Whether the project is trusted, as it is registered here.
    pub trust: Trust,
    /// Whether the registry is closed: nobody is registered, and never will be.
    pub closed: bool,
    sets: Vec<Set>,
    by_event: HashMap<EventName, AtEvent>,
}

/// Who is registered for one event.
#[derive(Debug, Default)]
struct AtEvent {
    hooks: Vec<Arc<Hook>>,
    entries: Arc<[Entry]>,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self::new(Revision::default(), Vec::new(), Disabled::default(), Trust::Untrusted)
    }
}

impl Snapshot {
    fn new(revision: Revision, sets: Vec<Set>, disabled: Disabled, trust: Trust) -> Self {
        let mut by_event: HashMap<EventName, AtEvent> = HashMap::new();
        for hook in sets.iter().flat_map(|set| &set.hooks) {
            by_event.entry(hook.spec.event.clone()).or_default().hooks.push(hook.clone());
        }
        for at in by_event.values_mut() {
            at.entries = at.hooks.iter().map(|hook| hook.entry(&disabled)).collect();
        }
        Self { revision, disabled, trust, closed: false, sets, by_event }
    }

    /// The hooks of this event, in the order in which they are asked.
    pub fn at(&self, event: &EventName) -> &[Arc<Hook>] {
        self.by_event.get(event).map_or(&[], |at| at.hooks.as_slice())
    }

    /// The same as plain data.
    pub fn entries(&self, event: &EventName) -> Arc<[Entry]> {
        self.by_event.get(event).map_or_else(Arc::default, |at| at.entries.clone())
    }

    /// Whether hooks run: the project is trusted, or brings nothing to run.
    pub fn is_open(&self) -> bool {
        self.trust == Trust::Trusted || !self.project_brings_hooks()
    }

    /// Whether the project itself has anything that would run.
    pub fn project_brings_hooks(&self) -> bool {
        let projects = |hook: &Arc<Hook>| matches!(hook.source, Source::Settings(Scope::Project | Scope::Local));
        self.hooks().any(projects)
    }

    /// Every hook, in order of source and place.
    pub fn hooks(&self) -> impl Iterator<Item = &Arc<Hook>> {
        self.sets.iter().flat_map(|set| &set.hooks)
    }
}

/// The registry.
#[derive(Debug, Default)]
pub struct Registry {
    current: ArcSwap<Snapshot>,
    generations: Mutex<HashMap<Counter, Generation>>,
}

impl Registry {
    /// The registry as it is now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Makes one change: a dispatch that begins afterwards sees all of it, one that began before sees none of it.
    pub fn apply(&self, change: Change) -> Applied {
        // One writer at a time; readers are not held up.
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.current.load_full();
        if before.closed {
            return Applied::nothing(before.revision);
        }
        let mut draft = Draft {
            sets: before.sets.clone(),
            disabled: before.disabled.clone(),
            trust: before.trust,
            closed: false,
            gone: Vec::new(),
            cancels: false,
        };
        let generation = draft.change(change, &mut generations);
        let registered = draft.registered(&before);
        let revision = Revision(before.revision.0 + 1);
        let snapshot = Snapshot::new(revision, draft.sets, draft.disabled, draft.trust);
        self.current.store(Arc::new(Snapshot { closed: draft.closed, ..snapshot }));
        let dropped = Dropped::of(&draft.gone);
        if draft.cancels {
            // Only now: who is cancelled asks again, and is to meet the new set.
            for hook in &draft.gone {
                hook.life.send_replace(Life::Cancelled);
            }
        }
        Applied { revision, generation, registered, dropped, gone: draft.gone, closed: false }
    }
}

impl Applied {
    /// What a change of a closed registry comes to.
    fn nothing(revision: Revision) -> Self {
        let (registered, gone) = (Vec::new(), Vec::new());
        Self { revision, generation: Generation(0), registered, dropped: Dropped::default(), gone, closed: true }
    }
}

/// The sets of a snapshot to come.
struct Draft {
    sets: Vec<Set>,
    disabled: Disabled,
    trust: Trust,
    closed: bool,
    gone: Vec<Arc<Hook>>,
    cancels: bool,
}

impl Draft {
    /// What was not there before.
    fn registered(&self, before: &Snapshot) -> Vec<Count> {
        let known: HashSet<_> = before.hooks().map(Arc::as_ptr).collect();
        let new = self.sets.iter().flat_map(|set| &set.hooks).filter(|hook| !known.contains(&Arc::as_ptr(hook)));
        counts(&new.cloned().collect::<Vec<_>>())
    }

    fn change(&mut self, change: Change, generations: &mut HashMap<Counter, Generation>) -> Generation {
        let mut next = |key: &SetKey| {
            let counter = generations.entry(key.counter()).or_default();
            counter.0 += 1;
            *counter
        };
        match change {
            Change::Replace { key, reach, hooks } => {
                let generation = next(&key);
                let hooks = hooks.into_iter().map(|hook| Hook::new(hook, generation, &reach)).collect();
                self.put(key, hooks);
                generation
            }
            Change::Settings { hooks, disabled, trust } => {
                let generation = next(&SetKey::Settings);
                let hooks = hooks.into_iter().map(|hook| Hook::new(hook, generation, &Reach::Everywhere)).collect();
                self.put(SetKey::Settings, hooks);
                self.disabled = disabled;
                self.trust = trust;
                generation
            }
            Change::Add { source, reach, hooks } => {
                let key = SetKey::Code(source);
                let generation = next(&key);
                let new = hooks.into_iter().map(|hook| Hook::new(hook, generation, &reach));
                self.add(key, new);
                generation
            }
            Change::Remove { source, event, name } => {
                self.drop_where(|h| h.source == source && h.spec.event == event && h.spec.name == name);
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
            Change::Close => {
                self.drop_where(|_| true);
                (self.cancels, self.closed) = (true, true);
                Generation(0)
            }
            Change::RemoveAll(sources) => {
                self.drop_where(|h| sources.covers(&h.source));
                Generation(0)
            }
        }
    }

    fn put(&mut self, key: SetKey, hooks: Vec<Arc<Hook>>) {
        match self.sets.iter_mut().find(|set| set.key == key) {
            Some(set) => self.gone.append(&mut std::mem::replace(&mut set.hooks, hooks)),
            None => {
                let at = self.sets.partition_point(|set| set.key.rank() <= key.rank());
                self.sets.insert(at, Set { key, hooks });
            }
        }
    }

    fn add(&mut self, key: SetKey, new: impl Iterator<Item = Arc<Hook>>) {
        let mut hooks = self.sets.iter().find(|set| set.key == key).map_or_else(Vec::new, |set| set.hooks.clone());
        for hook in new {
            let same = |old: &Arc<Hook>| {
                old.spec.event == hook.spec.event && old.spec.name == hook.spec.name && old.reach == hook.reach
            };
            match hooks.iter().position(same) {
                Some(at) => self.gone.push(std::mem::replace(&mut hooks[at], hook)),
                None => hooks.push(hook),
            }
        }
        match self.sets.iter_mut().find(|set| set.key == key) {
            Some(set) => set.hooks = hooks,
            None => self.put(key, hooks),
        }
    }

    fn drop_where(&mut self, gone: impl Fn(&Hook) -> bool) {
        for set in &mut self.sets {
            let (dropped, kept) = std::mem::take(&mut set.hooks).into_iter().partition(|hook| gone(hook));
            set.hooks = kept;
            self.gone.extend::<Vec<_>>(dropped);
        }
        self.sets.retain(|set| !set.hooks.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::CommandHook;

    fn hook(name: &str, source: &Source) -> NewHook {
        let spec = HookSpec::new(EventName::Stop, name, CommandHook::new("true").into());
        NewHook::new(spec, source.clone())
    }

    fn add(registry: &Registry, source: Source, names: &[&str]) -> Applied {
        let hooks = names.iter().map(|name| hook(name, &source)).collect();
        registry.apply(Change::Add { source, reach: Reach::Everywhere, hooks })
    }

    fn names(registry: &Registry) -> Vec<String> {
        registry.snapshot().at(&EventName::Stop).iter().map(|h| h.spec.name.to_string()).collect()
    }

    #[test]
    fn sources_are_asked_in_their_order_however_they_came() {
        let registry = Registry::default();
        add(&registry, Source::Session("s".into()), &["session"]);
        add(&registry, Source::Skill("k".into()), &["skill"]);
        add(&registry, Source::Plugin("b".into()), &["plugin-b"]);
        add(&registry, Source::Plugin("a".into()), &["plugin-a"]);
        add(&registry, Source::Sdk, &["sdk"]);
        let user = Source::Settings(Scope::User);
        registry.apply(Change::Settings {
            hooks: vec![hook("user", &user)],
            disabled: Disabled::default(),
            trust: Trust::Untrusted,
        });
        add(&registry, Source::Managed, &["managed"]);
        assert_eq!(names(&registry), ["managed", "sdk", "user", "plugin-b", "plugin-a", "skill", "session"]);
    }

    #[test]
    fn a_generation_is_counted_per_source_and_a_revision_per_change() {
        let registry = Registry::default();
        assert_eq!(add(&registry, Source::Sdk, &["a"]).generation, Generation(1));
        assert_eq!(add(&registry, Source::Skill("k".into()), &["b"]).generation, Generation(1));
        let again = add(&registry, Source::Sdk, &["a", "c"]);
        assert_eq!((again.generation, again.revision, again.dropped.hooks), (Generation(2), Revision(3), 1));
        assert_eq!(names(&registry), ["a", "c", "b"]);
    }

    #[test]
    fn a_package_does_not_push_out_what_code_registered() {
        let registry = Registry::default();
        let source = Source::Skill("k".into());
        add(&registry, source.clone(), &["code"]);
        for generation in [2, 3] {
            let key = SetKey::Package(source.clone(), "p".into());
            let hooks = vec![hook("package", &source)];
            let applied = registry.apply(Change::Replace { key, reach: Reach::Everywhere, hooks });
            assert_eq!(applied.generation, Generation(generation));
            assert_eq!(names(&registry), ["code", "package"]);
        }
        assert_eq!(registry.apply(Change::RemoveAll(source.into())).dropped.hooks, 2);
        assert!(names(&registry).is_empty());
    }

    #[test]
    fn one_hook_is_dropped_by_source_event_and_name() {
        let registry = Registry::default();
        add(&registry, Source::Sdk, &["a", "b"]);
        let dropped =
            registry.apply(Change::Remove { source: Source::Sdk, event: EventName::Stop, name: "a".into() }).dropped;
        assert_eq!(dropped.hooks, 1);
        assert_eq!(names(&registry), ["b"]);
    }

    #[test]
    fn a_closed_registry_takes_nothing_any_more() {
        let registry = Registry::default();
        add(&registry, Source::Sdk, &["a", "b"]);
        assert_eq!(registry.apply(Change::Close).dropped.hooks, 2);
        let after = add(&registry, Source::Sdk, &["c"]);
        assert!(after.closed && registry.snapshot().closed);
        assert_eq!((after.generation, after.revision), (Generation(0), Revision(2)));
        assert!(names(&registry).is_empty());
    }

    #[tokio::test]
    async fn what_a_call_leaves_behind_is_waited_for_too() {
        let registry = Registry::default();
        add(&registry, Source::Sdk, &["a"]);
        let lease = registry.snapshot().at(&EventName::Stop)[0].lease();
        let dropped = registry.apply(Change::RemoveAll(Source::Sdk.into())).dropped;
        let ended = tokio::spawn(dropped.ended());
        tokio::task::yield_now().await;
        assert!(!ended.is_finished());
        drop(lease);
        ended.await.unwrap();
    }

    #[tokio::test]
    async fn the_end_of_a_dropped_hook_waits_for_the_call_that_runs() {
        let registry = Registry::default();
        add(&registry, Source::Sdk, &["a"]);
        let before = registry.snapshot();
        let running = before.at(&EventName::Stop)[0].enter();
        let dropped = registry.apply(Change::RemoveAll(Source::Sdk.into())).dropped;
        assert_eq!((dropped.hooks, dropped.running), (1, 1));
        let ended = tokio::spawn(dropped.ended());
        tokio::task::yield_now().await;
        assert!(!ended.is_finished());
        drop(running);
        drop(before);
        ended.await.unwrap();
    }
}
