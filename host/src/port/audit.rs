//! What an embedder may keep of a session's hooks when they are dropped.
//!
//! Owns the shape of the record and the port; the runtime makes the record, and what becomes of it is the embedder's.

use std::time::SystemTime;

use crate::event::EventName;
use crate::hook::{HookSpec, KindName};
use crate::id::{Generation, HookName, SessionId};
use crate::plugin::Digest;
use crate::report::Word;
use crate::source::{Reach, Source};

/// Keeps a record of the hooks that were active in a session.
///
/// Each drop is told, at once, on the thread that caused it: nothing is lost, and whoever drops waits for this code. A
/// panic of it is caught and is a warning. No lock of the host is held meanwhile, so it may use the host.
pub trait Audit: Send + Sync {
    /// Hooks of a session are no longer registered.
    fn session_ended(&self, record: &SessionAudit);
}

impl<F: Fn(&SessionAudit) + Send + Sync> Audit for F {
    fn session_ended(&self, record: &SessionAudit) {
        self(record);
    }
}

/// The hooks of one session that were dropped together: those that the session brought, or that were registered for it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionAudit {
    /// The session.
    pub session: SessionId,
    /// The one at the root of its tree, where the session was seen.
    pub root_session: Option<SessionId>,
    /// Why they are no longer registered.
    pub why: DroppedBy,
    /// When.
    pub at: SystemTime,
    /// The hooks, in the order in which they were asked.
    pub hooks: Vec<AuditedHook>,
}

/// Why hooks of a session are no longer registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DroppedBy {
    /// The session ended.
    SessionEnd,
    /// They were unregistered.
    Unregistered,
    /// Others of the same name, or another loading of the same package, took their place.
    Replaced,
    /// The host was shut down.
    Shutdown,
}

/// A hook as it was, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditedHook {
    /// What it was; its place says where it was written.
    pub spec: HookSpec,
    /// Who brought it.
    pub source: Source,
    /// Which registration of that source brought it.
    pub generation: Generation,
    /// Where it was asked.
    pub reach: Reach,
    /// What the plugin that answered it is.
    pub plugin: Option<Digest>,
    /// How often it was asked, rechecks included, in all sessions that it reached.
    pub asked: u64,
    /// How these askings ended. What is missing to `asked` was still running.
    pub words: Words,
    /// Whether it was set aside in any of these sessions.
    pub set_aside: bool,
}

impl AuditedHook {
    /// Its name.
    pub fn name(&self) -> &HookName {
        &self.spec.name
    }

    /// The event at which it was asked.
    pub fn event(&self) -> &EventName {
        &self.spec.event
    }

    /// How it ran.
    pub fn kind(&self) -> KindName {
        self.spec.kind.name()
    }
}

/// How often each word was a hook's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Words {
    /// It went on.
    pub continued: u64,
    /// It blocked.
    pub blocked: u64,
    /// It changed something.
    pub modified: u64,
    /// It gave no answer.
    pub failed: u64,
    /// It matched, and was not asked.
    pub skipped: u64,
}

impl Words {
    /// How often it was this one.
    pub fn of(&self, word: Word) -> u64 {
        match word {
            Word::Continued => self.continued,
            Word::Blocked => self.blocked,
            Word::Modified => self.modified,
            Word::Failed => self.failed,
            Word::Skipped => self.skipped,
        }
    }
}
