//! What a WASI command is given for one call: variables, one argument, and where its output goes. Nothing is cut, and
//! nothing of the host's environment is in it.

use std::ffi::OsString;

use super::super::instance::Guest;
use super::super::question;
use super::super::wasi::{self, Wasi};
use super::Command;
use super::pipe::Pipe;
use crate::ask::Ask;
use crate::event::{Event, EventName};
use crate::hook::{CallbackHook, OUR_VARIABLES};
use crate::wire::environment::{Texts, Variables};
use crate::wire::json::View;

/// In which variable a command finds its hook's `config`, as compact JSON.
const CONFIG: &str = "HOOK_CONFIG";

/// What one call is given.
pub(super) struct Given {
    /// The hook's `config`, as JSON.
    pub(super) config: String,
    variables: Vec<(&'static str, String)>,
    argument: String,
}

impl Given {
    /// For this asking. No value is cut: what is handed over in memory has no limit of the system's, so a guard sees all
    /// of what it guards. There are no private files, and no variables that name them.
    pub(super) fn of(hook: &CallbackHook, ask: &Ask<'_>) -> Self {
        let input = View::of(&ask.event.input).whole();
        let texts = Texts { input: input.json(), output: ask.event.output.as_deref(), prompt: prompt(ask.event) };
        let ours = Variables::of(ask, &texts, usize::MAX).vars;
        let variables = ours.into_iter().map(|(name, value)| (name, text(value))).collect();
        let argument = ask.hook.told_name().replace('\0', "\u{fffd}");
        Self { config: question::json(&hook.config), variables, argument }
    }

    /// How much that is, in bytes.
    pub(super) fn size(&self) -> usize {
        self.config.len() + self.variables.iter().map(|(_, value)| value.len()).sum::<usize>()
    }

    /// Hands it over, with the variables and folders that were granted, but for names of ours: of two variables of one name
    /// some languages find the first and some the last.
    pub(super) fn hand_to(&self, guest: &mut Guest, command: &Command, stdout: &Pipe, stderr: &Pipe) {
        let mut world = wasi::empty_handed(guest.clock);
        let granted: Vec<_> = guest.env.iter().filter(|(name, _)| !is_ours(name)).cloned().collect();
        world.arg(&self.argument).envs(&granted).envs(&self.variables).env(CONFIG, &self.config);
        world.stdout(stdout.clone()).stderr(stderr.clone());
        match command {
            Command::Module(_) => guest.preview1 = Some(Box::new(world.build_p1())),
            Command::Component(_) => guest.wasi = Some(Box::new(Wasi::of(world.build(), &guest.allowance.folders))),
        }
    }
}

fn is_ours(name: &str) -> bool {
    name == CONFIG || OUR_VARIABLES.contains(&name)
}

fn prompt(event: &Event) -> Option<&str> {
    let prompt = (event.name == EventName::UserPromptSubmit).then(|| event.input.get("prompt"));
    prompt.flatten().and_then(|prompt| prompt.as_str())
}

/// A path that is no UTF-8 is told as near as can be.
fn text(value: OsString) -> String {
    value.into_string().unwrap_or_else(|value| value.to_string_lossy().into_owned())
}
