//! Tacklebox runs an agent's lifecycle hooks.

pub mod ask;
#[cfg(feature = "cli")]
pub mod cli;
pub mod diagnostic;
pub mod dispatch;
pub mod event;
pub mod executor;
pub mod gate;
pub mod hook;
pub mod id;
pub mod matching;
pub mod once;
pub mod outcome;
pub mod plugin;
pub mod policy;
pub mod port;
pub mod registry;
pub mod report;
pub mod runtime;
pub mod session;
pub mod settings;
pub mod source;
pub mod surroundings;
pub mod text;
#[cfg(feature = "wasm")]
pub mod wasm;
pub mod wire;

pub use dispatch::fold::InputView;
pub use port::HookRuntime;
pub use runtime::{FakeRuntime, Runtime, RuntimeBuilder};
