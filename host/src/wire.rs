//! Every outside shape, and the only door through which text from outside comes in.
//!
//! Owns syntax, field names and what is said about a wrong one. Pure: it is handed bytes and opens no file. Which files
//! there are, and how they are merged, is for `settings`; what is done with a plugin is for `wasm`.

pub(crate) mod document;
pub(crate) mod field;
pub(crate) mod hooks;
pub(crate) mod path;
pub mod plugin_json;
pub mod schema;
pub mod settings;
