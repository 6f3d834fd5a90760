//! Lines for the host's log: what a developer wants to see, not what the model reads.
//!
//! A call may write 100 lines and 64 KiB unless the host sets other limits; what goes past them is dropped with one warning.

pub use crate::bindings::tacklebox::hooks::log::Level;
use crate::host;
use std::fmt::Display;

/// Writes one line at this level.
pub fn write(level: Level, message: impl Display) {
    host::log::write(level, &message.to_string());
}

/// Each step, for who looks for a fault.
pub fn trace(message: impl Display) {
    write(Level::Trace, message);
}

/// What was decided, and on what grounds.
pub fn debug(message: impl Display) {
    write(Level::Debug, message);
}

/// What is worth knowing when all is well.
pub fn info(message: impl Display) {
    write(Level::Info, message);
}

/// What went wrong without harm.
pub fn warn(message: impl Display) {
    write(Level::Warn, message);
}

/// What went wrong.
pub fn error(message: impl Display) {
    write(Level::Error, message);
}
