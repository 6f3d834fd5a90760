//! Single values that have a default to fall back to: `timeout`, `onError` and its other spellings, words, `env`.

use std::time::Duration;

use jsonc_parser::ast::{self, Value};

use super::super::document::{Notes, Quoted, did_you_mean, found, last};
use super::super::field;
use super::Site;
use super::entry::Entry;
use crate::diagnostic::Diagnostic;
use crate::event::EventName;
use crate::hook::{HookEnv, LONGEST_TIMEOUT, OUR_VARIABLES, OnError};

/// From here on somebody most likely thought of milliseconds.
const LOOKS_LIKE_MILLISECONDS: f64 = 1000.0;

/// How one spelling of `onError` is read.
type Meaning = fn(&Value<'_>) -> Result<OnError, String>;

/// `timeout`: seconds, fractions allowed.
pub(super) fn timeout(entry: &mut Entry<'_, '_>) -> Option<Duration> {
    let value = entry.get("timeout")?;
    let Value::NumberLit(number) = value else {
        let unquoted = match value {
            Value::StringLit(text) => {
                text.value.parse::<f64>().ok().map(|_| "write the number without quotes".to_owned())
            }
            _ => None,
        };
        let message = format!("`timeout` must be a number of seconds, found {}; the default is taken", found(value));
        entry.warn_with(value, message, unquoted);
        return None;
    };
    let seconds = number.value.parse().unwrap_or(f64::NAN);
    let limit = if seconds > 0.0 { Duration::try_from_secs_f64(seconds.min(1e6)).ok() } else { None };
    let Some(limit) = limit.filter(|limit| seconds.is_finite() && !limit.is_zero()) else {
        let message = format!(
            "`timeout` must be more than 0 seconds and finite, found {}; the default is taken",
            Quoted(number.value)
        );
        entry.warn(value, message);
        return None;
    };
    if limit <= LONGEST_TIMEOUT {
        return Some(limit);
    }
    let hint = (seconds >= LOOKS_LIKE_MILLISECONDS).then(|| milliseconds(seconds));
    let message = format!("`timeout` is {} seconds, more than the longest: 300 are taken", Quoted(number.value));
    entry.warn_with(value, message, hint);
    Some(LONGEST_TIMEOUT)
}

fn milliseconds(written: f64) -> String {
    let meant = written / 1000.0;
    if meant <= LONGEST_TIMEOUT.as_secs_f64() {
        format!("milliseconds? `timeout` is in seconds: write {meant}")
    } else {
        "milliseconds? `timeout` is in seconds".to_owned()
    }
}

/// `onError`, else what another agent calls it.
pub(super) fn on_error(entry: &mut Entry<'_, '_>) -> Option<OnError> {
    let spellings: [(&str, Meaning); 4] = [
        ("onError", own_word),
        ("onFailure", failure_word),
        ("failClosed", |value| flag(value, OnError::Block, OnError::Pass)),
        ("continueOnError", |value| flag(value, OnError::Pass, OnError::Block)),
    ];
    let mut said: Option<(&str, OnError)> = None;
    // What the hook says itself stands before what its group says for all, however either is spelt.
    let own = spellings.iter().any(|(name, _)| entry.its_own(name).is_some());
    for (name, read) in spellings {
        let Some(value) = (if own { entry.its_own(name) } else { entry.of_its_group(name) }) else { continue };
        match (read(value), said) {
            (Ok(meaning), None) => said = Some((name, meaning)),
            (Ok(meaning), Some((first, other))) if meaning != other => {
                entry.warn(value, format!("`{name}` says the opposite of `{first}`, which counts"));
            }
            (Ok(_), Some(_)) => {}
            (Err(why), _) => entry.warn(value, format!("`{name}` must be {why}; the default is taken")),
        }
    }
    said.map(|(_, meaning)| meaning)
}

/// `maxAttempts`: how often its block of a Stop counts in one turn.
pub(super) fn max_attempts(entry: &mut Entry<'_, '_>) -> Option<u32> {
    let value = entry.get("maxAttempts")?;
    let count = value.as_number_lit().and_then(|number| number.value.parse().ok()).filter(|count| *count > 0);
    if count.is_none() {
        let message = format!("`maxAttempts` must be a whole number from 1, found {}; 8 is taken", shown(value));
        entry.warn(value, message);
    } else if *entry.event() != EventName::Stop {
        entry.warn(value, format!("`maxAttempts` means nothing on `{}`", entry.event()));
    }
    count
}

/// `onError` as this host writes it: `pass` or `block`.
pub(crate) fn own_word(value: &Value<'_>) -> Result<OnError, String> {
    match text_of(value) {
        Some("pass") => Ok(OnError::Pass),
        Some("block") => Ok(OnError::Block),
        _ => Err(format!("`pass` or `block`, found {}", shown(value))),
    }
}

/// The `onError` that stands beside the hooks, for those that do not say. A bad one is said, and each keeps its default.
pub(crate) fn default_on_error(root: &ast::Object<'_>, site: &Site<'_>, notes: &mut Notes) -> Option<OnError> {
    let value = &last(root, "onError")?.value;
    match own_word(value) {
        Ok(meaning) => Some(meaning),
        Err(why) => {
            let message = format!("`onError` must be {why}; every hook keeps its own default");
            notes.say(Diagnostic::warning(site.place_of(value), message));
            None
        }
    }
}

fn failure_word(value: &Value<'_>) -> Result<OnError, String> {
    match text_of(value) {
        Some("continue") => Ok(OnError::Pass),
        _ => own_word(value).map_err(|_| format!("`continue` or `block`, found {}", shown(value))),
    }
}

fn flag(value: &Value<'_>, yes: OnError, no: OnError) -> Result<OnError, String> {
    match value {
        Value::BooleanLit(flag) => Ok(if flag.value { yes } else { no }),
        other => Err(format!("true or false, found {}", shown(other))),
    }
}

fn text_of<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    value.as_string_lit().map(|text| text.value.as_ref())
}

/// The value itself where it is a text, else what it is.
pub(crate) fn shown(value: &Value<'_>) -> String {
    text_of(value).map_or_else(|| found(value).to_owned(), |text| Quoted(text).to_string())
}

/// One of `words`; anything else is said and gives `None`.
pub(super) fn word(
    entry: &mut Entry<'_, '_>,
    name: &str,
    words: &[&'static str],
    else_taken: &str,
) -> Option<&'static str> {
    let value = entry.get(name)?;
    let known = text_of(value).and_then(|text| words.iter().find(|word| **word == text));
    if known.is_none() {
        let hint = text_of(value).and_then(|text| did_you_mean(text, words.iter().copied()));
        let list = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
        entry.warn_with(value, format!("`{name}` must be {list}, found {}; {else_taken} is taken", shown(value)), hint);
    }
    known.copied()
}

/// `env`: names to keep, or variables to set. What is wrong in it is left out, the rest counts.
pub(super) fn env(entry: &mut Entry<'_, '_>) -> HookEnv {
    match entry.get("env") {
        None => HookEnv::default(),
        Some(Value::Array(list)) => HookEnv::Keep(kept(entry, list)),
        Some(Value::Object(map)) => HookEnv::Set(set(entry, map)),
        Some(other) => {
            let message =
                format!("`env` must be a list of names or a map of strings, found {}; none is taken", found(other));
            entry.warn(other, message);
            HookEnv::default()
        }
    }
}

fn kept(entry: &mut Entry<'_, '_>, list: &ast::Array<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for element in &list.elements {
        match text_of(element) {
            Some(name) => match wrong_name(name) {
                None => names.push(name.to_owned()),
                Some(why) => entry.warn(element, format!("`env`: {} {why}; it is left out", Quoted(name))),
            },
            None => {
                entry.warn(element, format!("`env`: a name must be a string, found {}; it is left out", found(element)))
            }
        }
    }
    names
}

fn set(entry: &mut Entry<'_, '_>, map: &ast::Object<'_>) -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> = Vec::new();
    for property in &map.properties {
        let name = property.name.as_str();
        let wrong_value = match text_of(&property.value) {
            Some(value) if !value.contains('\0') => None,
            Some(_) => Some("holds a NUL character".to_owned()),
            None => Some(format!("must be a string, found {}", found(&property.value))),
        };
        match wrong_name(name).map(str::to_owned).or(wrong_value) {
            None => variables.push((name.to_owned(), text_of(&property.value).unwrap_or_default().to_owned())),
            Some(why) => entry.warn(property, format!("`env`: {} {why}; it is left out", Quoted(name))),
        }
    }
    variables
}

fn wrong_name(name: &str) -> Option<&'static str> {
    if OUR_VARIABLES.contains(&name) {
        Some("is set by the host")
    } else if name.is_empty() || name.contains(['=', '\0']) {
        Some("is no name of a variable")
    } else {
        None
    }
}

/// Whether `shell` is the other shell.
pub(super) fn is_powershell(entry: &mut Entry<'_, '_>) -> bool {
    word(entry, "shell", field::SHELLS, "the default") == Some("powershell")
}
