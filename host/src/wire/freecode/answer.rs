//! The JSON object that a freecode command may print: its keys, and which of them decide.
//!
//! Keys that are not known are skipped without recursion, so a hook that echoes its payload is read however deep that
//! is.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::event::Object;
use crate::outcome::Permission;

/// The keys that decide, and the reason. All but `block` and `permission` are looked at only so that no refusal goes
/// unheard.
const DECIDING: [&str; 9] = [
    "block",
    "permission",
    "reason",
    "deny",
    "decision",
    "permissionDecision",
    "behavior",
    "continue",
    "hookSpecificOutput",
];

/// The keys that change something.
const CHANGING: [&str; 3] = ["modifiedInput", "modifiedOutput", "context"];

/// An answer in JSON: the known keys in the order in which they were printed, repeated ones too.
pub(super) struct Answer(Vec<(String, Value)>);

/// Why a text is no answer in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It does not parse.
    NotJson,
    /// A key that counts holds more levels than anyone reads.
    TooDeep,
}

/// What the deciding keys say together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Decided {
    /// `block` is true.
    pub(super) block: bool,
    /// `permission`, where it was given; within, `none` is none.
    pub(super) permission: Option<Option<Permission>>,
}

impl Answer {
    /// Reads the whole text as one object.
    pub(super) fn parse(text: &str) -> Result<Self, Unreadable> {
        // A script that shortens a text by UTF-16 units can leave half a character in its reason. Whoever writes the
        // payload could provoke that, and a block must not become plain text by it.
        let parsed = entries(text, &CHANGING).or_else(|_| entries(&without_half_characters(text), &CHANGING));
        parsed.or_else(|error| match error.to_string().starts_with("recursion limit") {
            true => Self::block_in(text).ok_or(Unreadable::TooDeep),
            false => Err(Unreadable::NotJson),
        })
    }

    /// The answer without its changes, if it blocks: then they do not matter, however deep they are.
    fn block_in(text: &str) -> Option<Self> {
        let answer = entries(text, &[]).ok()?;
        answer.decided().is_ok_and(|decided| decided.block).then_some(answer)
    }

    /// What it decides. Where a key is repeated the stricter counts, and a block counts whatever else is wrong.
    pub(super) fn decided(&self) -> Result<Decided, String> {
        let mut decided = Decided::default();
        let mut wrong = None;
        for (key, value) in &self.0 {
            if let Err(why) = decided.take(key, value) {
                wrong.get_or_insert(why);
            }
        }
        match wrong {
            Some(why) if !decided.block && !matches!(decided.permission, Some(Some(Permission::Deny))) => Err(why),
            _ => Ok(decided),
        }
    }

    /// A text that is for reading: trimmed, and none where it is empty.
    pub(super) fn text(&self, key: &str, warnings: &mut Vec<String>) -> Option<String> {
        self.untrimmed(key, warnings).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// A text as it was given.
    pub(super) fn untrimmed(&self, key: &str, warnings: &mut Vec<String>) -> Option<String> {
        match self.last(key)? {
            Value::String(text) => Some(text.clone()),
            _ => ignored(key, "a string", warnings),
        }
    }

    /// An object.
    pub(super) fn object(&self, key: &str, warnings: &mut Vec<String>) -> Option<Object> {
        match self.last(key)? {
            Value::Object(object) => Some(object.clone()),
            _ => ignored(key, "an object", warnings),
        }
    }

    /// Whether the key is there and holds anything at all.
    pub(super) fn has(&self, key: &str) -> bool {
        self.last(key).is_some_and(|value| !value.is_null())
    }

    fn last(&self, key: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(k, _)| k == key).map(|(_, value)| value)
    }
}

fn ignored<T>(key: &str, wanted: &str, warnings: &mut Vec<String>) -> Option<T> {
    warnings.push(format!("`{key}` is not {wanted} and was ignored"));
    None
}

impl Decided {
    fn take(&mut self, key: &str, value: &Value) -> Result<(), String> {
        match (key, value) {
            ("block", Value::Bool(block)) => self.block |= block,
            ("permission", Value::String(word)) => {
                let permission = permission(word).ok_or_else(|| unknown(key))?;
                self.permission = self.permission.max(Some(permission));
            }
            ("deny", Value::Bool(false)) | ("continue", Value::Bool(true)) => {}
            ("deny" | "continue", Value::Bool(_)) => return Err(foreign(key)),
            ("decision" | "permissionDecision" | "behavior", Value::String(word)) => foreign_word(key, word)?,
            ("hookSpecificOutput", Value::Object(inner)) => nested(inner)?,
            ("block" | "permission" | "deny" | "continue" | "decision" | "permissionDecision" | "behavior", _) => {
                return Err(format!("`{key}` is of a wrong type"));
            }
            _ => {}
        }
        Ok(())
    }
}

fn permission(word: &str) -> Option<Option<Permission>> {
    Some(match word {
        "allow" => Some(Permission::Allow),
        "ask" => Some(Permission::Ask),
        "deny" => Some(Permission::Deny),
        "none" => None,
        _ => return None,
    })
}

/// Another dialect's key says nothing here where it lets the call pass. Where it would hold the call up, the author
/// meant a refusal that this dialect does not read: that is no proper answer, and no approval either.
fn foreign_word(key: &str, word: &str) -> Result<(), String> {
    match word {
        "allow" | "approve" => Ok(()),
        "block" | "deny" | "ask" | "defer" => Err(foreign(key)),
        _ => Err(unknown(key)),
    }
}

/// Claude Code's envelope; its `decision` may be an object that holds a `behavior`.
fn nested(inner: &Object) -> Result<(), String> {
    let behavior = inner.get("decision").and_then(|decision| decision.get("behavior"));
    let words = [
        ("permissionDecision", inner.get("permissionDecision")),
        ("decision", inner.get("decision").filter(|decision| !decision.is_object())),
        ("behavior", behavior),
    ];
    words.into_iter().filter_map(|(key, value)| Some((key, value?))).try_for_each(|(key, value)| match value {
        Value::String(word) => foreign_word(key, word),
        Value::Null => Ok(()),
        _ => Err(format!("`{key}` is of a wrong type")),
    })
}

fn unknown(key: &str) -> String {
    format!("`{key}` has a value that is not known")
}

fn foreign(key: &str) -> String {
    format!("`{key}` is a word of another dialect; the freecode words are `block` and `permission`")
}

/// The entries of the object that the text is: those that decide, and those of `others`.
fn entries(text: &str, others: &[&str]) -> serde_json::Result<Answer> {
    let mut json = serde_json::Deserializer::from_str(text);
    let answer = json.deserialize_map(Entries { others })?;
    json.end()?;
    Ok(answer)
}

struct Entries<'k> {
    others: &'k [&'k str],
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = Answer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Answer, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if DECIDING.contains(&key.as_str()) || self.others.contains(&key.as_str()) {
                entries.push((key, map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Answer(entries))
    }
}

/// The text with `\uFFFD` for every escaped surrogate that lacks its other half.
fn without_half_characters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (escape, length) = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => (&rest[..12], 12),
            (Some(0xD800..0xE000), _) => ("\\uFFFD", 6),
            // Any other escape is two characters at least, the second of which may be a backslash itself.
            _ => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                (&rest[..length], length)
            }
        };
        out.push_str(escape);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The UTF-16 unit that the text begins with as an escape.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}
