//! What a hook is asked about: [`Input`], with its JSON read once and typed on demand.

use crate::bindings::tacklebox::hooks::types::HookInput;
use crate::{Error, Event, place};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::cell::OnceCell;

/// What happened.
#[derive(Clone, Debug)]
pub struct Input {
    /// The event that this call is about.
    pub event: Event,
    /// The name that the hook is registered under; one plugin may register many.
    pub hook: String,
    /// The tool's name; on an event without a tool, the event's name.
    pub tool_name: String,
    /// A JSON object as it came: the tool's arguments, or the event's payload. [`Input::json`] reads it.
    pub tool_input: String,
    /// What the tool printed, or why it failed, where the event has it.
    pub tool_output: Option<String>,
    json: OnceCell<Map<String, Value>>,
}

impl Input {
    /// An input for a plugin's own tests; its hook is named as the event.
    ///
    /// ```
    /// use tacklebox_sdk::{Event, Input, json};
    /// let input = Input::test(Event::PreToolUse, "bash", json!({"command": "ls"}));
    /// assert_eq!(input.str("command").unwrap(), "ls");
    /// ```
    pub fn test(event: Event, tool_name: &str, tool_input: Value) -> Self {
        Self::from(HookInput {
            event: event.name().into(),
            hook: event.name().into(),
            tool_name: tool_name.into(),
            tool_input: tool_input.to_string(),
            tool_output: None,
        })
    }

    /// The same input with this output of the tool, for a plugin's own tests.
    #[must_use]
    pub fn with_output(mut self, text: &str) -> Self {
        self.tool_output = Some(text.into());
        self
    }

    /// The arguments, or the payload.
    ///
    /// # Errors
    /// Where they are no JSON object.
    pub fn json(&self) -> Result<&Map<String, Value>, Error> {
        if self.json.get().is_none() {
            let _ = self.json.set(place::object(&self.name(), &self.tool_input)?);
        }
        self.json.get().ok_or_else(|| Error::new("the input was not read"))
    }

    /// The string under this key.
    ///
    /// # Errors
    /// Where there is none: a guard that cannot see what it guards must not pass. [`Input::json`] is for keys that may be absent.
    pub fn str(&self, key: &str) -> Result<&str, Error> {
        let text = self.json()?.get(key).and_then(Value::as_str);
        text.ok_or_else(|| Error::new(format!("{} has no string `{key}`", self.name())))
    }

    /// The path that the tool works on: the first string of `file_path`, `filePath` and `path`, as it was given.
    pub fn path(&self) -> Option<&str> {
        let json = self.json().ok()?;
        ["file_path", "filePath", "path"].iter().find_map(|key| json.get(*key)?.as_str())
    }

    /// The arguments, or the payload, as a type of the plugin's own.
    ///
    /// # Errors
    /// Where they do not fit it; the text names the key.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        place::parse(&self.name(), &self.tool_input)
    }

    fn name(&self) -> String {
        format!("the input of `{}`", self.tool_name)
    }
}

impl From<HookInput> for Input {
    fn from(input: HookInput) -> Self {
        Self {
            event: Event::from(input.event.as_str()),
            hook: input.hook,
            tool_name: input.tool_name,
            tool_input: input.tool_input,
            tool_output: input.tool_output,
            json: OnceCell::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn bash(arguments: Value) -> Input {
        Input::test(Event::PreToolUse, "bash", arguments)
    }

    #[test]
    fn a_missing_string_names_tool_and_key() {
        let text = "the input of `bash` has no string `command`";
        assert_eq!(bash(json!({})).str("command"), Err(Error::new(text)));
        assert_eq!(bash(json!({"command": 1})).str("command"), Err(Error::new(text)));
    }

    #[test]
    fn an_input_that_is_no_object_is_an_error() {
        for input in [json!([1]), json!("rm"), json!(null)] {
            assert!(bash(input).json().is_err());
        }
    }

    #[test]
    fn the_path_is_the_first_string_of_the_three_keys() {
        assert_eq!(bash(json!({"path": "c", "filePath": "b", "file_path": "a"})).path(), Some("a"));
        assert_eq!(bash(json!({"path": "c", "file_path": 1})).path(), Some("c"));
        assert_eq!(bash(json!({"command": "c"})).path(), None);
    }

    #[test]
    fn a_type_of_the_plugins_own_can_be_read() {
        let words: std::collections::BTreeMap<String, Vec<u8>> = bash(json!({"a": [1, 2]})).parse().expect("it fits");
        assert_eq!(words["a"], [1, 2]);
    }
}
