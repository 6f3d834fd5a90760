//! WASI commands: core modules with `_start`, and components that export `wasi:cli/run`. Each speaks the command protocol
//! (HOOKS.md, 3 and 5) in the sandbox: variables in, exit code and output out, no shell, none of the user's rights.
//!
//! Owns linking and running one, and what of its end is an exit code. What it is given is made in `given`, where its
//! output goes in `pipe`, preview 1 of WASI is linked in `preview1`; what its answer says is read in `wire`.

mod given;
mod pipe;
pub(super) mod preview1;

use wasmtime::{Extern, InstancePre, Module, Store};
use wasmtime_wasi::I32Exit;
use wasmtime_wasi::p2::bindings::CommandPre;

use self::given::Given;
use self::pipe::Pipe;
use super::Plugin;
use super::component::Compiled;
use super::engine::Room;
use super::instance::{Deadline, Guest, Instance};
use super::limits::{DESCRIBE_TIME, HANDED_OVER};
use super::load_error::LoadError;
use super::native::Native;
use crate::ask::{Ask, Asked};
use crate::hook::CallbackHook;
use crate::limits::Limits;
use crate::outcome::{Cause, Outcome};
use crate::wire::freecode::{self, Speaker};
use crate::wire::process::{Ended, Exit};

/// Where a core module begins.
pub(super) const START: &str = "_start";

/// What counts for each failed exit of a component: `wasi:cli/exit` says no more than that it failed.
const FAILED: i32 = 2;

/// A WASI command that was linked and can be run.
pub(super) enum Command {
    /// A core module.
    Module(InstancePre<Guest>),
    /// A component.
    Component(CommandPre<Guest>),
}

impl Command {
    /// Links it.
    pub(super) fn link(room: &Room, native: &Native, wants_wasi: bool) -> wasmtime::Result<Self> {
        match native {
            Native::Module(module) => {
                check_start(module)?;
                Ok(Self::Module(room.module_linker().instantiate_pre(module)?))
            }
            Native::Component(component) => {
                let linked = room.linker(wants_wasi).instantiate_pre(component)?;
                Ok(Self::Component(CommandPre::new(linked)?))
            }
        }
    }

    /// Makes an instance and does not run it: what is wrong with its types, or with what it takes at once, shows here.
    pub(super) async fn instantiate(&self, store: &mut Store<Guest>) -> wasmtime::Result<()> {
        match self {
            Self::Module(code) => code.instantiate_async(store).await.map(drop),
            Self::Component(code) => code.instantiate_async(store).await.map(drop),
        }
    }

    /// Runs it to its end, and gives the exit code. Whatever ends it otherwise is an error.
    pub(super) async fn run(&self, store: &mut Store<Guest>) -> wasmtime::Result<i32> {
        match self {
            Self::Module(code) => exit_code(start(code, store).await),
            Self::Component(code) => {
                let ended = async {
                    let command = code.instantiate_async(&mut *store).await?;
                    command.wasi_cli_run().call_run(&mut *store).await
                };
                let said = ended.await.map(|said| said.err().map_or(0, |()| FAILED));
                let code = said.or_else(|error| exit_code(Err(error)))?;
                Ok(if code == 0 { 0 } else { FAILED })
            }
        }
    }
}

fn check_start(module: &Module) -> wasmtime::Result<()> {
    let start = module.get_export(START);
    let fits = start
        .as_ref()
        .and_then(|start| start.func())
        .is_some_and(|start| start.params().len() == 0 && start.results().len() == 0);
    wasmtime::ensure!(fits, "its `{START}` is no function without parameters and results");
    Ok(())
}

async fn start(code: &InstancePre<Guest>, store: &mut Store<Guest>) -> wasmtime::Result<()> {
    let instance = code.instantiate_async(&mut *store).await?;
    let start = instance.get_export(&mut *store, START).and_then(Extern::into_func);
    let start = start.ok_or_else(|| wasmtime::format_err!("its `{START}` is gone"))?;
    start.typed::<(), ()>(&*store)?.call_async(&mut *store, ()).await
}

/// To fall off the end is to succeed; to exit is an error of the engine's that holds the code.
fn exit_code(ended: wasmtime::Result<()>) -> wasmtime::Result<i32> {
    match ended {
        Ok(()) => Ok(0),
        Err(error) => error.downcast_ref::<I32Exit>().map(|exit| exit.0).ok_or(error),
    }
}

/// Whether an instance of it can be made at all. Nothing of its `_start` or `run` runs; what its module starts by itself
/// does, within the time of a `describe` and as empty-handed.
pub(super) async fn try_out(
    room: &Room,
    compiled: &Compiled,
    command: &Command,
    limits: Limits,
) -> Result<(), LoadError> {
    let (deadline, guest) = (Deadline::after(DESCRIBE_TIME), Guest::describing(limits));
    let entered = Instance::enter(room, compiled.places, limits, deadline, guest).await;
    entered.map_err(LoadError::Start)?.try_out(command).await.map_err(LoadError::Start)
}

/// What is to be said of output that was dropped, where the reading does not say it.
fn cut(ended: &Ended) -> impl Iterator<Item = String> {
    let stdout = ended.stdout.cut && ended.exit != Exit::Code(0);
    let streams = [("output", stdout), ("stderr", ended.stderr.cut)];
    streams.into_iter().filter(|(_, cut)| *cut).map(|(name, _)| format!("its {name} was cut"))
}

impl Plugin {
    /// Asks a WASI command in the freecode dialect, which is the one that there is in the sandbox.
    pub(super) async fn ask_command(&self, command: &Command, hook: &CallbackHook, ask: &Ask<'_>) -> Asked {
        let deadline = Deadline::after(ask.time_limit);
        let given = Given::of(hook, ask);
        let (stdout, stderr) = (Pipe::default(), Pipe::default());
        let guest = Guest::new(self.limits, given.config.clone(), self.state(ask.life));
        let mut guest = guest.allowed(&self.allowance, ask, deadline);
        given.hand_to(&mut guest, command, &stdout, &stderr);
        let entered = Instance::enter(&self.room, self.compiled.places, self.limits, deadline, guest).await;
        let mut instance = match entered {
            Ok(instance) => instance,
            Err(cause) => return Outcome::NoAnswer(cause).into(),
        };
        if let Err(cause) = ask.may_begin() {
            return Outcome::NoAnswer(cause).into();
        }
        // What echoes all that it was told writes no more at once than it may.
        let ended = instance.execute(command, HANDED_OVER.max(given.size().saturating_mul(4))).await;
        let mut guest = instance.leave();
        let ended = ended.map(|code| Ended { exit: Exit::Code(code), stdout: stdout.close(), stderr: stderr.close() });
        self.read_command(ask, ended, &mut guest, &stderr)
    }

    fn read_command(&self, ask: &Ask<'_>, ended: Result<Ended, Cause>, guest: &mut Guest, stderr: &Pipe) -> Asked {
        match ended {
            Ok(ended) => {
                let event = &ask.event.name;
                let reading = freecode::read(event, Speaker::Sandboxed, ask.hook.means_by_silence(), &ended);
                let mut asked = self.report(reading.outcome, guest);
                asked.warnings.extend(reading.warnings.into_iter().chain(cut(&ended)));
                asked
            }
            Err(cause) => {
                guest.log.complain(&stderr.close().text());
                self.report(Outcome::NoAnswer(cause), guest)
            }
        }
    }
}
