//! In which folder a command runs. Looks at folders, changes none.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::ask::Ask;

/// The folder to run in: the agent's, else the project, else home, with a word about it where the first is not usable.
pub(super) fn usable(ask: &Ask<'_>, warnings: &mut Vec<String>) -> PathBuf {
    let announced = ask.surroundings.folder(ask.cx.cwd.as_deref());
    let wishes = [announced.clone(), ask.surroundings.project.clone(), ask.surroundings.home.clone()];
    let found = wishes.into_iter().flatten().find(|folder| can_be_entered(folder));
    let found = found.unwrap_or_else(|| PathBuf::from("/"));
    if let Some(wish) = announced.filter(|wish| *wish != found) {
        warnings.push(format!("the folder `{}` is gone; it ran in `{}`", shown(&wish), shown(&found)));
    }
    found
}

/// A path for a person to read: what would steer a terminal is escaped.
fn shown(path: &Path) -> String {
    path.to_string_lossy().escape_debug().to_string()
}

fn can_be_entered(folder: &Path) -> bool {
    folder.is_absolute() && folder.is_dir() && access(folder, Access::EXEC_OK).is_ok()
}
