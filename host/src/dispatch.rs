//! The way of one event: trust, one snapshot, a plan, the chain, the recheck, one folded answer.
//!
//! Owns the order of these steps and nothing of what they do; typed verdicts are made of the answer in `runtime`.

mod accept;
mod budget;
mod closed;
pub mod explain;
pub mod fold;
pub mod plan;
mod recheck;
mod run;
mod span;
mod standing;

use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument as _;

use crate::aside::AsideSet;
use crate::bus::Bus;
use crate::event::{Context, Decision, Event, EventName};
use crate::hook::sight::Look;
use crate::id::DispatchId;
use crate::life::{SessionLife, SessionLives};
use crate::matching::ToolTable;
use crate::once::OnceSet;
use crate::policy::MayApprove;
use crate::port::Ports;
use crate::registry::{Registry, Snapshot};
pub use crate::report::Purpose;
use crate::report::{Report, Trail};
use crate::session::OpenSessions;
use crate::surroundings::Surroundings;

use fold::{Fold, Folded, InputView};
use plan::Plan;
use run::Run;

/// Everything a dispatch works with.
#[derive(Debug)]
pub struct Dispatcher {
    /// Who is registered.
    pub registry: Registry,
    /// The machine.
    pub surroundings: Surroundings,
    /// What the embedder supplied.
    pub ports: Ports,
    /// The tools.
    pub tools: Arc<ToolTable>,
    /// Whose approvals count.
    pub may_approve: MayApprove,
    /// What a chain sees of the arguments.
    pub view: InputView,
    /// The `once` hooks that have run.
    pub once: OnceSet,
    /// The lives of sessions.
    pub lives: SessionLives,
    /// The sessions that have not ended.
    pub sessions: OpenSessions,
    /// The hooks that are asked no more in their sessions.
    pub aside: AsideSet,
    /// How long a dispatch may take as a whole; without, as long as its hooks may.
    pub budget: Option<Duration>,
    /// Where it is told what happens.
    pub bus: Bus,
}

/// What a dispatch came to.
#[derive(Debug)]
pub struct Dispatched {
    /// The folded answer; `None` without trust.
    pub folded: Option<Folded>,
    /// Environment variables that hooks exported.
    pub exports: Vec<(String, String)>,
    /// How it came about.
    pub report: Report,
}

impl Dispatched {
    /// What it comes to in one word, as the event's own verdict says it.
    pub fn decision(&self, event: &EventName) -> Decision {
        self.folded.as_ref().map_or(Decision::Untrusted, |folded| folded.decision(event))
    }
}

impl Dispatcher {
    /// Asks the hooks of one event.
    pub async fn dispatch(&self, event: Event, cx: &Context, purpose: Purpose) -> Dispatched {
        let snapshot = self.registry.snapshot();
        let event = Arc::new(event);
        let trail = Trail::new(event.clone(), purpose, cx, self.tools.clone(), snapshot.entries(&event.name));
        let (id, revision) = (DispatchId::fresh(), snapshot.revision);
        let span = span::of_dispatch(&event, cx, &id, revision);
        let run = Run::new(self, cx, id, trail, revision);
        let dispatched = self.decide(run, snapshot, &event, purpose).instrument(span.clone()).await;
        span::close_dispatch(&span, &dispatched);
        dispatched
    }

    async fn decide(&self, mut run: Run<'_>, snapshot: Arc<Snapshot>, event: &Event, purpose: Purpose) -> Dispatched {
        if snapshot.closed {
            return run.closed(event);
        }
        self.hear_of(event, run.cx);
        if !snapshot.is_open() {
            return run.without_asking(None);
        }
        let look = Look::new(event, &self.tools);
        let plan = Plan::new(&snapshot, &look.sight(event), run.cx);
        // What is dropped from the registry from now on lives only as long as this plan asks it.
        drop(snapshot);

        let mut fold = Fold::new(event.clone(), self.view);
        match purpose {
            Purpose::Announce => {
                run.chain(&plan, &look, &mut fold).await;
                run.recheck(&plan, &mut fold).await;
            }
            Purpose::Recheck => run.again(&plan, event, &mut fold).await,
        }
        run.finish(&plan, fold.finish())
    }

    fn hear_of(&self, event: &Event, cx: &Context) {
        if event.name == EventName::SessionEnd {
            return self.sessions.ends(&cx.session);
        }
        if let Some(forgotten) = self.sessions.heard(cx) {
            tracing::debug!(session = %forgotten, "too many sessions are open: this one is not told of a shutdown");
            self.lives.known(&forgotten).into_iter().for_each(|life| self.aside.end_session(&life));
        }
    }

    /// Forgets what is remembered of a session that has ended.
    pub fn forget_session(&self, session: &SessionLife) {
        self.once.end_session(session);
        self.aside.end_session(session);
        self.sessions.ended(session.session());
    }

    /// Forgets what is remembered of all sessions.
    pub fn forget_all_sessions(&self) {
        self.once.clear();
        self.aside.clear();
        self.sessions.clear();
    }
}
