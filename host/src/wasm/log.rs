//! `log`: what a plugin writes, kept for the report of its call.

use super::bindings::log::{Host, Level};
use super::instance::Guest;
use crate::ask::{LogLevel, LogLine};

/// How many lines a call may write.
const MOST_LINES: usize = 100;
/// How much a call may write, in bytes.
const MOST_BYTES: usize = 64 << 10;
/// How many lines are kept of what a command printed before it broke, and how many characters of each.
const MOST_COMPLAINTS: usize = 20;
const LONGEST_COMPLAINT: usize = 1_000;

/// What one call wrote.
#[derive(Debug, Default)]
pub(super) struct Log {
    lines: Vec<LogLine>,
    bytes: usize,
    dropped: usize,
}

impl Log {
    fn write(&mut self, level: LogLevel, message: String) {
        if self.lines.len() == MOST_LINES || self.bytes + message.len() > MOST_BYTES {
            self.dropped += 1;
        } else {
            self.bytes += message.len();
            self.lines.push(LogLine { level, message });
        }
    }

    /// What a command complained of before it broke: the last lines.
    pub(super) fn complain(&mut self, stderr: &str) {
        let lines: Vec<_> = stderr.lines().collect();
        for line in &lines[lines.len().saturating_sub(MOST_COMPLAINTS)..] {
            self.write(LogLevel::Error, line.chars().take(LONGEST_COMPLAINT).collect());
        }
    }

    /// The lines, and a warning where some were dropped.
    pub(super) fn close(self) -> (Vec<LogLine>, Option<String>) {
        let warning = (self.dropped > 0).then(|| {
            let kib = MOST_BYTES >> 10;
            format!("{} log lines dropped: a call may write {MOST_LINES} lines and {kib} KiB", self.dropped)
        });
        (self.lines, warning)
    }
}

impl Host for Guest {
    fn write(&mut self, level: Level, message: String) {
        self.log.write(level.into(), message);
    }
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Trace => Self::Trace,
            Level::Debug => Self::Debug,
            Level::Info => Self::Info,
            Level::Warn => Self::Warn,
            Level::Error => Self::Error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_one_warning() {
        let mut log = Log::default();
        for _ in 0..10_000 {
            log.write(LogLevel::Info, "line".into());
        }
        let (lines, warning) = log.close();
        assert_eq!(lines.len(), 100);
        assert_eq!(warning.unwrap(), "9900 log lines dropped: a call may write 100 lines and 64 KiB");
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_and_the_next_one_kept() {
        let mut log = Log::default();
        log.write(LogLevel::Info, "x".repeat(1 << 20));
        log.write(LogLevel::Info, "short".into());
        let (lines, warning) = log.close();
        assert_eq!(lines.len(), 1);
        assert!(warning.unwrap().starts_with("1 log lines dropped"));
    }
}
