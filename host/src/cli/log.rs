//! What `-v` shows: the library's own account of what it does, on stderr.

use std::io::IsTerminal as _;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

/// Begins to show it; says nothing at all where `-v` was not given.
pub(super) fn start(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(
            std::io::stderr().is_terminal() && anstream::stderr().current_choice() != anstream::ColorChoice::Never,
        )
        .with_target(false)
        .without_time();
    let only_ours = Targets::new().with_target("tacklebox", level);
    // A second start changes nothing, and there is none.
    let _ = tracing_subscriber::registry().with(lines.with_filter(only_ours)).try_init();
}
