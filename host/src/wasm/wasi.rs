//! WASI 0.2: clocks and random numbers are there, and what was granted of folders and variables; no arguments and no
//! network but the hosts that were granted; standard input is at its end, and output goes nowhere. What WASI commands have beyond that is added in
//! `command`.

use std::time::Duration;

use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::{Deterministic, HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::allowance::Allowance;
use super::folders::Preopens;
use super::instance::Guest;

/// The most random bytes in one piece.
const MOST_RANDOM: u64 = 1 << 20;

/// How many things of WASI a call may hold: each costs the host memory, and some of them kilobytes.
const MOST_HANDLES: usize = 10_000;
/// How much the fields of one request or answer may take of the host's memory, in bytes.
const LARGEST_HEADERS: usize = 64 << 10;

/// The interfaces of WASI 0.2 that are linked, by package.
pub(super) const LINKED: [(&str, &[&str]); 7] = [
    ("wasi:io", &["error", "poll", "streams"]),
    ("wasi:clocks", &["wall-clock", "monotonic-clock"]),
    ("wasi:random", &["random", "insecure", "insecure-seed"]),
    ("wasi:filesystem", &["types", "preopens"]),
    (
        "wasi:cli",
        &[
            "environment",
            "exit",
            "stdin",
            "stdout",
            "stderr",
            "terminal-input",
            "terminal-output",
            "terminal-stdin",
            "terminal-stdout",
            "terminal-stderr",
        ],
    ),
    ("wasi:http", &["types", "outgoing-handler"]),
    (
        "wasi:sockets",
        &["network", "instance-network", "ip-name-lookup", "tcp", "tcp-create-socket", "udp", "udp-create-socket"],
    ),
];

/// What one instance holds of WASI.
pub(super) struct Wasi {
    cx: WasiCtx,
    table: ResourceTable,
    http: WasiHttpCtx,
}

/// Which clock a guest sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// The machine's.
    Real,
    /// One that stands still, with random numbers that are the same each time: what a plugin says of itself is so on each
    /// day, and what was looked at is what is registered.
    Fixed,
}

/// Links all of WASI 0.2, and its HTTP.
pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    super::opening::link(linker)?;
    super::http::link(linker)
}

/// What every guest has of WASI, to be added to.
pub(super) fn empty_handed(clock: Clock) -> WasiCtxBuilder {
    let mut builder = WasiCtx::builder();
    builder.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false).max_random_size(MOST_RANDOM);
    if clock == Clock::Fixed {
        // Not refused: maps of most languages begin with some. What is the same each time tells no two loads apart.
        let same = || Deterministic::new((0..=u8::MAX).collect());
        builder.wall_clock(Still).monotonic_clock(Still);
        builder.secure_random(same()).insecure_random(same()).insecure_random_seed(0);
    }
    builder
}

impl Wasi {
    /// With this world, and the folders that were granted.
    pub(super) fn of(mut cx: WasiCtx, folders: &Preopens) -> Self {
        folders.hand_to(&mut cx);
        let mut table = ResourceTable::new();
        table.set_max_capacity(MOST_HANDLES);
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(LARGEST_HEADERS);
        Self { cx, table, http }
    }

    /// The one that is there, else one with nothing added: made on first use, since most plugins have none of it, and those
    /// that link it seldom call it.
    fn made<'w>(
        wasi: &'w mut Option<Box<Self>>,
        allowance: &Allowance,
        env: &[(String, String)],
        clock: Clock,
    ) -> &'w mut Self {
        wasi.get_or_insert_with(|| Box::new(Self::of(empty_handed(clock).envs(env).build(), &allowance.folders)))
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let Self { allowance, env, clock, wasi, .. } = self;
        let wasi = Wasi::made(wasi, allowance, env, *clock);
        WasiCtxView { ctx: &mut wasi.cx, table: &mut wasi.table }
    }
}

impl WasiHttpView for Guest {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let Self { allowance, env, clock, wasi, outgoing, .. } = self;
        let wasi = Wasi::made(wasi, allowance, env, *clock);
        WasiHttpCtxView { ctx: &mut wasi.http, table: &mut wasi.table, hooks: outgoing }
    }
}

/// A clock that stands still.
struct Still;

impl HostWallClock for Still {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for Still {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        0
    }
}
