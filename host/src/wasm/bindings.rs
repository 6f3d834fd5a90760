//! The plugin interface in Rust's words, a file for each version of it. The host works with the newest; an older one
//! forwards to it.

mod v0_1;

pub(super) use v0_1::exports::tacklebox::hooks::callback::{HookContext, HookInput, HookResult, PluginInfo};
pub(super) use v0_1::tacklebox::hooks::types::{Failure, HookRegistration, Modification, Permission};
pub(super) use v0_1::tacklebox::hooks::{config, log, process, state, types};
pub(super) use v0_1::{Plugin, PluginPre};

/// The package whose interfaces these are.
pub(super) const PACKAGE: &str = "tacklebox:hooks";
/// The version that the host has: it runs plugins of each `0.1.x`.
pub(super) const VERSION: [u32; 3] = [0, 1, 0];
/// What a plugin may import of that package.
pub(super) const IMPORTS: [&str; 5] = ["types", "log", "config", "state", "process"];
/// What makes a component a plugin: it exports this interface.
pub(super) const EXPORT: &str = "callback";
