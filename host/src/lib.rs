//! Tacklebox runs an agent's lifecycle hooks.

pub mod ask;
pub mod diagnostic;
pub mod event;
pub mod hook;
pub mod id;
pub mod matching;
pub mod outcome;
pub mod plugin;
pub mod report;
pub mod session;
pub mod source;
pub mod surroundings;
#[cfg(feature = "wasm")]
pub mod wasm;
