//! How an object of a file of cases is read: each key once, a wrong type and an unknown key by name.

use serde_json::Value;

use crate::diagnostic::{nearest, printable};
use crate::event::Object;

use super::super::super::announcement::found;
use super::super::super::fault::Fault;
use super::generated::expanded;

/// An object, and what it is called in messages.
pub(super) struct Keys<'a> {
    object: &'a Object,
    what: String,
}

impl<'a> Keys<'a> {
    /// Those of `object`, which has no others than `known`.
    pub(super) fn of(object: &'a Object, known: &[&str], what: impl Into<String>) -> anyhow::Result<Self> {
        let what = what.into();
        let Some(unknown) = object.keys().find(|key| !known.contains(&key.as_str())) else {
            return Ok(Self { object, what });
        };
        let message = format!("{what}: unknown key `{}`", printable(unknown));
        Err(Fault::new(message, meant(unknown, known, "the keys are")).into())
    }

    /// What is under this key; `null` says as little as nothing.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// Whether the key is there, whatever it holds.
    pub(super) fn has(&self, key: &str) -> bool {
        self.object.contains_key(key)
    }

    /// A string.
    pub(super) fn text(&self, key: &str) -> anyhow::Result<Option<String>> {
        match self.generated(key)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(key, "a string", &other)),
        }
    }

    /// A string that must be there.
    pub(super) fn needed(&self, key: &str) -> anyhow::Result<String> {
        self.text(key)?.ok_or_else(|| anyhow::anyhow!("{}: `{key}` is missing", self.what))
    }

    /// A whole number.
    pub(super) fn number(&self, key: &str) -> anyhow::Result<Option<u32>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.map(Some).ok_or_else(|| self.wrong(key, "a whole number from 0", value))
    }

    /// Seconds.
    pub(super) fn seconds(&self, key: &str) -> anyhow::Result<Option<f64>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let seconds = value.as_f64().filter(|seconds| (0.0..=300.0).contains(seconds));
        seconds.map(Some).ok_or_else(|| self.wrong(key, "a number of seconds, at most 300", value))
    }

    /// True or false; false where nothing is said.
    pub(super) fn flag(&self, key: &str) -> anyhow::Result<bool> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.wrong(key, "true or false", other)),
        }
    }

    /// An object, written out.
    pub(super) fn object(&self, key: &str) -> anyhow::Result<Option<Object>> {
        match self.generated(key)? {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(self.wrong(key, "an object", &other)),
        }
    }

    /// A list.
    pub(super) fn list(&self, key: &str) -> anyhow::Result<Option<&'a Vec<Value>>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(self.wrong(key, "a list", other)),
        }
    }

    /// A list of strings.
    pub(super) fn texts(&self, key: &str) -> anyhow::Result<Vec<String>> {
        let list = self.list(key)?.into_iter().flatten();
        list.map(|value| match value {
            Value::String(text) => Ok(text.clone()),
            other => Err(self.wrong(key, "a list of strings", other)),
        })
        .collect()
    }

    fn generated(&self, key: &str) -> anyhow::Result<Option<Value>> {
        self.get(key).map(expanded).transpose().map_err(|error| error.context(format!("{}: `{key}`", self.what)))
    }

    fn wrong(&self, key: &str, expected: &str, value: &Value) -> anyhow::Error {
        anyhow::anyhow!("{}: `{key}` must be {expected}, found {}", self.what, found(value))
    }
}

/// What was probably meant by `word`; where nothing is near, all there are.
pub(super) fn meant(word: &str, known: &[&str], otherwise: &str) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{otherwise} {}", known.join(", ")),
    }
}
