//! In the sandbox's place where the feature `wasm` is off: every plugin is refused, and says why.

use std::path::PathBuf;
use std::sync::Arc;

use crate::life::SessionLife;
use crate::plugin::{Code, Given, Manifest};
use crate::source::Source;
use crate::surroundings::Surroundings;

use super::package::Packed;

/// Loads nothing.
#[derive(Debug)]
pub(super) struct Sandbox;

/// Why a plugin is not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// This build has no sandbox.
    #[error("this build runs no plugins: its feature `wasm` is off")]
    Disabled,
}

impl Sandbox {
    pub(super) fn new(_: Option<PathBuf>, _: Surroundings) -> Self {
        Self
    }

    pub(super) async fn load(
        &self,
        _: &[u8],
        _: &Source,
        _: &Manifest,
        _: Packed,
        _: &Given,
    ) -> Result<Arc<dyn Code>, PluginError> {
        Err(PluginError::Disabled)
    }

    pub(super) fn end_session(&self, _: &SessionLife) {}

    pub(super) fn close(&self) {}
}
