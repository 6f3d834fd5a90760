//! Why a plugin gave no answer.

use std::fmt;

/// A failure of the plugin: it gave no answer.
///
/// On a gate that blocks, unless the hook was registered with [`Failure::Pass`](crate::Failure::Pass); the text stands in
/// the report. Every standard error becomes one through `?`. Whoever means "no" answers [`Answer::block`](crate::Answer::block).
#[derive(Clone, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    /// A failure with this text: lower case, no full stop, names the place.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

// `Error` is no standard error itself: that is what lets `?` turn all of those into it.
impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
