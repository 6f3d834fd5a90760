//! When a hook is gone: its life is a channel, and who waits for the end of it waits for the channel to close.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::watch;

use crate::bus::Count;

use super::{Hook, counts};

/// What becomes of the calls of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// They finish.
    Goes,
    /// They are cancelled.
    Cancelled,
}

/// A call that runs.
#[derive(Debug)]
pub struct Running(pub(super) Arc<Hook>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Hooks that are no longer registered; calls of them may still run.
#[derive(Debug, Default)]
pub struct Dropped {
    /// How many hooks.
    pub hooks: usize,
    /// How many calls of them were still running when they were dropped.
    pub running: usize,
    /// How many of each source and generation, in the order of the registry.
    pub counts: Vec<Count>,
    lives: Vec<watch::Receiver<Life>>,
}

impl Dropped {
    pub(super) fn of(hooks: &[Arc<Hook>]) -> Self {
        Self {
            hooks: hooks.len(),
            counts: counts(hooks),
            running: hooks.iter().map(|hook| hook.running.load(Ordering::Relaxed)).sum(),
            lives: hooks.iter().map(|hook| hook.life.subscribe()).collect(),
        }
    }

    /// Waits until the last call has ended. From then on the hooks' compiled code and instances are gone.
    pub async fn ended(self) {
        for mut life in self.lives {
            while life.changed().await.is_ok() {}
        }
    }
}
