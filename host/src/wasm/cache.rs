//! The compile cache: the compiled code of plugins, kept in a folder of the person's from one host to the next.
//!
//! Owns what is kept, under which name, whom it is taken from, and for how long. Compiled code is machine code: what is
//! taken from here runs outside of every sandbox. So only this module writes it, and it takes only what nobody but this
//! user can have written, and what is byte for byte what was written. Whatever is wrong with an entry, the component
//! is compiled once more; no failure of the cache is a failure of the plugin.
//!
//! - `entry`: the name and the form of an entry; `folder`: the files, and whom they must belong to
//! - `copied`: what an entry is copied to; `code`: from there to code, the one unsafe place; `sweep`: what is dropped, and when

mod code;
mod copied;
mod entry;
mod folder;
mod sweep;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use wasmtime::Engine;

use self::entry::Key;
use self::folder::{Folder, Refused};
use super::native::{Form, Native};
use crate::plugin::Digest;

/// The most bytes that are kept, all entries together.
const MOST_KEPT: u64 = 512 << 20;

/// A folder in which compiled code is kept from one host to the next.
///
/// The folder must belong to the user of this process, with mode 0700; where it is missing it is made so when something
/// is kept. Any number of hosts may share it, of any version. Whoever can write to it can run code in the host: it is no
/// place for tools or guests to write to, not even in a sandbox.
#[derive(Clone, Debug)]
pub struct CompileCache {
    folder: PathBuf,
    us: u32,
}

/// What is in a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stock {
    /// How many plugins' code, each version of the host counted.
    pub entries: usize,
    /// Their size, in bytes.
    pub bytes: u64,
}

/// Why a folder is not used as a cache.
#[derive(Debug, thiserror::Error)]
#[error("{}: not used as a compile cache: {why}", folder.display())]
pub struct CacheError {
    /// The folder.
    pub folder: PathBuf,
    why: Refused,
}

impl CompileCache {
    /// The one in this folder, which need not be there yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), us: rustix::process::geteuid().as_raw() }
    }

    /// The same, for a process of another user.
    #[cfg(test)]
    pub(super) fn of_user(mut self, us: u32) -> Self {
        self.us = us;
        self
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is in it.
    ///
    /// # Errors
    ///
    /// Where the folder is there and is not to be used, or cannot be read.
    pub fn stock(&self) -> Result<Stock, CacheError> {
        let seen = self.open().and_then(|folder| folder.as_ref().map(Folder::list).transpose());
        let seen = seen.map_err(|why| self.error(why))?.unwrap_or_default();
        Ok(Stock::of(seen.iter().filter(|file| file.whole)))
    }

    /// Empties it, and says what was in it. A loaded plugin keeps its code.
    ///
    /// # Errors
    ///
    /// Where the folder is there and is not to be used, or an entry cannot be removed.
    pub fn clear(&self) -> Result<Stock, CacheError> {
        self.cleared().map_err(|why| self.error(why))
    }

    fn cleared(&self) -> Result<Stock, Refused> {
        let Some(folder) = self.open()? else { return Ok(Stock::default()) };
        let seen = folder.list()?;
        for file in &seen {
            folder.remove(&file.name)?;
        }
        Ok(Stock::of(seen.iter().filter(|file| file.whole)))
    }

    /// The code of this file for this engine, where it is kept and sound. What is not sound is removed.
    pub(super) fn get(&self, engine: &Engine, file: Digest, form: Form) -> Option<Native> {
        let folder = self.open().inspect_err(|why| self.note("is not used", why)).ok()??;
        let key = Key::of(engine, file, form);
        let taken = folder.read(&key, SystemTime::now()).and_then(|artifact| {
            let Some(artifact) = artifact else { return Ok(None) };
            code::load(engine, &artifact).map(Some).map_err(|error| Refused::Engine(format!("{error:#}")))
        });
        taken.unwrap_or_else(|why| {
            tracing::debug!("compiled code of {file} is discarded: {why}");
            let _ = folder.remove(key.name()).inspect_err(|why| self.note("keeps what is to be discarded", why));
            None
        })
    }

    /// Keeps it for the next host; where that fails, this host has it all the same.
    pub(super) fn put(&self, engine: &Engine, file: Digest, code: &Native) {
        if let Err(why) = self.kept(&Key::of(engine, file, code.form()), code) {
            self.note("does not keep what was compiled", &why);
        }
    }

    fn kept(&self, key: &Key, code: &Native) -> Result<(), Refused> {
        let code = code.serialize().map_err(|error| Refused::Engine(format!("{error:#}")))?;
        let entry = entry::seal(key, &code);
        if entry.len() as u64 > MOST_KEPT {
            return Err(Refused::Large(entry.len() as u64));
        }
        let folder = Folder::make(&self.folder, self.us)?;
        folder.write(key, &entry)?;
        for name in sweep::superfluous(folder.list()?, SystemTime::now()) {
            folder.remove(&name)?;
        }
        Ok(())
    }

    fn open(&self) -> Result<Option<Folder>, Refused> {
        Folder::open(&self.folder, self.us)
    }

    fn error(&self, why: Refused) -> CacheError {
        CacheError { folder: self.folder.clone(), why }
    }

    fn note(&self, what: &str, why: &Refused) {
        tracing::debug!("the compile cache {} {what}: {why}", self.folder.display());
    }
}

impl Stock {
    fn of<'a>(files: impl Iterator<Item = &'a sweep::Seen>) -> Self {
        files.fold(Self::default(), |sum, file| Self { entries: sum.entries + 1, bytes: sum.bytes + file.bytes })
    }
}
