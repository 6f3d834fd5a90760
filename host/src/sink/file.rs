//! The file of records: opened with care, and appended to line by line.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::geteuid;

use super::JsonLinesError;

const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A file that grows by whole lines.
pub(super) struct Appending {
    path: PathBuf,
    to: Box<dyn Write + Send>,
    /// The file ends in a piece of a line.
    torn: bool,
}

impl Appending {
    /// Opens it, or makes it.
    pub(super) fn open(path: &Path) -> Result<Self, JsonLinesError> {
        // Not blocking: a pipe that nobody reads would keep the host from being built.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        let opened = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(i32::try_from(flags).unwrap_or_default())
            .open(path);
        let file = opened.map_err(|error| failed(path, error))?;
        let refused = |why| JsonLinesError::Refused { path: path.to_owned(), why };
        // Of the file that was opened, not of whatever has its name by now.
        let about = file.metadata().map_err(|error| failed(path, error))?;
        if !about.is_file() {
            return Err(refused("not a regular file"));
        }
        if about.uid() != geteuid().as_raw() {
            return Err(refused("it belongs to somebody else"));
        }
        if about.mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(refused("others may write it"));
        }
        Ok(Self::over(path, file))
    }

    pub(super) fn over(path: &Path, to: impl Write + Send + 'static) -> Self {
        Self { path: path.to_owned(), to: Box::new(to), torn: false }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line in one write. Behind a piece of one, which a full disk may have left, it begins a new one.
    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        match self.torn {
            true => self.append(&[b"\n", line].concat()),
            false => self.append(line),
        }
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let mut written = 0;
        while written < line.len() {
            match self.to.write(&line[written..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(more) => {
                    written += more;
                    self.torn = written < line.len();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn failed(path: &Path, error: io::Error) -> JsonLinesError {
    let path = path.to_owned();
    match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => JsonLinesError::Refused { path, why: "a symbolic link, which is not followed" },
        // A pipe without a reader, and a socket.
        Some(Errno::NXIO) => JsonLinesError::Refused { path, why: "not a regular file" },
        _ => JsonLinesError::Io { path, error },
    }
}
