//! What outlives a call and ends with its session: the small values that plugins keep. Which sessions are open, too.
//!
//! Owns no clock, no file and no engine. Who may keep something is for `wasm` to say; when a session or a plugin ends
//! is for others: the runtime calls [`PluginStates::end_session`], a loaded plugin holds a [`Claim`].

mod open;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::id::PluginName;
use crate::life::SessionLife;
use crate::plugin::Digest;
use crate::source::Source;

pub use open::{MOST_OPEN, OpenSessions};

/// How many keys a plugin may keep in one session.
pub const MOST_KEYS: usize = 256;
/// How large one value may be, in bytes; a key as well.
pub const LARGEST_VALUE: usize = 64 << 10;
/// How large all keys and values of one plugin and session may be together, in bytes.
pub const LARGEST_STATE: usize = 1 << 20;
/// How long a number is at most, as decimal text.
const LONGEST_NUMBER: usize = 20;

/// Whose state it is. Another plugin of the same name, or the same plugin from another source, has its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StateOwner {
    /// Who brought the plugin.
    pub source: Source,
    /// Its name.
    pub name: PluginName,
    /// What it is.
    pub digest: Digest,
}

/// A limit of the state was passed; holds the limit in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Of a key or a value; or, for `add`, what is kept there is longer than a number or no number.
    #[error("larger than {0} bytes")]
    TooLarge(u32),
    /// Of all keys and values together; also where there are already [`MOST_KEYS`] keys.
    #[error("the state is full: {0} bytes or {MOST_KEYS} keys")]
    Full(u32),
}

type Drawers = HashMap<(StateOwner, SessionLife), Arc<Mutex<Drawer>>>;

/// The state of all plugins, in all sessions. A clone is the same state.
#[derive(Clone, Debug, Default)]
pub struct PluginStates {
    drawers: Arc<Mutex<Drawers>>,
    claims: Arc<Mutex<HashMap<StateOwner, usize>>>,
}

/// A loaded plugin's claim on its state. With the last claim of an owner, what it kept is dropped: a plugin that is
/// reloaded with the same bytes claims anew before the former one lets go, and keeps it.
#[derive(Debug)]
pub struct Claim {
    states: PluginStates,
    owner: StateOwner,
}

impl Claim {
    /// Whose state it is.
    pub fn owner(&self) -> &StateOwner {
        &self.owner
    }

    /// The state of all plugins.
    pub fn states(&self) -> &PluginStates {
        &self.states
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claims = self.states.claims.lock().unwrap_or_else(PoisonError::into_inner);
        let left = claims.get(&self.owner).copied().unwrap_or_default().saturating_sub(1);
        if left > 0 {
            claims.insert(self.owner.clone(), left);
        } else {
            claims.remove(&self.owner);
            self.states.forget(&self.owner);
        }
    }
}

impl PluginStates {
    /// With nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// What this plugin keeps in this session, for the time of a call. What is written there after the session's end is in
    /// no other session, whatever that is called; what is opened after it is empty and gone with the call.
    pub fn open(&self, owner: &StateOwner, session: &SessionLife) -> PluginState {
        let key = (owner.clone(), session.clone());
        let mut drawers = self.lock();
        let drawer = match session.has_ended() {
            true => Arc::default(),
            false => Arc::clone(drawers.entry(key.clone()).or_default()),
        };
        drop(drawers);
        PluginState { states: self.clone(), key, drawer }
    }

    /// Drops what all plugins kept in this session.
    pub fn end_session(&self, session: &SessionLife) {
        self.lock().retain(|(_, kept_in), _| kept_in != session);
    }

    /// Claims the state of this plugin for as long as the claim is held.
    pub fn claim(&self, owner: StateOwner) -> Claim {
        *self.claims.lock().unwrap_or_else(PoisonError::into_inner).entry(owner.clone()).or_default() += 1;
        Claim { states: self.clone(), owner }
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn forget(&self, owner: &StateOwner) {
        self.lock().retain(|(kept_by, _), _| kept_by != owner);
    }

    fn lock(&self) -> MutexGuard<'_, Drawers> {
        self.drawers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one plugin keeps in one session, while a call may reach it.
#[derive(Debug)]
pub struct PluginState {
    states: PluginStates,
    key: (StateOwner, SessionLife),
    drawer: Arc<Mutex<Drawer>>,
}

impl PluginState {
    /// The value under this key.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.lock().values.get(key).cloned()
    }

    /// Keeps a value under this key, in place of the former one.
    ///
    /// # Errors
    ///
    /// Where it would pass a limit; the former value stays.
    pub fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StateError> {
        self.lock().put(key, value)
    }

    /// Keeps nothing under this key.
    pub fn remove(&self, key: &str) {
        self.lock().take(key);
    }

    /// Adds to the number under this key and gives the sum. Nothing there is zero; a sum stops at the ends of `i64`.
    ///
    /// Numbers are kept as decimal text, so that `get` and `set` read and write them in every language.
    ///
    /// # Errors
    ///
    /// Where it would pass a limit. A value that is no such text is left as it is, and is `TooLarge` for a number: what
    /// a plugin kept is not thrown away for a mistaken key.
    pub fn add(&self, key: &str, delta: i64) -> Result<i64, StateError> {
        let mut drawer = self.lock();
        let sum = drawer.number(key)?.saturating_add(delta);
        drawer.put(key, sum.to_string().into_bytes())?;
        Ok(sum)
    }

    fn lock(&self) -> MutexGuard<'_, Drawer> {
        self.drawer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PluginState {
    /// A drawer in which nothing is kept is gone with the last call that could reach it.
    fn drop(&mut self) {
        let mut drawers = self.states.lock();
        let is_mine = drawers.get(&self.key).is_some_and(|drawer| Arc::ptr_eq(drawer, &self.drawer));
        // The map's and this one.
        if is_mine && Arc::strong_count(&self.drawer) == 2 && self.lock().values.is_empty() {
            drawers.remove(&self.key);
        }
    }
}

/// The state of one plugin in one session.
#[derive(Debug, Default)]
struct Drawer {
    values: HashMap<String, Vec<u8>>,
    /// Of all keys and values.
    bytes: usize,
}

impl Drawer {
    fn put(&mut self, key: &str, value: Vec<u8>) -> Result<(), StateError> {
        if value.len() > LARGEST_VALUE || key.len() > LARGEST_VALUE {
            return Err(StateError::TooLarge(LARGEST_VALUE as u32));
        }
        let former = self.values.get(key).map_or(0, |value| key.len() + value.len());
        let bytes = self.bytes - former + key.len() + value.len();
        let another = !self.values.contains_key(key) && self.values.len() == MOST_KEYS;
        if bytes > LARGEST_STATE || another {
            return Err(StateError::Full(LARGEST_STATE as u32));
        }
        self.bytes = bytes;
        self.values.insert(key.to_owned(), value);
        Ok(())
    }

    fn take(&mut self, key: &str) {
        if let Some(value) = self.values.remove(key) {
            self.bytes -= key.len() + value.len();
        }
    }

    fn number(&self, key: &str) -> Result<i64, StateError> {
        let Some(value) = self.values.get(key) else { return Ok(0) };
        let text = std::str::from_utf8(value).ok();
        text.and_then(|text| text.parse().ok()).ok_or(StateError::TooLarge(LONGEST_NUMBER as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::SessionLives;

    fn owner(name: &str) -> StateOwner {
        StateOwner { source: Source::Sdk, name: name.into(), digest: Digest::of(name.as_bytes()) }
    }

    #[test]
    fn a_value_is_seen_by_its_plugin_and_session_alone() {
        let (states, a, s1) = (PluginStates::new(), owner("a"), SessionLife::from("s1"));
        states.open(&a, &s1).set("k", b"v".to_vec()).unwrap();
        assert_eq!(states.clone().open(&a, &s1).get("k").as_deref(), Some(&b"v"[..]));
        assert_eq!(states.open(&a, &"s2".into()).get("k"), None);
        assert_eq!(states.open(&owner("b"), &s1).get("k"), None);
        assert_eq!(states.open(&StateOwner { source: Source::Managed, ..a.clone() }, &s1).get("k"), None);
        states.open(&a, &s1).remove("k");
        assert_eq!(states.open(&a, &s1).get("k"), None);
    }

    #[test]
    fn it_ends_with_the_session_and_with_the_plugin() {
        let (states, a, b) = (PluginStates::new(), owner("a"), owner("b"));
        for session in ["s1", "s2"] {
            states.open(&a, &session.into()).add("n", 1).unwrap();
            states.open(&b, &session.into()).add("n", 1).unwrap();
        }
        states.end_session(&"s1".into());
        assert_eq!(states.open(&a, &"s1".into()).get("n"), None);
        let (first, reloaded) = (states.claim(a.clone()), states.claim(a.clone()));
        drop(first);
        assert_eq!(states.open(&a, &"s2".into()).get("n"), Some(b"1".to_vec()));
        drop(reloaded);
        assert_eq!(states.open(&a, &"s2".into()).get("n"), None);
        assert_eq!(states.open(&b, &"s2".into()).get("n"), Some(b"1".to_vec()));
    }

    #[test]
    fn what_a_call_keeps_after_its_sessions_end_is_in_no_other_session_of_that_name() {
        let (states, a, s) = (PluginStates::new(), owner("a"), SessionLife::from("s"));
        let late = states.open(&a, &s);
        late.add("n", 1).unwrap();
        states.end_session(&s);
        let next = states.open(&a, &s);
        assert_eq!((late.add("n", 1), next.get("n")), (Ok(2), None));
        assert_eq!(next.add("n", 5), Ok(5));
        drop((late, next));
        assert_eq!(states.open(&a, &s).get("n"), Some(b"5".to_vec()));
        let late = states.open(&a, &s);
        states.end_session(&s);
        late.set("k", b"v".to_vec()).unwrap();
        drop(late);
        assert!(states.is_empty());
    }

    #[test]
    fn what_is_opened_after_the_end_of_its_session_is_empty_and_leaves_nothing() {
        let (lives, states, a) = (SessionLives::default(), PluginStates::new(), owner("a"));
        let late = lives.of(&"s".into());
        states.open(&a, &late).add("n", 1).unwrap();
        late.end();
        states.end_session(&late);
        let next = lives.of(&"s".into());
        states.open(&a, &next).add("n", 5).unwrap();
        let opened = states.open(&a, &late);
        assert_eq!((opened.add("n", 1), states.open(&a, &next).get("n")), (Ok(1), Some(b"5".to_vec())));
        drop(opened);
        states.end_session(&next);
        assert!(states.is_empty());
    }

    #[test]
    fn a_call_that_keeps_nothing_leaves_nothing() {
        let (states, a, s) = (PluginStates::new(), owner("a"), SessionLife::from("s"));
        let (one, other) = (states.open(&a, &s), states.open(&a, &s));
        drop(one);
        other.add("n", 1).unwrap();
        drop(other);
        let open = states.open(&a, &s);
        open.remove("n");
        drop(open);
        assert!(states.is_empty());
    }

    #[test]
    fn a_limit_that_is_passed_changes_nothing() {
        let (states, a, s) = (PluginStates::new(), owner("a"), SessionLife::from("s"));
        states.open(&a, &s).set("k", b"v".to_vec()).unwrap();
        assert_eq!(states.open(&a, &s).set("k", vec![0; LARGEST_VALUE + 1]), Err(StateError::TooLarge(65_536)));
        assert_eq!(states.open(&a, &s).get("k"), Some(b"v".to_vec()));
        for n in 0..15 {
            states.open(&a, &s).set(&format!("large{n}"), vec![0; LARGEST_VALUE]).unwrap();
        }
        assert_eq!(states.open(&a, &s).set("last", vec![0; LARGEST_VALUE]), Err(StateError::Full(1_048_576)));
        states.open(&a, &s).remove("large0");
        assert_eq!(states.open(&a, &s).set("last", vec![0; LARGEST_VALUE]), Ok(()));
    }

    #[test]
    fn there_are_at_most_256_keys() {
        let (states, a, s) = (PluginStates::new(), owner("a"), SessionLife::from("s"));
        for n in 0..MOST_KEYS {
            states.open(&a, &s).set(&n.to_string(), vec![]).unwrap();
        }
        assert!(matches!(states.open(&a, &s).add("one more", 1), Err(StateError::Full(_))));
        assert_eq!(states.open(&a, &s).set("7", b"again".to_vec()), Ok(()));
    }

    #[test]
    fn additions_at_the_same_time_lose_nothing() {
        let (states, a, s) = (PluginStates::new(), owner("a"), SessionLife::from("s"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1_000).for_each(|_| assert!(states.open(&a, &s).add("n", 1).is_ok())));
            }
        });
        assert_eq!(states.open(&a, &s).add("n", 0), Ok(4_000));
    }

    #[test]
    fn a_sum_stops_at_the_end_and_a_text_is_no_number() {
        let (states, a, s) = (PluginStates::new(), owner("a"), SessionLife::from("s"));
        states.open(&a, &s).add("n", i64::MAX).unwrap();
        assert_eq!(states.open(&a, &s).add("n", 1), Ok(i64::MAX));
        states.open(&a, &s).set("text", b"seven".to_vec()).unwrap();
        assert_eq!(states.open(&a, &s).add("text", 1), Err(StateError::TooLarge(20)));
        assert_eq!(states.open(&a, &s).get("text"), Some(b"seven".to_vec()));
    }
}
