//! The files of a cache, and whom they must belong to.
//!
//! The folder is opened once for whatever is done, and everything in it is reached through that descriptor: what was
//! looked at is what is used.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fchmod, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::copied::Copying;
use super::entry::{self, Artifact, Key};
use super::{MOST_KEPT, sweep};

/// Bits that let others than the owner do anything, or write.
const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;
/// How exact the time of the last use is.
const USED: Duration = Duration::from_hours(1);

/// Why something is not taken, or was not kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it belongs to the user {0}")]
    Foreign(u32),
    #[error("its mode is {0:04o}, so that it is open to others")]
    Open(u32),
    #[error("it is no regular file")]
    NoFile,
    #[error("{0} bytes are too many")]
    Large(u64),
    #[error("it is not what was written")]
    Damaged,
    #[error("the engine refuses it: {0}")]
    Engine(String),
}

impl From<Errno> for Refused {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// A folder that is ours alone.
#[derive(Debug)]
pub(super) struct Folder {
    folder: File,
    us: u32,
}

impl Folder {
    /// The one that is there.
    pub(super) fn open(path: &Path, us: u32) -> Result<Option<Self>, Refused> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match open(path, how, Mode::empty()) {
            Ok(folder) => File::from(folder),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let about = folder.metadata()?;
        owned(about.uid(), about.mode(), us, OTHERS)?;
        Ok(Some(Self { folder, us }))
    }

    /// The one that is there, else a new one.
    pub(super) fn make(path: &Path, us: u32) -> Result<Self, Refused> {
        if let Some(folder) = Self::open(path, us)? {
            return Ok(folder);
        }
        at_home(path, us)?;
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Self::open(path, us)?.ok_or_else(|| Errno::NOENT.into())
    }

    /// The code under this key, and from now on used at `now`.
    pub(super) fn read(&self, key: &Key, now: SystemTime) -> Result<Option<Artifact>, Refused> {
        // Not to wait for a pipe that somebody laid there.
        let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.folder, key.name(), how, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let length = self.check(&file)?;
        let unsealed = entry::unseal(key, (&file).take(MOST_KEPT), Copying::of_size(length))?;
        let artifact = unsealed.ok_or(Refused::Damaged)?;
        used(&file, now);
        Ok(Some(artifact))
    }

    /// Whether nobody but us can have written this file; its length.
    fn check(&self, file: &File) -> Result<u64, Refused> {
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(Refused::NoFile);
        }
        owned(about.uid(), about.mode(), self.us, OTHERS_WRITE)?;
        if about.len() > MOST_KEPT { Err(Refused::Large(about.len())) } else { Ok(about.len()) }
    }

    /// Writes an entry in one step: whoever looks sees all of it, or what was there before.
    pub(super) fn write(&self, key: &Key, entry: &[u8]) -> Result<(), Refused> {
        let name = entry::unfinished_name();
        let written = self.write_as(&name, entry).and_then(|()| {
            renameat(&self.folder, &name, &self.folder, key.name())?;
            Ok(())
        });
        if written.is_err() {
            // What cannot be removed now is swept later.
            let _ = self.remove(&name);
        }
        written
    }

    fn write_as(&self, name: &str, bytes: &[u8]) -> Result<(), Refused> {
        let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.folder, name, how, Mode::RUSR)?);
        file.write_all(bytes)?;
        // Whatever the process's mask takes away.
        fchmod(&file, Mode::RUSR)?;
        Ok(file.sync_all()?)
    }

    /// Removes a file; one that is gone already is gone.
    pub(super) fn remove(&self, name: &str) -> Result<(), Refused> {
        match unlinkat(&self.folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The files of ours.
    pub(super) fn list(&self) -> Result<Vec<sweep::Seen>, Refused> {
        let mut seen = Vec::new();
        for file in Dir::read_from(&self.folder)? {
            let file = file?;
            let Ok(name) = file.file_name().to_str() else { continue };
            seen.extend(entry::is_whole(name).and_then(|whole| self.see(name, whole)));
        }
        Ok(seen)
    }

    /// A file of that name, unless it is gone by now.
    fn see(&self, name: &str, whole: bool) -> Option<sweep::Seen> {
        let about = statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
            return None;
        }
        let used = UNIX_EPOCH + Duration::from_secs(u64::try_from(about.st_mtime).unwrap_or(0));
        let bytes = u64::try_from(about.st_size).unwrap_or(0);
        Some(sweep::Seen { name: name.to_owned(), bytes, used, whole })
    }
}

/// Whether something is ours, and none of these bits is set.
fn owned(owner: u32, mode: u32, us: u32, bits: u32) -> Result<(), Refused> {
    if owner != us {
        return Err(Refused::Foreign(owner));
    }
    if mode & bits != 0 { Err(Refused::Open(mode & 0o7777)) } else { Ok(()) }
}

/// Root makes no folder in somebody else's home, as after `sudo`: its owner could not use it from then on.
fn at_home(path: &Path, us: u32) -> Result<(), Refused> {
    let there = path.ancestors().skip(1).find_map(|folder| std::fs::metadata(folder).ok());
    match there {
        Some(folder) if us == 0 && folder.uid() != us => Err(Refused::Foreign(folder.uid())),
        _ => Ok(()),
    }
}

/// Notes when an entry was last used. Where that cannot be written it is swept sooner, and that is all.
fn used(file: &File, now: SystemTime) {
    let before = file.metadata().and_then(|about| about.modified());
    if before.is_ok_and(|before| now.duration_since(before).is_ok_and(|age| age > USED)) {
        let _ = file.set_modified(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_alone_is_taken() {
        assert!(owned(1000, 0o100_400, 1000, OTHERS_WRITE).is_ok());
        assert!(owned(1000, 0o100_644, 1000, OTHERS_WRITE).is_ok());
        assert!(owned(1000, 0o40_700, 1000, OTHERS).is_ok());
        for mode in [0o100_420, 0o100_402, 0o100_666] {
            assert!(matches!(owned(1000, mode, 1000, OTHERS_WRITE), Err(Refused::Open(_))), "{mode:o}");
        }
        for mode in [0o40_750, 0o40_705, 0o41_777] {
            assert!(matches!(owned(1000, mode, 1000, OTHERS), Err(Refused::Open(_))), "{mode:o}");
        }
        assert!(matches!(owned(0, 0o100_400, 1000, OTHERS_WRITE), Err(Refused::Foreign(0))));
        assert!(matches!(owned(1000, 0o100_400, 0, OTHERS_WRITE), Err(Refused::Foreign(1000))));
    }
}
