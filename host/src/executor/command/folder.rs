//! In which folder a command runs, and what its payload's paths mean there. Looks at folders, changes none.

use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, access};

use crate::ask::Ask;
use crate::event::Object;

/// The arguments that name a file, in the order in which they are looked at.
const PATH_KEYS: [&str; 3] = ["file_path", "filePath", "path"];

/// The folder in which the agent works, there or not: the context's, else the project's.
pub(super) fn announced(ask: &Ask<'_>) -> Option<PathBuf> {
    ask.surroundings.folder(ask.cx.cwd.as_deref())
}

/// The folder to run in: the agent's, else the project, else home, with a word about it where the first is not usable.
pub(super) fn usable(ask: &Ask<'_>, warnings: &mut Vec<String>) -> PathBuf {
    let announced = announced(ask);
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

/// The file that the arguments name: absolute, with `.` and `..` resolved in the text, links left alone.
pub(super) fn file_path(input: &Object, base: &Path) -> Option<PathBuf> {
    let given = PATH_KEYS.iter().find_map(|key| input.get(*key)?.as_str())?;
    Some(resolved(&base.join(given)))
}

fn resolved(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_string_of_the_three_names_counts_and_dots_are_resolved() {
        let table = [
            (json!({"path": "lib/../src/./a.ts"}), Some("/p/src/a.ts")),
            (json!({"path": "x", "filePath": "y", "file_path": "/z"}), Some("/z")),
            (json!({"path": "x", "file_path": 1}), Some("/p/x")),
            (json!({"path": "../../../etc/passwd"}), Some("/etc/passwd")),
            (json!({"path": ""}), Some("/p")),
            (json!({"path": "/a//b/"}), Some("/a/b")),
            (json!({"filename": "x"}), None),
        ];
        for (input, path) in table {
            let got = file_path(input.as_object().unwrap(), Path::new("/p"));
            assert_eq!(got.as_deref(), path.map(Path::new), "{input}");
        }
    }
}
