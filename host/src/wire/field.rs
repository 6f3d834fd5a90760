//! The one table of what a hook's entry may say. Validation, nearest names and the schema all read it.
//! Owns names and shapes; what a value means is for `hooks`.

use crate::hook::KindName;

/// One field of an entry.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it means something.
    pub(crate) on: On,
    /// Whether a group may say it for all its hooks.
    pub(crate) group: bool,
    /// What its value looks like.
    pub(crate) shape: Shape,
    /// What it is for, in the schema.
    pub(crate) says: &'static str,
}

/// Where a field means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// On every hook.
    Every,
    /// On hooks of this kind.
    Kind(KindName),
    /// On hooks of a kind that this version does not run.
    OtherKind,
    /// It has a meaning that this version does not give it yet.
    NotYet,
    /// It is for people and other programs.
    Nowhere,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A string.
    Text,
    /// True or false.
    Flag,
    /// A number of seconds.
    Seconds,
    /// A whole number.
    Count,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of strings.
    Texts,
    /// A list of names, or a map of strings.
    Env,
    /// What a plugin may do.
    Grant,
    /// What a plugin may use up.
    Limits,
    /// An object.
    Object,
    /// Anything.
    Any,
}

/// The words for `onError`.
pub(crate) const ON_ERROR: &[&str] = &["pass", "block"];
/// The words for another agent's `onFailure`.
pub(crate) const ON_FAILURE: &[&str] = &["continue", "block"];
/// The words for `onCut`.
pub(crate) const ON_CUT: &[&str] = &["run", "block"];
/// The words for `instance`.
pub(crate) const INSTANCES: &[&str] = &["call", "session"];
/// The words for `shell`.
pub(crate) const SHELLS: &[&str] = &["bash", "powershell"];
/// The words for `dialect`.
pub(crate) const DIALECTS: &[&str] = &["freecode", "claude", "deepseek"];
/// The words for `type`.
pub(crate) const TYPES: &[&str] = &["command", "callback", "inject", "prompt", "http", "agent", "function"];
/// What the top level of a settings file may say about hooks.
pub(crate) const TOP_LEVEL: &[&str] = &["hooks", "disabled", "disableAllHooks", "plugins", "onError"];

const fn field(name: &'static str, on: On, shape: Shape, says: &'static str) -> Field {
    Field { name, on, group: false, shape, says }
}

impl Field {
    const fn also_for_groups(mut self) -> Self {
        self.group = true;
        self
    }
}

const COMMAND: On = On::Kind(KindName::Command);
const CALLBACK: On = On::Kind(KindName::Callback);
const INJECT: On = On::Kind(KindName::Inject);
const PROMPT: On = On::Kind(KindName::Prompt);

/// Every field that an entry may have.
pub(crate) static FIELDS: &[Field] = &[
    field("name", On::Every, Shape::Text, "what the hook is called: replacing and disabling go by it"),
    field("type", On::Every, Shape::Word(TYPES), "how it runs; `command` where one is given"),
    field("matcher", On::Every, Shape::Text, "which tools it is asked about").also_for_groups(),
    field("if", On::Every, Shape::Text, "which arguments it is asked about, as `tool(pattern)`").also_for_groups(),
    field("timeout", On::Every, Shape::Seconds, "how long it may take, in seconds, at most 300").also_for_groups(),
    field("once", On::Every, Shape::Flag, "whether it is asked once per session").also_for_groups(),
    field("onError", On::Every, Shape::Word(ON_ERROR), "what a missing answer means").also_for_groups(),
    field("onFailure", On::Every, Shape::Word(ON_FAILURE), "another agent's word for `onError`").also_for_groups(),
    field("failClosed", On::Every, Shape::Flag, "another agent's word for `onError`").also_for_groups(),
    field("continueOnError", On::Every, Shape::Flag, "another agent's word for `onError`").also_for_groups(),
    field("final", On::Every, Shape::Flag, "in user settings: no project may replace it").also_for_groups(),
    field("dialect", On::Every, Shape::Word(DIALECTS), "how payload and answer are written").also_for_groups(),
    field("command", COMMAND, Shape::Text, "the shell text, or with `args` the program"),
    field("args", COMMAND, Shape::Texts, "the program's arguments: no shell is started"),
    field("shell", COMMAND, Shape::Word(SHELLS), "which shell runs the command").also_for_groups(),
    field("env", COMMAND, Shape::Env, "variables to keep, by name, or to set").also_for_groups(),
    field("onCut", COMMAND, Shape::Word(ON_CUT), "what to do about a payload too large to hand over").also_for_groups(),
    field("plugin", CALLBACK, Shape::Text, "the component's file, or its package's folder"),
    field("function", CALLBACK, Shape::Text, "which of the plugin's hooks it is"),
    field("config", CALLBACK, Shape::Object, "what the plugin reads as its configuration"),
    field("grant", CALLBACK, Shape::Grant, "what the plugin may do, of what it asks for"),
    field("limits", CALLBACK, Shape::Limits, "what the plugin may use up"),
    field("instance", CALLBACK, Shape::Word(INSTANCES), "how long the plugin's memory lives"),
    field("text", INJECT, Shape::Text, "the text that is added"),
    field("prompt", PROMPT, Shape::Text, "what the model is asked"),
    field("model", PROMPT, Shape::Text, "which model is asked"),
    field("async", On::NotYet, Shape::Flag, "whether it goes on in the background").also_for_groups(),
    field("asyncRewake", On::NotYet, Shape::Flag, "whether it may wake the agent later").also_for_groups(),
    field("maxAttempts", On::Every, Shape::Count, "how often it may keep the agent from stopping, in one turn")
        .also_for_groups(),
    field("url", On::OtherKind, Shape::Text, "where the payload is sent"),
    field("headers", On::OtherKind, Shape::Object, "what is sent beside it"),
    field("allowedEnvVars", On::OtherKind, Shape::Texts, "variables that headers may hold"),
    field("task", On::OtherKind, Shape::Text, "what the reviewer is told"),
    field("$schema", On::Nowhere, Shape::Text, "for editors").also_for_groups(),
    field("description", On::Nowhere, Shape::Text, "for people").also_for_groups(),
    field("version", On::Nowhere, Shape::Any, "for people").also_for_groups(),
    field("id", On::Nowhere, Shape::Any, "for other programs").also_for_groups(),
    field("statusMessage", On::Nowhere, Shape::Text, "for people").also_for_groups(),
];

/// The field of this name.
pub(crate) fn named(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.name == name)
}

/// Whether this name is known and silent, wherever it stands.
pub(crate) fn is_silent(name: &str) -> bool {
    named(name).is_some_and(|field| field.on == On::Nowhere)
}

/// The names of all fields that a hook may have.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|field| field.name)
}

/// The names of all fields that a group may have.
pub(crate) fn group_names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().filter(|field| field.group).map(|field| field.name).chain(["hooks"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_twice_and_every_field_of_the_contract_is_here() {
        let all: std::collections::HashSet<_> = names().collect();
        assert_eq!(all.len(), FIELDS.len());
        let contract = "name type matcher if timeout once onError onCut final async asyncRewake maxAttempts dialect \
            shell env command args prompt model url headers allowedEnvVars text task plugin function config grant limits \
            instance $schema description version id statusMessage onFailure failClosed continueOnError";
        for name in contract.split_whitespace() {
            assert!(all.contains(name), "{name}");
        }
    }
}
