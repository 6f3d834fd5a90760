//! Values that a file of cases describes instead of holding them: a megabyte in thirty bytes.

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::diagnostic::printable;
use crate::event::Object;

use super::super::super::fault::Fault;
use super::keys::meant;

/// What can be written instead of a value: an object with this key alone.
pub(super) const WORDS: [&str; 6] = ["$repeat", "$concat", "$list", "$nest", "$keys", "$literal"];

/// What can stand for a number where one is expected.
pub(super) const DOUBLE: &str = "$double";

/// The most that is made of one value, in bytes or members.
const MOST: u64 = 64 << 20;

/// The value with everything written out.
pub(super) fn expanded(value: &Value) -> anyhow::Result<Value> {
    match value {
        Value::Array(list) => list.iter().map(expanded).collect(),
        Value::Object(object) => match word(object) {
            Some((word, value)) => written_out(word, value).with_context(|| format!("`{}`", printable(word))),
            None => members(object),
        },
        other => Ok(other.clone()),
    }
}

/// The word and its value, where the object is one of ours.
pub(super) fn word(object: &Object) -> Option<(&str, &Value)> {
    let (key, value) = object.iter().next().filter(|_| object.len() == 1)?;
    key.starts_with('$').then_some((key.as_str(), value))
}

fn members(object: &Object) -> anyhow::Result<Value> {
    let pairs = object.iter().map(|(key, value)| Ok((key.clone(), expanded(value)?)));
    Ok(Value::Object(pairs.collect::<anyhow::Result<_>>()?))
}

fn written_out(word: &str, value: &Value) -> anyhow::Result<Value> {
    Ok(match word {
        "$repeat" => {
            let (text, times) = pair(value)?;
            let text = text.as_str().context("repeats a string")?;
            ensure!(times.saturating_mul(text.len() as u64) <= MOST, "is larger than 64 MiB");
            text.repeat(usize::try_from(times)?).into()
        }
        "$concat" => {
            let parts = value.as_array().context("joins a list of strings")?.iter().map(expanded);
            let parts = parts.collect::<anyhow::Result<Vec<_>>>()?;
            parts.iter().map(|part| part.as_str().context("joins strings")).collect::<anyhow::Result<String>>()?.into()
        }
        "$list" => {
            let (value, times) = pair(value)?;
            ensure!(times <= MOST / 64, "has more than a million members");
            vec![expanded(value)?; usize::try_from(times)?].into()
        }
        "$nest" => {
            let (value, depth) = pair(value)?;
            ensure!(depth <= 100, "nests deeper than 100 levels");
            (0..depth).try_fold(expanded(value)?, |inner, _| anyhow::Ok(Value::Array(vec![inner])))?
        }
        "$keys" => {
            let count = value.as_u64().filter(|count| *count <= MOST / 64).context("takes a number of keys")?;
            Value::Object((0..count).map(|n| (format!("key{n}"), n.into())).collect())
        }
        "$literal" => value.clone(),
        other => {
            let hint = meant(other, &WORDS, "there are");
            let hint = format!("{hint}; for an argument of that name, {{\"$literal\": {{..}}}}");
            return Err(Fault::new("no such word", hint).into());
        }
    })
}

fn pair(value: &Value) -> anyhow::Result<(&Value, u64)> {
    match value.as_array().map(Vec::as_slice) {
        Some([what, times]) => Ok((what, times.as_u64().context("takes a whole number of times")?)),
        _ => bail!("takes a list of two: what, and how often"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_described_is_written_out_at_any_depth() {
        for (written, value) in [
            (json!({"a": [{"$repeat": ["xy", 3]}]}), json!({"a": ["xyxyxy"]})),
            (json!({"$concat": ["a", {"$repeat": ["b", 2]}, "c"]}), json!("abbc")),
            (json!({"$list": [{"$keys": 1}, 2]}), json!([{"key0": 0}, {"key0": 0}])),
            (json!({"$nest": ["x", 3]}), json!([[["x"]]])),
            (json!({"$literal": {"$repeat": ["x", 2]}}), json!({"$repeat": ["x", 2]})),
            (json!({"$ref": 1, "beside": 2}), json!({"$ref": 1, "beside": 2})),
        ] {
            assert_eq!(expanded(&written).unwrap(), value, "{written}");
        }
    }

    #[test]
    fn what_is_no_such_word_or_too_much_is_refused() {
        for (written, why) in [
            (json!({"$repaet": ["x", 2]}), "no such word"),
            (json!({"$repeat": ["x"]}), "a list of two"),
            (json!({"$repeat": ["x", 1_u64 << 40]}), "64 MiB"),
            (json!({"$list": [0, 1_u64 << 40]}), "a million"),
            (json!({"$nest": [0, 1000]}), "100 levels"),
            (json!({"$concat": ["x", 1]}), "strings"),
        ] {
            let error = format!("{:#}", expanded(&written).unwrap_err());
            assert!(error.contains(why), "{written}: {error}");
        }
    }
}
