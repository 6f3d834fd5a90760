//! The same cases over a WASI command: each hook of a shell command becomes one of the player (`tests/guests/player`), which
//! does in the sandbox what the command's text says. The text itself is not changed, and neither is what is expected.
//!
//! Owns the translation, and the list of the cases that cannot be played so, each with its reason.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Map, Value, json};

use crate::case::Case;

/// The file beside a settings file that its hooks name.
pub(crate) const PLAYER: &str = "player.wasm";

/// How a settings file's path ends.
const SETTINGS: &str = "/.freecode/settings.json";

/// Keys of a command hook that mean nothing in the sandbox.
const OF_SHELLS: [&str; 4] = ["args", "env", "shell", "onCut"];

/// The words for what a missing answer means: the kinds differ in what holds without one.
const MEANINGS: [&str; 4] = ["onError", "onFailure", "failClosed", "continueOnError"];

/// The cases that cannot be played in the sandbox, by title, with the reason.
#[derive(Debug)]
pub(crate) struct Exceptions(BTreeMap<String, String>);

impl Exceptions {
    /// As the file has them. Each must be a case that is there and has a hook to translate.
    pub(crate) fn read(file: &Path, cases: &[Case]) -> anyhow::Result<Self> {
        let listed = std::fs::read(file).with_context(|| file.display().to_string())?;
        let listed: BTreeMap<String, String> = serde_json::from_slice(&listed)?;
        for (title, reason) in &listed {
            ensure!(!reason.trim().is_empty(), "{title}: listed without a reason");
            let case = cases.iter().find(|case| case.title() == *title);
            ensure!(case.is_some_and(has_commands), "{title}: listed, and no case with a shell command");
        }
        Ok(Self(listed))
    }

    /// Whether it is one of them.
    pub(crate) fn names(&self, case: &Case) -> bool {
        self.0.contains_key(&case.title())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Whether any of its hooks is a shell command.
pub(crate) fn has_commands(case: &Case) -> bool {
    let settings = case.files.iter().filter(|(path, _)| path.ends_with(SETTINGS));
    settings.map(|(_, content)| content).any(|content| match content {
        Value::String(text) => text.contains("\"command\""),
        content => holds_command(content),
    })
}

/// The same case with hooks of the player's.
pub(crate) fn translated(case: &Case) -> anyhow::Result<Case> {
    let mut case = case.clone();
    for (path, content) in &mut case.files {
        if !path.ends_with(SETTINGS) {
            continue;
        }
        let Value::Object(settings) = content else { bail!("{path} is no JSON that can be translated") };
        let silent = !settings.keys().any(|key| MEANINGS.contains(&key.as_str()));
        if let Some(Value::Object(hooks)) = settings.get_mut("hooks") {
            for entries in hooks.values_mut() {
                translate(entries, silent)?;
            }
        }
        case.players.push(path.replace("settings.json", PLAYER));
    }
    Ok(case)
}

/// Fails where the player was asked for what it does not speak: a trap that passes as no answer would prove nothing.
pub(crate) fn check_spoken(verdict: &Value) -> anyhow::Result<()> {
    let hooks = verdict.get("hooks").and_then(Value::as_array).into_iter().flatten();
    for error in hooks.filter_map(|hook| hook.get("error")?.as_str()) {
        ensure!(!error.contains("trapped"), "the player does not speak it: {error}");
    }
    Ok(())
}

fn holds_command(content: &Value) -> bool {
    match content {
        Value::Object(object) => is_command(object) || object.values().any(holds_command),
        Value::Array(list) => list.iter().any(holds_command),
        _ => false,
    }
}

fn is_command(entry: &Map<String, Value>) -> bool {
    let kind = entry.get("type").is_none_or(|kind| kind == "command");
    kind && entry.get("command").is_some_and(Value::is_string)
}

/// An entry, a list of them, or a group that holds some.
fn translate(entries: &mut Value, silent: bool) -> anyhow::Result<()> {
    match entries {
        Value::Array(list) => list.iter_mut().try_for_each(|entry| translate(entry, silent)),
        Value::Object(entry) if is_command(entry) => translate_entry(entry, silent),
        Value::Object(group) => group.get_mut("hooks").map_or(Ok(()), |inner| translate(inner, silent)),
        _ => Ok(()),
    }
}

fn translate_entry(entry: &mut Map<String, Value>, silent: bool) -> anyhow::Result<()> {
    if let Some(key) = OF_SHELLS.into_iter().find(|key| entry.contains_key(*key)) {
        bail!("`{key}` means nothing in the sandbox");
    }
    let command = entry.remove("command");
    entry.insert("type".into(), "callback".into());
    entry.insert("plugin".into(), PLAYER.into());
    entry.insert("config".into(), json!({"command": command}));
    if silent && !entry.keys().any(|key| MEANINGS.contains(&key.as_str())) {
        entry.insert("onError".into(), "pass".into());
    }
    Ok(())
}
