//! Which folders are to be watched for a file, whether it is there or not, and which names in them matter.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};

/// So many links are followed; a longer chain is a circle.
const MOST_LINKS: usize = 16;

/// The folders to watch, by their real names, and the names in them that matter.
#[derive(Debug, Default)]
pub(super) struct Folders {
    pub(super) watched: BTreeSet<PathBuf>,
    pub(super) names: HashSet<PathBuf>,
}

impl Folders {
    /// Those for these files: a file's own folder, or the nearest one that is there, so that the next one on the way to
    /// the file is seen when it appears; the one above, so that it is seen when that folder is replaced; and wherever a
    /// link on the way lies, so that it is seen when it leads elsewhere.
    pub(super) fn of(paths: &BTreeSet<PathBuf>) -> Self {
        let mut folders = Self::default();
        for path in paths {
            folders.follow(path, MOST_LINKS);
        }
        folders
    }

    fn follow(&mut self, path: &Path, links_left: usize) {
        let mut walked = PathBuf::new();
        let mut rest = path.components();
        while let Some(component) = rest.next() {
            walked.push(component);
            if !matches!(component, Component::Normal(_)) {
                continue;
            }
            match std::fs::read_link(&walked) {
                Ok(target) => {
                    self.add(&walked);
                    if links_left > 0 {
                        let there = walked.parent().unwrap_or(Path::new("/")).join(target).join(rest.as_path());
                        // Joining nothing adds a slash, which makes a folder of a file.
                        self.follow(&there.components().collect::<PathBuf>(), links_left - 1);
                    }
                    return;
                }
                Err(_) if !walked.exists() => break,
                Err(_) => {}
            }
        }
        // The file itself, or what is missing first on the way to it.
        self.add(&walked);
    }

    fn add(&mut self, path: &Path) {
        let mut path = path.to_owned();
        for _ in 0..2 {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
            let Ok(real) = folder.canonicalize() else { return };
            self.names.insert(real.join(name));
            self.watched.insert(real.clone());
            path = real;
        }
        self.names.insert(path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(root: &Path, path: &str) -> Vec<String> {
        let found = Folders::of(&[root.join(path)].into());
        let real = root.canonicalize().unwrap();
        let name = |path: &PathBuf| path.strip_prefix(&real).ok().map(|path| path.display().to_string());
        let mut names: Vec<_> = found.names.iter().filter_map(name).filter(|name| !name.is_empty()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_nearest_folder_that_is_there_is_watched_and_then_the_next() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        assert_eq!(names(root.path(), "a/b/c/file"), ["a", "a/b"]);
        fs::create_dir_all(root.path().join("a/b/c")).unwrap();
        assert_eq!(names(root.path(), "a/b/c/file"), ["a/b", "a/b/c", "a/b/c/file"]);
    }

    #[test]
    fn links_are_watched_where_they_lie_and_where_they_lead() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("real/deep")).unwrap();
        fs::create_dir(root.path().join("home")).unwrap();
        symlink("../real", root.path().join("home/link")).unwrap();
        symlink("target", root.path().join("real/deep/file")).unwrap();
        let all = names(root.path(), "home/link/deep/file");
        for name in ["home/link", "real/deep/file", "real/deep/target", "real/deep"] {
            assert!(all.contains(&name.to_owned()), "{name}: {all:?}");
        }
        symlink("circle", root.path().join("circle")).unwrap();
        assert!(names(root.path(), "circle/file").contains(&"circle".to_owned()));
    }
}
