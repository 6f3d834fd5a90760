//! The environment of a command, in four steps: the host's less secrets, less what could steer a shell or pass for
//! ours, ours, and the hook's own (HOOKS.md, 3). Pure: starts nothing, reads no process's variables.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::folder;
use super::payload::Payload;
use crate::ask::Ask;
use crate::event::Event;
use crate::hook::{HookEnv, OUR_VARIABLES};
use crate::process::{inherited, is_name, without_nul};
use crate::surroundings::Surroundings;
use crate::text::within;

/// A command's variables.
#[derive(Debug, Default)]
pub(super) struct Environment {
    /// Names and values; of a repeated name the last counts.
    pub(super) vars: Vec<(OsString, OsString)>,
    /// Something of the payload was cut.
    pub(super) cut: bool,
    /// What of the hook's own was refused.
    pub(super) warnings: Vec<String>,
}

impl Environment {
    /// All four steps, with none of our values longer than `limit` bytes.
    pub(super) fn of(own: &HookEnv, ask: &Ask<'_>, payload: &Payload, limit: usize) -> Self {
        let mut environment = Self { vars: inherited(ask.surroundings), ..Self::default() };
        environment.add_ours(ask, payload, limit);
        match own {
            HookEnv::Keep(names) => environment.keep(names, ask.surroundings),
            HookEnv::Set(entries) => environment.set(entries),
        }
        environment
    }

    fn add_ours(&mut self, ask: &Ask<'_>, payload: &Payload, limit: usize) {
        let mut ours = Ours { limit, ..Ours::default() };
        ours.describe_call(ask.event, payload);
        ours.describe_place(ask);
        ours.name_files(payload);
        self.cut |= ours.cut;
        self.vars.extend(ours.vars.into_iter().map(|(name, value)| (name.into(), value)));
    }

    fn keep(&mut self, names: &[String], surroundings: &Surroundings) {
        for name in names {
            let found = surroundings.env.iter().rev().find(|(n, _)| n == name.as_str());
            if let Some((_, value)) = found.filter(|_| self.may_set(name)) {
                self.vars.push((name.into(), without_nul(value.clone())));
            }
        }
    }

    fn set(&mut self, entries: &[(String, String)]) {
        for (name, value) in entries {
            if self.may_set(name) {
                self.vars.push((name.into(), without_nul(value.into())));
            }
        }
    }

    fn may_set(&mut self, name: &str) -> bool {
        if OUR_VARIABLES.contains(&name) {
            self.warnings.push(format!("`env` cannot set `{name}`"));
            return false;
        }
        if !is_name(OsStr::new(name)) {
            self.warnings.push("`env` holds a name that no variable can have".to_owned());
            return false;
        }
        true
    }
}

/// The third step.
#[derive(Default)]
struct Ours {
    vars: Vec<(&'static str, OsString)>,
    limit: usize,
    cut: bool,
}

impl Ours {
    fn describe_call(&mut self, event: &Event, payload: &Payload) {
        self.text("HOOK_EVENT", event.name.as_str());
        self.text("CLAUDE_TOOL_NAME", event.tool.as_str());
        self.text("HOOK_TOOL_NAME", event.tool.as_str());
        let input = payload.input_within(self.limit);
        self.cut |= input.cut;
        self.vars.push(("CLAUDE_TOOL_INPUT", input.json.into()));
        for (name, told) in [("CLAUDE_TOOL_OUTPUT", &payload.output), ("HOOK_PROMPT", &payload.prompt)] {
            if let Some(told) = told {
                self.cut |= told.cut;
                self.text(name, &told.text);
            }
        }
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
        let cwd = folder::announced(ask);
        self.path("CLAUDE_CWD", cwd.as_deref());
        let base = cwd.as_deref().unwrap_or(Path::new("/"));
        self.path("HOOK_FILE_PATH", folder::file_path(&ask.event.input, base).as_deref());
    }

    fn name_files(&mut self, payload: &Payload) {
        let files = &payload.files;
        self.path("CLAUDE_TOOL_INPUT_FILE", Some(&files.input));
        self.path("CLAUDE_TOOL_OUTPUT_FILE", files.output.as_deref());
        self.path("HOOK_PROMPT_FILE", files.prompt.as_deref());
        self.path("CLAUDE_ENV_FILE", files.env.as_deref());
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

    /// A path as its bytes; only one that is too long for any file is changed.
    fn path(&mut self, name: &'static str, path: Option<&Path>) {
        match path.map(Path::as_os_str) {
            Some(path) if path.len() <= self.limit && !path.as_bytes().contains(&0) => {
                self.vars.push((name, path.to_owned()));
            }
            Some(path) => self.text(name, &path.to_string_lossy()),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
