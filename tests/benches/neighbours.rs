//! What plugins that misbehave cost others: `cargo bench -p tacklebox-tests --bench neighbours`.
//!
//! Each guest under `tests/guests/rough` is called again and again while a well-behaved plugin of the same host is asked a
//! thousand times; in turn with as many calls undisturbed, so that a machine whose load changes touches both alike. Wrong
//! answers fail it. With `--bound 4` it fails too where the others' p99 is more than four times the undisturbed one, and where a
//! call ends more than 50 ms past its limit.
//!
//! Other flags: `--rounds N` of both, `--workers N` of the async runtime, `--only NAME` of a guest.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]
#![expect(clippy::disallowed_methods, reason = "it lays its own files")]

#[path = "neighbours/measured.rs"]
mod measured;
#[path = "../guests/rough.rs"]
mod rough;
#[path = "neighbours/trial.rs"]
mod trial;
#[path = "neighbours/waiting.rs"]
mod waiting;
#[path = "../../host/src/wasm/tests/written.rs"]
mod written;

use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use measured::Measured;
use tacklebox::outcome;
use trial::{Street, Trial};

/// How far past its limit a call may end.
const MOST_LATE: Duration = Duration::from_millis(50);

/// How often a guest is measured that does not keep within the bound, the first time included. Whatever else the machine does
/// only ever adds to what a call takes, so what counts is the best of them.
const TRIES: usize = 4;

fn main() -> ExitCode {
    let strangers = rough::strangers(&Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/rough"));
    assert!(strangers.is_empty(), "these are no guests: {strangers:?}");
    let bound: Option<f64> = flag("--bound");
    let street = Street::new(flag("--workers").unwrap_or(2), flag("--rounds").unwrap_or(5));
    let only: Option<String> = flag("--only");
    let trials = Trial::all().into_iter().filter(|trial| only.as_ref().is_none_or(|name| trial.name() == *name));
    println!("{}", Measured::HEAD);
    let broken: Vec<_> = trials.filter_map(|trial| kept_within(&street, &trial, bound).err()).collect();
    broken.iter().for_each(|what| println!("{what}"));
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// `name VALUE`; whatever else cargo passes is not for us.
fn flag<T: FromStr<Err: std::fmt::Debug>>(name: &str) -> Option<T> {
    let args: Vec<_> = std::env::args().collect();
    let at = args.iter().position(|arg| arg == name)?;
    Some(args[at + 1].parse().unwrap())
}

/// Measures this trial until it keeps within the bound.
fn kept_within(street: &Street, trial: &Trial, bound: Option<f64>) -> Result<(), String> {
    let mut best: Option<Measured> = None;
    for _ in 0..TRIES {
        let measured = street.measure(trial)?;
        println!("{measured}");
        let so_far = best.map_or(measured, |best| best.or_better(measured));
        if bound.is_none_or(|bound| so_far.p99_ratio() <= bound && so_far.late <= MOST_LATE) {
            return Ok(());
        }
        best = Some(so_far);
    }
    let bound = bound.unwrap_or(f64::INFINITY);
    Err(format!("{}: not within {bound} times and {MOST_LATE:?} in {TRIES} tries", trial.name()))
}
