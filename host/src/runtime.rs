//! The host as an embedder holds it: built once, told of every moment, changed while it runs.
//!
//! Owns building, loading and the facade; what happens between an event and its verdict is `dispatch`'s.

mod auditing;
mod build;
mod events;
mod fake;
mod guarded;
mod load;
#[cfg_attr(not(feature = "watch"), expect(dead_code, reason = "kept for those who watch"))]
mod origins;
mod package;
mod reading;
mod recording;
#[cfg(feature = "wasm")]
mod sandbox;
#[cfg(not(feature = "wasm"))]
#[path = "runtime/sandbox_disabled.rs"]
mod sandbox;
mod shutdown;
#[cfg(test)]
mod tests;
mod trusting;
mod unfolding;
mod verdicts;
mod wanted;
#[cfg(feature = "watch")]
mod watching;
mod whole;

use std::sync::{Mutex, PoisonError};

use tokio::sync::OnceCell;

use auditing::Occasion;
pub use build::{BuildError, RuntimeBuilder};
pub use fake::FakeRuntime;
pub use guarded::{Accepted, Refused};
pub use load::{LoadError, Loaded, PluginError};
pub use package::PackageFiles;
pub use shutdown::Shutdown;
pub use wanted::Unfit;
#[cfg(feature = "watch")]
pub use watching::{WatchError, Watching};
pub use whole::{HooksFile, WholeFiles};

use crate::bus::{Record, Records};
use crate::diagnostic::Diagnostic;
use crate::dispatch::Dispatcher;
use crate::event::{Context, Event, EventName, Events};
use crate::hook::{HookKind, HookSpec};
use crate::id::{Generation, HookName, Revision, SessionId};
use crate::life::SessionLife;
use crate::registry::{Applied, Change, Dropped, Hook, NewHook};
use crate::report::Explained;
use crate::settings;
use crate::source::{Reach, Source, Sources};
use crate::surroundings::Surroundings;
use crate::trust::{Brought, TrustedBy};

/// How much of what was said is kept.
const MOST_DIAGNOSTICS: usize = 1000;

/// A host of hooks.
///
/// Cheap to share behind an `Arc`; every method takes `&self`. Dropping it drops every plugin.
#[derive(Debug)]
pub struct Runtime {
    dispatcher: Dispatcher,
    events: Events,
    loading: load::Loading,
    diagnostics: Mutex<Vec<Diagnostic>>,
    dropped: Mutex<Vec<settings::Dropped>>,
    shutdown: OnceCell<Shutdown>,
}

/// What a registration came to.
#[derive(Debug)]
pub struct Registered {
    /// The source's generation.
    pub generation: Generation,
    /// The registry's revision from now on.
    pub revision: Revision,
    /// The hooks whose place was taken.
    pub dropped: Dropped,
}

impl Runtime {
    /// Begins to build a host.
    ///
    /// `trust` has no default: without trust no hook of any kind or source runs where the project brings any. It is the
    /// embedder's own word, a [`Trust`](crate::policy::Trust), or a [`TrustStore`](crate::trust::TrustStore).
    pub fn builder(trust: impl Into<TrustedBy>, surroundings: Surroundings) -> RuntimeBuilder {
        RuntimeBuilder::new(trust.into(), surroundings)
    }

    /// What the project brought to run when it was last read, trusted or not; `None` where trust is the embedder's word.
    pub fn brought(&self) -> Option<std::sync::Arc<Brought>> {
        self.loading.trusting.found()
    }

    /// What was said when settings and plugins were loaded, the latest last; the last thousand things.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The events it knows.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Every registered hook, in order of source and place.
    pub fn hooks(&self) -> Vec<std::sync::Arc<Hook>> {
        self.dispatcher.registry.snapshot().hooks().cloned().collect()
    }

    /// The hooks that settings files hold and that settings took away again, and why, as of the last loading.
    pub fn dropped(&self) -> Vec<settings::Dropped> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether user settings switch a registered hook off: it stays registered and is not asked.
    pub fn is_disabled(&self, hook: &Hook) -> bool {
        self.dispatcher.registry.snapshot().is_disabled(hook)
    }

    /// The registry's revision.
    pub fn revision(&self) -> Revision {
        self.dispatcher.registry.snapshot().revision
    }

    /// Registers hooks of code, as one swap; one of the same event and name takes the former one's place.
    ///
    /// # Errors
    ///
    /// A hook of kind callback: its plugin comes by [`Runtime::load`]. A host that was shut down.
    pub fn register(
        &self,
        source: Source,
        reach: Reach,
        specs: impl IntoIterator<Item = HookSpec>,
    ) -> Result<Registered, LoadError> {
        let mut hooks = Vec::new();
        for spec in specs {
            if matches!(spec.kind, HookKind::Callback(_)) {
                return Err(LoadError::CallbackFromCode { hook: spec.name });
            }
            hooks.push(NewHook::new(spec, source.clone()));
        }
        let applied = shutdown::taken(self.apply(Change::Add { source, reach, hooks }))?;
        // Settings may switch off what has only come now.
        self.tell_what_waits();
        Ok(Registered { generation: applied.generation, revision: applied.revision, dropped: applied.dropped })
    }

    /// Drops one hook. A dispatch that begins afterwards does not run it; calls of it that run finish, and count.
    pub fn unregister(&self, source: Source, event: EventName, name: impl Into<HookName>) -> Dropped {
        self.apply(Change::Remove { source, event, name: name.into() }).dropped
    }

    /// Drops all hooks of a source, or of a kind of sources, as one swap.
    ///
    /// A dispatch that begins afterwards runs none of them; calls of them that run finish, and count.
    /// [`Dropped::ended`] waits for these, and for the plugins' memory to be given back.
    pub fn unregister_all(&self, sources: impl Into<Sources>) -> Dropped {
        self.apply(Change::RemoveAll(sources.into())).dropped
    }

    /// The same, but calls that run are cancelled: on a gate a cancelled hook blocks.
    pub fn unregister_all_now(&self, sources: impl Into<Sources>) -> Dropped {
        self.apply(Change::RemoveAllNow(sources.into())).dropped
    }

    /// For each hook of the event, in order: whether it would be asked, and which test decided. Runs nothing.
    pub fn explain(&self, event: &Event, cx: &Context) -> Vec<Explained> {
        self.dispatcher.explain(event, cx)
    }

    /// Whether hooks run: the project is trusted, or brings nothing to run.
    pub fn is_open(&self) -> bool {
        self.dispatcher.registry.snapshot().is_open()
    }

    /// Hears what happens from now on: bounded, and lossy for a reader that is too slow, who is told how much it missed.
    pub fn listen(&self) -> Records {
        self.dispatcher.bus.listen()
    }

    /// Makes one change, and tells of it.
    fn apply(&self, change: Change) -> Applied {
        let occasion = Occasion::of(&change);
        let mut applied = self.dispatcher.registry.apply(change);
        self.tell(&mut applied, &occasion);
        applied
    }

    fn tell(&self, applied: &mut Applied, occasion: &Occasion) {
        let bus = &self.dispatcher.bus;
        applied.dropped.counts.iter().for_each(|count| bus.tell(|| Record::Dropped(count.clone())));
        applied.registered.iter().for_each(|count| bus.tell(|| Record::Registered(count.clone())));
        self.keep_record(std::mem::take(&mut applied.gone), occasion);
    }

    /// The revision counts changes, and most sessions end without one.
    fn hooks_of_session(&self, session: &SessionId) -> bool {
        let its = |hook: &std::sync::Arc<Hook>| {
            hook.source == Source::Session(session.clone()) || hook.reach.ends_with(session)
        };
        self.dispatcher.registry.snapshot().hooks().any(its)
    }

    /// Drops all that hangs on this life. Its hooks first: a dispatch that still meets them belongs to it. Where it has
    /// ended already, what there is of its id is another session's.
    fn forget_session(&self, life: &SessionLife) {
        if life.has_ended() {
            return;
        }
        if self.hooks_of_session(life.session()) {
            self.apply(Change::EndSession(life.session().clone()));
        }
        life.end();
        self.dispatcher.forget_session(life);
        self.loading.end_session(life);
    }

    fn say(&self, new: &[Diagnostic]) {
        for diagnostic in new {
            self.dispatcher.bus.warn(diagnostic);
        }
        let mut all = self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend_from_slice(new);
        let too_many = all.len().saturating_sub(MOST_DIAGNOSTICS);
        all.drain(..too_many);
    }
}
