//! Loading settings and plugins into the registry: all or nothing for a package, entry by entry for settings, and one
//! swap each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use crate::bus::Record;
use crate::diagnostic::{Diagnostic, printable, printable_path};
use crate::hook::{HookKind, HookSpec};
use crate::id::{Generation, HookName, Reading, Revision};
use crate::life::SessionLife;
use crate::permission::Permissions;
use crate::plugin::{Code, Digest, Given};
use crate::registry::{Applied, Change, Disabled, Dropped, Hook, NewHook, Waiting};
use crate::settings;
use crate::source::{Reach, Source};
use crate::trust::TrustedBy;
use crate::wire::hooks_json::NotWhole;
use crate::wire::plugin_json::ManifestError;
use crate::wire::settings::Parsed;

use super::Runtime;
use super::guarded;
use super::origins::{Laden, Origins, Reads};
use super::package::Package;
pub use super::sandbox::PluginError;
use super::sandbox::Sandbox;
use super::shutdown::taken;
use super::trusting::{Standing, Trusting};
use super::unfolding::{Had, Unfolded};
use super::wanted::Unfit;
use super::whole::Ready;

/// Why a plugin or its package is not loaded; what was registered before stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read.
    #[error("{}: {error}", printable_path(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// It is a folder, a pipe or a device.
    #[error("{}: not a file", printable_path(path))]
    NoFile {
        /// What it is not.
        path: PathBuf,
    },
    /// A file of the package lies outside of it.
    #[error("{}: lies outside of the package", printable_path(path))]
    Outside {
        /// The file.
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
    /// Its `hooks/hooks.json` cannot be read whole.
    #[error(transparent)]
    Hooks(#[from] NotWhole),
    /// A file is larger than any of its kind.
    #[error("{}: larger than 1 MiB", printable_path(path))]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The components of a folder are larger than all that is read of one.
    #[error("{}: its components are larger than 256 MiB together", printable_path(path))]
    TooLargeTogether {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has nothing of a package.
    #[error("{}: holds neither `plugin.json` nor `hooks/hooks.json`", printable_path(path))]
    Nothing {
        /// The folder.
        path: PathBuf,
    },
    /// It is a plugin for another agent.
    #[error(
        "{}: is a plugin of Claude Code, whose hooks speak a dialect that this version does not: a `plugin.json` beside \
        its `.claude-plugin` says that they are written for this one",
        printable_path(path)
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// The component is not one that this host runs.
    #[error("{}: {error}", printable_path(path))]
    Plugin {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: PluginError,
    },
    /// The plugin asks for a hook that cannot be registered.
    #[error("{}: {error}", printable_path(path))]
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
        printable_path(path)
    )]
    NoHooks {
        /// The file or folder.
        path: PathBuf,
    },
    /// The ration of what is read of a project was used up.
    #[error(
        "{}: not read, since the files that the project names are larger than 256 MiB together",
        printable_path(path)
    )]
    TooMuch {
        /// The file.
        path: PathBuf,
    },
    /// A hook of kind callback was registered from code.
    #[error("hook `{}` is a callback: load its plugin instead of registering it", printable(hook.as_str()))]
    CallbackFromCode {
        /// The hook.
        hook: HookName,
    },
    /// The host was shut down.
    #[error("nothing is registered: the host was shut down")]
    ShutDown,
}

/// A path, safe to print: settings and packages name files as they like.
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
    /// What waits to be accepted, where the host is guarded.
    pub waiting: Option<Waiting>,
}

/// What loading needs to remember.
#[derive(Debug)]
pub(super) struct Loading {
    pub(super) trusting: Trusting,
    pub(super) sandbox: Sandbox,
    reads_settings: bool,
    /// What is loaded, and from which files.
    pub(super) origins: Origins,
    /// What was last told of what waits.
    pub(super) told: Mutex<Option<Reading>>,
    /// The last reading of each settings file that could be read.
    pub(super) good: Mutex<HashMap<PathBuf, Parsed>>,
    /// Which hooks the plugins had that settings load whole.
    pub(super) had: Had,
    /// Closes when the host is gone, and tells those who watch when it is shut down.
    pub(super) life: tokio::sync::watch::Sender<()>,
    /// One loading of settings at a time.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl Loading {
    pub(super) fn new(reads_settings: bool, by: TrustedBy, sandbox: Sandbox) -> Self {
        Self {
            trusting: Trusting::new(by),
            sandbox,
            reads_settings,
            origins: Origins::default(),
            told: Mutex::default(),
            life: tokio::sync::watch::Sender::default(),
            good: Mutex::default(),
            had: Had::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn end_session(&self, session: &SessionLife) {
        self.sandbox.end_session(session);
    }

    #[cfg(all(test, feature = "wasm"))]
    pub(super) fn keeps_no_state(&self) -> bool {
        self.sandbox.keeps_no_state()
    }

    /// Ends the watching, and the sandbox with its thread.
    pub(super) fn close(&self) {
        self.life.send_replace(());
        self.sandbox.close();
    }
}

impl Runtime {
    /// Loads a plugin or the folder of a skill for a source, with all the hooks it brings: a component's file, or a folder
    /// with a `plugin.json`, a `hooks/hooks.json`, or both. A WASI command brings none by itself: an entry of
    /// `hooks/hooks.json` names it, or a `plugin.json` lists its `hooks`.
    ///
    /// One swap: what the same source loaded from the same path before is replaced; nothing else is touched.
    ///
    /// # Errors
    ///
    /// Where anything about it cannot be loaded; then nothing has changed.
    pub async fn load(&self, source: Source, path: impl AsRef<Path>, reach: Reach) -> Result<Loaded, LoadError> {
        self.load_given(source, path, reach, Given::default()).await
    }

    /// The same, and what it has of components is granted what `grant` says of what its `plugin.json` asks for. Without a
    /// `plugin.json` there is nowhere to ask, and each gets all of `grant`. Shell commands have the user's rights anyway:
    /// a folder is loaded on the embedder's word, wherever it lies, and no trust in a project is asked for it.
    ///
    /// What was granted to no effect is among the diagnostics. Folders and programs are the ones that are there now.
    ///
    /// # Errors
    ///
    /// As [`Runtime::load`].
    pub async fn load_granted(
        &self,
        source: Source,
        path: impl AsRef<Path>,
        reach: Reach,
        grant: Permissions,
    ) -> Result<Loaded, LoadError> {
        self.load_given(source, path, reach, Given::granting(grant)).await
    }

    /// The same, and the plugin is given limits and a life of its instances as well. What is given stands before what its
    /// `plugin.json` says.
    ///
    /// # Errors
    ///
    /// As [`Runtime::load`].
    pub async fn load_given(
        &self,
        source: Source,
        path: impl AsRef<Path>,
        reach: Reach,
        given: Given,
    ) -> Result<Loaded, LoadError> {
        if self.is_shut_down() {
            return Err(LoadError::ShutDown);
        }
        let path = std::path::absolute(path.as_ref())
            .map_err(|error| LoadError::Read { path: path.as_ref().to_owned(), error })?;
        let reads = Reads::default();
        let (hooks, diagnostics) = self.unpack(&source, &path, &given, &reads).await?;
        self.say(&diagnostics);
        let count = hooks.len();
        let mut laden = Laden { source, path, reach, given, generation: Generation(0), files: reads.into_prints() };
        let applied = taken(self.apply(Change::Replace { key: laden.key(), reach: laden.reach.clone(), hooks }))?;
        laden.generation = applied.generation;
        self.loading.origins.loaded(laden);
        Ok(self.loaded(applied, count, diagnostics))
    }

    /// Reads a package and makes its plugin and its hooks; registers nothing.
    pub(super) async fn unpack(
        &self,
        source: &Source,
        path: &Path,
        given: &Given,
        reads: &Reads,
    ) -> Result<(Vec<NewHook>, Vec<Diagnostic>), LoadError> {
        let files = reads.whole(path, &self.events)?;
        let (ready, mut said) = files.ready(self, path, source, given).await?;
        said.extend(ready.iter().filter(|hook| hook.code.is_none()).flat_map(|hook| self.doubts(&hook.spec)));
        let hook = |Ready { spec, code }| NewHook { code, ..NewHook::new(spec, source.clone()) };
        Ok((ready.into_iter().map(hook).collect(), said))
    }

    /// Reads the settings files anew and puts their hooks in the place of those before them, as one swap.
    ///
    /// A file that cannot be read, or is not JSON, keeps the hooks of its last good reading; one that is gone keeps
    /// them for 2 s, since some editors save so. A hook whose plugin cannot be loaded keeps the plugin it had; where it
    /// had none, it cannot answer, and on a gate that blocks.
    ///
    /// Where the host is guarded, what this would take from gates stays, until [`Runtime::accept`]. On a host that was shut
    /// down it registers nothing, and says so.
    ///
    /// Where trust is a store's, what is not trusted does not take the place of what is: the project's hooks, plugins and
    /// all, stay as they were when they were trusted.
    pub async fn reload(&self) -> Loaded {
        let _turn = self.loading.turn.lock().await;
        if self.is_shut_down() {
            return self.nothing_loaded();
        }
        let reads = Reads::default();
        let files = match self.loading.reads_settings {
            true => {
                self.wait_for_what_vanished().await;
                self.read_settings(&reads)
            }
            false => Vec::new(),
        };
        let standing = self.loading.trusting.settle(files, &self.dispatcher.surroundings, &self.events, &reads);
        let mut unfolded = self.unfold(&standing, &reads).await;
        let merged = settings::merge(std::mem::take(&mut unfolded.files));
        let mut diagnostics = [standing.said.as_slice(), &unfolded.said].concat();
        let hooks = self.equip(merged.hooks, &unfolded, &standing, &reads, &mut diagnostics).await;
        // The latest are kept longest, and that a guard is replaced stands among these.
        diagnostics.extend(merged.diagnostics);
        self.say(&diagnostics);
        let lost = merged.dropped.iter().map(guarded::taken).collect();
        *self.dropped.lock().unwrap_or_else(PoisonError::into_inner) = merged.dropped;
        let disabled = Disabled { names: merged.user_disabled, all: merged.user_disable_all };
        let count = hooks.len();
        let (trust, unasked) = (standing.trust, unfolded.unasked);
        let Ok(applied) = taken(self.apply(Change::Settings { hooks, disabled, trust, unasked, taken: lost })) else {
            return self.nothing_loaded();
        };
        self.loading.origins.settings_are_from(reads.into_prints());
        self.dispatcher.bus.tell(|| Record::Reloaded { revision: applied.revision, hooks: count });
        self.loaded(applied, count, diagnostics)
    }

    /// What came of it, and what waits now.
    fn loaded(&self, applied: Applied, hooks: usize, mut diagnostics: Vec<Diagnostic>) -> Loaded {
        diagnostics.extend(self.tell_what_waits());
        let Applied { generation, revision, dropped, .. } = applied;
        Loaded { generation, revision, hooks, dropped, diagnostics, waiting: self.waiting() }
    }

    /// Trusts what the project brings where that has this digest, as long as the host lives, and reads it anew.
    ///
    /// The embedder shows what [`Runtime::brought`] tells, and hands back the digest that a person agreed to. Writes no
    /// store; does nothing but a reload where trust is the embedder's word.
    pub async fn trust(&self, digest: Digest) -> Loaded {
        self.loading.trusting.admit(&self.dispatcher.surroundings, digest);
        self.reload().await
    }

    /// Gives each hook its plugin.
    async fn equip(
        &self,
        hooks: Vec<(Source, HookSpec)>,
        unfolded: &Unfolded,
        standing: &Standing,
        reads: &Reads,
        said: &mut Vec<Diagnostic>,
    ) -> Vec<NewHook> {
        let mut packages: HashMap<(Source, PathBuf, Given), Result<Arc<Package>, String>> = HashMap::new();
        let mut equipped = Vec::new();
        for (source, mut spec) in hooks {
            said.extend(self.doubts(&spec));
            if let Some(ready) = unfolded.ready(&source, &spec) {
                equipped.push(NewHook { seal: standing.seal(&source, &spec), ..ready });
                continue;
            }
            let callback = match &spec.kind {
                HookKind::Callback(callback) if !standing.keeps_out(&source) => callback,
                _ => {
                    let seal = standing.seal(&source, &spec);
                    equipped.push(NewHook { seal, ..NewHook::new(spec, source) });
                    continue;
                }
            };
            let given = Given::granting(callback.grant.clone()).within(callback.limits);
            let key = (source.clone(), callback.plugin.clone(), given);
            if !packages.contains_key(&key) {
                let loaded = self.package(standing, &key.1, &source, &key.2, reads).await;
                said.extend(loaded.iter().flat_map(|package| &package.said).cloned());
                packages.insert(key.clone(), loaded.map(Arc::new));
            }
            match &packages[&key] {
                Ok(package) => {
                    package.complete(&mut spec);
                    said.extend(package.never_kept(&spec));
                    said.extend(package.not_its_own(&spec));
                    equipped.push(NewHook::answered_by(spec, source, package.code.clone()));
                }
                Err(why) => equipped.push(self.unequipped(spec, source, why, said)),
            }
        }
        equipped
    }

    /// Compiles a plugin from the bytes that are trusted, where there are such, else from what lies there.
    async fn package(
        &self,
        standing: &Standing,
        path: &Path,
        source: &Source,
        given: &Given,
        reads: &Reads,
    ) -> Result<Package, String> {
        let files = match standing.plugin(source, path) {
            Some(files) => files?,
            None => reads.package(path, &self.events).map_err(|error| error.to_string())?,
        };
        Package::of(files, &self.loading.sandbox, path, source, given).await.map_err(|error| error.to_string())
    }

    /// A guard is not lost because its plugin cannot be read: the one that answered so far goes on, and where none did,
    /// the hook is asked and cannot answer.
    fn unequipped(&self, spec: HookSpec, source: Source, why: &str, said: &mut Vec<Diagnostic>) -> NewHook {
        let before = self.answered_before(&spec, &source);
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

    /// The plugin that answers this hook now; of one that only waits to be let go, if no other does.
    pub(super) fn answered_before(&self, spec: &HookSpec, source: &Source) -> Option<Arc<dyn Code>> {
        let now = self.dispatcher.registry.snapshot();
        let same =
            |hook: &&Arc<Hook>| hook.source == *source && hook.spec.name == spec.name && same_plugin(&hook.spec, spec);
        let (kept, current): (Vec<_>, Vec<_>) =
            now.at(&spec.event).iter().filter(same).partition(|hook| now.is_kept(hook));
        current.into_iter().chain(kept).find_map(|hook| hook.code.clone())
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

/// A plugin that was granted something else is another: what a grant no longer says must not go on.
fn same_plugin(a: &HookSpec, b: &HookSpec) -> bool {
    match (&a.kind, &b.kind) {
        (HookKind::Callback(a), HookKind::Callback(b)) => a.plugin == b.plugin && a.grant == b.grant,
        _ => false,
    }
}
