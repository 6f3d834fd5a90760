//! Which file a granted name means: looked up when the plugin is loaded and at each call, and it must be the same.
//!
//! The agent writes to the project, so nothing in there is ever taken for a program: no `PATH` entry and no file that
//! lies in it or is reached through it by a link. Relative and empty entries mean a folder that somebody else chooses.
//!
//! The same file is the same name in the same entry, the same file behind all links, and neither replaced nor written
//! to: device, number, size and both times. Its content is not read; the time of change cannot be set back. So a program
//! that was upgraded is denied, too, until the plugin is loaded anew: nobody here can tell an upgrade from an attack.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Access, access};

use super::super::way::Way;
use crate::permission::is_bare_name;
use crate::surroundings::Surroundings;

/// Where programs are looked up.
#[derive(Debug)]
pub(in crate::wasm) struct Lookup {
    entries: Vec<PathBuf>,
    project: Option<PathBuf>,
}

impl Lookup {
    /// On the `PATH` of these surroundings, as far as it lies outside of the project.
    pub(in crate::wasm) fn of(surroundings: &Surroundings) -> Self {
        let path = surroundings.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let project = surroundings.project.as_deref();
        let project = project.map(|project| project.canonicalize().unwrap_or_else(|_| project.to_owned()));
        let mut lookup = Self { entries: Vec::new(), project };
        for entry in std::env::split_paths(&path.unwrap_or_default()) {
            // Of a relative entry there is no way.
            let real = lookup.outside(&entry);
            lookup.entries.extend(real.filter(|real| !lookup.entries.contains(real)));
        }
        lookup
    }

    /// Where a path really leads, unless it touches the project.
    fn outside(&self, path: &Path) -> Option<PathBuf> {
        let way = Way::of(path).ok()?;
        let touches = self.project.as_ref().is_some_and(|project| way.touches(project));
        (!touches).then(|| way.end().to_owned())
    }

    /// The `PATH` of a program that is run: what it starts in turn is not found in the project either.
    fn path(&self) -> OsString {
        std::env::join_paths(&self.entries).unwrap_or_default()
    }

    fn find(&self, name: &str) -> Option<File> {
        if !is_bare_name(name) {
            return None;
        }
        self.entries.iter().find_map(|entry| self.file(entry.join(name)))
    }

    fn file(&self, path: PathBuf) -> Option<File> {
        let real = self.outside(&path)?;
        let about = real.metadata().ok().filter(std::fs::Metadata::is_file)?;
        access(&real, Access::EXEC_OK).ok()?;
        let times = [(about.mtime(), about.mtime_nsec()), (about.ctime(), about.ctime_nsec())];
        Some(File { path, real, id: (about.dev(), about.ino()), size: about.size(), times })
    }
}

/// A file, and what would change with it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    path: PathBuf,
    real: PathBuf,
    id: (u64, u64),
    size: u64,
    times: [(i64, i64); 2],
}

/// A program that was granted.
#[derive(Clone, Debug)]
pub(in crate::wasm) struct Program {
    name: String,
    then: Option<File>,
}

/// A program that may be run now.
#[derive(Debug)]
pub(super) struct Resolved {
    /// The file.
    pub(super) file: PathBuf,
    /// Where it looks for others.
    pub(super) path: OsString,
    /// The machine.
    pub(super) outside: Arc<Surroundings>,
}

/// Why a program is not run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It may not.
    Denied(&'static str),
    /// There is none.
    NotThere,
}

impl Program {
    /// The one that is there now.
    pub(in crate::wasm) fn granted(name: &str, lookup: &Lookup) -> Self {
        Self { name: name.to_owned(), then: lookup.find(name) }
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The file to run, where it is the one that was there.
    pub(super) fn resolve(&self, outside: &Arc<Surroundings>) -> Result<Resolved, Refused> {
        let lookup = Lookup::of(outside);
        match (lookup.find(&self.name), &self.then) {
            (None, _) => Err(Refused::NotThere),
            (Some(_), None) => Err(Refused::Denied(
                "the permission `run` was granted when there was no such program; load the plugin anew",
            )),
            (Some(now), Some(then)) if now != *then => Err(Refused::Denied(
                "it is not the program that was there when the permission `run` was granted; load the plugin anew",
            )),
            (Some(now), Some(_)) => Ok(Resolved { file: now.path, path: lookup.path(), outside: Arc::clone(outside) }),
        }
    }
}
