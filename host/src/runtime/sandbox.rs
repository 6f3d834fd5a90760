//! The sandbox, started when the first plugin is loaded: a host without plugins has no engine and no thread.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::package::Packed;
use crate::life::SessionLife;
use crate::limits::Limits;
use crate::plugin::{Code, Given, Manifest, Terms};
use crate::session::PluginStates;
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::wasm::{CompileCache, EngineError, LoadError, Owner, Plugins};

/// Loads plugins.
#[derive(Debug)]
pub(super) struct Sandbox {
    cache: Option<CompileCache>,
    surroundings: Surroundings,
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
    pub(super) fn new(compile_cache: Option<PathBuf>, surroundings: Surroundings) -> Self {
        let (states, plugins) = Default::default();
        Self { cache: compile_cache.map(CompileCache::at), surroundings, states, plugins }
    }

    /// Makes a plugin of a file's bytes, with what it was `given` of what its manifest asks for. It is called as its
    /// manifest says, else as it calls itself, else as it is packed.
    pub(super) async fn load(
        &self,
        bytes: &[u8],
        source: &Source,
        manifest: &Manifest,
        packed: Packed,
        given: &Given,
    ) -> Result<Arc<dyn Code>, PluginError> {
        let terms = Terms {
            requested: manifest.permissions.clone(),
            granted: given.permissions.clone(),
            package: packed.package,
            surroundings: self.surroundings.clone(),
        };
        let owner = Owner::new(source.clone()).on(terms).otherwise(packed.otherwise);
        let owner = Owner { name: manifest.name.clone(), ..owner };
        Ok(self.plugins()?.load(bytes, owner, Limits::from(given.limits.over(manifest.limits))).await?)
    }

    /// Forgets what plugins kept for a session that has ended, and what was kept of them.
    pub(super) fn end_session(&self, session: &SessionLife) {
        let plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner).clone();
        plugins.into_iter().for_each(|plugins| plugins.end_session(session));
        self.states.end_session(session);
    }

    #[cfg(test)]
    pub(super) fn keeps_no_state(&self) -> bool {
        self.states.is_empty()
    }

    /// Lets go of the engine: it ends with the last plugin that is still loaded.
    pub(super) fn close(&self) {
        self.plugins.lock().unwrap_or_else(PoisonError::into_inner).take();
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
