//! The clock of the sandbox: a thread that advances the engine's epoch, so that a guest yields and can be ended.
//!
//! It runs only while some guest is being polled; a call that waits for something outside the sandbox costs no ticks.
//! Owns no limit: what a call may use is counted in its [`Meter`], by time and not by ticks, since ticks belong to all.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wasmtime::EngineWeak;

/// How far ticks are apart.
const PERIOD: Duration = Duration::from_millis(10);

/// The thread; it ends when this is dropped, within a tick.
#[derive(Debug)]
pub(super) struct Ticker {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// How many guests are being polled right now.
    polled: AtomicUsize,
    /// Whether the thread sleeps until one is.
    asleep: AtomicBool,
    ended: Mutex<bool>,
    wake: Condvar,
    ticks: AtomicU64,
}

impl Ticker {
    /// Starts the thread for this engine.
    pub(super) fn start(engine: EngineWeak) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let ticking = Arc::clone(&shared);
        thread::Builder::new().name("tacklebox-ticker".into()).spawn(move || ticking.tick(&engine))?;
        Ok(Self { shared })
    }

    /// Runs a guest under the clock and charges its time to `meter`.
    pub(super) async fn run<F: Future>(&self, meter: &Meter, guest: F) -> F::Output {
        let mut guest = pin!(guest);
        poll_fn(|cx| {
            let _polled = Polled::begin(&self.shared, meter);
            guest.as_mut().poll(cx)
        })
        .await
    }

    /// How often it has ticked so far.
    #[cfg(test)]
    pub(super) fn ticks(&self) -> u64 {
        self.shared.ticks.load(Ordering::SeqCst)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        *self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.wake.notify_one();
    }
}

impl Shared {
    fn tick(&self, engine: &EngineWeak) {
        while self.wait_for_a_guest() {
            thread::sleep(PERIOD);
            let Some(engine) = engine.upgrade() else { return };
            self.ticks.fetch_add(1, Ordering::SeqCst);
            engine.increment_epoch();
        }
    }

    /// False where the ticker was dropped.
    fn wait_for_a_guest(&self) -> bool {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        // Here: first `asleep`, then `polled`; in `begin` first `polled`, then `asleep`. So one sees the other.
        self.asleep.store(true, Ordering::SeqCst);
        while self.polled.load(Ordering::SeqCst) == 0 && !*ended {
            ended = self.wake.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.store(false, Ordering::SeqCst);
        !*ended
    }
}

/// How much time one call spent being polled.
#[derive(Debug)]
pub(super) struct Meter {
    made: Instant,
    /// Nanoseconds, of polls that are over.
    used: AtomicU64,
    /// When the present poll began, in nanoseconds after `made`.
    since: AtomicU64,
}

impl Meter {
    /// At zero.
    pub(super) fn new() -> Self {
        Self { made: Instant::now(), used: AtomicU64::new(0), since: AtomicU64::new(0) }
    }

    /// Back at zero, for another call; not to be asked for within a poll.
    pub(super) fn start_anew(&self) {
        self.used.store(0, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(super) fn charge(&self, time: Duration) {
        self.used.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The time so far; to be asked from within a poll.
    pub(super) fn used(&self) -> Duration {
        let present = self.now().saturating_sub(self.since.load(Ordering::Relaxed));
        Duration::from_nanos(self.used.load(Ordering::Relaxed) + present)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.made.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A poll of a guest.
struct Polled<'a> {
    shared: &'a Shared,
    meter: &'a Meter,
}

impl<'a> Polled<'a> {
    fn begin(shared: &'a Shared, meter: &'a Meter) -> Self {
        shared.polled.fetch_add(1, Ordering::SeqCst);
        if shared.asleep.load(Ordering::SeqCst) {
            // Under the lock: the thread has either not looked yet, or waits already.
            let _ended = shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
            shared.wake.notify_one();
        }
        meter.since.store(meter.now(), Ordering::Relaxed);
        Self { shared, meter }
    }
}

impl Drop for Polled<'_> {
    fn drop(&mut self) {
        let spent = self.meter.now().saturating_sub(self.meter.since.load(Ordering::Relaxed));
        self.meter.used.fetch_add(spent, Ordering::Relaxed);
        self.shared.polled.fetch_sub(1, Ordering::SeqCst);
    }
}
