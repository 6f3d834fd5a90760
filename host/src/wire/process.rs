//! What is left of a process that has ended, as far as a dialect reads it. Owns no process.

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// What was read of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// The bytes, as many as were kept.
    pub bytes: Vec<u8>,
    /// There were more.
    pub cut: bool,
    /// Somebody still held it when reading stopped, so more may have been meant to come.
    pub unfinished: bool,
}

impl Stream {
    /// The text without what surrounds it; bytes that are not UTF-8 are replaced. A byte-order mark counts as
    /// surroundings, since PowerShell writes one.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned()
    }
}

/// A process that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub exit: Exit,
    /// What it printed.
    pub stdout: Stream,
    /// What it complained about.
    pub stderr: Stream,
}
