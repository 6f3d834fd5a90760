//! Taking changes of settings and plugins as they come: what is done when the files of a loaded set are no longer what
//! they were.
//!
//! When to look is `watch`'s; what was loaded from which bytes is `origins`'s; this compares, and reloads. A dispatch is
//! never held up: what is read and compiled here is registered by one swap.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::{AbortHandle, spawn_blocking};

use crate::bus::Record;
use crate::diagnostic::{Diagnostic, Place};
use crate::id::Generation;
use crate::registry::Change;
use crate::watch::{Ear, Heard, QUIET, Watch};

use super::Runtime;
use super::origins::{Laden, Print, Prints, Reads, paths};

/// How often it is looked whether any file has another number, size or time of change than when it was last read. Some
/// file systems tell nobody what other machines change, a watch may be lost with the folder that it was on, and a guard
/// must not be missing for that. It costs a `stat` a file. The time that counts is `ctime`, which no `touch` sets; and what
/// is found by it is compared by bytes like everything else.
const LOOK_ROUND: Duration = Duration::from_secs(5);

/// How often all files are read where the system gives no watches: then nothing but their bytes tells.
const READ_ALL: Duration = Duration::from_secs(2);

/// How often in a row it is loaded anew before it is listened again: a file that changes all the time takes no thread.
const MOST_IN_A_ROW: usize = 3;

/// Settings and plugins are watched until this is dropped, or the host is.
#[derive(Debug)]
#[must_use = "the watching ends when this is dropped"]
pub struct Watching(AbortHandle);

/// Why nothing is watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// There is no tokio runtime to do it in.
    #[error("watching needs a tokio runtime")]
    NoRuntime,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Runtime {
    /// Watches the settings files, the plugins that they name, and every package that [`Runtime::load`] brought, and loads
    /// anew what has changed: 300 ms after the last change, and after 2 s of changes without a pause.
    ///
    /// Bytes decide: a file that was only touched is not loaded anew, and one that was changed is, whatever its time stamp.
    /// A package that cannot be loaded keeps the set it had, with a warning; for settings see [`Runtime::reload`]. Where
    /// the system gives no watches, the files are read every 2 s, with a warning. What a guarded host may not take from
    /// gates waits, as after any reload.
    ///
    /// Keeps neither the host nor the process alive.
    ///
    /// # Errors
    ///
    /// Outside of a tokio runtime, which must have its clock enabled.
    pub fn watch(self: &Arc<Self>) -> Result<Watching, WatchError> {
        let tokio = Handle::try_current().map_err(|_| WatchError::NoRuntime)?;
        let host_is_gone = self.loading.life.subscribe();
        let watcher = Watcher { host: Arc::downgrade(self), marks: Marks::default(), deaf: None };
        let task = tokio.spawn(async move {
            let mut host_is_gone = host_is_gone;
            tokio::select! {
                () = watcher.run() => {}
                _ = host_is_gone.changed() => {}
            }
        });
        Ok(Watching(task.abort_handle()))
    }

    /// Loads a package anew for the same source and reach, all or nothing.
    async fn renew(&self, package: Laden) {
        let _turn = self.loading.turn.lock().await;
        let reads = Reads::default();
        let unpacked = self.unpack(&package.source, &package.path, &package.given, &reads).await;
        let files = reads.into_prints();
        let (hooks, said) = match unpacked {
            Ok(unpacked) => unpacked,
            Err(error) => {
                let message = format!("it has changed and is not loaded, so what was loaded before goes on: {error}");
                self.say(&[Diagnostic::warning(Place::file(&package.path), message)]);
                return self.loading.origins.tried(&package, files);
            }
        };
        let (count, key, reach) = (hooks.len(), package.key(), package.reach.clone());
        let applied = self.apply(Change::Renew { key, since: package.generation, reach, hooks });
        // The embedder has dropped it, or loaded another one.
        if applied.generation == Generation(0) {
            return;
        }
        self.say(&said);
        self.loading.origins.loaded(Laden { generation: applied.generation, files, ..package });
        self.dispatcher.bus.tell(|| Record::Reloaded { revision: applied.revision, hooks: count });
        self.tell_what_waits();
    }

    /// The packages that are registered as they were loaded.
    fn packages(&self) -> Vec<Laden> {
        let registry = &self.dispatcher.registry;
        self.loading.origins.packages(|one| registry.snapshot().generation(&one.key()) == Some(one.generation))
    }
}

/// What looks after a host's files.
struct Watcher {
    host: Weak<Runtime>,
    marks: Marks,
    /// Why it hears nothing, as it was said.
    deaf: Option<String>,
}

/// What lies at some paths.
struct Sight {
    watch: Watch,
    marks: Marks,
    prints: Prints,
}

impl Watcher {
    async fn run(mut self) {
        let watch = Watch::new();
        let ear = watch.ear();
        let mut watch = Some(watch);
        while let Some(looking) = watch.take() {
            let Some((looked, next)) = self.look(looking).await else { return };
            if !self.listen(&ear, next).await {
                return;
            }
            watch = Some(looked);
        }
    }

    /// Waits until there is something to look at; false where the host is gone.
    async fn listen(&self, ear: &Ear, patience: Duration) -> bool {
        loop {
            // Marks are compared only where the files are not read in any case.
            if ear.hear(patience).await == Heard::Something || patience != LOOK_ROUND {
                return true;
            }
            let Some(paths) = self.host.upgrade().map(|host| watched(&host)) else { return false };
            let Ok(marks) = spawn_blocking(move || Marks::of(&paths)).await else { return false };
            if marks != self.marks {
                return true;
            }
        }
    }

    /// Loads anew what has changed, until nothing has; gives how long to listen then. `None` where the host is gone.
    async fn look(&mut self, mut watch: Watch) -> Option<(Watch, Duration)> {
        for _ in 0..MOST_IN_A_ROW {
            let host = self.host.upgrade()?;
            let paths = watched(&host);
            let sight = spawn_blocking(move || Sight::of(&paths, watch)).await.ok()?;
            watch = sight.watch;
            self.marks = sight.marks;
            self.say_if_deaf(&host, watch.deaf());
            if !load_what_changed(&host, &sight.prints).await {
                let patience = if watch.deaf().is_some() { READ_ALL } else { LOOK_ROUND };
                return Some((watch, patience));
            }
        }
        Some((watch, QUIET))
    }

    fn say_if_deaf(&mut self, host: &Runtime, deaf: Option<&str>) {
        if let Some(why) = deaf.filter(|_| self.deaf.as_deref() != deaf) {
            let message = format!("the system gives no watches, so settings and plugins are read every 2 s: {why}");
            host.say(&[Diagnostic::warning(Place::default(), message)]);
        }
        self.deaf = deaf.map(str::to_owned);
    }
}

/// All files that a loaded set came from.
fn watched(host: &Runtime) -> BTreeSet<PathBuf> {
    let packages = host.packages();
    paths(packages.iter().map(|package| &package.files).chain([&host.loading.origins.settings()]))
}

/// Whether anything was loaded anew.
async fn load_what_changed(host: &Runtime, now: &Prints) -> bool {
    // What nobody has looked at yet is looked at the next time.
    let differs = |loaded: &Prints| loaded.iter().any(|(path, print)| now.get(path).is_some_and(|now| now != print));
    let settings = differs(&host.loading.origins.settings());
    let packages: Vec<_> = host.packages().into_iter().filter(|package| differs(&package.files)).collect();
    let any = settings || !packages.is_empty();
    for package in packages {
        host.renew(package).await;
    }
    if settings {
        host.reload().await;
    }
    any
}

impl Sight {
    /// Watched first, then read: what changes afterwards is heard.
    fn of(paths: &BTreeSet<PathBuf>, mut watch: Watch) -> Self {
        watch.look_at(paths);
        // Marks before bytes: what changes in between has another mark at the next look.
        let marks = Marks::of(paths);
        let prints = paths.iter().map(|path| (path.clone(), Print::of(path))).collect();
        Self { watch, marks, prints }
    }
}

/// What tells without reading a file that it is another: where it lies, how large it is, when it was last changed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Marks(BTreeMap<PathBuf, Option<Mark>>);

/// Device, number, size, and the time of change.
type Mark = (u64, u64, u64, i64, i64);

impl Marks {
    fn of(paths: &BTreeSet<PathBuf>) -> Self {
        let mark = |path: &Path| {
            let about = std::fs::metadata(path).ok()?;
            Some((about.dev(), about.ino(), about.size(), about.ctime(), about.ctime_nsec()))
        };
        Self(paths.iter().map(|path| (path.clone(), mark(path))).collect())
    }
}
