//! A file of cases: a list of them, or an object with `cases` and what they have in common.

use std::collections::HashSet;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::event::Object;

use super::super::super::announcement::{found, value};
use super::case::{Case, KEYS};
use super::keys::Keys;

/// The cases of a file, in order.
#[derive(Debug)]
pub(super) struct CaseFile {
    pub(super) cases: Vec<Case>,
}

impl CaseFile {
    /// Reads it. A key that nobody knows is an error: what is misspelt would be a case that checks nothing.
    pub(super) fn read(bytes: &[u8]) -> anyhow::Result<Self> {
        let root = value(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))?;
        let (defaults, written) = parts(&root)?;
        let mut names = HashSet::new();
        let mut cases = Vec::new();
        for (n, one) in written.iter().enumerate() {
            let case = Case::read(&completed(one, &defaults, n)?, n)?;
            ensure!(names.insert(case.name.clone()), "two cases are called `{}`", case.name);
            cases.push(case);
        }
        ensure!(!cases.is_empty(), "there are no cases");
        Ok(Self { cases })
    }
}

fn parts(root: &Value) -> anyhow::Result<(Object, &Vec<Value>)> {
    match root {
        Value::Array(cases) => Ok((Object::new(), cases)),
        Value::Object(object) => {
            let keys = Keys::of(object, &["$schema", "description", "defaults", "cases"], "the file")?;
            let defaults = match keys.get("defaults") {
                None => Object::new(),
                Some(Value::Object(defaults)) => defaults.clone(),
                Some(other) => bail!("`defaults` must be an object, found {}", found(other)),
            };
            let known: Vec<_> = KEYS.into_iter().filter(|key| !["name", "expect", "describe"].contains(key)).collect();
            Keys::of(&defaults, &known, "`defaults`")?;
            Ok((defaults, keys.list("cases")?.context("`cases` is missing")?))
        }
        other => bail!("a file of cases is a list or an object, found {}", found(other)),
    }
}

/// The case with what the file says of all, where it says nothing itself.
fn completed(case: &Value, defaults: &Object, n: usize) -> anyhow::Result<Object> {
    let Value::Object(case) = case else { bail!("case {n} must be an object, found {}", found(case)) };
    let mut case = case.clone();
    if !case.contains_key("describe") {
        for (key, value) in defaults {
            case.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    Ok(case)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::super::fault::Fault;
    use super::*;

    fn refused(file: &Value) -> String {
        Fault::line(&CaseFile::read(file.to_string().as_bytes()).unwrap_err())
    }

    #[test]
    fn a_list_and_an_object_with_defaults_are_read() {
        let case = json!({"name": "a", "event": "Stop", "expect": "continue"});
        assert_eq!(CaseFile::read(json!([case]).to_string().as_bytes()).unwrap().cases.len(), 1);
        let file = json!({"defaults": {"event": "Stop", "turn": 3}, "cases": [
            {"name": "a", "expect": "continue"}, {"name": "b", "turn": 4, "expect": "trap"}, {"name": "c", "describe": {"name": "x"}},
        ]});
        assert_eq!(CaseFile::read(file.to_string().as_bytes()).unwrap().cases.len(), 3);
    }

    #[test]
    fn what_is_misspelt_is_named_with_its_case_and_the_nearest_key() {
        let case = |key: &str, value: Value| {
            let mut case = json!({"name": "a", "event": "Stop", "expect": "continue"});
            case[key] = value;
            json!([case])
        };
        for (file, why) in [
            (case("sesion", json!("s")), "case `a`: unknown key `sesion` (hint: did you mean `session`?)"),
            (case("expect", json!("contineu")), "case `a`: `contineu` is no answer (hint: did you mean `continue`?)"),
            (case("expect", json!({"blok": "x"})), "unknown key `blok` (hint: did you mean `block`?)"),
            (case("expect", json!({"modify": {"outptu": "x"}})), "did you mean `output`?"),
            (case("expect", json!({"block": {"contain": "x"}})), "did you mean `contains`?"),
            (case("expect", json!({"limit": "memroy"})), "did you mean `memory`?"),
            (case("event", json!("Stpo")), "case `a`: `Stpo` is no event (hint: did you mean `Stop`?)"),
            (case("input", json!({"atempt": 2})), "case `a`: Stop: key of `input` `atempt` is not read"),
            (case("tool", json!("bash")), "case `a`: `tool` is not read: Stop is about no tool"),
            (case("changedBy", json!(["x"])), "case `a`: `changedBy` goes with `originalInput`"),
            (case("log", json!([{"level": "inof", "message": ""}])), "did you mean `info`?"),
            (json!([{"event": "Stop", "expect": "continue"}]), "case 0: `name` is missing"),
            (json!([{"name": "a", "event": "Stop"}]), "case `a`: `expect` is missing"),
            (json!({"casse": []}), "the file: unknown key `casse` (hint: did you mean `cases`?)"),
            (json!([]), "there are no cases"),
            (json!("x"), "a list or an object"),
        ] {
            let said = refused(&file);
            assert!(said.contains(why), "{file}: {said}");
        }
        let twice = json!({"name": "a", "event": "Stop", "expect": "continue"});
        assert!(refused(&json!([twice, twice])).contains("two cases are called `a`"));
    }
}
