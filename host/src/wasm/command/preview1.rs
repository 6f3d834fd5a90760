//! Preview 1 of WASI, for core modules: all of it, over the same empty-handed world that components have.

use wasmtime::{Engine, Linker};
use wasmtime_wasi::{I32Exit, p1};

use super::super::instance::Guest;
use super::super::wasi;

/// The one module that a core module may import from.
pub(in crate::wasm) const MODULE: &str = "wasi_snapshot_preview1";

/// Links all of it.
pub(in crate::wasm) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    p1::add_to_linker_async(&mut linker, |guest: &mut Guest| {
        let clock = guest.clock;
        guest.preview1.get_or_insert_with(|| Box::new(wasi::empty_handed(clock).build_p1()))
    })?;
    // The engine takes codes below 126 only, and a guard that exits with another one would have trapped.
    linker.allow_shadowing(true);
    linker.func_wrap(MODULE, "proc_exit", |code: i32| -> wasmtime::Result<()> { Err(I32Exit(code).into()) })?;
    linker.allow_shadowing(false);
    Ok(linker)
}
