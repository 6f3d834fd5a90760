//! Every outside shape, and the only door through which text from outside comes in.
//!
//! Owns syntax, field names and what is said about a wrong one: settings, `plugin.json`, and how a command is handed a
//! payload and understood. Pure: it is handed bytes and opens no file. Which files there are, and how they are merged,
//! is for `settings`; who starts a process is for `process`.

#[cfg(feature = "http")]
pub(crate) mod completion;
pub(crate) mod document;
pub mod environment;
pub(crate) mod field;
pub mod freecode;
pub(crate) mod hooks;
pub mod hooks_json;
pub mod json;
pub(crate) mod limits;
pub(crate) mod path;
pub(crate) mod permissions;
pub mod plugin_json;
mod plugins;
pub mod process;
pub mod prompt;
pub mod schema;
pub mod settings;
pub mod trust;
