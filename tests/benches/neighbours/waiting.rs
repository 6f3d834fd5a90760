//! How long a thread waited for a processor, as Linux counts it. Elsewhere nobody says, and nothing is taken off.

use std::fs;
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The wait of this thread so far.
pub(crate) struct Wait {
    thread: ThreadId,
    waited: Duration,
}

impl Wait {
    pub(crate) fn so_far() -> Self {
        let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let nanos = text.split(' ').nth(1).and_then(|nanos| nanos.parse().ok());
        Self { thread: thread::current().id(), waited: Duration::from_nanos(nanos.unwrap_or_default()) }
    }

    /// How much of it came since then; nothing where the task has moved to another thread, since nobody knows when.
    pub(crate) fn since(&self, before: &Self) -> Duration {
        if self.thread == before.thread { self.waited.saturating_sub(before.waited) } else { Duration::ZERO }
    }
}
