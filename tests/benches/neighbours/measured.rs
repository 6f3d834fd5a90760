//! What was measured of one guest, and how it is told.
//!
//! On a machine that does other work, the slowest calls are those during which it gave their thread no processor. Linux says how
//! long that was. So where calls wait for one although nothing happens beside them but a thread of ours that counts, it is taken
//! off all calls, and the guest's row has a `*`. Elsewhere nothing is: a guest that keeps processors from others is seen.

use std::fmt;
use std::time::Duration;

/// A call.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) took: Duration,
    /// For how long of that its thread waited for a processor.
    pub(crate) waited: Duration,
}

/// The calls of one round.
pub(crate) struct Calls(pub(crate) Vec<Call>);

/// Whether waiting for a processor is part of what a call took.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Machine {
    Quiet,
    Busy,
}

impl Machine {
    /// As these calls found it: busy where one in two hundred waited for longer than such a call takes.
    fn of<'a>(beside_a_thread: impl Iterator<Item = &'a Calls>) -> Self {
        let calls: Vec<_> = beside_a_thread.flat_map(|calls| &calls.0).collect();
        let waited = calls.iter().filter(|call| call.waited * 2 > call.took).count();
        if waited * 200 > calls.len() { Self::Busy } else { Self::Quiet }
    }

    fn counts(self, call: &Call) -> Duration {
        if self == Self::Busy { call.took.saturating_sub(call.waited) } else { call.took }
    }
}

impl Calls {
    /// What so many of a hundred take at most.
    fn within(&self, percent: usize, machine: Machine) -> Duration {
        let mut took: Vec<_> = self.0.iter().map(|call| machine.counts(call)).collect();
        took.sort();
        took[(took.len() * percent).div_ceil(100).max(1) - 1]
    }
}

/// One round: the others' calls undisturbed, beside a thread that counts, and beside the guest; and the guest's own.
pub(crate) struct Round {
    pub(crate) alone: Calls,
    pub(crate) beside_a_thread: Calls,
    pub(crate) beside: Calls,
    pub(crate) guest: Calls,
}

/// One guest's figures: medians over all rounds.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    name: &'static str,
    machine: Machine,
    /// Of the others' calls, undisturbed and beside the guest.
    p50: [Duration; 2],
    p99: [Duration; 2],
    /// How often the guest was called, and what a call took.
    times: usize,
    took: Duration,
    /// The furthest that a call of it ended past its limit.
    pub(crate) late: Duration,
}

impl Measured {
    pub(crate) const HEAD: &str = "guest                      p99 x  p50 x |  p50 alone    beside |  p99 alone    beside |  calls      took      late";

    /// Of a guest whose calls may take so long.
    pub(crate) fn of(name: &'static str, rounds: &[Round], limit: Duration) -> Self {
        let machine = Machine::of(rounds.iter().map(|round| &round.beside_a_thread));
        let over = |percent| {
            [
                median(rounds.iter().map(|round| round.alone.within(percent, machine))),
                median(rounds.iter().map(|round| round.beside.within(percent, machine))),
            ]
        };
        let latest = rounds.iter().map(|round| round.guest.within(100, Machine::Quiet)).max().unwrap_or_default();
        Self {
            name,
            machine,
            p50: over(50),
            p99: over(99),
            times: rounds.iter().map(|round| round.guest.0.len()).sum(),
            took: median(rounds.iter().map(|round| round.guest.within(50, Machine::Quiet))),
            late: latest.saturating_sub(limit),
        }
    }

    /// How much longer the slowest of a hundred calls take beside it.
    pub(crate) fn p99_ratio(&self) -> f64 {
        self.p99[1].div_duration_f64(self.p99[0])
    }

    /// The better of both in each respect.
    pub(crate) fn or_better(self, other: Self) -> Self {
        let late = self.late.min(other.late);
        Self { late, ..if other.p99_ratio() < self.p99_ratio() { other } else { self } }
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |time: Duration| format!("{time:.1?}");
        let [(p50, p50_beside), (p99, p99_beside)] = [self.p50, self.p99].map(|[a, b]| (short(a), short(b)));
        let p50_ratio = self.p50[1].div_duration_f64(self.p50[0]);
        write!(f, "{:<25} {:>6.2} {p50_ratio:>6.2} |", self.name, self.p99_ratio())?;
        write!(f, " {p50:>10} {p50_beside:>9} | {p99:>10} {p99_beside:>9} |")?;
        write!(f, " {:>6} {:>9} {:>9}", self.times, short(self.took), short(self.late))?;
        f.write_str(if self.machine == Machine::Busy { " *" } else { "" })
    }
}

fn median(all: impl Iterator<Item = Duration>) -> Duration {
    let mut all: Vec<_> = all.collect();
    all.sort();
    all[all.len() / 2]
}
