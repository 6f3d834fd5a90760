//! The end of a host: every open session is told, then every hook is dropped and what runs is ended.
//!
//! From then on nobody is asked, nothing is registered, and no gate lets anything past.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::diagnostic::{Diagnostic, Place};
use crate::event::{Context, SessionEndInput};
use crate::id::{Generation, SessionId};
use crate::registry::{Applied, Change, Dropped};

use super::Runtime;
use super::load::{LoadError, Loaded};

/// How long the SessionEnd hooks of one session may take.
const GOODBYE: Duration = Duration::from_millis(1500);

/// How long calls that were cancelled are waited for: a command has 4 s at most, code of the embedder's may block.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the end of a host came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shutdown {
    /// The sessions whose SessionEnd hooks were asked in time; also those that have none.
    pub told: Vec<SessionId>,
    /// Those whose hooks took longer than 1.5 s, and were ended.
    pub late: Vec<SessionId>,
    /// How many hooks were dropped.
    pub hooks: usize,
    /// How many calls ran when they were dropped, and were cancelled.
    pub cancelled: usize,
    /// Whether every call and every process of a hook had ended 10 s later. Only code of the embedder's that blocks its
    /// thread, or an embedder that holds one of [`Runtime::hooks`], keeps it from that.
    pub ended: bool,
}

impl Runtime {
    /// Ends the host: sends SessionEnd (reason `shutdown`) to every open session, all at the same time and at most
    /// 1.5 s each; then drops every hook, cancels what runs, and waits until that has ended.
    ///
    /// Open is a session that was heard of in a dispatch and has not ended since; of more than ten thousand those that
    /// were heard of last. Afterwards a dispatch on a gate blocks, one that still runs too; at other events nobody is
    /// asked, and the text of a tool's error is withheld. Nothing can be registered any more.
    ///
    /// Whoever calls it again gets the same answer. A call that is dropped half-way is taken up by the next one.
    pub async fn shutdown(&self) -> Shutdown {
        self.shutdown.get_or_init(|| self.shut_down()).await.clone()
    }

    /// Whether the host was shut down.
    pub fn is_shut_down(&self) -> bool {
        self.dispatcher.registry.snapshot().closed
    }

    async fn shut_down(&self) -> Shutdown {
        let (told, late): (Vec<_>, Vec<_>) = self.tell_all().await.into_iter().partition(|(_, in_time)| *in_time);
        let dropped = self.apply(Change::Close).dropped;
        let Dropped { hooks, running: cancelled, .. } = dropped;
        self.dispatcher.forget_all_sessions();
        let ended = timeout(PATIENCE, dropped.ended()).await.is_ok();
        self.loading.close();
        let names = |sessions: Vec<(SessionId, bool)>| sessions.into_iter().map(|(session, _)| session).collect();
        Shutdown { told: names(told), late: names(late), hooks, cancelled, ended }
    }

    /// Every open session, and whether it could be told in time.
    async fn tell_all(&self) -> Vec<(SessionId, bool)> {
        let open = self.dispatcher.sessions.all_end();
        join_all(open.into_iter().map(|cx| self.tell_end(cx))).await
    }

    async fn tell_end(&self, cx: Context) -> (SessionId, bool) {
        let input = SessionEndInput { reason: "shutdown".to_owned() };
        let in_time = timeout(GOODBYE, self.announce_end(&input, &cx)).await.is_ok();
        (cx.session, in_time)
    }

    /// What loading comes to on a host that was shut down.
    pub(super) fn nothing_loaded(&self) -> Loaded {
        let said = vec![Diagnostic::warning(Place::default(), LoadError::ShutDown.to_string())];
        self.say(&said);
        let revision = self.revision();
        let (generation, dropped) = (Generation(0), Dropped::default());
        Loaded { generation, revision, hooks: 0, dropped, diagnostics: said, waiting: None }
    }
}

/// What was registered, unless the registry was closed.
pub(super) fn taken(applied: Applied) -> Result<Applied, LoadError> {
    if applied.closed { Err(LoadError::ShutDown) } else { Ok(applied) }
}
