//! Why a guest did not come back with an answer: what the engine says, in the words of `outcome`.

use wasmtime::{Error, PoolConcurrencyLimitError, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use super::instance::{Guest, OutOfTime};
use super::limits::{HANDED_OVER, STACK};
use crate::limits::Limits;
use crate::outcome::{Cause, Limit};
use crate::text::cut;

/// How long the name of a function is in a backtrace at most, and a message of the engine's, in characters.
const LONGEST_NAME: usize = 1_000;
const LONGEST_MESSAGE: usize = 2_000;

/// The cause behind the engine's error. A limit comes before the trap that it led to: a growth that is denied ends in
/// `unreachable`, which says nothing.
pub(super) fn cause(error: &Error, guest: &Guest, limits: &Limits, largest_answer: usize) -> Cause {
    let trap = error.downcast_ref::<Trap>();
    if error.is::<OutOfTime>() {
        Cause::Limit(Limit::Processor(limits.processor))
    } else if error.is::<PoolConcurrencyLimitError>() {
        Cause::CouldNotStart(format!("the sandbox is full now: {}", error.root_cause()))
    } else if trap == Some(&Trap::StackOverflow) {
        Cause::Limit(Limit::Stack(STACK))
    } else if let Some(limit) = guest.ledger.denied() {
        Cause::Limit(limit)
    } else if is_out_of_fuel(error) && error.downcast_ref::<WasmBacktrace>().is_none() {
        Cause::Limit(Limit::Answer(largest_answer))
    } else if trap.is_none() && error.downcast_ref::<WasmBacktrace>().is_none() {
        // The guest came back; what it left cannot be read: no UTF-8, no such case, beyond its memory.
        Cause::NotAnAnswer(root(error))
    } else {
        Cause::Trapped { message: message(error, trap), backtrace: backtrace(error) }
    }
}

fn message(error: &Error, trap: Option<&Trap>) -> String {
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        return format!("the plugin ended itself with exit code {}", exit.0);
    }
    if is_out_of_fuel(error) {
        return format!("the plugin handed over more than {} MiB at once", HANDED_OVER >> 20);
    }
    match trap {
        Some(trap) => trap.to_string(),
        None => root(error),
    }
}

/// What lies behind it, cut: names of the guest's may be in it.
fn root(error: &Error) -> String {
    cut(&format!("{:#}", error.root_cause()), LONGEST_MESSAGE).into_owned()
}

/// The engine has no public type for this; a test holds its words.
fn is_out_of_fuel(error: &Error) -> bool {
    error.root_cause().to_string().starts_with("too much data is being copied between the host and the guest")
}

/// The guest's functions, innermost first.
fn backtrace(error: &Error) -> Vec<String> {
    let frames = error.downcast_ref::<WasmBacktrace>().map(WasmBacktrace::frames).unwrap_or_default();
    frames.iter().map(|frame| function(frame.func_name(), frame.func_index())).collect()
}

fn function(name: Option<&str>, index: u32) -> String {
    match name {
        // A few bytes can stand for a name of a megabyte, and those of a file are as long as it likes.
        Some(name) if name.len() > LONGEST_NAME => cut(name, LONGEST_NAME).into_owned(),
        // The alternate form leaves out the hash at the end of a Rust name.
        Some(name) => cut(&format!("{:#}", rustc_demangle::demangle(name)), LONGEST_NAME).into_owned(),
        None => format!("function {index}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_names_are_readable() {
        assert_eq!(function(Some("_ZN5guard10parse_rule17h0123456789abcdefE"), 7), "guard::parse_rule");
        assert_eq!(function(Some("plain"), 7), "plain");
        assert_eq!(function(None, 7), "function 7");
    }

    #[test]
    fn a_name_is_no_longer_than_a_report_can_bear() {
        assert_eq!(function(Some(&"x".repeat(1 << 20)), 7).chars().count(), LONGEST_NAME);
        assert_eq!(function(Some(&"é".repeat(LONGEST_NAME)), 7).chars().count(), LONGEST_NAME);
        // Each of its parts stands for the one before it twice.
        let folded = format!("_RIC1a{}E", "TB_B_E".repeat(100));
        assert!(function(Some(&folded), 7).chars().count() <= LONGEST_NAME);
    }
}
