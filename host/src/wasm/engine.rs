//! The engine and what belongs to it: its settings, the ticker, the places for instances, and the linkers.
//!
//! Everything that does not differ between plugins is made here, once. Nothing here runs a guest.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use wasmtime::component::Linker;
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

use super::bindings::Plugin;
use super::command::preview1;
use super::instance::Guest;
use super::kept::Kept;
use super::limits::{COMPILE_TIME, MOST_COMPILATIONS, MOST_CORE_INSTANCES, MOST_TABLES, STACK};
use super::places::{NoPlace, Place, Places};
use super::ticker::Ticker;
use crate::limits::{MOST_MEMORY, MOST_TABLE_ELEMENTS};

/// How many instances there may be at a time.
const PLACES: u32 = 64;
/// How many calls may wait for a place.
const QUEUE: usize = 256;
/// How much of a used memory is kept for the next instance, in bytes: it is cleared, not given back, and stays for as long as the
/// sandbox in every place that was ever used. Four times of it saves Go's instances a tenth of a call, and no other's anything.
const KEPT_MEMORY: usize = 512 << 10;
/// The same for a table.
const KEPT_TABLE: usize = 64 << 10;
/// How many places that nobody uses are left to the plugin they were used by, before whoever comes next takes the one that rests
/// longest rather than one that was never used: so that no more of them are ever used than have to be.
const WARM: u32 = 16;
/// The host's own structures for one instance, in bytes; components of script engines need more than the usual 1 MiB.
const INSTANCE_SIZE: usize = 4 << 20;

/// The engine could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The sandbox does not work on this machine, or not with these settings.
    #[error("the WASM engine could not be set up: {0}")]
    Engine(String),
    /// The thread of the clock could not be started.
    #[error("the thread that ends plugins in time could not be started: {0}")]
    Ticker(#[from] std::io::Error),
}

impl EngineError {
    fn engine(error: &wasmtime::Error) -> Self {
        Self::Engine(format!("{error:#}"))
    }
}

/// The engine with its ticker, its places and its linkers.
pub(super) struct Room {
    pub(super) engine: Engine,
    pub(super) ticker: Ticker,
    pub(super) places: Places,
    pub(super) kept: Kept,
    /// A turn with the compiler each.
    pub(super) compilers: Arc<Semaphore>,
    /// How long a compilation is waited for.
    pub(super) compile_time: Duration,
    linker: Linker<Guest>,
    linker_with_wasi: Linker<Guest>,
    module_linker: wasmtime::Linker<Guest>,
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").field("places", &self.places).finish_non_exhaustive()
    }
}

impl Room {
    pub(super) fn new() -> Result<Self, EngineError> {
        Self::with_places(PLACES, QUEUE)
    }

    pub(super) fn with_places(places: u32, queue: usize) -> Result<Self, EngineError> {
        let engine = pooled(places).or_else(|_| on_demand()).map_err(|error| EngineError::engine(&error))?;
        let linker = linker(&engine).map_err(|error| EngineError::engine(&error))?;
        let mut linker_with_wasi = linker.clone();
        super::wasi::link(&mut linker_with_wasi).map_err(|error| EngineError::engine(&error))?;
        let module_linker = preview1::linker(&engine).map_err(|error| EngineError::engine(&error))?;
        let ticker = Ticker::start(engine.weak())?;
        Ok(Self {
            engine,
            ticker,
            places: Places::new(places, queue),
            kept: Kept::new(places / 2),
            compilers: Arc::new(Semaphore::new(MOST_COMPILATIONS)),
            compile_time: COMPILE_TIME,
            linker,
            linker_with_wasi,
            module_linker,
        })
    }

    /// Waits for `wanted` places; instances that rest give theirs up before anybody waits.
    pub(super) async fn place(&self, wanted: u32) -> Result<Place, NoPlace> {
        if !self.places.has(wanted) {
            self.kept.make_room(wanted);
        }
        self.places.take(wanted).await
    }

    /// The linker for a component: WASI is there for those alone that ask for it.
    pub(super) fn linker(&self, wants_wasi: bool) -> &Linker<Guest> {
        if wants_wasi { &self.linker_with_wasi } else { &self.linker }
    }

    /// The linker for a core module: preview 1 of WASI and nothing else.
    pub(super) fn module_linker(&self) -> &wasmtime::Linker<Guest> {
        &self.module_linker
    }
}

fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    Plugin::add_to_linker::<_, wasmtime::component::HasSelf<_>>(&mut linker, |guest| guest)?;
    Ok(linker)
}

/// Instances come from places that were reserved beforehand: a call makes no new mapping.
fn pooled(places: u32) -> wasmtime::Result<Engine> {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(places)
        .total_core_instances(places * MOST_CORE_INSTANCES as u32)
        .total_memories(places)
        .total_tables(places * MOST_TABLES)
        .total_stacks(places)
        // Address space alone: what a guest may use is for its ledger to say.
        .max_memory_size(MOST_MEMORY)
        .table_elements(MOST_TABLE_ELEMENTS)
        .max_tables_per_module(MOST_TABLES)
        .max_component_instance_size(INSTANCE_SIZE)
        .max_core_instance_size(INSTANCE_SIZE)
        .max_unused_warm_slots(WARM)
        .linear_memory_keep_resident(KEPT_MEMORY)
        .table_keep_resident(KEPT_TABLE)
        .pagemap_scan(Enabled::Auto);
    Engine::new(settings().allocation_strategy(InstanceAllocationStrategy::Pooling(pool)))
}

/// Where so much address space cannot be had: slower, and the same in everything else.
fn on_demand() -> wasmtime::Result<Engine> {
    Engine::new(settings().allocation_strategy(InstanceAllocationStrategy::OnDemand))
}

fn settings() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .epoch_interruption(true)
        .concurrency_support(false)
        .max_wasm_stack(STACK)
        .cranelift_opt_level(OptLevel::Speed)
        // Backtraces name functions, not places in them: a tenth less code to keep and to load.
        .generate_address_map(false)
        // What compilers for plugins do not emit is not there to be attacked. Several memories in one module stay: the engine's
        // own adapters between the parts of a component are made with them.
        .wasm_memory64(false)
        .wasm_tail_call(false)
        .wasm_relaxed_simd(false);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_allocate_give_an_engine() {
        assert!(pooled(2).unwrap().get_pooling_config().is_some());
        assert!(on_demand().unwrap().get_pooling_config().is_none());
    }

    /// Two parts with a memory each, of which one hands the other a string, as components of script engines have them.
    const PARTS: &str = r#"(component
        (component $a
            (core module $m
                (memory (export "memory") 1)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 0)
                (func (export "take") (param i32 i32)))
            (core instance $i (instantiate $m))
            (func (export "take") (param "text" string)
                (canon lift (core func $i "take") (memory $i "memory") (realloc (func $i "realloc")))))
        (component $b
            (import "take" (func $take (param "text" string)))
            (core module $libc (memory (export "memory") 1))
            (core instance $libc (instantiate $libc))
            (core func $lowered (canon lower (func $take) (memory $libc "memory")))
            (core module $m (import "a" "take" (func (param i32 i32))))
            (core instance (instantiate $m (with "a" (instance (export "take" (func $lowered)))))))
        (instance $a (instantiate $a))
        (instance (instantiate $b (with "take" (func $a "take")))))"#;

    #[test]
    fn parts_of_a_component_hand_strings_from_memory_to_memory() {
        let component = wat::parse_str(PARTS).unwrap();
        assert!(wasmtime::component::Component::new(&pooled(1).unwrap(), component).is_ok());
    }

    #[test]
    fn a_pool_that_cannot_be_reserved_is_done_without() {
        // More address space than there is.
        let room = Room::with_places(100_000, 1).unwrap();
        assert!(room.engine.get_pooling_config().is_none());
    }
}
