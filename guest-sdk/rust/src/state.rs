//! Small values that outlive a call: kept for this plugin and this session, dropped with either.
//!
//! A call begins with fresh memory, so a `static` remembers nothing. Unless the host sets other limits, there are 256 keys,
//! 64 KiB a value and 1 MiB in all.

pub use crate::bindings::tacklebox::hooks::state::Error;
use crate::host;

/// The value under this key.
pub fn get(key: &str) -> Option<Vec<u8>> {
    host::state::get(key)
}

/// Keeps a value under this key, in place of the former one.
///
/// # Errors
/// Where the value or all values together would be too large: the limit that was passed, in bytes.
pub fn set(key: &str, value: &[u8]) -> Result<(), Error> {
    host::state::set(key, value)
}

/// Forgets the value under this key, if there is one.
pub fn remove(key: &str) {
    host::state::remove(key);
}

/// Adds to a number kept under this key, and gives the sum; calls at the same time lose nothing.
///
/// # Errors
/// As [`set`].
pub fn add(key: &str, delta: i64) -> Result<i64, Error> {
    host::state::add(key, delta)
}
