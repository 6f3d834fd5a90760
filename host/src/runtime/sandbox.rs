//! The sandbox, started when the first plugin is loaded: a host without plugins has no engine and no thread.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::id::{PluginName, SessionId};
use crate::plugin::Code;
use crate::session::PluginStates;
use crate::source::Source;
use crate::wasm::{CompileCache, EngineError, Limits, LoadError, Owner, Plugins};

/// Loads plugins.
#[derive(Debug)]
pub(super) struct Sandbox {
    cache: Option<CompileCache>,
    states: PluginStates,
    plugins: Mutex<Option<Plugins>>,
}

/// Why a plugin is not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The sandbox itself does not start on this machine.
    #[error("the sandbox does not start: {0}")]
    Engine(#[from] EngineError),
    /// The file is not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl Sandbox {
    /// One that keeps compiled code in this folder.
    pub(super) fn new(compile_cache: Option<PathBuf>) -> Self {
        Self { cache: compile_cache.map(CompileCache::at), states: PluginStates::default(), plugins: Mutex::default() }
    }

    /// Makes a plugin of a file's bytes. It is called `name`, else as it calls itself, else `otherwise`.
    pub(super) async fn load(
        &self,
        bytes: &[u8],
        source: Source,
        name: Option<&PluginName>,
        otherwise: PluginName,
    ) -> Result<Arc<dyn Code>, PluginError> {
        let owner = Owner::new(source).otherwise(otherwise);
        let owner = match name {
            Some(name) => owner.named(name.clone()),
            None => owner,
        };
        Ok(self.plugins()?.load(bytes, owner, Limits::default()).await?)
    }

    /// Forgets what plugins kept for a session that has ended.
    pub(super) fn end_session(&self, session: &SessionId) {
        self.states.end_session(session);
    }

    fn plugins(&self) -> Result<Plugins, EngineError> {
        let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plugins) = &*plugins {
            return Ok(plugins.clone());
        }
        let new = Plugins::new(self.states.clone())?;
        let new = match &self.cache {
            Some(cache) => new.caching_in(cache.clone()),
            None => new,
        };
        *plugins = Some(new.clone());
        Ok(new)
    }
}
