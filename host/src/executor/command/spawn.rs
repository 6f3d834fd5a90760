//! Starting a command: what is run, with which environment, and what is done where the system refuses.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::io::Errno;
use tokio::process::{Child, Command};

use super::environment::Environment;
use super::folder;
use super::payload::{Payload, VALUE_LIMIT};
use crate::ask::Ask;
use crate::hook::{CommandHook, OnCut, Shell};
use crate::process::{PAUSE, is_scarcity, program_in_group};

/// To how many bytes each of our values is cut where the system finds all of it together too big.
const SMALL_LIMIT: usize = 4 << 10;

/// A command that runs.
pub(super) struct Started {
    pub(super) child: Child,
    /// It sees a cut copy of something.
    pub(super) cut: bool,
    pub(super) warnings: Vec<String>,
}

/// Why a command does not run.
#[derive(Debug)]
pub(super) enum NotStarted {
    /// The system did not start it.
    Failed(String),
    /// It would have seen a cut copy, and must not.
    Refused,
}

/// Starts it; tries again with less where it was too big, and once more where something had run out.
pub(super) async fn start(hook: &CommandHook, ask: &Ask<'_>, payload: &Payload) -> Result<Started, NotStarted> {
    let mut warnings = Vec::new();
    let folder = folder::usable(ask, &mut warnings);
    let (mut limit, mut waited) = (VALUE_LIMIT, false);
    loop {
        let environment = Environment::of(&hook.env, ask, payload, limit);
        if environment.cut && hook.on_cut == OnCut::Block {
            return Err(NotStarted::Refused);
        }
        match command(hook, &folder, &environment).spawn() {
            Ok(child) => {
                warnings.extend(environment.warnings);
                return Ok(Started { child, cut: environment.cut, warnings });
            }
            Err(error) if error.raw_os_error() == Some(Errno::TOOBIG.raw_os_error()) && limit > SMALL_LIMIT => {
                limit = SMALL_LIMIT
            }
            Err(error) if is_scarcity(&error) && !waited => {
                waited = true;
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(NotStarted::Failed(why(hook, &folder, &error))),
        }
    }
}

fn command(hook: &CommandHook, folder: &Path, environment: &Environment) -> Command {
    let (program, args) = words(hook, folder);
    let mut command = program_in_group(&program);
    command.args(args).current_dir(folder);
    command.env_clear().envs(environment.vars.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null());
    command
}

/// The program and its arguments. A relative path is meant from the folder in which the command runs.
fn words<'a>(hook: &'a CommandHook, folder: &Path) -> (PathBuf, Vec<&'a str>) {
    match (&hook.args, hook.shell) {
        (Some(args), _) if hook.command.contains('/') => (folder.join(&hook.command), strs(args)),
        (Some(args), _) => (PathBuf::from(&hook.command), strs(args)),
        (None, Shell::Bash) => (PathBuf::from("bash"), vec!["-c", &hook.command]),
        (None, Shell::Powershell) => {
            (PathBuf::from("pwsh"), vec!["-NoProfile", "-NonInteractive", "-Command", &hook.command])
        }
    }
}

fn strs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

fn why(hook: &CommandHook, folder: &Path, error: &io::Error) -> String {
    let (program, _) = words(hook, folder);
    let shown = program.display();
    match error.kind() {
        // The system says the same of a script and of the interpreter that its first line names.
        io::ErrorKind::NotFound if program.is_absolute() && program.exists() => {
            format!("the interpreter of `{shown}` was not found")
        }
        io::ErrorKind::NotFound => format!("`{shown}` was not found"),
        _ => format!("`{shown}`: {error}"),
    }
}
