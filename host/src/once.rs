//! Which `once` hooks have run: once per session, source, event and name (contract: hooks, 8).
//!
//! Reserved when a hook is about to run, kept when it answered, free again where it gave no answer, or where its
//! dispatch was dropped half-way.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::event::EventName;
use crate::id::{HookName, SessionId};
use crate::registry::Hook;
use crate::source::Source;

type Key = (SessionId, Source, EventName, HookName);

/// The `once` hooks that have run or are running.
#[derive(Debug, Default)]
pub struct OnceSet(Mutex<HashSet<Key>>);

/// A reservation; dropped without [`Reserved::keep`], it is free again.
#[derive(Debug)]
pub struct Reserved<'a> {
    set: &'a OnceSet,
    key: Option<Key>,
}

impl OnceSet {
    /// Reserves `hook` in `session`; `None` where it has run there, or is running.
    pub fn reserve(&self, hook: &Hook, session: &SessionId) -> Option<Reserved<'_>> {
        let key = (session.clone(), hook.source.clone(), hook.spec.event.clone(), hook.spec.name.clone());
        // Not `then_some`: a reservation that is made and dropped would free the place, and wait for its own lock.
        let is_free = self.keys().insert(key.clone());
        is_free.then(|| Reserved { set: self, key: Some(key) })
    }

    /// Forgets a session that has ended.
    pub fn end_session(&self, session: &SessionId) {
        self.keys().retain(|(of, ..)| of != session);
    }

    fn keys(&self) -> std::sync::MutexGuard<'_, HashSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved<'_> {
    /// The hook has answered.
    pub fn keep(mut self) {
        self.key = None;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.set.keys().remove(&key);
        }
    }
}
