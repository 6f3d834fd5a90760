//! What an entry is copied to before it runs, so that nobody can change it from then on.
//!
//! Small code is copied to ordinary memory, which the engine copies once more. Large code goes to a file that is in memory alone
//! (Linux): once it is sealed, the kernel lets nobody write to it or change its length, whoever they are, and the engine maps it
//! without another copy. Where there is no such thing, ordinary memory serves.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::PathBuf;

/// From how many bytes on a copy is worth a file: less is copied faster than it is mapped.
const LARGE: u64 = 1 << 20;

/// Something that code can be copied to.
pub(super) enum Copying {
    /// Ordinary memory.
    Memory(Vec<u8>),
    /// A file.
    File(Nameless),
}

/// A copy that nobody changes any more.
pub(super) enum Copied {
    /// In ordinary memory.
    Memory(Vec<u8>),
    /// In a file that is sealed.
    File(Nameless),
}

/// A file in memory that is in no folder.
pub(super) struct Nameless {
    file: File,
    /// Where this process finds it, for as long as it is open.
    pub(super) path: PathBuf,
}

impl Copying {
    /// An empty one, for an entry of so many bytes.
    pub(super) fn of_size(bytes: u64) -> Self {
        match Some(bytes).filter(|bytes| *bytes >= LARGE).and_then(|_| nameless()) {
            Some(file) => Self::File(file),
            None => Self::Memory(Vec::with_capacity(usize::try_from(bytes).unwrap_or_default())),
        }
    }

    /// Copies what comes next.
    ///
    /// # Errors
    ///
    /// Where there is no memory for it.
    pub(super) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Memory(memory) => memory.extend_from_slice(bytes),
            Self::File(Nameless { file, .. }) => file.write_all(bytes)?,
        }
        Ok(())
    }

    /// Ends the copying.
    ///
    /// # Errors
    ///
    /// Where the file cannot be sealed.
    pub(super) fn finish(self) -> io::Result<Copied> {
        Ok(match self {
            Self::Memory(bytes) => Copied::Memory(bytes),
            Self::File(file) => {
                seal(&file.file)?;
                Copied::File(file)
            }
        })
    }
}

impl Nameless {
    /// What is in it.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        let (mut file, mut bytes) = (&self.file, Vec::new());
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(target_os = "linux")]
fn nameless() -> Option<Nameless> {
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::os::fd::AsRawFd as _;
    let file = memfd_create("tacklebox-code", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).ok().map(File::from)?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
    Some(Nameless { file, path })
}

#[cfg(target_os = "linux")]
fn seal(file: &File) -> io::Result<()> {
    use rustix::fs::{SealFlags, fcntl_add_seals};
    let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    Ok(fcntl_add_seals(file, all)?)
}

#[cfg(not(target_os = "linux"))]
fn nameless() -> Option<Nameless> {
    None
}

#[cfg(not(target_os = "linux"))]
fn seal(_: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    fn copied(bytes: &[u8]) -> Nameless {
        let mut copying = Copying::of_size(LARGE);
        copying.add(bytes).unwrap();
        let Copied::File(file) = copying.finish().unwrap() else { panic!("not a file") };
        file
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_changes_a_large_copy_that_is_finished() {
        let copied = copied(b"code");
        let opened = File::options().read(true).write(true).open(&copied.path).unwrap();
        for mut file in [&copied.file, &opened] {
            assert!(file.write_all(b"x").is_err() && file.set_len(0).is_err() && file.set_len(100).is_err());
            assert!(rustix::fs::fcntl_add_seals(file, rustix::fs::SealFlags::WRITE).is_err());
        }
        assert_eq!(copied.read().unwrap(), b"code");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_copy_is_read_whole_and_again() {
        let copied = copied(&[7; 100_000]);
        assert_eq!(copied.read().unwrap(), [7; 100_000]);
        assert_eq!(copied.read().unwrap(), [7; 100_000]);
    }

    #[test]
    fn a_small_copy_takes_no_file() {
        assert!(matches!(Copying::of_size(LARGE - 1), Copying::Memory(_)));
    }
}
