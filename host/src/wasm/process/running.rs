//! A program from its start to its end: no shell, the arguments as they are, the environment without secrets, in the
//! project or else in an empty folder; its output up to a cap; gone with its group when it ends or its time is up.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant, timeout_at};

use super::lookup::Resolved;
use super::{Output, Until};
use crate::ask::Lease;
use crate::process::{DRAIN, Group, PAUSE, Pipes, is_scarcity, program_in_group, scrubbed};
use crate::surroundings::Surroundings;
use crate::wire::process::{Exit, Stream};

/// Why there is no output.
#[derive(Debug)]
pub(super) enum Failure {
    /// Its time was up.
    TimedOut,
    /// Something else.
    Other(String),
}

/// Runs it. Dropping the future ends the whole group, which holds `lease` until then.
pub(super) async fn run(
    program: Resolved,
    args: Vec<String>,
    stdin: Vec<u8>,
    until: Until,
    lease: Lease,
) -> Result<Output, Failure> {
    let folder = Folder::of(&program.outside).map_err(|error| Failure::Other(format!("no folder: {error}")))?;
    let child = start(&program, &args, !stdin.is_empty(), &folder).await;
    let mut child = child.map_err(|error| Failure::Other(format!("it does not start: {error}")))?;
    let input = child.stdin.take();
    // Dropped here, whatever comes of it, and with it everybody in it.
    let group = Group::of(child, lease);
    timeout_at(its_end(until), ended(group, input, stdin)).await.unwrap_or(Err(Failure::TimedOut))
}

/// A little before the call's own end, so that the plugin can still say something about it.
pub(in crate::wasm) fn its_end(until: Until) -> Instant {
    let now = Instant::now();
    let left = until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
    now + left.mul_f64(0.9)
}

async fn start(program: &Resolved, args: &[String], takes_input: bool, folder: &Folder) -> io::Result<Child> {
    let mut waited = false;
    loop {
        match command(program, args, takes_input, folder).spawn() {
            Err(error) if is_scarcity(&error) && !waited => {
                waited = true;
                tokio::time::sleep(PAUSE).await;
            }
            started => return started,
        }
    }
}

fn command(program: &Resolved, args: &[String], takes_input: bool, folder: &Folder) -> Command {
    let mut command = program_in_group(&program.file);
    let path = (OsString::from("PATH"), program.path.clone());
    command.args(args).current_dir(folder.path()).env_clear().envs(scrubbed(&program.outside)).envs([path]);
    command.stdin(if takes_input { Stdio::piped() } else { Stdio::null() });
    command
}

async fn ended(mut group: Group, input: Option<ChildStdin>, stdin: Vec<u8>) -> Result<Output, Failure> {
    let mut pipes = Pipes::of(group.child());
    // Fed beside it: a program that reads nothing must not be waited for.
    let fed = feed(input, stdin);
    let exited = async {
        tokio::select! {
            exit = group.exited_with_all() => exit,
            never = fed => never,
        }
    };
    let exit = pipes.until_full(exited).await;
    if exit.is_some() {
        pipes.drain(DRAIN).await;
    }
    let (stdout, stderr) = pipes.drop_ends();
    let too_much = [&stdout, &stderr].iter().any(|stream: &&Stream| stream.cut);
    match exit {
        Some(Ok(exit)) if !too_much => {
            let exit_code = match exit {
                Exit::Code(code) => Some(code),
                Exit::Signal(_) => None,
            };
            Ok(Output { exit_code, stdout: stdout.bytes, stderr: stderr.bytes })
        }
        Some(Err(error)) => Err(Failure::Other(format!("waiting for it failed: {error}"))),
        _ => Err(Failure::Other("it printed more than 1 MiB".to_owned())),
    }
}

/// Hands over what is there, closes the pipe, and never comes back. Who does not read it all did not want it.
async fn feed<T>(input: Option<ChildStdin>, bytes: Vec<u8>) -> T {
    if let Some(mut input) = input {
        let _ = input.write_all(&bytes).await;
    }
    std::future::pending().await
}

/// Where a program runs.
enum Folder {
    Project(PathBuf),
    /// Its own, for as long as it runs.
    Empty(TempDir),
}

impl Folder {
    fn of(surroundings: &Surroundings) -> io::Result<Self> {
        match surroundings.project.as_ref().filter(|project| project.is_absolute() && project.is_dir()) {
            Some(project) => Ok(Self::Project(project.clone())),
            None => {
                let owner_only = Permissions::from_mode(0o700);
                let folder = tempfile::Builder::new().prefix("plugin-").permissions(owner_only).tempdir()?;
                Ok(Self::Empty(folder))
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Project(path) => path,
            Self::Empty(folder) => folder.path(),
        }
    }
}
