//! The exit codes, in one place (HOOKS.md, 11).

use std::process::ExitCode;

use crate::event::{Decision, EventName};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Fine, or allowed.
    Fine,
    /// A fault, wrong usage, or something to be put right.
    Fault,
    /// Blocked or denied, or a gate that could not be asked for want of trust.
    Blocked,
    /// A person is to be asked.
    Ask,
    /// A signal ended it, this one.
    Signal(u8),
}

impl Exit {
    /// What a decision on this event comes to.
    pub fn of(event: &EventName, decision: Decision) -> Self {
        match decision {
            Decision::Block | Decision::Deny => Self::Blocked,
            Decision::Untrusted if event.class().gate => Self::Blocked,
            Decision::Ask => Self::Ask,
            Decision::Allow | Decision::Passthrough | Decision::Untrusted => Self::Fine,
        }
    }

    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Fault => 1,
            Self::Blocked => 2,
            Self::Ask => 3,
            Self::Signal(number) => 128_u8.saturating_add(number),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_decision_has_its_code() {
        let codes = |event: EventName| {
            use Decision::{Allow, Ask, Block, Deny, Passthrough, Untrusted};
            [Allow, Passthrough, Block, Deny, Ask, Untrusted].map(|decision| Exit::of(&event, decision).code())
        };
        assert_eq!(codes(EventName::PreToolUse), [0, 0, 2, 2, 3, 2]);
        assert_eq!(codes(EventName::TurnEnd), [0, 0, 2, 2, 3, 0]);
    }
}
