//! The events that a hook can be registered for.

use std::fmt;

/// A named moment in an agent's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Before a tool runs.
    PreToolUse,
    /// Before a person is asked whether a tool may run.
    PermissionRequest,
    /// After a tool ran.
    PostToolUse,
    /// After a tool failed.
    PostToolUseFailure,
    /// Before a prompt is sent to the model.
    UserPromptSubmit,
    /// A session begins.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The agent is about to stop.
    Stop,
    /// A turn begins.
    TurnStart,
    /// A turn ends.
    TurnEnd,
    /// Before the history is compacted.
    PreCompact,
    /// After the history was compacted.
    PostCompact,
    /// A sub-agent begins.
    SubagentStart,
    /// A sub-agent ends.
    SubagentStop,
    /// The agent tells the person something.
    Notification,
    /// An event that the agent declares itself, by its name.
    Other(String),
}

const NAMES: [(Event, &str); 15] = [
    (Event::PreToolUse, "PreToolUse"),
    (Event::PermissionRequest, "PermissionRequest"),
    (Event::PostToolUse, "PostToolUse"),
    (Event::PostToolUseFailure, "PostToolUseFailure"),
    (Event::UserPromptSubmit, "UserPromptSubmit"),
    (Event::SessionStart, "SessionStart"),
    (Event::SessionEnd, "SessionEnd"),
    (Event::Stop, "Stop"),
    (Event::TurnStart, "TurnStart"),
    (Event::TurnEnd, "TurnEnd"),
    (Event::PreCompact, "PreCompact"),
    (Event::PostCompact, "PostCompact"),
    (Event::SubagentStart, "SubagentStart"),
    (Event::SubagentStop, "SubagentStop"),
    (Event::Notification, "Notification"),
];

impl Event {
    /// The name as in settings.
    pub fn name(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => NAMES.iter().find(|(event, _)| event == known).map_or("", |(_, name)| name),
        }
    }
}

impl From<&str> for Event {
    /// The event of this name; [`Event::Other`] where it is none of ours.
    fn from(name: &str) -> Self {
        let known = NAMES.iter().find(|(_, known)| *known == name);
        known.map_or_else(|| Self::Other(name.to_owned()), |(event, _)| event.clone())
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_as_its_event() {
        for (event, name) in NAMES {
            assert_eq!(Event::from(name), event);
            assert_eq!(event.name(), name);
        }
        assert_eq!(Event::from("Deploy"), Event::Other("Deploy".into()));
        assert_eq!(Event::from("Deploy").to_string(), "Deploy");
    }
}
