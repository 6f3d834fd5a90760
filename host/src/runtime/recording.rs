//! The record of each dispatch, where the embedder wants one: made beside the agent's own threads, since it reads whole
//! payloads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::SystemTime;

use tokio::runtime::Handle;

use crate::event::{Context, Decision, Verdict};
use crate::port::Sink;
use crate::record::{Contents, DispatchRecord};
use crate::report::Answer;

/// Hands the record of a dispatch to `sink`. It is whole even where the agent no longer waits for its verdict.
pub(super) async fn record<V: Verdict>(sink: &Arc<dyn Sink>, answer: &Answer<V>, cx: &Context) {
    let verdict = answer.verdict.summary();
    let decision = verdict.decision.unwrap_or(Decision::Allow);
    let bare = DispatchRecord::new(&answer.report, decision, cx, SystemTime::now());
    let event = answer.report.trail.as_ref().map(|trail| trail.event.clone());
    let sink = sink.clone();
    let work = move || {
        let record = DispatchRecord { contents: Contents::of(event.as_deref(), &verdict), ..bare };
        // The sink may be the embedder's code.
        if catch_unwind(AssertUnwindSafe(|| sink.record(&record))).is_err() {
            tracing::warn!("the sink panicked on the record of dispatch {}", record.dispatch);
        }
    };
    match Handle::try_current() {
        // It fails only where the host is going down.
        Ok(here) => drop(here.spawn_blocking(work).await),
        Err(_) => work(),
    }
}
