//! From the first word of a session to its end: one life of it. The next session of the same id is another.
//!
//! What is remembered of a session, and what runs in it, hangs on its life and not on its id: so what comes late belongs to
//! nobody else. Owns no memory of what a session did; whoever has one asks here whether there is still anything to keep.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::id::SessionId;

/// One life of a session. A clone is the same life.
#[derive(Clone)]
pub struct SessionLife(Arc<Life>);

struct Life {
    session: SessionId,
    /// Which of this id.
    turn: u64,
    ended: AtomicBool,
    book: Weak<Mutex<Book>>,
}

/// The lives of all sessions of a host. Remembers those that somebody holds, and so needs no bound of its own: whatever
/// hangs on a life holds it.
#[derive(Clone, Debug, Default)]
pub struct SessionLives(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    turns: u64,
    lives: HashMap<SessionId, Weak<Life>>,
}

impl SessionLife {
    /// Whose life it is.
    pub fn session(&self) -> &SessionId {
        &self.0.session
    }

    /// Whether the session has ended: nothing of it is begun any more, and nothing is kept for it.
    ///
    /// Whoever keeps something under a life asks this with the lock held under which [`SessionLife::end`] is followed by
    /// dropping it: then nothing is left behind.
    pub fn has_ended(&self) -> bool {
        self.0.ended.load(Ordering::SeqCst)
    }

    /// Ends it: who comes with its id from now on has another. What hangs on it is for the caller to drop.
    pub fn end(&self) {
        let book = self.0.book.upgrade();
        let mut book = book.as_deref().map(lock);
        self.0.ended.store(true, Ordering::SeqCst);
        if let Some(book) = &mut book {
            book.forget(&self.0);
        }
    }
}

impl SessionLives {
    /// The life of this session: the one that goes on, or a new one.
    pub fn of(&self, session: &SessionId) -> SessionLife {
        let mut book = lock(&self.0);
        if let Some(life) = book.lives.get(session).and_then(Weak::upgrade) {
            return SessionLife(life);
        }
        book.turns += 1;
        let (session, ended, turn) = (session.clone(), AtomicBool::new(false), book.turns);
        let life = Arc::new(Life { session: session.clone(), turn, ended, book: Arc::downgrade(&self.0) });
        book.lives.insert(session, Arc::downgrade(&life));
        SessionLife(life)
    }

    /// The same, where anything hangs on it.
    pub fn known(&self, session: &SessionId) -> Option<SessionLife> {
        lock(&self.0).lives.get(session).and_then(Weak::upgrade).map(SessionLife)
    }

    /// How many are remembered.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        lock(&self.0).lives.len()
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    /// Where another has come meanwhile, that stays.
    fn forget(&mut self, life: &Life) {
        if self.lives.get(&life.session).is_some_and(|known| std::ptr::eq(known.as_ptr(), life)) {
            self.lives.remove(&life.session);
        }
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        if let Some(book) = self.book.upgrade() {
            lock(&book).forget(self);
        }
    }
}

impl From<SessionId> for SessionLife {
    /// For those who call a plugin without a host: a session of this id that nobody else ends. All of these are equal.
    fn from(session: SessionId) -> Self {
        Self(Arc::new(Life { session, turn: 0, ended: AtomicBool::new(false), book: Weak::new() }))
    }
}

impl From<&str> for SessionLife {
    fn from(session: &str) -> Self {
        SessionId::from(session).into()
    }
}

impl PartialEq for SessionLife {
    fn eq(&self, other: &Self) -> bool {
        (self.0.turn, &self.0.session) == (other.0.turn, &other.0.session)
    }
}

impl Eq for SessionLife {}

impl Hash for SessionLife {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.turn.hash(state);
        self.0.session.hash(state);
    }
}

impl fmt::Debug for SessionLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Life { session, turn, .. } = &*self.0;
        f.debug_struct("SessionLife").field("session", session).field("turn", turn).finish_non_exhaustive()
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Life").field("session", &self.session).field("turn", &self.turn).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_session_of_an_id_has_another_life() {
        let lives = SessionLives::default();
        let first = lives.of(&"s".into());
        assert_eq!((lives.of(&"s".into()), lives.known(&"s".into())), (first.clone(), Some(first.clone())));
        first.end();
        assert_eq!(lives.known(&"s".into()), None);
        let next = lives.of(&"s".into());
        assert!(first.has_ended() && !next.has_ended() && first != next);
        // An end that is heard of twice is not that of the next one.
        first.end();
        drop(first);
        assert_eq!((lives.of(&"s".into()), lives.len()), (next.clone(), 1));
        drop(next);
        assert_eq!(lives.len(), 0, "nobody holds one");
    }
}
