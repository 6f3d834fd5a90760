//! What went wrong, and what to do about it: the last line on stderr.

use std::io::{ErrorKind, Write as _};

use crate::diagnostic::printable;

use super::exit::Exit;
use super::style::{ERROR, HINT};

/// Something that cannot be done, and what to do instead.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Fault {
    message: String,
    hint: String,
}

impl Fault {
    /// Both.
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    /// Both on one line.
    pub(super) fn line(error: &anyhow::Error) -> String {
        match error.downcast_ref::<Self>() {
            Some(fault) => format!("{error:#} (hint: {})", fault.hint),
            None => format!("{error:#}"),
        }
    }
}

/// Says it; but where a reader has gone away, it goes quietly.
pub(super) fn report(error: &anyhow::Error) -> Exit {
    if is_closed(error) {
        return Exit::Fine;
    }
    let mut stderr = anstream::stderr().lock();
    // Where stderr is closed there is nobody to tell.
    let _ = writeln!(stderr, "{ERROR}error:{ERROR:#} {}", lines(&format!("{error:#}")));
    if let Some(fault) = error.downcast_ref::<Fault>() {
        let _ = writeln!(stderr, "{HINT}hint:{HINT:#} {}", lines(&fault.hint));
    }
    Exit::Fault
}

/// Line by line safe to print: names of files and texts of plugins may be in it.
fn lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Whether the reader of stdout has gone away.
fn is_closed(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
