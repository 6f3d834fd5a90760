//! The variables of ours that every command finds in its environment, a shell's or one in the sandbox (HOOKS.md, 3).
//!
//! Owns names and values. What else is in an environment is for who makes it: what a shell command inherits and where
//! its private files are, for `executor`; what is granted to a plugin, for `wasm`.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::ask::Ask;
use crate::event::{Event, Object};
use crate::text::within;

/// The arguments that name a file, in the order in which they are looked at.
const PATH_KEYS: [&str; 3] = ["file_path", "filePath", "path"];

/// The texts of an event, in the form in which they are told.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// The arguments as compact JSON.
    pub input: &'a str,
    /// What the tool printed.
    pub output: Option<&'a str>,
    /// The prompt.
    pub prompt: Option<&'a str>,
}

/// Variables of ours, none of them longer than a limit.
#[derive(Debug)]
pub struct Variables {
    /// Names and values; no value holds a NUL.
    pub vars: Vec<(&'static str, OsString)>,
    /// A value was cut to the limit.
    pub cut: bool,
    limit: usize,
}

impl Variables {
    /// Those of this call, each in no more than `limit` bytes. The arguments are told as they are: whoever has a limit
    /// for them cuts them so that they stay JSON.
    pub fn of(ask: &Ask<'_>, texts: &Texts<'_>, limit: usize) -> Self {
        let mut variables = Self { vars: Vec::new(), cut: false, limit };
        variables.describe_call(ask.event, texts);
        variables.describe_place(ask);
        variables
    }

    /// Adds a path as its bytes, where there is one; only one that is too long for any file is changed.
    pub fn path(&mut self, name: &'static str, path: Option<&Path>) {
        match path.map(Path::as_os_str) {
            Some(path) if path.len() <= self.limit && !path.as_bytes().contains(&0) => {
                self.vars.push((name, path.to_owned()));
            }
            Some(path) => self.text(name, &path.to_string_lossy()),
            None => {}
        }
    }

    fn describe_call(&mut self, event: &Event, texts: &Texts<'_>) {
        self.text("HOOK_EVENT", event.name.as_str());
        self.text("CLAUDE_TOOL_NAME", event.tool.as_str());
        self.text("HOOK_TOOL_NAME", event.tool.as_str());
        self.vars.push(("CLAUDE_TOOL_INPUT", texts.input.into()));
        self.maybe("CLAUDE_TOOL_OUTPUT", texts.output);
        self.maybe("HOOK_PROMPT", texts.prompt);
        self.maybe("HOOK_ATTEMPT", event.attempt.map(|n| n.to_string()).as_deref());
    }

    fn describe_place(&mut self, ask: &Ask<'_>) {
        let agent = &ask.cx.agent;
        self.text("CLAUDE_SESSION_ID", ask.cx.session.as_str());
        self.text("HOOK_SESSION_ID", ask.cx.session.as_str());
        self.text("HOOK_ROOT_SESSION_ID", ask.cx.root_session.as_str());
        self.text("HOOK_DISPATCH_ID", ask.dispatch.as_str());
        self.maybe("CLAUDE_AGENT_ID", agent.id.as_ref().map(|id| id.as_str()));
        self.maybe("CLAUDE_AGENT_TYPE", agent.kind.as_deref());
        self.maybe("HOOK_PARENT_AGENT_ID", agent.parent.as_ref().map(|id| id.as_str()));
        self.text("HOOK_AGENT_DEPTH", &agent.depth.to_string());
        self.text("HOOK_RECHECK", if ask.recheck { "1" } else { "0" });
        self.path("CLAUDE_PROJECT_DIR", ask.surroundings.project.as_deref());
        let cwd = ask.surroundings.folder(ask.cx.cwd.as_deref());
        self.path("CLAUDE_CWD", cwd.as_deref());
        let base = cwd.as_deref().unwrap_or(Path::new("/"));
        self.path("HOOK_FILE_PATH", file_path(&ask.event.input, base).as_deref());
    }

    fn maybe(&mut self, name: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    fn text(&mut self, name: &'static str, text: &str) {
        // Before it is cut: the replacement is longer than what it replaces.
        let text = if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) };
        let fitting = within(&text, self.limit);
        self.cut |= matches!(fitting, Cow::Owned(_));
        self.vars.push((name, fitting.into_owned().into()));
    }
}

/// The file that the arguments name: absolute, with `.` and `..` resolved in the text, links left alone.
fn file_path(input: &Object, base: &Path) -> Option<PathBuf> {
    let given = PATH_KEYS.iter().find_map(|key| input.get(*key)?.as_str())?;
    Some(resolved(&base.join(given)))
}

fn resolved(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_string_of_the_three_names_counts_and_dots_are_resolved() {
        let table = [
            (json!({"path": "lib/../src/./a.ts"}), Some("/p/src/a.ts")),
            (json!({"path": "x", "filePath": "y", "file_path": "/z"}), Some("/z")),
            (json!({"path": "x", "file_path": 1}), Some("/p/x")),
            (json!({"path": "../../../etc/passwd"}), Some("/etc/passwd")),
            (json!({"path": ""}), Some("/p")),
            (json!({"path": "/a//b/"}), Some("/a/b")),
            (json!({"filename": "x"}), None),
        ];
        for (input, path) in table {
            let got = file_path(input.as_object().unwrap(), Path::new("/p"));
            assert_eq!(got.as_deref(), path.map(Path::new), "{input}");
        }
    }
}
