//! Hearing that files may have changed: the folders that are watched for them, and when it is quiet again.
//!
//! Owns the system's watches, and is the only one that names them. A bell may ring for nothing: what is in a file, and
//! what a change of it comes to, is for those who hear it.

mod folders;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use folders::Folders;

/// So long nothing must have happened before it counts as quiet: an editor's save is several steps.
pub(crate) const QUIET: Duration = Duration::from_millis(300);

/// A burst without an end is listened to no longer than that.
const LONGEST_BURST: Duration = Duration::from_secs(2);

/// The watches for some files.
#[derive(Debug)]
pub(crate) struct Watch {
    bell: Arc<Bell>,
    /// None where the system gives no watches at all. Dropped, it ends its thread.
    watcher: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
    deaf: Option<String>,
}

/// Where one hears of changes.
#[derive(Clone, Debug)]
pub(crate) struct Ear(Arc<Bell>);

/// What ended the waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Something may have changed, and it is quiet again.
    Something,
    /// Nothing was heard for as long as one was willing to wait.
    Nothing,
}

#[derive(Debug, Default)]
struct Bell {
    /// Rung any number of times it rings once: a burst takes no memory.
    rings: Notify,
    /// The names that matter in the folders that are watched.
    names: Mutex<HashSet<PathBuf>>,
}

impl Watch {
    /// One that watches nothing yet.
    pub(crate) fn new() -> Self {
        let bell = Arc::new(Bell::default());
        let ringing = bell.clone();
        let (watcher, deaf) = match notify::recommended_watcher(move |event| ringing.hear(event)) {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self { bell, watcher, folders: BTreeSet::new(), deaf }
    }

    /// Where one hears of changes.
    pub(crate) fn ear(&self) -> Ear {
        Ear(self.bell.clone())
    }

    /// Why changes of some of these files are not heard of, where that is so.
    pub(crate) fn deaf(&self) -> Option<&str> {
        self.deaf.as_deref()
    }

    /// Watches for these files from now on, and for no others. What is read of them afterwards is never older than what
    /// is heard.
    ///
    /// Every watch is set anew: a folder that was moved away and made again has the same name, and the watch is still on
    /// the former one.
    pub(crate) fn look_at(&mut self, paths: &BTreeSet<PathBuf>) {
        let Folders { watched, names } = Folders::of(paths);
        *self.bell.names.lock().unwrap_or_else(PoisonError::into_inner) = names;
        let Some(watcher) = &mut self.watcher else { return };
        for folder in &self.folders {
            // One that is gone has no watch left to take away.
            let _ = watcher.unwatch(folder);
        }
        self.deaf = None;
        for folder in &watched {
            match watcher.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => {}
                // It has gone this moment: there is another to be watched in its place.
                Err(error) if is_gone(&error, folder) => self.bell.rings.notify_one(),
                Err(error) => self.deaf = Some(error.to_string()),
            }
        }
        self.folders = watched;
    }
}

fn is_gone(error: &notify::Error, folder: &Path) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound && !folder.exists(),
        _ => false,
    }
}

impl Ear {
    /// Waits until something may have changed and it is quiet again, at most for `patience`.
    pub(crate) async fn hear(&self, patience: Duration) -> Heard {
        tokio::select! {
            () = self.0.rings.notified() => {
                self.quiet().await;
                Heard::Something
            }
            () = sleep(patience) => Heard::Nothing,
        }
    }

    async fn quiet(&self) {
        let until = Instant::now() + LONGEST_BURST;
        while Instant::now() < until {
            tokio::select! {
                () = self.0.rings.notified() => {}
                () = sleep_until((Instant::now() + QUIET).min(until)) => return,
            }
        }
    }
}

impl Bell {
    fn hear(&self, event: notify::Result<notify::Event>) {
        let matters = match &event {
            Ok(event) => event.need_rescan() || (changes(event.kind) && self.is_about_ours(&event.paths)),
            // Whatever it is that was missed.
            Err(_) => true,
        };
        if matters {
            self.rings.notify_one();
        }
    }

    fn is_about_ours(&self, paths: &[PathBuf]) -> bool {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        paths.is_empty() || paths.iter().any(|path| names.contains(path))
    }
}

/// Reading a file is told as well, and we read them ourselves.
fn changes(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ear() -> Ear {
        Ear(Arc::new(Bell::default()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_heard_once_when_it_is_quiet() {
        let ear = ear();
        let began = Instant::now();
        let ringing = tokio::spawn({
            let ear = ear.clone();
            async move {
                for _ in 0..5 {
                    ear.0.rings.notify_one();
                    sleep(QUIET / 2).await;
                }
            }
        });
        assert_eq!(ear.hear(Duration::from_secs(60)).await, Heard::Something);
        assert!(began.elapsed() >= QUIET * 3, "{:?}", began.elapsed());
        ringing.await.unwrap();
        assert_eq!(ear.hear(Duration::from_secs(60)).await, Heard::Nothing);
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_without_an_end_is_heard_all_the_same() {
        let ear = ear();
        let ringing = tokio::spawn({
            let ear = ear.clone();
            async move {
                loop {
                    ear.0.rings.notify_one();
                    sleep(QUIET / 10).await;
                }
            }
        });
        let began = Instant::now();
        assert_eq!(ear.hear(Duration::from_secs(60)).await, Heard::Something);
        assert!(began.elapsed() <= LONGEST_BURST + QUIET, "{:?}", began.elapsed());
        ringing.abort();
    }

    #[tokio::test]
    async fn a_file_that_is_made_is_heard_of_and_the_thread_ends_with_the_watch() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        let mut watch = Watch::new();
        let ear = watch.ear();
        watch.look_at(&[path.clone()].into());
        assert_eq!(watch.deaf(), None);
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        let patience = Duration::from_secs(60);
        assert_eq!(ear.hear(patience).await, Heard::Something);
        watch.look_at(&[path.clone()].into());
        std::fs::File::create(&path).unwrap();
        assert_eq!(ear.hear(patience).await, Heard::Something);
        drop(watch);
        while Arc::strong_count(&ear.0) > 1 {
            sleep(Duration::from_millis(5)).await;
        }
    }

    #[test]
    fn what_is_read_and_what_is_about_others_rings_no_bell() {
        let bell = Bell::default();
        *bell.names.lock().unwrap() = ["/a/settings.json".into()].into();
        let event = |kind, path: &str| notify::Event::new(kind).add_path(path.into());
        let read = EventKind::Access(AccessKind::Open(AccessMode::Any));
        let write = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let rings = |event| {
            bell.hear(Ok(event));
            futures_util::FutureExt::now_or_never(bell.rings.notified()).is_some()
        };
        assert!(!rings(event(read, "/a/settings.json")));
        assert!(!rings(event(write, "/a/other")));
        assert!(rings(event(write, "/a/settings.json")));
        assert!(rings(notify::Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan)));
    }
}
