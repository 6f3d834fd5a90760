//! Whether the files that a trusted command names still are what was trusted; asked each time before it runs.

use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::printable_path;
use crate::hook::CommandHook;

use super::named::{NamedFile, Root, named_files};
use super::ration::Ration;

/// A command's files as they were trusted.
#[derive(Clone, Debug)]
pub struct Seal {
    root: Arc<Root>,
    command: CommandHook,
    files: Vec<NamedFile>,
}

impl Seal {
    pub(super) fn new(root: Arc<Root>, command: CommandHook, files: Vec<NamedFile>) -> Self {
        Self { root, command, files }
    }

    /// The files as they were trusted.
    pub fn files(&self) -> &[NamedFile] {
        &self.files
    }

    /// Reads the files anew, as a command in `cwd` would find them.
    ///
    /// # Errors
    ///
    /// Which of them is not what was trusted. Between this look and the run a file can still change.
    pub fn check(&self, cwd: Option<&Path>) -> Result<(), String> {
        let now = named_files(&self.root, &self.command, cwd, &Ration::of_a_project());
        let trusted = |file: &NamedFile| file.digest.is_some() && self.files.contains(file);
        let changed = now.iter().find(|file| !trusted(file)).map(|file| (file, "is not what was trusted"));
        let gone = self.files.iter().find(|file| now.iter().all(|one| one.path != file.path));
        match changed.or(gone.map(|file| (file, "was trusted and is gone"))) {
            None => Ok(()),
            Some((file, why)) => Err(format!("`{}` {why}", printable_path(&file.path))),
        }
    }
}
