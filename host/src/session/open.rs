//! Which sessions are open: heard of in a dispatch, and not ended since.
//!
//! Bounded: an agent that never ends a session would else make it grow for ever. Beyond the bound the one that was
//! heard of longest ago is forgotten, and is not told when the host is shut down; its hooks are not touched by that.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::event::Context;
use crate::id::SessionId;

/// How many sessions are remembered as open.
pub const MOST_OPEN: usize = 10_000;

/// The open sessions of a host.
#[derive(Debug, Default)]
pub struct OpenSessions(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    turn: u64,
    open: HashMap<SessionId, Open>,
    /// The same, the one that was heard of longest ago first.
    by_use: BTreeMap<u64, SessionId>,
}

#[derive(Debug)]
struct Open {
    heard: u64,
    /// Its end is being announced.
    ends: bool,
    /// Where it was heard of last, without its history.
    cx: Context,
}

impl OpenSessions {
    /// A session is heard of. Gives the one that is forgotten for it, where there are too many.
    pub fn heard(&self, cx: &Context) -> Option<SessionId> {
        self.book().heard(cx, MOST_OPEN)
    }

    /// The session at the root of this one's tree.
    pub fn root(&self, session: &SessionId) -> Option<SessionId> {
        Some(self.book().open.get(session)?.cx.root_session.clone())
    }

    /// The end of a session is about to be announced: nobody else is to announce it.
    pub fn ends(&self, session: &SessionId) {
        if let Some(open) = self.book().open.get_mut(session) {
            open.ends = true;
        }
    }

    /// It has ended.
    pub fn ended(&self, session: &SessionId) {
        let mut book = self.book();
        if let Some(open) = book.open.remove(session) {
            book.by_use.remove(&open.heard);
        }
    }

    /// All whose end is not being announced yet, the one that was heard of longest ago first; they end with this.
    pub fn all_end(&self) -> Vec<Context> {
        let mut book = self.book();
        let Book { open, by_use, .. } = &mut *book;
        let mut ending = Vec::new();
        for session in by_use.values() {
            if let Some(open) = open.get_mut(session).filter(|open| !open.ends) {
                open.ends = true;
                ending.push(open.cx.clone());
            }
        }
        ending
    }

    /// Forgets all of them.
    pub fn clear(&self) {
        let mut book = self.book();
        book.open.clear();
        book.by_use.clear();
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn heard(&mut self, cx: &Context, most: usize) -> Option<SessionId> {
        match self.open.get_mut(&cx.session) {
            Some(open) => {
                open.ends = false;
                if !is_same_place(&open.cx, cx) {
                    open.cx = without_history(cx);
                }
                if open.heard == self.turn {
                    return None;
                }
                self.by_use.remove(&open.heard);
                self.turn += 1;
                open.heard = self.turn;
            }
            None => {
                self.turn += 1;
                let open = Open { heard: self.turn, ends: false, cx: without_history(cx) };
                self.open.insert(cx.session.clone(), open);
            }
        }
        self.by_use.insert(self.turn, cx.session.clone());
        if self.open.len() <= most {
            return None;
        }
        let (_, forgotten) = self.by_use.pop_first()?;
        self.open.remove(&forgotten);
        Some(forgotten)
    }
}

fn is_same_place(a: &Context, b: &Context) -> bool {
    (&a.root_session, a.turn, &a.cwd, &a.agent) == (&b.root_session, b.turn, &b.cwd, &b.agent)
}

/// A conversation is not kept in memory for the sake of its end.
fn without_history(cx: &Context) -> Context {
    Context { history: Arc::default(), ..cx.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(sessions: &OpenSessions) -> Vec<String> {
        sessions.all_end().iter().map(|cx| cx.session.to_string()).collect()
    }

    #[test]
    fn a_session_is_open_from_the_first_word_of_it_to_its_end() {
        let sessions = OpenSessions::default();
        let root = Context::new("root").cwd("/a");
        for cx in [&root, &root.sub_agent("child", "a1", "worker"), &Context::new("other"), &root.clone().cwd("/b")] {
            assert_eq!(sessions.heard(cx), None);
        }
        assert_eq!(sessions.root(&"child".into()), Some("root".into()));
        sessions.ends(&"other".into());
        let ending = sessions.all_end();
        assert_eq!(ending.iter().map(|cx| cx.session.as_str()).collect::<Vec<_>>(), ["child", "root"]);
        assert_eq!(ending[1].cwd.as_deref(), Some("/b".as_ref()), "where it was last");
        assert!(names(&sessions).is_empty(), "an end is announced once");
        sessions.heard(&root);
        assert_eq!(names(&sessions), ["root"], "heard of again");
        sessions.ended(&"root".into());
        assert_eq!(sessions.root(&"root".into()), None);
    }

    #[test]
    fn the_one_that_was_heard_of_longest_ago_is_forgotten() {
        let mut book = Book::default();
        let mut heard = |name: &str| book.heard(&Context::new(name), 3);
        assert_eq!([heard("a"), heard("b"), heard("c"), heard("a"), heard("a")], [const { None }; 5]);
        assert_eq!(heard("d"), Some("b".into()));
        assert_eq!(heard("e"), Some("c".into()));
        assert_eq!((book.open.len(), book.by_use.len()), (3, 3));
    }
}
