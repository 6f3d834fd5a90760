//! The one door through which programs are started, with what keeps them in hand: the group that ends as one, the pipes
//! that are read to a cap, the environment without secrets.
//!
//! Owns no hook and no plugin: which program, and what its end means, is for `executor::command` and `wasm`.

mod environment;
mod group;
mod output;
mod secrets;

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::io::Errno;
use tokio::process::Command;

#[cfg(feature = "wasm")]
pub(crate) use environment::scrubbed;
pub(crate) use environment::{inherited, is_name, without_nul};
pub(crate) use group::Group;
#[cfg(test)]
pub(crate) use output::OUTPUT_CAP;
pub(crate) use output::Pipes;

/// How long the output of a program that has exited is read on, where something still holds it open.
pub(crate) const DRAIN: Duration = Duration::from_millis(100);

/// How long to wait for a process or a file to become free.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// A program that is to lead a group of its own, with both streams of its output piped.
#[expect(clippy::disallowed_methods, reason = "the one door through which programs are started")]
pub(crate) fn program_in_group(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Whether it failed for want of processes, files or memory, or since a program is just being written: that may be
/// over in a moment.
pub(crate) fn is_scarcity(error: &io::Error) -> bool {
    let passing = [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::TXTBSY];
    passing.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
