//! The record of a session's hooks when they are dropped, where the embedder keeps one.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::SystemTime;

use crate::diagnostic::{Diagnostic, Place};
use crate::hook::HookSpec;
use crate::id::SessionId;
use crate::port::{AuditedHook, DroppedBy, SessionAudit};
use crate::registry::{Change, Hook};
use crate::source::{Reach, Source};

use super::Runtime;

/// What makes hooks go.
pub(super) struct Occasion {
    why: DroppedBy,
    /// The session that ends.
    session: Option<SessionId>,
}

impl Occasion {
    pub(super) fn of(change: &Change) -> Self {
        let why = match change {
            Change::EndSession(_) => DroppedBy::SessionEnd,
            Change::Remove { .. } | Change::RemoveAll(_) | Change::RemoveAllNow(_) => DroppedBy::Unregistered,
            Change::Add { .. } | Change::Replace { .. } | Change::Renew { .. } | Change::Settings { .. } => {
                DroppedBy::Replaced
            }
            Change::Close => DroppedBy::Shutdown,
        };
        let session = match change {
            Change::EndSession(session) => Some(session.clone()),
            _ => None,
        };
        Self { why, session }
    }

    /// A reading that waited.
    pub(super) fn accepted() -> Self {
        Self { why: DroppedBy::Replaced, session: None }
    }
}

impl Runtime {
    /// Tells the embedder which hooks of which sessions are gone. Holds none of them by the time it does.
    pub(super) fn keep_record(&self, gone: Vec<Arc<Hook>>, occasion: &Occasion) {
        let Some(audit) = &self.dispatcher.ports.audit else { return };
        let mut records: Vec<SessionAudit> = Vec::new();
        for hook in &gone {
            let Some(session) = occasion.session.as_ref().or_else(|| bound_to(hook)) else { continue };
            match records.iter_mut().find(|record| record.session == *session) {
                Some(record) => record.hooks.push(audited(hook)),
                None => records.push(SessionAudit {
                    session: session.clone(),
                    root_session: self.dispatcher.sessions.root(session),
                    why: occasion.why,
                    at: SystemTime::now(),
                    hooks: vec![audited(hook)],
                }),
            }
        }
        drop(gone);
        for record in records {
            let told = std::panic::catch_unwind(AssertUnwindSafe(|| audit.session_ended(&record)));
            if told.is_err() {
                let message = format!("the audit of session `{}` panicked; its record is lost", record.session);
                self.say(&[Diagnostic::warning(Place::default(), message)]);
            }
        }
    }
}

/// The session that brought it, or for which alone it was registered.
fn bound_to(hook: &Hook) -> Option<&SessionId> {
    match (&hook.source, &hook.reach) {
        (Source::Session(session), _) | (_, Reach::Session(session) | Reach::Tree(session)) => Some(session),
        _ => None,
    }
}

fn audited(hook: &Hook) -> AuditedHook {
    AuditedHook {
        spec: HookSpec::clone(&hook.spec),
        source: hook.source.clone(),
        generation: hook.generation,
        reach: hook.reach.clone(),
        plugin: hook.code.as_ref().map(|code| code.digest()),
        asked: hook.tally.asked(),
        words: hook.tally.words(),
        set_aside: hook.tally.was_set_aside(),
    }
}
