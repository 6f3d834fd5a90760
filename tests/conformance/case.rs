//! A case as its file writes it. Strict: a key nobody knows, a name twice, or a run that expects nothing is an error,
//! since a case that checks nothing would pass for ever.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::expect::Expect;

/// One case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What it pins.
    pub(crate) name: String,
    /// The section of the contract that says so.
    pub(crate) spec: String,
    /// What lies in the folder: a text, or a value that is written as JSON.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, Value>,
    /// What is announced, in order.
    pub(crate) runs: Vec<Run>,
    /// Where the player of WASI commands is laid.
    #[serde(skip)]
    pub(crate) players: Vec<String>,
    #[serde(skip)]
    file: String,
}

/// One announcement, and what must come of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) event: String,
    pub(crate) tool: Option<String>,
    pub(crate) input: Option<Value>,
    pub(crate) output: Option<Value>,
    pub(crate) session: Option<String>,
    pub(crate) cwd: Option<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) expect: Expect,
}

/// The cases of all files of a folder.
pub(crate) fn all(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    ensure!(!files.is_empty(), "{}: no files of cases", folder.display());
    let mut cases = Vec::new();
    for file in &files {
        cases.extend(of_file(file).with_context(|| file.display().to_string())?);
    }
    Ok(cases)
}

fn of_file(file: &Path) -> anyhow::Result<Vec<Case>> {
    let mut cases: Vec<Case> = serde_json::from_slice(&std::fs::read(file)?)?;
    let mut names = HashSet::new();
    for case in &mut cases {
        case.file = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        ensure!(names.insert(case.name.clone()), "two cases are called {:?}", case.name);
        case.check().with_context(|| case.name.clone())?;
    }
    ensure!(!cases.is_empty(), "no cases");
    Ok(cases)
}

impl Case {
    /// `file::name`.
    pub(crate) fn title(&self) -> String {
        format!("{}::{}", self.file, self.name)
    }

    /// The environment of its process, which is one for all runs.
    pub(crate) fn env(&self) -> &BTreeMap<String, String> {
        &self.runs[0].env
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(!self.spec.is_empty(), "names no section");
        ensure!(!self.runs.is_empty(), "has no runs");
        for run in &self.runs {
            ensure!(!run.expect.is_empty(), "a run expects nothing");
            ensure!(run.env == *self.env(), "`env` differs between runs of one process");
        }
        Ok(())
    }
}

impl Run {
    /// The line that announces it.
    pub(crate) fn line(&self, root: &Path) -> anyhow::Result<Value> {
        let mut line = Map::new();
        line.insert("event".to_owned(), self.event.as_str().into());
        if let Some(tool) = &self.tool {
            line.insert("tool".to_owned(), tool.as_str().into());
        }
        for (key, value) in [("input", &self.input), ("output", &self.output)] {
            if let Some(value) = value {
                line.insert(key.to_owned(), expanded(value)?);
            }
        }
        line.insert("session".to_owned(), self.session.as_deref().unwrap_or("s1").into());
        let cwd = root.join(self.cwd.as_deref().unwrap_or("project"));
        line.insert("cwd".to_owned(), cwd.to_string_lossy().into());
        Ok(line.into())
    }
}

/// The value with `{"$repeat": [text, n], "$suffix": text}` and `{"$list": [value, n]}` written out.
pub(crate) fn expanded(value: &Value) -> anyhow::Result<Value> {
    match value {
        Value::Array(list) => list.iter().map(expanded).collect(),
        Value::Object(object) if object.keys().any(|key| key.starts_with('$')) && is_ours(object) => {
            written_out(object)
        }
        Value::Object(object) => {
            let pairs = object.iter().map(|(key, value)| Ok((key.clone(), expanded(value)?)));
            Ok(Value::Object(pairs.collect::<anyhow::Result<_>>()?))
        }
        other => Ok(other.clone()),
    }
}

/// `$schema` and its like belong to files, not to this notation.
fn is_ours(object: &Map<String, Value>) -> bool {
    object.contains_key("$repeat") || object.contains_key("$list")
}

fn written_out(object: &Map<String, Value>) -> anyhow::Result<Value> {
    let pair = |key: &str| match object.get(key).and_then(Value::as_array).map(Vec::as_slice) {
        Some([what, times]) => Ok((what.clone(), usize::try_from(times.as_u64().context("no count")?)?)),
        _ => bail!("`{key}` must be a list of two"),
    };
    if object.contains_key("$list") {
        ensure!(object.len() == 1, "`$list` stands alone");
        let (value, times) = pair("$list")?;
        return Ok(Value::Array(vec![expanded(&value)?; times]));
    }
    let (text, times) = pair("$repeat")?;
    let suffix = match object.get("$suffix") {
        Some(suffix) => suffix.as_str().context("`$suffix` must be a string")?,
        None => "",
    };
    ensure!(object.keys().all(|key| ["$repeat", "$suffix"].contains(&key.as_str())), "keys beside `$repeat`");
    Ok(format!("{}{suffix}", text.as_str().context("`$repeat` repeats a string")?.repeat(times)).into())
}
