//! The program `tacklebox`: reads its arguments, does what they say, and ends with an exit code.
//!
//! All of it is [`tacklebox::cli`]'s; this file owns nothing.

use std::process::ExitCode;

fn main() -> ExitCode {
    match tacklebox::cli::parse(std::env::args_os()) {
        Ok(cli) => tacklebox::cli::run(cli).into(),
        Err(exit) => exit.into(),
    }
}
