//! Tacklebox runs an agent's lifecycle hooks.

pub mod ask;
pub mod diagnostic;
pub mod event;
pub mod executor;
pub mod hook;
pub mod id;
pub mod matching;
pub mod outcome;
pub mod plugin;
pub mod report;
pub mod source;
pub mod surroundings;
pub mod wire;
