//! The environment of a command, in four steps: the host's less secrets, less what could steer a shell or pass for
//! ours, ours (`wire::environment`), and the hook's own (HOOKS.md, 3). Pure: starts nothing, reads no process's variables.

use std::ffi::{OsStr, OsString};

use super::files::Files;
use super::payload::{Payload, Told};
use crate::ask::Ask;
use crate::hook::{HookEnv, HookKind, OUR_VARIABLES};
use crate::process::{inherited, is_name, without_nul};
use crate::surroundings::Surroundings;
use crate::wire::environment::{Texts, Variables};

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

    fn add_ours<'p>(&mut self, ask: &Ask<'_>, payload: &'p Payload, limit: usize) {
        let input = payload.input_within(limit);
        let (output, prompt) = (payload.output.as_ref(), payload.prompt.as_ref());
        let text = |told: &'p Told| told.text.as_str();
        let texts = Texts { input: &input.json, output: output.map(text), prompt: prompt.map(text) };
        let mut ours = Variables::of(ask, &texts, limit);
        name_files(&mut ours, &payload.files);
        if let HookKind::Command(command) = &ask.hook.kind {
            ours.path("CLAUDE_PLUGIN_ROOT", command.plugin_root.as_deref());
        }
        self.cut |= ours.cut || input.cut || output.into_iter().chain(prompt).any(|told| told.cut);
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

fn name_files(ours: &mut Variables, files: &Files) {
    ours.path("CLAUDE_TOOL_INPUT_FILE", Some(&files.input));
    ours.path("CLAUDE_TOOL_OUTPUT_FILE", files.output.as_deref());
    ours.path("HOOK_PROMPT_FILE", files.prompt.as_deref());
    ours.path("CLAUDE_ENV_FILE", files.env.as_deref());
}

#[cfg(test)]
mod tests;
