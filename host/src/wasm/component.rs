//! A plugin from its bytes to code that can be called: looked at, compiled, linked, asked to describe itself. How a WASI
//! command is linked is in `command`.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::bindings::{self, PluginPre};
use super::cache::CompileCache;
use super::command::Command;
use super::engine::Room;
use super::inspection::{Inspection, Kind};
use super::instance::{Deadline, Guest, Instance};
use super::limits::{
    ANSWER, DESCRIBE_TIME, MOST_CORE_INSTANCES, MOST_HOOKS, MOST_INSTANCES, MOST_MEMORIES, MOST_TABLES,
};
use super::load_error::LoadError;
use super::native::{Form, Native};
use super::{answer, panicked, weight};
use crate::limits::Limits;
use crate::outcome::{Cause, Limit};
use crate::plugin::{Digest, PluginInfo};

/// A plugin that was compiled and linked; equal ones share it.
pub(super) struct Compiled {
    pub(super) digest: Digest,
    pub(super) program: Program,
    /// How many places an instance takes: one for each of its memories.
    pub(super) places: u32,
    /// Where the code is from.
    pub(super) origin: Origin,
    shelf: Shelf,
}

/// What can be called.
pub(super) enum Program {
    /// A component with the callback interface.
    Callback(PluginPre<Guest>),
    /// A WASI command.
    Command(Command),
}

impl Program {
    /// What it is made of.
    pub(super) fn form(&self) -> Form {
        match self {
            Self::Command(Command::Module(_)) => Form::Module,
            Self::Command(Command::Component(_)) | Self::Callback(_) => Form::Component,
        }
    }
}

/// Where code is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was compiled just now.
    Compiler,
    /// It was compiled by a former host, or for a former loading.
    Cache,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled").field("digest", &self.digest).field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        self.shelf.clear(self.digest);
    }
}

/// What is compiled at the moment. It keeps nothing alive.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf {
    compiled: Arc<Mutex<HashMap<Digest, Weak<Compiled>>>>,
}

impl Shelf {
    fn get(&self, digest: Digest) -> Option<Arc<Compiled>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(&digest)?.upgrade()
    }

    /// Puts it there, unless another of the same bytes was faster: then that one is used.
    fn put(&self, compiled: Arc<Compiled>) -> Arc<Compiled> {
        let mut shelf = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let former = shelf.get(&compiled.digest).and_then(Weak::upgrade);
        let used = former.unwrap_or_else(|| {
            shelf.insert(compiled.digest, Arc::downgrade(&compiled));
            Arc::clone(&compiled)
        });
        // A component that lost the race is dropped by the caller, after the lock: its drop takes the lock too.
        drop(shelf);
        used
    }

    fn clear(&self, digest: Digest) {
        let mut shelf = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if shelf.get(&digest).is_some_and(|weak| weak.strong_count() == 0) {
            shelf.remove(&digest);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.compiled.lock().unwrap().len()
    }
}

/// Compiles and links these bytes, or takes what was made of equal ones. Compiling runs on a thread that may block.
pub(super) async fn compile(
    room: &Arc<Room>,
    shelf: &Shelf,
    cache: Option<&CompileCache>,
    bytes: &[u8],
) -> Result<Arc<Compiled>, LoadError> {
    let seen = Inspection::of(bytes)?;
    check(&seen)?;
    if let Some(compiled) = shelf.get(seen.digest) {
        return Ok(compiled);
    }
    let (room, shelf, cache, start) = (Arc::clone(room), shelf.clone(), cache.cloned(), Instant::now());
    let (digest, form) = (seen.digest, Form::of(&seen.kind));
    let kept = match cache.clone() {
        Some(cache) => {
            let engine = room.engine.clone();
            blocking(move || Ok(cache.get(&engine, digest, form))).await?
        }
        None => None,
    };
    if let Some(native) = kept {
        return blocking(move || finished(&room, &shelf, cache.as_ref(), (native, Origin::Cache), &seen, start)).await;
    }
    let turn = turn(&room).await?;
    // Perhaps whoever had the turn before compiled just that.
    if let Some(compiled) = shelf.get(digest) {
        return Ok(compiled);
    }
    let (bytes, limit) = (bytes.to_vec(), room.compile_time);
    let work = blocking(move || {
        // Held to the end of it, also where nobody waits any more: a thread cannot be stopped.
        let _turn = turn;
        weight::check(&bytes)?;
        let native = compiled(&room, form, &bytes)?;
        finished(&room, &shelf, cache.as_ref(), (native, Origin::Compiler), &seen, start)
    });
    timeout(limit, work).await.unwrap_or(Err(LoadError::CompilingTookTooLong(limit)))
}

/// Waits for a turn with the compiler.
async fn turn(room: &Room) -> Result<OwnedSemaphorePermit, LoadError> {
    let busy = LoadError::CompilerBusy(room.compile_time);
    let turn = timeout(room.compile_time, Arc::clone(&room.compilers).acquire_owned()).await;
    turn.ok().and_then(Result::ok).ok_or(busy)
}

fn finished(
    room: &Room,
    shelf: &Shelf,
    cache: Option<&CompileCache>,
    (native, origin): (Native, Origin),
    seen: &Inspection,
    start: Instant,
) -> Result<Arc<Compiled>, LoadError> {
    tracing::debug!("code of {}: {origin:?}, {:.1?}", seen.digest, start.elapsed());
    link(room, shelf, cache, (native, origin), seen).map(|linked| shelf.put(Arc::new(linked)))
}

/// On a thread that may block; a panic there is a failure like any other.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    let done = tokio::task::spawn_blocking(move || catch_unwind(AssertUnwindSafe(work))).await;
    done.map_err(|error| LoadError::Panicked(error.to_string()))?
        .unwrap_or_else(|panic| Err(LoadError::Panicked(panicked(&*panic))))
}

fn check(seen: &Inspection) -> Result<(), LoadError> {
    match &seen.kind {
        Kind::Plugin(_) | Kind::Command | Kind::Module { command: true } => {}
        Kind::OtherVersion(found) => return Err(LoadError::OtherVersion { found: found.clone() }),
        Kind::Module { command: false } => return Err(LoadError::CoreModule { exports: seen.exports.clone() }),
        Kind::Other => return Err(LoadError::OtherWorld { exports: seen.exports.clone() }),
    }
    if !seen.missing.is_empty() {
        return Err(LoadError::MissingImports(seen.missing.clone()));
    }
    if seen.core_instances > MOST_CORE_INSTANCES {
        return Err(LoadError::TooManyInstances(seen.core_instances));
    }
    if seen.most_instances > MOST_INSTANCES {
        return Err(LoadError::TooNested(seen.most_instances));
    }
    Ok(())
}

fn link(
    room: &Room,
    shelf: &Shelf,
    cache: Option<&CompileCache>,
    (native, origin): (Native, Origin),
    seen: &Inspection,
) -> Result<Compiled, LoadError> {
    let places = places(room, &native)?;
    let program = program(room, &native, seen).map_err(|error| LoadError::WrongTypes(format!("{error:#}")))?;
    if let (Some(cache), Origin::Compiler) = (cache, origin) {
        cache.put(&room.engine, seen.digest, &native);
    }
    Ok(Compiled { digest: seen.digest, program, places, origin, shelf: shelf.clone() })
}

fn program(room: &Room, native: &Native, seen: &Inspection) -> wasmtime::Result<Program> {
    match (native, &seen.kind) {
        (Native::Component(component), Kind::Plugin(_)) => {
            let linked = room.linker(seen.wants_wasi()).instantiate_pre(component)?;
            Ok(Program::Callback(PluginPre::new(linked)?))
        }
        _ => Ok(Program::Command(Command::link(room, native, seen.wants_wasi())?)),
    }
}

/// Compiled code that a plugin ships is never taken: its bytes are compiled.
fn compiled(room: &Room, form: Form, bytes: &[u8]) -> Result<Native, LoadError> {
    Native::compile(&room.engine, form, bytes).map_err(|error| LoadError::Malformed(format!("{error:#}")))
}

fn places(room: &Room, native: &Native) -> Result<u32, LoadError> {
    let Some(needs) = native.needs() else {
        return Err(LoadError::WrongTypes("it imports core modules".into()));
    };
    if needs.num_memories > MOST_MEMORIES {
        return Err(LoadError::TooManyMemories(needs.num_memories));
    }
    if needs.num_tables > MOST_TABLES {
        return Err(LoadError::TooManyTables(needs.num_tables));
    }
    let places = needs.num_memories.max(1);
    room.places.fits(places).map_err(|none| LoadError::Start(Cause::CouldNotStart(none.to_string())))?;
    Ok(places)
}

/// Asks it what it is. This is also the first time that its types are compared with those of the interface.
pub(super) async fn describe(
    room: &Room,
    compiled: &Compiled,
    code: &PluginPre<Guest>,
    limits: Limits,
) -> Result<PluginInfo, LoadError> {
    let deadline = Deadline::after(DESCRIBE_TIME);
    let guest = Guest::describing(limits);
    let entered = Instance::enter(room, compiled.places, limits, deadline, guest).await;
    let info = entered.map_err(LoadError::Describe)?.describe(code).await.map_err(refusal)?;
    if answer::largest_string(&info) > ANSWER {
        return Err(LoadError::Describe(Cause::Limit(Limit::Answer(ANSWER))));
    }
    if info.hooks.len() > MOST_HOOKS {
        return Err(LoadError::TooManyHooks(info.hooks.len()));
    }
    Ok(info.into())
}

fn refusal(cause: Cause) -> LoadError {
    match cause {
        // The engine has no type for a mismatch of types; what it says of one names the export.
        Cause::NotAnAnswer(message) if is_mismatch(&message) => LoadError::WrongTypes(message),
        cause => LoadError::Describe(cause),
    }
}

fn is_mismatch(message: &str) -> bool {
    message.contains("type mismatch") || message.contains("expected") && message.contains("found")
}

/// The version of the interface that the host has, for people.
pub(super) fn interface_version() -> String {
    bindings::VERSION.map(|n| n.to_string()).join(".")
}
