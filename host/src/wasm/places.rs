//! How many instances there may be at a time, and who waits for a place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places for instances, given out in the order of asking.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    all: u32,
    waiting: AtomicUsize,
    queue: usize,
}

/// A place that is given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
}

/// There is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPlace {
    /// For now.
    #[error("the sandbox is full now: {all} places are taken and {waiting} calls wait for one")]
    Full {
        /// How many places there are.
        all: u32,
        /// How many calls wait.
        waiting: usize,
    },
    /// For ever.
    #[error("the plugin never fits: it takes {wanted} places, and the sandbox has {all}")]
    NeverFits {
        /// How many places it takes.
        wanted: u32,
        /// How many there are.
        all: u32,
    },
}

impl Places {
    pub(super) fn new(all: u32, queue: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(all as usize)), all, waiting: AtomicUsize::new(0), queue }
    }

    /// Waits for `wanted` places: one for each memory of the component.
    pub(super) async fn take(&self, wanted: u32) -> Result<Place, NoPlace> {
        self.fits(wanted)?;
        if let Ok(permit) = Arc::clone(&self.free).try_acquire_many_owned(wanted) {
            return Ok(Place { _permit: permit });
        }
        let _waiting = self.queue_up()?;
        let permit = Arc::clone(&self.free).acquire_many_owned(wanted).await.map_err(|_closed| self.full())?;
        Ok(Place { _permit: permit })
    }

    /// Whether so many places can ever be had.
    pub(super) fn fits(&self, wanted: u32) -> Result<(), NoPlace> {
        if wanted > self.all { Err(NoPlace::NeverFits { wanted, all: self.all }) } else { Ok(()) }
    }

    /// Whether `wanted` places are free now and nobody waits for one.
    pub(super) fn has(&self, wanted: u32) -> bool {
        !self.are_waited_for() && self.free.available_permits() >= wanted as usize
    }

    /// Whether somebody waits for a place.
    pub(super) fn are_waited_for(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// What is to be said when there was no place in time.
    pub(super) fn full(&self) -> NoPlace {
        NoPlace::Full { all: self.all, waiting: self.waiting.load(Ordering::Relaxed) }
    }

    fn queue_up(&self) -> Result<Waiting<'_>, NoPlace> {
        let waiting = Waiting { waiting: &self.waiting };
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.queue {
            drop(waiting);
            return Err(self.full());
        }
        Ok(waiting)
    }
}

/// A call in the queue; leaves it when it is dropped.
struct Waiting<'a> {
    waiting: &'a AtomicUsize,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn full_now_and_never_fits_are_two_things() {
        let places = Places::new(2, 0);
        assert_eq!(places.take(3).await.unwrap_err(), NoPlace::NeverFits { wanted: 3, all: 2 });
        let taken = places.take(2).await.unwrap();
        assert_eq!(places.take(1).await.unwrap_err(), NoPlace::Full { all: 2, waiting: 0 });
        drop(taken);
        assert!(places.take(1).await.is_ok());
    }

    #[tokio::test]
    async fn who_gives_up_leaves_the_queue() {
        let places = Places::new(1, 1);
        let taken = places.take(1).await.unwrap();
        {
            let mut waits = std::pin::pin!(places.take(1));
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(waits.as_mut().poll(&mut cx).is_pending());
            assert!(matches!(places.take(1).await, Err(NoPlace::Full { waiting: 1, .. })));
        }
        drop(taken);
        assert!(places.take(1).await.is_ok());
    }
}
