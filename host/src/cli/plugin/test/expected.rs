//! What a case expects: an answer, lines of the log, or what the plugin says of itself.

use anyhow::bail;
use serde_json::Value;

use crate::ask::LogLevel;
use crate::diagnostic::printable;
use crate::outcome::{Limit, Permission};

use super::super::super::announcement::found;
use super::super::super::fault::Fault;
use super::generated::expanded;
use super::keys::{Keys, meant};

/// A text: all of it, or a part.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Text {
    Whole(String),
    Contains(String),
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expected {
    Continue,
    Block(Text),
    Modify(Box<Parts>),
    /// The plugin's own `err`.
    Error(Text),
    /// Without a text, any trap.
    Trap(Option<Text>),
    Limit(LimitName),
    /// What it gave back is no answer: a rewrite that is no JSON object.
    Malformed(Text),
    /// None of whatever kind: an error, a trap, a limit.
    NoAnswer,
}

/// The parts of a modification. One that is not named must not be there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parts {
    pub(super) input: Option<Value>,
    pub(super) output: Option<Text>,
    pub(super) context: Option<Text>,
    pub(super) permission: Option<Permission>,
}

/// A limit, by its name in a file of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitName {
    Time,
    Processor,
    Memory,
    Stack,
    Table,
    Answer,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LogPattern {
    pub(super) level: LogLevel,
    pub(super) message: Text,
}

/// What a plugin says of itself; what is not named may be as it likes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Described {
    pub(super) name: Option<Text>,
    pub(super) version: Option<Text>,
    pub(super) description: Option<Text>,
    /// All of them, in order, each whole.
    pub(super) hooks: Option<Vec<Value>>,
}

const ANSWERS: [&str; 8] = ["continue", "block", "modify", "error", "trap", "limit", "malformed", "noAnswer"];
const LIMITS: [(&str, LimitName); 6] = [
    ("time", LimitName::Time),
    ("processor", LimitName::Processor),
    ("memory", LimitName::Memory),
    ("stack", LimitName::Stack),
    ("table", LimitName::Table),
    ("answer", LimitName::Answer),
];
const PERMISSIONS: [(&str, Permission); 3] =
    [("allow", Permission::Allow), ("ask", Permission::Ask), ("deny", Permission::Deny)];
const LEVELS: [(&str, LogLevel); 5] = [
    ("trace", LogLevel::Trace),
    ("debug", LogLevel::Debug),
    ("info", LogLevel::Info),
    ("warn", LogLevel::Warn),
    ("error", LogLevel::Error),
];

/// The word for a permission.
pub(super) fn permission(permission: Permission) -> &'static str {
    PERMISSIONS.iter().find(|(_, known)| *known == permission).map_or("", |(word, _)| word)
}

impl LimitName {
    /// Its word.
    pub(super) fn as_str(self) -> &'static str {
        LIMITS.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }
}

impl From<Limit> for LimitName {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Memory(_) => Self::Memory,
            Limit::Table(_) => Self::Table,
            Limit::Processor(_) => Self::Processor,
            Limit::Stack(_) => Self::Stack,
            Limit::Answer(_) => Self::Answer,
        }
    }
}

impl Expected {
    pub(super) fn read(value: &Value, what: &str) -> anyhow::Result<Self> {
        let object = match value {
            Value::String(word) => return Self::word(word, what),
            Value::Object(object) => object,
            other => bail!("{what}: `expect` must be a word or an object, found {}", found(other)),
        };
        Keys::of(object, &ANSWERS, what)?;
        let Some((answer, value)) = object.iter().next().filter(|_| object.len() == 1) else {
            bail!("{what}: `expect` names one answer, found {}", object.len());
        };
        let what = format!("{what}: `{answer}`");
        Ok(match answer.as_str() {
            "block" => Self::Block(Text::read(value, &what)?),
            "modify" => Self::Modify(Box::new(Parts::read(value, &what)?)),
            "error" => Self::Error(Text::read(value, &what)?),
            "trap" => Self::Trap(Some(Text::read(value, &what)?)),
            "limit" => Self::Limit(one_of(&LIMITS, value, &what)?),
            "malformed" => Self::Malformed(Text::read(value, &what)?),
            alone => bail!("{what} stands alone: write \"{alone}\""),
        })
    }

    fn word(word: &str, what: &str) -> anyhow::Result<Self> {
        match word {
            "continue" => Ok(Self::Continue),
            "trap" => Ok(Self::Trap(None)),
            "noAnswer" => Ok(Self::NoAnswer),
            known if ANSWERS.contains(&known) => bail!("{what}: `{known}` says more: {{\"{known}\": ..}}"),
            other => {
                let message = format!("{what}: `{}` is no answer", printable(other));
                Err(Fault::new(message, meant(other, &ANSWERS, "the answers are")).into())
            }
        }
    }
}

impl Text {
    pub(super) fn read(value: &Value, what: &str) -> anyhow::Result<Self> {
        if let Value::Object(object) = value
            && super::generated::word(object).is_none()
        {
            let keys = Keys::of(object, &["contains"], what)?;
            return Ok(Self::Contains(keys.needed("contains")?));
        }
        match expanded(value).map_err(|error| error.context(what.to_owned()))? {
            Value::String(text) => Ok(Self::Whole(text)),
            other => bail!("{what}: expected a string or `{{\"contains\": ..}}`, found {}", found(&other)),
        }
    }

    /// Whether `text` is what was expected.
    pub(super) fn fits(&self, text: &str) -> bool {
        match self {
            Self::Whole(whole) => whole == text,
            Self::Contains(part) => text.contains(part.as_str()),
        }
    }
}

impl Parts {
    fn read(value: &Value, what: &str) -> anyhow::Result<Self> {
        let Value::Object(object) = value else { bail!("{what} must be an object, found {}", found(value)) };
        let keys = Keys::of(object, &["input", "output", "context", "permission"], what)?;
        let text = |key: &str| keys.get(key).map(|value| Text::read(value, &format!("{what}: `{key}`"))).transpose();
        let parts = Self {
            input: keys.get("input").cloned(),
            output: text("output")?,
            context: text("context")?,
            permission: keys.get("permission").map(|value| one_of(&PERMISSIONS, value, what)).transpose()?,
        };
        if parts == Self::default() {
            return Err(Fault::new(
                format!("{what} names no part"),
                "a modification without one is `continue` to the host",
            )
            .into());
        }
        Ok(parts)
    }
}

impl LogPattern {
    pub(super) fn read_all(lines: &[Value], what: &str) -> anyhow::Result<Vec<Self>> {
        let what = format!("{what}: `log`");
        let read = |line: &Value| {
            let Value::Object(object) = line else { bail!("{what}: a line must be an object, found {}", found(line)) };
            let keys = Keys::of(object, &["level", "message"], &what)?;
            let (Some(level), Some(message)) = (keys.get("level"), keys.get("message")) else {
                bail!("{what}: a line has `level` and `message`");
            };
            Ok(Self { level: one_of(&LEVELS, level, &what)?, message: Text::read(message, &what)? })
        };
        lines.iter().map(read).collect()
    }
}

impl Described {
    pub(super) fn read(value: &Value, what: &str) -> anyhow::Result<Self> {
        let Value::Object(object) = value else { bail!("{what} must be an object, found {}", found(value)) };
        let keys = Keys::of(object, &["name", "version", "description", "hooks"], what)?;
        let text = |key: &str| keys.get(key).map(|value| Text::read(value, &format!("{what}: `{key}`"))).transpose();
        for hook in keys.list("hooks")?.into_iter().flatten() {
            let Value::Object(hook) = hook else { bail!("{what}: a hook must be an object, found {}", found(hook)) };
            Keys::of(
                hook,
                &["event", "name", "matcher", "if", "timeoutMs", "once", "onError"],
                format!("{what}: a hook"),
            )?;
        }
        Ok(Self {
            name: text("name")?,
            version: text("version")?,
            description: text("description")?,
            hooks: keys.list("hooks")?.cloned(),
        })
    }
}

fn one_of<T: Copy>(words: &[(&str, T)], value: &Value, what: &str) -> anyhow::Result<T> {
    let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    let Value::String(said) = value else {
        bail!("{what}: expected one of {}, found {}", known.join(", "), found(value));
    };
    match words.iter().find(|(word, _)| word == said) {
        Some((_, meaning)) => Ok(*meaning),
        None => {
            let message = format!("{what}: `{}` is not known", printable(said));
            Err(Fault::new(message, meant(said, &known, "there are")).into())
        }
    }
}
