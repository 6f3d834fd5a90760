//! Around what a hook is asked: [`Context`], and the [`Commands`] that the host's shell parser found.

use crate::{Context, Error, place};
use serde_json::{Map, Value};

/// The simple commands of a tool's command argument, taken apart by the host: lists, pipes, loops, substitutions and the
/// texts of `sh -c` and `eval` included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Whether `list` is all of it. False where the text does not parse, and on a tool without a command: then a guard
    /// knows nothing, and should say no.
    pub parsed: bool,
    /// Each simple command as its words after quote removal, as written: without assignments and redirections, but with
    /// the program's folder, and with `sudo`, `env`, `xargs` and the like in front of what they run.
    pub list: Vec<Vec<String>>,
}

impl Context {
    /// A context for a plugin's own tests: a main agent's first turn, and nothing else known. Its fields are public.
    ///
    /// ```
    /// use tacklebox_sdk::Context;
    /// let cx = Context { agent_depth: 1, ..Context::test() }.with_commands(&[&["rm", "-rf", "x"]]);
    /// assert!(cx.commands().parsed);
    /// ```
    pub fn test() -> Self {
        Self {
            dispatch_id: "dispatch".into(),
            session_id: "session".into(),
            root_session_id: "session".into(),
            turn: 1,
            cwd: None,
            project_dir: None,
            agent_id: None,
            agent_type: None,
            parent_agent_id: None,
            agent_depth: 0,
            tool_use_id: None,
            attempt: None,
            recheck: false,
            original_input: None,
            changed_by: Vec::new(),
            extra: "{}".into(),
        }
    }

    /// The same context with these commands, parsed, for a plugin's own tests.
    #[must_use]
    pub fn with_commands(mut self, commands: &[&[&str]]) -> Self {
        self.extra = serde_json::json!({"commands": commands, "parsed": true}).to_string();
        self
    }

    /// What the command argument would run; not parsed and empty where the host could not say.
    pub fn commands(&self) -> Commands {
        let read = || Commands::from_extra(&self.extra().ok()?);
        read().unwrap_or_default()
    }

    /// What later versions of the host know besides: a JSON object.
    ///
    /// # Errors
    /// Where it is none.
    pub fn extra(&self) -> Result<Map<String, Value>, Error> {
        place::object("the context's `extra`", &self.extra)
    }
}

impl Commands {
    fn from_extra(extra: &Map<String, Value>) -> Option<Self> {
        let words = |command: &Value| command.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect();
        Some(Self {
            parsed: extra.get("parsed")?.as_bool()?,
            list: extra.get("commands")?.as_array()?.iter().map(words).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(extra: &str) -> Commands {
        let extra = extra.into();
        Context { extra, ..Context::test() }.commands()
    }

    #[test]
    fn commands_come_as_words() {
        let found = commands(r#"{"parsed": true, "commands": [["rm", "-rf", "x y"], ["ls"]], "later": 1}"#);
        assert!(found.parsed);
        assert_eq!(found.list, [vec!["rm", "-rf", "x y"], vec!["ls"]]);
    }

    #[test]
    fn what_cannot_be_read_counts_as_not_parsed() {
        for extra in
            ["{}", "", r#"{"parsed": true}"#, r#"{"commands": [["rm"]]}"#, r#"{"parsed": true, "commands": "rm"}"#]
        {
            assert_eq!(commands(extra), Commands::default(), "{extra}");
        }
        assert_eq!(commands(r#"{"parsed": false, "commands": [["rm"]]}"#).list.len(), 1);
    }

    #[test]
    fn test_contexts_read_back() {
        let cx = Context::test().with_commands(&[&["git", "push"]]);
        assert_eq!(cx.commands().list, [["git", "push"]]);
        assert_eq!(cx.extra().expect("an object")["parsed"], true);
        assert!(!Context::test().commands().parsed);
    }
}
