//! Which `once` hooks have run: once per session, source, event and name (HOOKS.md, 8).
//!
//! Reserved when a hook is about to run, kept when it answered, free again where it gave no answer, or where its
//! dispatch was dropped half-way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::event::EventName;
use crate::hook::HookSpec;
use crate::id::HookName;
use crate::life::SessionLife;
use crate::registry::Hook;
use crate::source::Source;

type Key = (SessionLife, Source, EventName, HookName);

/// The `once` hooks that have run or are running, and what they were then: a reload that changes a hook lets it run
/// again, and so does one that gives its made-up name to another. Several of one name, since a guarded reload keeps the
/// former hook beside the one that has its name now.
#[derive(Debug, Default)]
pub struct OnceSet(Mutex<HashMap<Key, Vec<Arc<HookSpec>>>>);

/// A reservation; dropped without [`Reserved::keep`], it is free again.
#[derive(Debug)]
pub struct Reserved<'a> {
    set: &'a OnceSet,
    ran: Option<(Key, Arc<HookSpec>)>,
}

impl OnceSet {
    /// Reserves `hook` in `session`; `None` where it has run there, or is running. Of a session that has ended nothing is
    /// noted.
    pub fn reserve(&self, hook: &Hook, session: &SessionLife) -> Option<Reserved<'_>> {
        let key = key(hook, session);
        let mut keys = self.keys();
        if session.has_ended() {
            return Some(Reserved { set: self, ran: None });
        }
        let ran = keys.entry(key.clone()).or_default();
        if ran.iter().any(|ran| ran.same_effect(&hook.spec)) {
            return None;
        }
        ran.push(hook.spec.clone());
        Some(Reserved { set: self, ran: Some((key, hook.spec.clone())) })
    }

    /// Whether `hook` has run in `session`, or is running.
    pub fn has_run(&self, hook: &Hook, session: &SessionLife) -> bool {
        let ran = |ran: &Vec<Arc<HookSpec>>| ran.iter().any(|ran| ran.same_effect(&hook.spec));
        self.keys().get(&key(hook, session)).is_some_and(ran)
    }

    /// Forgets a session that has ended.
    pub fn end_session(&self, session: &SessionLife) {
        self.keys().retain(|(of, ..), _| of != session);
    }

    /// Forgets all sessions.
    pub fn clear(&self) {
        self.keys().clear();
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.keys().is_empty()
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<Key, Vec<Arc<HookSpec>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(hook: &Hook, session: &SessionLife) -> Key {
    (session.clone(), hook.source.clone(), hook.spec.event.clone(), hook.spec.name.clone())
}

impl Reserved<'_> {
    /// The hook has answered.
    pub fn keep(mut self) {
        self.ran = None;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let Some((key, spec)) = self.ran.take() else { return };
        let mut keys = self.set.keys();
        if let Some(ran) = keys.get_mut(&key) {
            ran.retain(|ran| !ran.same_effect(&spec));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::CommandHook;
    use crate::registry::{Change, NewHook, Registry};
    use crate::source::Reach;

    #[test]
    fn a_second_reservation_neither_waits_nor_frees_the_first() {
        let registry = Registry::default();
        let spec = HookSpec::new(EventName::Stop, "h", CommandHook::new("true").into());
        let hooks = vec![NewHook::new(spec, Source::Sdk)];
        registry.apply(Change::Add { source: Source::Sdk, reach: Reach::Everywhere, hooks });
        let (set, hook) = (OnceSet::default(), registry.snapshot().hooks().next().unwrap().clone());
        let first = set.reserve(&hook, &"a".into()).unwrap();
        assert!(set.reserve(&hook, &"a".into()).is_none());
        assert!(set.reserve(&hook, &"a".into()).is_none());
        drop(first);
        set.reserve(&hook, &"a".into()).unwrap().keep();
        assert!(set.reserve(&hook, &"a".into()).is_none());
        assert!(set.reserve(&hook, &"b".into()).is_some());
        set.end_session(&"a".into());
        assert!(set.reserve(&hook, &"a".into()).is_some());
    }

    #[test]
    fn of_a_session_that_has_ended_nothing_is_noted() {
        let registry = Registry::default();
        let spec = HookSpec::new(EventName::Stop, "h", CommandHook::new("true").into());
        let hooks = vec![NewHook::new(spec, Source::Sdk)];
        registry.apply(Change::Add { source: Source::Sdk, reach: Reach::Everywhere, hooks });
        let (set, hook) = (OnceSet::default(), registry.snapshot().hooks().next().unwrap().clone());
        let late = SessionLife::from("a");
        late.end();
        set.reserve(&hook, &late).unwrap().keep();
        assert!(set.is_empty());
    }
}
