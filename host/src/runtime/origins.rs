//! What the loaded sets came from: each file, with what was in it when it was read.
//!
//! Kept so that a watcher can tell whether anything has changed since. Bytes decide that, not time stamps.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::event::Events;
use crate::id::Generation;
use crate::plugin::{Digest, Given};
use crate::registry::SetKey;
use crate::source::{Reach, Source};
use crate::trust::Ration;

use super::load::LoadError;
use super::package::{LARGEST_COMPONENT, PackageFiles, read};
use super::whole::WholeFiles;

/// What was at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Print {
    /// Nothing.
    Absent,
    /// A file with these bytes.
    Bytes(Digest),
    /// Something that is no file, or cannot be read.
    Unreadable,
}

/// Files with what was in them.
pub(super) type Prints = BTreeMap<PathBuf, Print>;

impl Print {
    /// What is there now.
    pub(super) fn of(path: &Path) -> Self {
        Self::within(&Ration::unbounded(), path).unwrap_or(Self::Unreadable)
    }

    /// The same; `None` where the ration does not allow to look.
    fn within(ration: &Ration, path: &Path) -> Option<Self> {
        match read(path, LARGEST_COMPONENT, ration) {
            Ok(bytes) => Some(Self::Bytes(Digest::of(&bytes))),
            Err(LoadError::Read { error, .. }) if is_missing(&error) => Some(Self::Absent),
            Err(LoadError::TooMuch { .. }) => None,
            Err(_) => Some(Self::Unreadable),
        }
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The files of one loading, noted as they are read. What is noted was seen before the file was read or is what was read,
/// never later: a change in between is found the next time, not lost.
#[derive(Debug, Default)]
pub(super) struct Reads(Mutex<Prints>);

impl Reads {
    /// Notes what is at `path`, which is about to be read.
    pub(super) fn look(&self, path: &Path) {
        self.look_within(&Ration::unbounded(), path);
    }

    /// What was not looked at is not noted either: who compares later would have to read it.
    fn look_within(&self, ration: &Ration, path: &Path) {
        if let Some(print) = Print::within(ration, path) {
            self.note(path.to_owned(), print);
        }
    }

    /// Reads a package, and notes its files: the component as it was read, the `plugin.json` as it was just before.
    pub(super) fn package(&self, path: &Path, events: &Events) -> Result<PackageFiles, LoadError> {
        self.package_within(&Ration::unbounded(), path, events)
    }

    /// The same, as far as the ration allows.
    pub(super) fn package_within(
        &self,
        ration: &Ration,
        path: &Path,
        events: &Events,
    ) -> Result<PackageFiles, LoadError> {
        if path.is_dir() {
            self.look_within(ration, &path.join("plugin.json"));
        }
        let again = |_| {
            PackageFiles::named(ration, path, events).iter().for_each(|file| self.look_within(ration, file));
            PackageFiles::read_within(ration, path, events)
        };
        let files = PackageFiles::read_within(ration, path, events).or_else(again)?;
        files.digests().into_iter().for_each(|(file, digest)| self.note(file, Print::Bytes(digest)));
        Ok(files)
    }

    /// The same for all that is brought by a component's file or a folder; the files that a folder does not have are noted
    /// too.
    pub(super) fn whole(&self, path: &Path, events: &Events) -> Result<WholeFiles, LoadError> {
        self.whole_within(&Ration::unbounded(), path, events)
    }

    /// The same, as far as the ration allows.
    pub(super) fn whole_within(&self, ration: &Ration, path: &Path, events: &Events) -> Result<WholeFiles, LoadError> {
        if path.is_dir() {
            WholeFiles::heads(path).iter().for_each(|file| self.look_within(ration, file));
        }
        let again = |_| {
            WholeFiles::named(ration, path, events).iter().for_each(|file| self.look_within(ration, file));
            WholeFiles::read_within(ration, path, events)
        };
        let files = WholeFiles::read_within(ration, path, events).or_else(again)?;
        files.digests().into_iter().for_each(|(file, digest)| self.note(file, Print::Bytes(digest)));
        Ok(files)
    }

    /// All that was noted.
    pub(super) fn into_prints(self) -> Prints {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was seen first counts.
    fn note(&self, path: PathBuf, print: Print) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(path).or_insert(print);
    }
}

/// A package that was loaded by itself, and what it takes to load it anew.
#[derive(Clone, Debug)]
pub(super) struct Laden {
    pub(super) source: Source,
    pub(super) path: PathBuf,
    pub(super) reach: Reach,
    pub(super) given: Given,
    /// The generation of its set; another one is not its own any more.
    pub(super) generation: Generation,
    pub(super) files: Prints,
}

impl Laden {
    /// The key of its set.
    pub(super) fn key(&self) -> SetKey {
        SetKey::Package(self.source.clone(), self.path.display().to_string())
    }
}

/// What all loaded sets came from.
#[derive(Debug, Default)]
pub(super) struct Origins(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    settings: Prints,
    packages: Vec<Laden>,
}

impl Origins {
    /// The settings, and the plugins that they name, came from these.
    pub(super) fn settings_are_from(&self, files: Prints) {
        self.state().settings = files;
    }

    /// This package was loaded.
    pub(super) fn loaded(&self, package: Laden) {
        let mut state = self.state();
        let key = package.key();
        // Of two that are loaded at once, the one that was registered last.
        if !state.packages.iter().any(|other| other.key() == key && other.generation > package.generation) {
            state.packages.retain(|other| other.key() != key);
            state.packages.push(package);
        }
    }

    /// This package was to be loaded anew from these files, and could not be.
    pub(super) fn tried(&self, package: &Laden, files: Prints) {
        let key = package.key();
        let mut state = self.state();
        let its = |other: &&mut Laden| other.key() == key && other.generation == package.generation;
        state.packages.iter_mut().filter(its).for_each(|one| one.files = files.clone());
    }

    /// The packages that are still registered as they were loaded; others are forgotten.
    pub(super) fn packages(&self, is_registered: impl Fn(&Laden) -> bool) -> Vec<Laden> {
        let mut state = self.state();
        state.packages.retain(is_registered);
        state.packages.clone()
    }

    /// The files of the settings.
    pub(super) fn settings(&self) -> Prints {
        self.state().settings.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The paths of all of these.
pub(super) fn paths<'a>(prints: impl IntoIterator<Item = &'a Prints>) -> BTreeSet<PathBuf> {
    prints.into_iter().flat_map(BTreeMap::keys).cloned().collect()
}
