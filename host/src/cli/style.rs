//! The few colours there are. `anstream` leaves them out where no terminal reads them, or `NO_COLOR` is set.

use anstyle::{AnsiColor, Style};

use crate::event::Decision;
use crate::report::Word;

/// What failed.
pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// What may be wrong.
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// What to do about it.
pub(super) const HINT: Style = AnsiColor::Cyan.on_default().bold();
/// What a line is about.
pub(super) const HEAD: Style = Style::new().bold();
/// What stands beside the point.
pub(super) const DIM: Style = Style::new().dimmed();

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const DOUBT: Style = AnsiColor::Yellow.on_default();

/// That of a decision.
pub(super) fn decision(decision: Decision) -> Style {
    match decision {
        Decision::Allow | Decision::Passthrough => GOOD.bold(),
        Decision::Ask => DOUBT.bold(),
        Decision::Block | Decision::Deny | Decision::Untrusted => BAD.bold(),
    }
}

/// That of a hook's end.
pub(super) fn word(word: Word) -> Style {
    match word {
        Word::Continued => GOOD,
        Word::Modified => AnsiColor::Cyan.on_default(),
        Word::Blocked => BAD,
        Word::Failed => DOUBT,
        _ => DIM,
    }
}
