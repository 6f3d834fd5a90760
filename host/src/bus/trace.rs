//! The same facts as `tracing` events. What stands in the spans of a dispatch and its hooks is not told once more: that a
//! hook is asked is its span's beginning, and how it ended is recorded there (`dispatch/span`).

use tracing::Level;

use crate::diagnostic::Diagnostic;

use super::{Count, Record};

/// Whether anybody would hear a record.
pub(super) fn is_on() -> bool {
    tracing::enabled!(Level::DEBUG)
}

/// Tells one.
pub(super) fn tell(record: &Record) {
    match record {
        Record::Triggered(_) | Record::Finished { .. } => {}
        Record::Blocked { reason, .. } => tracing::debug!(reason, "blocked"),
        Record::Failed { cause, .. } => tracing::debug!(cause, "failed"),
        Record::Skipped { about, why } => {
            tracing::debug!(hook = %about.hook, source = %about.source, why = why.as_str(), "skipped");
        }
        Record::Registered(Count { source, generation, count }) => {
            tracing::debug!(%source, generation = generation.0, count, "registered");
        }
        Record::Dropped(Count { source, generation, count }) => {
            tracing::debug!(%source, generation = generation.0, count, "dropped");
        }
        Record::Reloaded { revision, hooks } => tracing::debug!(revision = revision.0, hooks, "reloaded"),
        Record::Waiting { reading, hooks } => tracing::debug!(reading = reading.0, hooks, "waiting"),
        Record::Warning(said) => warn(said),
    }
}

/// Warnings are heard where nothing else is.
pub(super) fn warn(said: &Diagnostic) {
    tracing::warn!("{said}");
}
