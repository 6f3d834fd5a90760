//! One instance of a plugin: made for one call, held to its limits, and gone with it; or kept between the calls of a
//! session, and then each call has all of the host's side anew.
//!
//! Whatever goes wrong within comes back as a [`Cause`], and ends the instance. Which are kept is for `kept` to say.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use wasmtime::{Store, StoreContextMut, UpdateDeadline};
use wasmtime_wasi::p1::WasiP1Ctx;

use super::allowance::Allowance;
use super::bindings::{HookContext, HookInput, HookResult, Plugin, PluginInfo, PluginPre, types};
use super::command::Command;
use super::engine::Room;
use super::http::Outgoing;
use super::limits::{ANSWER, HANDED_OVER, Ledger};
use super::log::Log;
use super::places::Place;
use super::process::{Denials, Until};
use super::state::State;
use super::ticker::Meter;
use super::trap;
use super::wasi::{Clock, Wasi};
use crate::ask::{Ask, Lease};
use crate::limits::Limits;
use crate::outcome::Cause;
use crate::surroundings::Surroundings;

/// What the host keeps for one instance.
pub(super) struct Guest {
    pub(super) ledger: Ledger,
    pub(super) log: Log,
    pub(super) config: String,
    pub(super) state: State,
    pub(super) allowance: Arc<Allowance>,
    /// The variables that it sees.
    pub(super) env: Vec<(String, String)>,
    /// What its programs run in, where it may run any.
    pub(super) outside: Option<Arc<Surroundings>>,
    /// By when its programs must be over.
    pub(super) deadline: Until,
    /// Kept by its programs until they have ended.
    pub(super) lease: Lease,
    /// How many it has run.
    pub(super) runs: usize,
    pub(super) denials: Denials,
    /// What it sends.
    pub(super) outgoing: Outgoing,
    pub(super) clock: Clock,
    pub(super) wasi: Option<Box<Wasi>>,
    pub(super) preview1: Option<Box<WasiP1Ctx>>,
}

impl types::Host for Guest {}

impl Guest {
    /// One that has this config and may reach this state.
    pub(super) fn new(limits: Limits, config: String, state: State) -> Self {
        Self {
            ledger: Ledger::new(limits),
            log: Log::default(),
            config,
            state,
            allowance: Arc::default(),
            env: Vec::new(),
            outside: None,
            deadline: None,
            lease: Lease::default(),
            runs: 0,
            denials: Denials::default(),
            outgoing: Outgoing::default(),
            clock: Clock::Real,
            wasi: None,
            preview1: None,
        }
    }

    /// The same, and it may do for this asking what was allowed, until then.
    pub(super) fn allowed(self, allowance: &Arc<Allowance>, ask: &Ask<'_>, deadline: Deadline) -> Self {
        Self {
            env: allowance.env(ask.surroundings),
            outside: allowance.outside(ask.surroundings),
            allowance: Arc::clone(allowance),
            deadline: Some(deadline.at),
            lease: ask.lease.clone(),
            outgoing: Outgoing::to(&allowance.reach, Some(deadline.at), ask.lease.clone()),
            ..self
        }
    }

    /// Becomes the guest of another call: it keeps what is the instance's own, and nothing that belonged to a call.
    fn becomes(&mut self, next: Self) {
        let before = std::mem::replace(self, next);
        self.ledger = before.ledger.for_another_call();
        self.wasi = before.wasi;
        self.preview1 = before.preview1;
    }

    /// One that is asked to describe itself: nothing can be kept, and time stands still.
    pub(super) fn describing(limits: Limits) -> Self {
        Self { clock: Clock::Fixed, ..Self::new(limits, "{}".into(), State::None) }
    }
}

/// What stands for a limit that no clock can hold.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// By when a call must be over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    /// So long from now.
    pub(super) fn after(limit: Duration) -> Self {
        let now = Instant::now();
        Self { at: now.checked_add(limit).unwrap_or(now + FAR), limit }
    }

    /// When that is.
    pub(super) fn at(self) -> Instant {
        self.at
    }
}

/// The guest has used up its processor time.
#[derive(Debug)]
pub(super) struct OutOfTime;

impl fmt::Display for OutOfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("processor time is used up")
    }
}

impl std::error::Error for OutOfTime {}

/// A call was not over by its deadline.
#[derive(Debug)]
struct TimeUp;

/// What of an instance can outlast a call.
pub(super) struct Body {
    store: Store<Guest>,
    /// Made when it is first asked.
    plugin: Option<Plugin>,
    meter: Arc<Meter>,
    limits: Limits,
    places: u32,
    // Last: the place is free when the store is gone.
    _place: Place,
}

impl Body {
    /// How many places it takes.
    pub(super) fn places(&self) -> u32 {
        self.places
    }

    #[cfg(test)]
    pub(super) fn charge(&self, time: Duration) {
        self.meter.charge(time);
    }
}

/// An instance, with all that belongs to its call.
pub(super) struct Instance<'a> {
    room: &'a Room,
    body: Body,
    deadline: Deadline,
    largest_answer: usize,
}

impl<'a> Instance<'a> {
    /// Waits for `places` free places, and makes the store. The instance itself is made when it is asked.
    pub(super) async fn enter(
        room: &'a Room,
        places: u32,
        limits: Limits,
        deadline: Deadline,
        guest: Guest,
    ) -> Result<Self, Cause> {
        let place = match timeout_at(deadline.at, room.place(places)).await {
            Ok(taken) => taken,
            Err(Elapsed { .. }) => Err(room.places.full()),
        };
        let place = place.map_err(|none| Cause::CouldNotStart(none.to_string()))?;
        let meter = Arc::new(Meter::new());
        let store = store(room, guest, &meter, limits.processor);
        let body = Body { store, plugin: None, meter, limits, places, _place: place };
        Ok(Self { room, body, deadline, largest_answer: ANSWER })
    }

    /// The same with an instance that was kept: what it has in memory is there, and the host's side is `guest`'s.
    pub(super) fn resume(room: &'a Room, mut body: Body, deadline: Deadline, guest: Guest) -> Self {
        body.store.data_mut().becomes(guest);
        body.store.set_epoch_deadline(1);
        body.meter.start_anew();
        Self { room, body, deadline, largest_answer: ANSWER }
    }

    /// What the plugin says of itself.
    pub(super) async fn describe(&mut self, code: &PluginPre<Guest>) -> Result<PluginInfo, Cause> {
        let store = &mut self.body.store;
        let work = async move {
            let plugin = code.instantiate_async(&mut *store).await?;
            plugin.tacklebox_hooks_callback().call_describe(&mut *store).await
        };
        let ended = in_time(self.room, &self.body.meter, self.deadline, work).await;
        self.ended(ended)
    }

    /// What it says to `input`; each string of that may have `largest` bytes.
    pub(super) async fn run(
        &mut self,
        code: &PluginPre<Guest>,
        input: &HookInput,
        context: &HookContext,
        largest: usize,
    ) -> Result<Result<HookResult, String>, Cause> {
        self.largest_answer = largest;
        let Body { store, plugin, meter, .. } = &mut self.body;
        store.set_hostcall_fuel(HANDED_OVER.max(largest.saturating_mul(4)));
        let work = async move {
            let plugin = match plugin {
                Some(plugin) => plugin,
                None => plugin.insert(code.instantiate_async(&mut *store).await?),
            };
            plugin.tacklebox_hooks_callback().call_run(&mut *store, input, context).await
        };
        let ended = in_time(self.room, meter, self.deadline, work).await;
        self.ended(ended)
    }

    /// Whether a WASI command can be made an instance of; it is not run.
    pub(super) async fn try_out(&mut self, command: &Command) -> Result<(), Cause> {
        let made = in_time(self.room, &self.body.meter, self.deadline, command.instantiate(&mut self.body.store)).await;
        self.ended(made)
    }

    /// Runs a WASI command: its exit code. It may hand over `most` bytes at once.
    pub(super) async fn execute(&mut self, command: &Command, most: usize) -> Result<i32, Cause> {
        self.body.store.set_hostcall_fuel(most);
        let ended = in_time(self.room, &self.body.meter, self.deadline, command.run(&mut self.body.store)).await;
        self.ended(ended)
    }

    /// What the host kept for it; the instance is gone.
    pub(super) fn leave(self) -> Guest {
        self.body.store.into_data()
    }

    /// What the host keeps for it.
    pub(super) fn guest(&mut self) -> &mut Guest {
        self.body.store.data_mut()
    }

    /// What can be kept of it for another call: nothing that belongs to this one. None where it reached a limit, although
    /// it went on and answered, where its memory is running out, and where others wait for its place.
    pub(super) fn rest(self) -> Option<Body> {
        let Self { room, mut body, .. } = self;
        let ledger = &body.store.data().ledger;
        let spent = ledger.denied().is_some() || ledger.is_running_out();
        body.store.data_mut().becomes(Guest::new(body.limits, String::new(), State::None));
        (!spent && !room.places.are_waited_for()).then_some(body)
    }

    fn ended<T>(&self, ended: Result<wasmtime::Result<T>, TimeUp>) -> Result<T, Cause> {
        match ended {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(trap::cause(&error, self.body.store.data(), &self.body.limits, self.largest_answer)),
            Err(TimeUp) => Err(Cause::TimedOut(self.deadline.limit)),
        }
    }
}

fn store(room: &Room, guest: Guest, meter: &Arc<Meter>, processor: Duration) -> Store<Guest> {
    let mut store = Store::new(&room.engine, guest);
    store.limiter(|guest| &mut guest.ledger);
    store.set_hostcall_fuel(HANDED_OVER);
    store.set_epoch_deadline(1);
    let meter = Arc::clone(meter);
    store.epoch_deadline_callback(move |_: StoreContextMut<'_, Guest>| match meter.used() >= processor {
        true => Err(OutOfTime.into()),
        // The async runtime's own way to yield: an ordinary wake would have the guest polled again at once, before other tasks
        // of its thread, and before timers and sockets, which are looked at once in dozens of polls.
        false => Ok(UpdateDeadline::YieldCustom(1, Box::pin(yield_now()))),
    });
    store
}

/// The guest yields at each tick, which is when its deadline is looked at: on the clock, since a timer is told of its time by
/// whoever is polled next, and that may be the guest itself, for another tick.
async fn in_time<T>(
    room: &Room,
    meter: &Meter,
    deadline: Deadline,
    work: impl Future<Output = wasmtime::Result<T>>,
) -> Result<wasmtime::Result<T>, TimeUp> {
    let mut work = pin!(timeout_at(deadline.at, room.ticker.run(meter, work)));
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Pending if Instant::now() >= deadline.at => Poll::Ready(Err(TimeUp)),
        polled => polled.map_err(|Elapsed { .. }| TimeUp),
    })
    .await
}
