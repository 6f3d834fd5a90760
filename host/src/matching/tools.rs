//! The tool table: what the embedder's tools are called and which of their arguments is a command or a path.
//!
//! It owns names and arguments. Texts are matched by [`super::matcher`] and [`super::condition`].

use serde_json::{Map, Value};

use super::condition::{Call, Subject};
use super::matcher::Matcher;
use super::shell::Commands;

/// Whose names a hook is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The embedder's own names.
    Freecode,
    /// Claude Code's names.
    Claude,
    /// deepSeekCode's names.
    Deepseek,
}

/// The arguments in which a path is looked for, in this order.
pub const PATH_ARGUMENTS: [&str; 3] = ["file_path", "filePath", "path"];

/// One tool of the embedder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    name: String,
    aliases: Vec<(Dialect, String)>,
    argument: Argument,
}

/// Which argument a call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Argument {
    Command(String),
    Path(Vec<String>),
    Unknown,
}

impl Tool {
    /// A tool by the embedder's own name. Until told otherwise nothing is known of its arguments.
    pub fn new(name: impl Into<String>) -> Tool {
        Tool { name: name.into(), aliases: Vec::new(), argument: Argument::Unknown }
    }

    /// Adds the name it has in a dialect. Of several in one dialect the first is what its hooks are told.
    #[must_use]
    pub fn alias(mut self, dialect: Dialect, name: impl Into<String>) -> Tool {
        self.aliases.push((dialect, name.into()));
        self
    }

    /// Says which argument is a shell command.
    #[must_use]
    pub fn command(mut self, argument: impl Into<String>) -> Tool {
        self.argument = Argument::Command(argument.into());
        self
    }

    /// Says which arguments can be the path; the first that holds a string counts.
    #[must_use]
    pub fn path<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Tool {
        self.argument = Argument::Path(arguments.into_iter().map(Into::into).collect());
        self
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(|(_, name)| name.as_str()))
    }
}

/// The embedder's tools.
///
/// The default lists `bash` (argument `command`), `edit`, `write` and `read` (path in `file_path`, `filePath` or
/// `path`), with Claude Code's names as aliases, and is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolTable {
    tools: Vec<Tool>,
    complete: bool,
}

impl Default for ToolTable {
    fn default() -> ToolTable {
        let file = |name: &str, claude: &str| Tool::new(name).alias(Dialect::Claude, claude).path(PATH_ARGUMENTS);
        ToolTable::empty()
            .tool(Tool::new("bash").alias(Dialect::Claude, "Bash").command("command"))
            .tool(file("edit", "Edit"))
            .tool(file("write", "Write"))
            .tool(file("read", "Read"))
    }
}

impl ToolTable {
    /// A table without tools, not complete.
    pub fn empty() -> ToolTable {
        ToolTable { tools: Vec::new(), complete: false }
    }

    /// Adds a tool; one of the same name is replaced.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> ToolTable {
        self.tools.retain(|known| known.name != tool.name);
        self.tools.push(tool);
        self
    }

    /// Declares that the agent has no other tools, apart from those of MCP servers.
    #[must_use]
    pub fn complete(mut self) -> ToolTable {
        self.complete = true;
        self
    }

    /// The command in a call's arguments, to be parsed once for all conditions.
    pub fn command<'a>(&self, tool: &str, input: &'a Map<String, Value>) -> Option<&'a str> {
        match &self.find(tool)?.argument {
            Argument::Command(argument) => input.get(argument)?.as_str(),
            Argument::Path(_) | Argument::Unknown => None,
        }
    }

    /// The path in a call's arguments.
    pub fn path<'a>(&self, tool: &str, input: &'a Map<String, Value>) -> Option<&'a str> {
        match &self.find(tool)?.argument {
            Argument::Path(arguments) => arguments.iter().find_map(|argument| input.get(argument)?.as_str()),
            Argument::Command(_) | Argument::Unknown => None,
        }
    }

    /// The call as the hooks of a dialect see it. `commands` are those of [`ToolTable::command`].
    pub fn call<'a>(
        &'a self,
        dialect: Dialect,
        tool: &'a str,
        input: &'a Map<String, Value>,
        commands: Option<&'a Commands>,
    ) -> Call<'a> {
        let subject = match self.find(tool).map(|tool| &tool.argument) {
            Some(Argument::Command(_)) => Subject::Command(commands),
            Some(Argument::Path(_)) => Subject::Path(self.path(tool, input)),
            Some(Argument::Unknown) | None => Subject::Unknown,
        };
        Call::new(self.name_in(dialect, tool), input, subject)
    }

    /// What a dialect calls a tool; a tool without a name in it, or not listed, keeps its own.
    pub fn name_in<'a>(&'a self, dialect: Dialect, tool: &'a str) -> &'a str {
        let aliases = self.find(tool).map_or(&[][..], |tool| &tool.aliases);
        aliases.iter().find(|(of, _)| *of == dialect).map_or(tool, |(_, name)| name)
    }

    /// Whether a matcher can match no tool at all: the table is complete, the matcher fits none of its names in any
    /// dialect, and it is not about the tools of MCP servers, which come and go.
    pub fn fits_nothing(&self, matcher: &Matcher) -> bool {
        self.complete
            && !matcher.text().contains("mcp__")
            && !self.tools.iter().flat_map(Tool::names).any(|name| matcher.test(name).is_some())
    }

    /// Own names only: an alias is another agent's word, and a tool that happens to be called so is another tool.
    fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn the_default_knows_commands_and_paths() {
        let table = ToolTable::default();
        let input = object(json!({"command": "ls", "path": "c", "filePath": 1, "file_path": "a"}));
        assert_eq!(table.command("bash", &input), Some("ls"));
        assert_eq!(table.command("Bash", &input), None, "an alias is not a name of its own");
        assert_eq!(table.command("edit", &input), None);
        assert_eq!(table.path("edit", &input), Some("a"));
        assert_eq!(table.path("read", &object(json!({"filePath": 1, "path": "c"}))), Some("c"));
        assert_eq!(table.command("bash", &object(json!({"command": ["ls"]}))), None);
    }

    #[test]
    fn a_dialect_has_its_own_names() {
        let table = ToolTable::default();
        assert_eq!(table.name_in(Dialect::Claude, "bash"), "Bash");
        assert_eq!(table.name_in(Dialect::Freecode, "bash"), "bash");
        assert_eq!(table.name_in(Dialect::Claude, "other"), "other");
    }

    #[test]
    fn only_a_complete_table_can_say_that_a_matcher_fits_nothing() {
        let open = ToolTable::default();
        let closed = open.clone().complete();
        let cases = [
            ("Edit:.*\\.cs", true),
            ("Write(*.py)", true),
            ("tool == \"Edit\"", true),
            ("Edit", false),
            ("edit", false),
            ("mcp__db__.*", false),
            ("*", false),
            ("apply_patch|Edit", false),
            ("^(?!bash$).*", false),
        ];
        for (text, expected) in cases {
            let Ok(matcher) = Matcher::new(text) else { continue };
            assert_eq!(closed.fits_nothing(&matcher), expected, "{text}");
            assert!(!open.fits_nothing(&matcher), "{text}");
        }
    }
}
