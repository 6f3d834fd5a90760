//! The private door to wasmtime: loads components and WASI commands as plugins, and calls each in a sandbox of its own.
//!
//! Owns the engine, the compiled code, the instances and all limits on them. What is registered, whom to ask, and what
//! a missing answer means is said elsewhere; no type of the engine is seen outside.
//!
//! - `engine`: settings and linkers; `ticker`: the clock that ends guests; `places`: how many at a time
//! - `inspection`, `name`, `imports`, `producers`: what a file is, from its bytes; `weight`: what it takes to compile it;
//!   `native`, `component`: from bytes to code; `cache`: code that was compiled before; `load_error`: why a file is refused;
//!   `bindings`: the interface
//! - `command`: WASI commands, which speak the protocol of shell commands
//! - `instance`: one call; `kept`: instances that outlast it; `limits`: what it may use; `question`, `answer`, `trap`: in and out
//! - `log`, `config`, `state`, `process`, `http`, `wasi`: what a guest may import; `allowance`, `folders`,
//!   `opening`, `way`: what of the machine it was granted

mod allowance;
mod answer;
mod bindings;
mod cache;
mod command;
mod component;
mod config;
mod engine;
mod folders;
mod http;
mod imports;
mod inspection;
mod instance;
mod kept;
mod limits;
mod load_error;
mod log;
mod name;
mod native;
mod opening;
mod places;
mod process;
mod producers;
mod question;
mod state;
#[cfg(test)]
mod tests;
mod ticker;
mod trap;
mod wasi;
mod way;
mod weight;

use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use tokio::task::coop::consume_budget;

use self::allowance::Allowance;
use self::bindings::PluginPre;
use self::component::{Compiled, Program, Shelf};
use self::engine::Room;
use self::instance::{Deadline, Guest, Instance};
use self::kept::{Tenant, Turn};
use self::state::State;
use crate::ask::{Ask, Asked};
use crate::hook::{CallbackHook, Lifetime};
use crate::id::PluginName;
use crate::life::SessionLife;
use crate::outcome::{Cause, Outcome};
use crate::plugin::{Allowed, Code, Digest, PluginInfo, Terms};
use crate::session::{Claim, PluginStates, StateOwner};
use crate::source::Source;

pub use self::cache::{CacheError, CompileCache, Stock};
pub use self::engine::EngineError;
pub use self::imports::MissingImport;
pub use self::inspection::{Inspection, Kind};
pub use self::load_error::LoadError;
pub use self::producers::{Producer, Producers, naming_language};
pub use self::weight::TooMuch;
pub use crate::limits::{Limits, MOST_MEMORY};

/// What these bytes are, without compiling or running them; no engine is started for it.
///
/// # Errors
///
/// As [`Plugins::inspect`].
pub fn inspect(bytes: &[u8]) -> Result<Inspection, LoadError> {
    Inspection::of(bytes)
}

/// What a WASI command is called that nobody named.
const NAMELESS: &str = "command";

/// Who brings a plugin, and under which name.
#[derive(Clone, Debug)]
pub struct Owner {
    /// Who brings it.
    pub source: Source,
    /// Its name, where the owner has one for it; else the one that it gives itself.
    pub name: Option<PluginName>,
    /// What it may do: nothing, unless somebody says so.
    pub terms: Terms,
    /// What it is called where it has no name otherwise, as a WASI command.
    pub otherwise: Option<PluginName>,
}

impl Owner {
    /// One that leaves the name to the plugin.
    pub fn new(source: Source) -> Self {
        Self { source, name: None, terms: Terms::default(), otherwise: None }
    }

    /// The same, with this name.
    #[must_use]
    pub fn named(mut self, name: impl Into<PluginName>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The same, on these terms.
    #[must_use]
    pub fn on(mut self, terms: Terms) -> Self {
        self.terms = terms;
        self
    }

    /// The same, called so where it has no name otherwise.
    #[must_use]
    pub fn otherwise(mut self, name: impl Into<PluginName>) -> Self {
        self.otherwise = Some(name.into());
        self
    }
}

/// The sandbox: one engine, and what is compiled for it. A clone is the same sandbox.
///
/// It ends, with its thread, when the last clone and the last loaded plugin are dropped. Calls and loading need a tokio
/// runtime with time enabled.
#[derive(Clone)]
pub struct Plugins {
    room: Arc<Room>,
    shelf: Shelf,
    cache: Option<CompileCache>,
    states: PluginStates,
}

impl fmt::Debug for Plugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugins").finish_non_exhaustive()
    }
}

impl Plugins {
    /// An empty sandbox, whose plugins keep their state in `states`.
    ///
    /// # Errors
    ///
    /// Where the machine has no place for the engine or its thread.
    pub fn new(states: PluginStates) -> Result<Self, EngineError> {
        Ok(Self::of(Room::new()?, states))
    }

    fn of(room: Room, states: PluginStates) -> Self {
        Self { room: Arc::new(room), shelf: Shelf::default(), cache: None, states }
    }

    /// The same sandbox, and what this one compiles is kept in `cache` and taken from there.
    #[must_use]
    pub fn caching_in(mut self, cache: CompileCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Makes a plugin of a file's bytes: compiles, links and instantiates it, and has it describe itself where it can.
    ///
    /// Not for the path of a call: compiling may take seconds, on a thread that may block. A component whose bytes are
    /// loaded already, for whomever, is not compiled again, and neither is one whose code is in the cache.
    ///
    /// # Errors
    ///
    /// Where the bytes are no plugin that this host runs, or it cannot be started or describe itself
    /// within 1 s.
    pub async fn load(&self, bytes: &[u8], owner: Owner, limits: Limits) -> Result<Arc<dyn Code>, LoadError> {
        let loading = AssertUnwindSafe(self.load_unguarded(bytes, owner, limits)).catch_unwind();
        loading.await.unwrap_or_else(|panic| Err(LoadError::Panicked(panicked(&*panic))))
    }

    async fn load_unguarded(&self, bytes: &[u8], owner: Owner, limits: Limits) -> Result<Arc<dyn Code>, LoadError> {
        let limits = limits.bounded();
        let compiled = component::compile(&self.room, &self.shelf, self.cache.as_ref(), bytes).await?;
        let Owner { source, name, terms, otherwise } = owner;
        let info = self.info(&compiled, limits, otherwise).await?;
        let name = name.unwrap_or_else(|| info.name.clone());
        if name.as_str().trim().is_empty() {
            return Err(LoadError::NoName);
        }
        let owner = StateOwner { source, name, digest: compiled.digest };
        let allowance = Arc::new(Allowance::of(compiled.program.form(), &terms, &owner));
        let (room, claim) = (Arc::clone(&self.room), self.states.claim(owner));
        let tenant = room.kept.tenant();
        Ok(Arc::new(Plugin { room, tenant, claim, compiled, info, limits, allowance }))
    }

    /// What a component says of itself. A WASI command says nothing: that it can be started is all that is known.
    async fn info(
        &self,
        compiled: &Compiled,
        limits: Limits,
        otherwise: Option<PluginName>,
    ) -> Result<PluginInfo, LoadError> {
        match &compiled.program {
            Program::Callback(code) => component::describe(&self.room, compiled, code, limits).await,
            Program::Command(command) => {
                command::try_out(&self.room, compiled, command, limits).await?;
                let name = otherwise.unwrap_or_else(|| NAMELESS.into());
                Ok(PluginInfo { name, version: String::new(), description: String::new(), hooks: Vec::new() })
            }
        }
    }

    /// What these bytes are, without compiling or running them.
    ///
    /// # Errors
    ///
    /// Where they are empty, too large, cut short or no WASM; not where they are WASM of another kind.
    pub fn inspect(&self, bytes: &[u8]) -> Result<Inspection, LoadError> {
        Inspection::of(bytes)
    }

    /// Ends the instances that plugins kept for this session; one that is in use ends with its call.
    pub fn end_session(&self, session: &SessionLife) {
        self.room.kept.end_session(session);
    }

    /// The version of the plugin interface that this host has.
    pub fn interface_version(&self) -> String {
        component::interface_version()
    }
}

/// A loaded plugin.
#[derive(Debug)]
struct Plugin {
    compiled: Arc<Compiled>,
    info: PluginInfo,
    claim: Claim,
    limits: Limits,
    allowance: Arc<Allowance>,
    room: Arc<Room>,
    tenant: Tenant,
}

impl Drop for Plugin {
    fn drop(&mut self) {
        self.room.kept.end_tenant(self.tenant);
    }
}

#[async_trait]
impl Code for Plugin {
    fn info(&self) -> &PluginInfo {
        &self.info
    }

    fn digest(&self) -> Digest {
        self.compiled.digest
    }

    fn allowed(&self) -> &Allowed {
        &self.allowance.allowed
    }

    fn describes_itself(&self) -> bool {
        matches!(self.compiled.program, Program::Callback(_))
    }

    async fn call(&self, hook: &CallbackHook, ask: &Ask<'_>) -> Asked {
        // A call that waits for nothing never yields: whoever makes many in a row would keep a thread of the async runtime.
        consume_budget().await;
        guarded(self.ask(hook, ask)).await
    }
}

impl Plugin {
    async fn ask(&self, hook: &CallbackHook, ask: &Ask<'_>) -> Asked {
        match &self.compiled.program {
            Program::Callback(code) => self.ask_component(code, hook, ask).await,
            Program::Command(command) => self.ask_command(command, hook, ask).await,
        }
    }

    async fn ask_component(&self, code: &PluginPre<Guest>, hook: &CallbackHook, ask: &Ask<'_>) -> Asked {
        let deadline = Deadline::after(ask.time_limit);
        let guest = Guest::new(self.limits, question::json(&hook.config), self.state(ask.life));
        let guest = guest.allowed(&self.allowance, ask, deadline);
        let turn = match self.turn(hook, ask, deadline).await {
            Ok(turn) => turn,
            Err(cause) => return Outcome::NoAnswer(cause).into(),
        };
        // Behind the turn: whatever ends this call ends the instance first.
        let mut instance = match self.instance(turn.as_ref(), deadline, guest).await {
            Ok(instance) => instance,
            Err(cause) => return Outcome::NoAnswer(cause).into(),
        };
        // To wait for a turn and for a place takes time.
        if let Err(cause) = ask.may_begin() {
            return Outcome::NoAnswer(cause).into();
        }
        let (input, context) = (question::input(ask), question::context(ask));
        let largest =
            limits::largest_answer(input.tool_input.len() + input.tool_output.as_ref().map_or(0, String::len));
        let said = instance.run(code, &input, &context, largest).await;
        let outcome = said.map_or_else(Outcome::NoAnswer, |said| answer::outcome(said, largest));
        let sound = !matches!(&outcome, Outcome::NoAnswer(cause) if !matches!(cause, Cause::Failed(_)));
        let asked = self.report(outcome, instance.guest());
        if let (Some(turn), true) = (turn, sound) {
            turn.keep(instance.rest());
        }
        asked
    }

    /// The turn with the session's instance, where the hook has such a one.
    async fn turn(&self, hook: &CallbackHook, ask: &Ask<'_>, deadline: Deadline) -> Result<Option<Turn<'_>>, Cause> {
        match hook.instance.unwrap_or_default() {
            Lifetime::Call => Ok(None),
            Lifetime::Session => self.room.kept.turn(self.tenant, ask.life, deadline).await.map(Some),
        }
    }

    async fn instance(&self, turn: Option<&Turn<'_>>, deadline: Deadline, guest: Guest) -> Result<Instance<'_>, Cause> {
        match turn.and_then(Turn::take) {
            Some(body) => Ok(Instance::resume(&self.room, body, deadline, guest)),
            None => Instance::enter(&self.room, self.compiled.places, self.limits, deadline, guest).await,
        }
    }

    fn state(&self, session: &SessionLife) -> State {
        State::Of(self.claim.states().open(self.claim.owner(), session))
    }

    fn report(&self, outcome: Outcome, guest: &mut Guest) -> Asked {
        let (log, flood) = std::mem::take(&mut guest.log).close();
        let (denials, outgoing) = (std::mem::take(&mut guest.denials), std::mem::take(&mut guest.outgoing));
        let name = self.claim.owner().name.as_str();
        let denied = [denials, outgoing.denials()].into_iter().flat_map(|some| some.warnings(name));
        Asked { log, warnings: flood.into_iter().chain(denied).collect(), ..outcome.into() }
    }
}

/// A panic of the engine, or of ours, is that plugin's failure.
async fn guarded(call: impl Future<Output = Asked>) -> Asked {
    let call = AssertUnwindSafe(call).catch_unwind();
    call.await.unwrap_or_else(|panic| Outcome::NoAnswer(Cause::Panicked(panicked(&*panic))).into())
}

/// What a panic says.
fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}
