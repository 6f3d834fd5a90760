//! The `tracing` spans: one a dispatch, under it one a hook that is asked, with the names that the bus has for the same
//! things. No payload is in them.

use std::time::Duration;

use tracing::Span;
use tracing::field::Empty;

use crate::event::{Context, Event};
use crate::id::{AgentId, DispatchId, Revision};
use crate::outcome::Outcome;
use crate::registry::Hook;
use crate::report::{Report, Word};

use super::Dispatched;

/// That of a dispatch.
pub(super) fn of_dispatch(event: &Event, cx: &Context, dispatch: &DispatchId, revision: Revision) -> Span {
    tracing::debug_span!(
        "dispatch",
        event = event.name.as_str(),
        tool = event.name.class().tool.then(|| event.tool.as_str()),
        session = cx.session.as_str(),
        agent = cx.agent.id.as_ref().map(AgentId::as_str),
        dispatch = dispatch.as_str(),
        revision = revision.0,
        decision = Empty,
        decided_by = Empty,
        asked = Empty,
        millis = Empty,
    )
}

/// What the dispatch came to.
pub(super) fn close_dispatch(span: &Span, dispatched: &Dispatched) {
    if span.is_disabled() {
        return;
    }
    let Report { event, hooks, decided_by, took, .. } = &dispatched.report;
    span.record("decision", dispatched.decision(event).as_str());
    if let Some(by) = decided_by {
        span.record("decided_by", by.hook.as_str());
    }
    span.record("asked", hooks.iter().filter(|hook| hook.word() != Word::Skipped).count());
    span.record("millis", millis(*took));
}

/// That of one asking.
pub(super) fn of_hook(hook: &Hook, recheck: bool) -> Span {
    tracing::debug_span!(
        "hook",
        hook = hook.spec.name.as_str(),
        source = %hook.source,
        generation = hook.generation.0,
        kind = hook.spec.kind.name().as_str(),
        recheck,
        outcome = Empty,
        ending = Empty,
        millis = Empty,
    )
}

/// What the hook answered.
pub(super) fn close_hook(span: &Span, outcome: &Outcome, took: Duration) {
    span.record("outcome", Word::of(outcome).as_str());
    span.record("ending", outcome.ending().as_str());
    span.record("millis", millis(took));
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}
