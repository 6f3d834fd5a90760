//! The private files that hold a payload whole, and the one for a session's variables. They live as long as their
//! [`Files`], and nobody else can read them.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A command's private files; dropping it deletes them.
#[derive(Debug)]
pub(super) struct Files {
    /// The arguments, as JSON.
    pub(super) input: PathBuf,
    /// What the tool printed.
    pub(super) output: Option<PathBuf>,
    /// The prompt.
    pub(super) prompt: Option<PathBuf>,
    /// Where a command may leave variables: empty at first.
    pub(super) env: Option<PathBuf>,
    _folder: TempDir,
}

/// What is to be written.
pub(super) struct Contents<'a> {
    pub(super) input: &'a str,
    pub(super) output: Option<&'a str>,
    pub(super) prompt: Option<&'a str>,
    pub(super) env: bool,
}

impl Files {
    /// Writes them into a folder of their own in `parent`. What an event does not have gets no file.
    pub(super) fn holding(parent: &Path, contents: &Contents<'_>) -> io::Result<Self> {
        let parent = std::path::absolute(parent)?;
        let owner_only = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("hook-").permissions(owner_only).tempdir_in(parent)?;
        let file = |name: &str, text: Option<&str>| text.map(|text| written(folder.path(), name, text)).transpose();
        Ok(Self {
            input: written(folder.path(), "tool-input.json", contents.input)?,
            output: file("tool-output", contents.output)?,
            prompt: file("prompt", contents.prompt)?,
            env: file("env.sh", contents.env.then_some(""))?,
            _folder: folder,
        })
    }
}

fn written(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let mut file = tempfile::Builder::new()
        .prefix(name)
        .rand_bytes(0)
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    let (_, path) = file.keep().map_err(|e| e.error)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_an_error_and_leaves_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let contents = Contents { input: "{}", output: Some("o"), prompt: None, env: true };
        assert!(Files::holding(&parent.path().join("gone"), &contents).is_err());
        let files = Files::holding(parent.path(), &contents).unwrap();
        assert_eq!(std::fs::read_to_string(files.output.as_ref().unwrap()).unwrap(), "o");
        drop(files);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
