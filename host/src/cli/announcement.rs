//! What is announced, as a line of a batch or the arguments of `run` say it: read, but not yet understood.
//!
//! Owns the keys of such a line. What an event's `input` must hold is for `moment`.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::Value;

use crate::diagnostic::{nearest, printable};
use crate::event::{Agent, Context, EventName, Object};

use super::fault::Fault;

/// The keys of a line.
const KEYS: [&str; 10] =
    ["event", "tool", "input", "output", "session", "cwd", "turn", "agentId", "agentType", "agentDepth"];

/// The session of those who name none.
const SESSION: &str = "cli";

/// One announcement.
#[derive(Debug)]
pub(super) struct Announcement {
    /// The event.
    pub(super) event: EventName,
    /// The tool.
    pub(super) tool: Option<String>,
    /// The tool's arguments, or the event's payload.
    pub(super) input: Object,
    /// What the tool printed, or why it failed.
    pub(super) output: Option<String>,
    /// Where it happens.
    pub(super) cx: Context,
    /// What may not be as its author thinks.
    pub(super) doubts: Vec<String>,
}

impl Announcement {
    /// Of this event, with nothing said yet.
    pub(super) fn new(event: EventName, session: Option<&str>) -> Self {
        let cx = Context::new(session.unwrap_or(SESSION));
        Self { event, tool: None, input: Object::new(), output: None, cx, doubts: Vec::new() }
    }

    /// Reads a line of a batch.
    pub(super) fn read(line: &[u8]) -> anyhow::Result<Self> {
        let keys = Keys(object(line)?);
        let Some(name) = keys.text("event")? else { bail!("the line names no `event`") };
        let mut read = Self::new(event(name)?, keys.text("session")?);
        read.tool = keys.text("tool")?.map(str::to_owned);
        read.output = keys.text("output")?.map(str::to_owned);
        read.cx.cwd = keys.text("cwd")?.map(|cwd| absolute(Path::new(cwd)));
        read.cx.turn = keys.number("turn")?.unwrap_or_default();
        read.cx.agent = Agent {
            id: keys.text("agentId")?.map(Into::into),
            kind: keys.text("agentType")?.map(str::to_owned),
            parent: None,
            depth: keys.number("agentDepth")?.unwrap_or_default(),
        };
        read.doubts = unread(&keys.0, &KEYS, "the line's key");
        read.input = keys.input()?;
        Ok(read)
    }
}

/// The built-in event of this name.
pub(super) fn event(name: &str) -> anyhow::Result<EventName> {
    if let Some(event) = EventName::built_in(name) {
        return Ok(event);
    }
    let known: Vec<_> = EventName::BUILT_IN.iter().map(EventName::as_str).collect();
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the events are {}", known.join(", ")),
    };
    Err(Fault::new(format!("`{}` is no event", printable(name)), hint).into())
}

/// The path as seen from where the program runs.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A JSON object, and nothing else.
pub(super) fn object(text: &[u8]) -> anyhow::Result<Object> {
    match value(text)? {
        Value::Object(object) => Ok(object),
        other => bail!("expected a JSON object, found {}", found(&other)),
    }
}

/// A JSON value.
pub(super) fn value(text: &[u8]) -> anyhow::Result<Value> {
    let Ok(text) = std::str::from_utf8(text) else { bail!("not UTF-8") };
    serde_json::from_str(text).map_err(|error| {
        if error.to_string().starts_with("recursion limit") {
            anyhow::anyhow!("nests deeper than the 128 levels that are read")
        } else {
            anyhow::anyhow!("not JSON: {error}")
        }
    })
}

/// What a value is, in words.
pub(super) fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What is to be said of keys that nobody reads.
pub(super) fn unread(object: &Object, known: &[&'static str], what: &str) -> Vec<String> {
    let unknown = object.keys().filter(|key| !known.contains(&key.as_str()));
    // More is said by none of these than by the first few.
    unknown
        .take(10)
        .map(|key| match nearest(key, known.iter().copied()) {
            Some(near) => format!("{what} `{}` is not read (hint: did you mean `{near}`?)", printable(key)),
            None => format!("{what} `{}` is not read", printable(key)),
        })
        .collect()
}

struct Keys(Object);

impl Keys {
    /// `null` says as little as nothing.
    fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> anyhow::Result<Option<&str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => bail!("`{key}` must be a string, found {}", found(other)),
        }
    }

    fn number(&self, key: &str) -> anyhow::Result<Option<u32>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.as_u64().and_then(|number| u32::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => bail!("`{key}` must be a whole number from 0, found {}", found(value)),
        }
    }

    fn input(mut self) -> anyhow::Result<Object> {
        match self.0.shift_remove("input") {
            None | Some(Value::Null) => Ok(Object::new()),
            Some(Value::Object(input)) => Ok(input),
            Some(other) => bail!("`input` must be an object, found {}", found(&other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        Fault::line(&Announcement::read(line.as_bytes()).unwrap_err())
    }

    #[test]
    fn a_line_says_where_it_happens() {
        let line = br#"{"event": "Stop", "session": "s", "cwd": "/tmp", "turn": 3, "agentId": "a", "agentDepth": 1}"#;
        let read = Announcement::read(line).unwrap();
        assert_eq!((read.cx.session.as_str(), read.cx.turn, read.cx.agent.depth), ("s", 3, 1));
        assert_eq!(read.cx.cwd, Some("/tmp".into()));
        assert!(read.doubts.is_empty());
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (line, why) in [
            ("{", "not JSON: EOF"),
            ("[]", "expected a JSON object, found a list"),
            ("{}", "names no `event`"),
            (r#"{"event": "Pretooluse"}"#, "`Pretooluse` is no event (hint: did you mean `PreToolUse`?)"),
            (r#"{"event": "Stop", "turn": -1}"#, "`turn` must be a whole number from 0, found a number"),
            (r#"{"event": "Stop", "input": "x"}"#, "`input` must be an object, found a string"),
        ] {
            let said = refused(line);
            assert!(said.contains(why), "{said}");
        }
        let deep = format!(r#"{{"event": "Stop", "input": {}}}"#, "[".repeat(500));
        assert!(refused(&deep).contains("deeper"));
    }

    #[test]
    fn a_key_nobody_reads_is_a_doubt() {
        let read = Announcement::read(br#"{"event": "Stop", "sesion": "s"}"#).unwrap();
        assert_eq!(read.doubts, ["the line's key `sesion` is not read (hint: did you mean `session`?)"]);
    }
}
