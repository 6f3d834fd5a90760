//! One fresh instance of a plugin: made for one call, held to its limits, and gone with it.
//!
//! Whatever goes wrong within comes back as a [`Cause`]; the next call has an instance of its own.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use wasmtime::{Store, StoreContextMut, UpdateDeadline};
use wasmtime_wasi::p1::WasiP1Ctx;

use super::allowance::Allowance;
use super::bindings::{HookContext, HookInput, HookResult, PluginInfo, PluginPre, types};
use super::command::Command;
use super::engine::Room;
use super::http::Outgoing;
use super::limits::{ANSWER, HANDED_OVER, Ledger, Limits};
use super::log::Log;
use super::places::Place;
use super::process::{Denials, Until};
use super::state::State;
use super::ticker::Meter;
use super::trap;
use super::wasi::{Clock, Wasi};
use crate::ask::{Ask, Lease};
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

/// A fresh instance, with all that belongs to its call.
pub(super) struct Instance<'a> {
    room: &'a Room,
    store: Store<Guest>,
    meter: Arc<Meter>,
    limits: Limits,
    deadline: Deadline,
    largest_answer: usize,
    // Last: the place is free when the store is gone.
    _place: Place<'a>,
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
        let place = match timeout_at(deadline.at, room.places.take(places)).await {
            Ok(taken) => taken,
            Err(Elapsed { .. }) => Err(room.places.full()),
        };
        let place = place.map_err(|none| Cause::CouldNotStart(none.to_string()))?;
        let meter = Arc::new(Meter::new());
        let store = store(room, guest, &meter, limits.processor);
        Ok(Self { room, store, meter, limits, deadline, largest_answer: ANSWER, _place: place })
    }

    /// What the plugin says of itself.
    pub(super) async fn describe(&mut self, code: &PluginPre<Guest>) -> Result<PluginInfo, Cause> {
        let store = &mut self.store;
        let work = async move {
            let plugin = code.instantiate_async(&mut *store).await?;
            plugin.tacklebox_hooks_callback().call_describe(&mut *store).await
        };
        let ended = in_time(self.room, &self.meter, self.deadline, work).await;
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
        self.store.set_hostcall_fuel(HANDED_OVER.max(largest.saturating_mul(4)));
        let store = &mut self.store;
        let work = async move {
            let plugin = code.instantiate_async(&mut *store).await?;
            plugin.tacklebox_hooks_callback().call_run(&mut *store, input, context).await
        };
        let ended = in_time(self.room, &self.meter, self.deadline, work).await;
        self.ended(ended)
    }

    /// Whether a WASI command can be made an instance of; it is not run.
    pub(super) async fn try_out(&mut self, command: &Command) -> Result<(), Cause> {
        let made = in_time(self.room, &self.meter, self.deadline, command.instantiate(&mut self.store)).await;
        self.ended(made)
    }

    /// Runs a WASI command: its exit code. It may hand over `most` bytes at once.
    pub(super) async fn execute(&mut self, command: &Command, most: usize) -> Result<i32, Cause> {
        self.store.set_hostcall_fuel(most);
        let ended = in_time(self.room, &self.meter, self.deadline, command.run(&mut self.store)).await;
        self.ended(ended)
    }

    /// What the host kept for it; the instance is gone.
    pub(super) fn leave(self) -> Guest {
        self.store.into_data()
    }

    fn ended<T>(&self, ended: Result<wasmtime::Result<T>, Elapsed>) -> Result<T, Cause> {
        match ended {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(trap::cause(&error, self.store.data(), &self.limits, self.largest_answer)),
            Err(Elapsed { .. }) => Err(Cause::TimedOut(self.deadline.limit)),
        }
    }
}

fn store(room: &Room, guest: Guest, meter: &Arc<Meter>, processor: Duration) -> Store<Guest> {
    let mut store = Store::new(&room.engine, guest);
    store.limiter(|guest| &mut guest.ledger);
    store.set_hostcall_fuel(HANDED_OVER);
    store.set_epoch_deadline(1);
    let meter = Arc::clone(meter);
    store.epoch_deadline_callback(move |_: StoreContextMut<'_, Guest>| {
        if meter.used() >= processor { Err(OutOfTime.into()) } else { Ok(UpdateDeadline::Yield(1)) }
    });
    store
}

/// The guest yields at each tick, which is when its deadline is looked at.
async fn in_time<T>(
    room: &Room,
    meter: &Meter,
    deadline: Deadline,
    work: impl Future<Output = wasmtime::Result<T>>,
) -> Result<wasmtime::Result<T>, Elapsed> {
    timeout_at(deadline.at, room.ticker.run(meter, work)).await
}
