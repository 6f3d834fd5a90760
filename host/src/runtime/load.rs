//! Loading settings and plugins into the registry: all or nothing for a package, entry by entry for settings, and one
//! swap each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::bus::Record;
use crate::diagnostic::{Diagnostic, Place, printable};
use crate::hook::{HookKind, HookSpec};
use crate::id::{Generation, HookName, Revision, SessionId};
use crate::plugin::Digest;
use crate::registry::{Change, Disabled, Dropped, NewHook, SetKey};
use crate::settings;
use crate::source::{Reach, Source};
use crate::trust::TrustedBy;
use crate::wire::plugin_json::ManifestError;
use crate::wire::settings::Parsed;

use super::Runtime;
use super::package::Package;
pub use super::sandbox::PluginError;
use super::sandbox::Sandbox;
use super::trusting::{Standing, Trusting};
use super::wanted::Unfit;

/// How long a settings file may be gone before it counts as gone.
const GRACE: Duration = Duration::from_secs(2);

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
    /// It is a WASI command, and nothing says which hooks it answers.
    #[error(
        "{}: a WASI command cannot say which hooks it answers: name it by `plugin` in a hook of type `callback`, or list \
        its `hooks` in a `plugin.json`",
        path.display()
    )]
    NoHooks {
        /// The file or folder.
        path: PathBuf,
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
    pub(super) trusting: Trusting,
    sandbox: Sandbox,
    reads_settings: bool,
    /// The last reading of each settings file that could be read.
    good: Mutex<HashMap<PathBuf, Parsed>>,
    /// One loading of settings at a time.
    turn: tokio::sync::Mutex<()>,
}

impl Loading {
    pub(super) fn new(reads_settings: bool, by: TrustedBy, compile_cache: Option<PathBuf>) -> Self {
        Self {
            trusting: Trusting::new(by),
            sandbox: Sandbox::new(compile_cache),
            reads_settings,
            good: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn end_session(&self, session: &SessionId) {
        self.sandbox.end_session(session);
    }
}

impl Runtime {
    /// Loads a plugin for a source: a component's file, or a folder with a `plugin.json`, with all the hooks it brings. A
    /// WASI command brings none by itself: it needs the `hooks` of a `plugin.json`.
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
        let hooks: Vec<_> =
            specs.into_iter().map(|spec| NewHook::answered_by(spec, source.clone(), package.code.clone())).collect();
        self.say(&diagnostics);
        let count = hooks.len();
        let key = SetKey::Package(source, path.display().to_string());
        let applied = self.apply(Change::Replace { key, reach, hooks });
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
    /// them for 2 s, since some editors save so. A hook whose plugin cannot be loaded keeps the plugin it had; where it
    /// had none, it cannot answer, and on a gate that blocks.
    ///
    /// Where trust is a store's, what is not trusted does not take the place of what is: the project's hooks, plugins and
    /// all, stay as they were when they were trusted.
    pub async fn reload(&self) -> Loaded {
        let _turn = self.loading.turn.lock().await;
        let files = match self.loading.reads_settings {
            true => {
                self.wait_for_what_vanished().await;
                self.read_settings()
            }
            false => Vec::new(),
        };
        let standing = self.loading.trusting.settle(files, &self.dispatcher.surroundings, &self.events);
        let merged = settings::merge(standing.files.clone());
        let mut diagnostics = [standing.said.as_slice(), &merged.diagnostics].concat();
        let hooks = self.equip(merged.hooks, &standing, &mut diagnostics).await;
        self.say(&diagnostics);
        *self.dropped.lock().unwrap_or_else(PoisonError::into_inner) = merged.dropped;
        let disabled = Disabled { names: merged.user_disabled, all: merged.user_disable_all };
        let count = hooks.len();
        let applied = self.apply(Change::Settings { hooks, disabled, trust: standing.trust });
        self.dispatcher.bus.tell(|| Record::Reloaded { revision: applied.revision, hooks: count });
        Loaded {
            generation: applied.generation,
            revision: applied.revision,
            hooks: count,
            dropped: applied.dropped,
            diagnostics,
        }
    }

    /// Trusts what the project brings where that has this digest, as long as the host lives, and reads it anew.
    ///
    /// The embedder shows what [`Runtime::brought`] tells, and hands back the digest that a person agreed to. Writes no
    /// store; does nothing but a reload where trust is the embedder's word.
    pub async fn trust(&self, digest: Digest) -> Loaded {
        self.loading.trusting.admit(&self.dispatcher.surroundings, digest);
        self.reload().await
    }

    /// Returns when every file that could be read before is there again, or [`GRACE`] is over.
    async fn wait_for_what_vanished(&self) {
        let until = tokio::time::Instant::now() + GRACE;
        while self.something_vanished() && tokio::time::Instant::now() < until {
            tokio::time::sleep(GRACE / 20).await;
        }
    }

    fn something_vanished(&self) -> bool {
        let good = self.loading.good.lock().unwrap_or_else(PoisonError::into_inner);
        good.keys().any(|path| !path.exists())
    }

    fn read_settings(&self) -> Vec<Parsed> {
        let mut good = self.loading.good.lock().unwrap_or_else(PoisonError::into_inner);
        let surroundings = &self.dispatcher.surroundings;
        let mut files = Vec::new();
        for file in settings::locate(surroundings) {
            let Some(parsed) = settings::read(&file, &self.events, surroundings) else {
                if good.remove(&file.path).is_some() {
                    let gone = Diagnostic::warning(Place::file(&file.path), "the file is gone, and its hooks with it");
                    files.push(Parsed { diagnostics: vec![gone], ..Parsed::empty(file) });
                }
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
        files
    }

    /// Gives each hook its plugin.
    async fn equip(
        &self,
        hooks: Vec<(Source, HookSpec)>,
        standing: &Standing,
        said: &mut Vec<Diagnostic>,
    ) -> Vec<NewHook> {
        let mut packages: HashMap<(Source, PathBuf), Result<Arc<Package>, String>> = HashMap::new();
        let mut equipped = Vec::new();
        for (source, mut spec) in hooks {
            said.extend(self.doubts(&spec));
            let callback = match &spec.kind {
                HookKind::Callback(callback) if !standing.keeps_out(&source) => callback,
                _ => {
                    let seal = standing.seal(&source, &spec);
                    equipped.push(NewHook { seal, ..NewHook::new(spec, source) });
                    continue;
                }
            };
            let key = (source.clone(), callback.plugin.clone());
            if !packages.contains_key(&key) {
                let loaded = self.package(standing, &key.1, &source).await;
                packages.insert(key.clone(), loaded.map(Arc::new));
            }
            match &packages[&key] {
                Ok(package) => {
                    package.complete(&mut spec);
                    equipped.push(NewHook::answered_by(spec, source, package.code.clone()));
                }
                Err(why) => equipped.push(self.unequipped(spec, source, why, said)),
            }
        }
        equipped
    }

    /// Compiles a plugin from the bytes that are trusted, where there are such, else from what lies there.
    async fn package(&self, standing: &Standing, path: &Path, source: &Source) -> Result<Package, String> {
        let sandbox = &self.loading.sandbox;
        let loaded = match standing.plugin(source, path) {
            Some(files) => Package::of(files?, sandbox, path, source).await,
            None => Package::load(sandbox, path, source, &self.events).await,
        };
        loaded.map_err(|error| error.to_string())
    }

    /// A guard is not lost because its plugin cannot be read: the one that answered so far goes on, and where none did,
    /// the hook is asked and cannot answer.
    fn unequipped(&self, spec: HookSpec, source: Source, why: &str, said: &mut Vec<Diagnostic>) -> NewHook {
        let before = self.dispatcher.registry.snapshot().at(&spec.event).iter().find_map(|hook| {
            let same = hook.source == source && hook.spec.name == spec.name && same_plugin(&hook.spec, &spec);
            hook.code.clone().filter(|_| same)
        });
        let (outlook, new) = match before {
            Some(code) => ("the one that was loaded before goes on", NewHook::answered_by(spec.clone(), source, code)),
            None => {
                let missing = Some(why.into());
                ("the hook cannot answer", NewHook { missing, ..NewHook::new(spec.clone(), source) })
            }
        };
        said.push(Diagnostic::warning(spec.place, format!("its plugin is not loaded, so {outlook}: {why}")));
        new
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

fn same_plugin(a: &HookSpec, b: &HookSpec) -> bool {
    match (&a.kind, &b.kind) {
        (HookKind::Callback(a), HookKind::Callback(b)) => a.plugin == b.plugin,
        _ => false,
    }
}
