//! Loading settings and plugins into the registry: all or nothing for a package, entry by entry for settings, and one
//! swap each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use crate::diagnostic::{Diagnostic, printable};
use crate::hook::{HookKind, HookSpec};
use crate::id::{Generation, HookName, Revision, SessionId};
use crate::policy::Trust;
use crate::registry::{Change, Disabled, Dropped, NewHook, SetKey};
use crate::settings::{self, Merged};
use crate::source::{Reach, Scope, Source};
use crate::wire::plugin_json::ManifestError;
use crate::wire::settings::Parsed;

use super::Runtime;
use super::package::Package;
pub use super::sandbox::PluginError;
use super::sandbox::Sandbox;
use super::wanted::Unfit;

/// Why a plugin or its package is not loaded; what was registered before stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// It is a folder, a pipe or a device.
    #[error("{}: not a file", path.display())]
    NoFile {
        /// What it is not.
        path: PathBuf,
    },
    /// The component lies outside of its package.
    #[error("{}: lies outside of the package", path.display())]
    Outside {
        /// The component.
        path: PathBuf,
    },
    /// The `plugin.json` cannot be read.
    #[error("{error}")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: ManifestError,
    },
    /// The component is not one that this host runs.
    #[error("{}: {error}", path.display())]
    Plugin {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: PluginError,
    },
    /// The plugin asks for a hook that cannot be registered.
    #[error("{}: {error}", path.display())]
    Registration {
        /// The file or folder.
        path: PathBuf,
        /// The hook, and why not.
        error: Unfit,
    },
    /// A hook of kind callback was registered from code.
    #[error("hook `{}` is a callback: load its plugin instead of registering it", printable(hook.as_str()))]
    CallbackFromCode {
        /// The hook.
        hook: HookName,
    },
}

/// What a loading came to.
#[derive(Debug)]
pub struct Loaded {
    /// The source's generation.
    pub generation: Generation,
    /// The registry's revision from now on.
    pub revision: Revision,
    /// How many hooks were registered.
    pub hooks: usize,
    /// What took their place before.
    pub dropped: Dropped,
    /// What is to be said about it.
    pub diagnostics: Vec<Diagnostic>,
}

/// What loading needs to remember.
#[derive(Debug)]
pub(super) struct Loading {
    sandbox: Sandbox,
    reads_settings: bool,
    /// The last reading of each settings file that could be read.
    good: Mutex<HashMap<PathBuf, Parsed>>,
    /// One loading of settings at a time.
    turn: tokio::sync::Mutex<()>,
}

impl Loading {
    pub(super) fn new(reads_settings: bool, compile_cache: Option<PathBuf>) -> Self {
        let sandbox = Sandbox::new(compile_cache);
        Self { sandbox, reads_settings, good: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }

    pub(super) fn end_session(&self, session: &SessionId) {
        self.sandbox.end_session(session);
    }
}

impl Runtime {
    /// Loads a plugin for a source: a component's file, or a folder with a `plugin.json`, with all the hooks it brings.
    ///
    /// One swap: what the same source loaded from the same path before is replaced; nothing else is touched.
    ///
    /// # Errors
    ///
    /// Where anything about it cannot be loaded; then nothing has changed.
    pub async fn load(&self, source: Source, path: impl AsRef<Path>, reach: Reach) -> Result<Loaded, LoadError> {
        let path = std::path::absolute(path.as_ref())
            .map_err(|error| LoadError::Read { path: path.as_ref().to_owned(), error })?;
        let package = Package::load(&self.loading.sandbox, &path, &source, &self.events).await?;
        let (specs, diagnostics) = package.hooks(&self.events)?;
        let hooks: Vec<_> = specs
            .into_iter()
            .map(|spec| NewHook { spec, source: source.clone(), code: Some(package.code.clone()) })
            .collect();
        self.say(&diagnostics);
        let count = hooks.len();
        let key = SetKey::Package(source, path.display().to_string());
        let applied = self.dispatcher.registry.apply(Change::Replace { key, reach, hooks });
        Ok(Loaded {
            generation: applied.generation,
            revision: applied.revision,
            hooks: count,
            dropped: applied.dropped,
            diagnostics,
        })
    }

    /// Reads the settings files anew and puts their hooks in the place of those before them, as one swap.
    ///
    /// A file that cannot be read, or is not JSON, keeps the hooks of its last good reading; one that is gone keeps
    /// none. A hook whose plugin cannot be loaded is left out, and said so.
    pub async fn reload(&self) -> Loaded {
        let _turn = self.loading.turn.lock().await;
        let merged = match self.loading.reads_settings {
            true => self.read_settings(),
            false => Merged::default(),
        };
        let mut diagnostics = merged.diagnostics;
        let hooks = self.equip(merged.hooks, &mut diagnostics).await;
        self.say(&diagnostics);
        *self.dropped.lock().unwrap_or_else(PoisonError::into_inner) = merged.dropped;
        let disabled = Disabled { names: merged.user_disabled, all: merged.user_disable_all };
        let count = hooks.len();
        let applied = self.dispatcher.registry.apply(Change::Settings { hooks, disabled });
        Loaded {
            generation: applied.generation,
            revision: applied.revision,
            hooks: count,
            dropped: applied.dropped,
            diagnostics,
        }
    }

    fn read_settings(&self) -> Merged {
        let mut good = self.loading.good.lock().unwrap_or_else(PoisonError::into_inner);
        let surroundings = &self.dispatcher.surroundings;
        let mut files = Vec::new();
        for file in settings::locate(surroundings) {
            let Some(parsed) = settings::read(&file, &self.events, surroundings) else {
                good.remove(&file.path);
                continue;
            };
            if parsed.readable {
                good.insert(file.path, parsed.clone());
                files.push(parsed);
            } else if let Some(before) = good.get(&file.path) {
                files.push(Parsed { diagnostics: parsed.diagnostics, ..before.clone() });
            } else {
                files.push(parsed);
            }
        }
        settings::merge(files)
    }

    /// Gives each hook its plugin; one whose plugin cannot be loaded is left out, and said so.
    async fn equip(&self, hooks: Vec<(Source, HookSpec)>, said: &mut Vec<Diagnostic>) -> Vec<NewHook> {
        let mut packages: HashMap<(Source, PathBuf), Result<Arc<Package>, String>> = HashMap::new();
        let mut equipped = Vec::new();
        for (source, mut spec) in hooks {
            said.extend(self.doubts(&spec));
            let HookKind::Callback(callback) = &spec.kind else {
                equipped.push(NewHook { spec, source, code: None });
                continue;
            };
            if self.is_kept_out(&source) {
                equipped.push(NewHook { spec, source, code: None });
                continue;
            }
            let key = (source.clone(), callback.plugin.clone());
            if !packages.contains_key(&key) {
                let loaded = Package::load(&self.loading.sandbox, &key.1, &source, &self.events).await;
                packages.insert(key.clone(), loaded.map(Arc::new).map_err(|error| error.to_string()));
            }
            match &packages[&key] {
                Ok(package) => {
                    package.complete(&mut spec);
                    equipped.push(NewHook { spec, source, code: Some(package.code.clone()) });
                }
                Err(why) => said.push(not_loaded(&spec, why)),
            }
        }
        equipped
    }

    /// Without trust no code of the project's own is compiled, let alone asked to describe itself.
    fn is_kept_out(&self, source: &Source) -> bool {
        self.dispatcher.trust == Trust::Untrusted && matches!(source, Source::Settings(Scope::Project | Scope::Local))
    }

    /// What makes it doubtful whether a hook does what its author thinks.
    fn doubts(&self, spec: &HookSpec) -> Vec<Diagnostic> {
        let mut doubts: Vec<_> = settings::missing_programs(spec, &self.dispatcher.surroundings).into_iter().collect();
        if spec.event.class().matcher && self.dispatcher.tools.fits_nothing(&spec.matcher) {
            let message = format!("matcher `{}` fits none of the agent's tools", printable(spec.matcher.text()));
            doubts.push(Diagnostic::warning(spec.place.clone(), message));
        }
        doubts
    }
}

fn not_loaded(spec: &HookSpec, why: &str) -> Diagnostic {
    Diagnostic::warning(spec.place.clone(), format!("its plugin is not loaded, so it does not run: {why}"))
}
