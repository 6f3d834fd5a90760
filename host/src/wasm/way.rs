//! The way that a path takes over links, so that it can be asked whether it leads through a folder that somebody else
//! writes to.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// As many links as the system follows.
const MOST_LINKS: usize = 40;

/// A path that is there, with every place on the way to where it really leads.
#[derive(Debug)]
pub(super) struct Way {
    places: Vec<PathBuf>,
    /// Device and number of each folder and file on it.
    ids: Vec<(u64, u64)>,
    end: PathBuf,
}

impl Way {
    /// That of an absolute path.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        if !path.is_absolute() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut ahead = backwards(path);
        let (mut places, mut ids, mut end, mut links) = (Vec::new(), Vec::new(), PathBuf::from("/"), 0);
        while let Some(part) = ahead.pop() {
            if part == OsStr::new("..") {
                end.pop();
                continue;
            }
            let next = end.join(part);
            let about = next.symlink_metadata()?;
            ids.push((about.dev(), about.ino()));
            if about.is_symlink() {
                links += 1;
                if links > MOST_LINKS {
                    return Err(io::Error::other("too many links"));
                }
                let target = next.read_link()?;
                if target.is_absolute() {
                    end = PathBuf::from("/");
                }
                ahead.extend(backwards(&target));
            } else {
                end.clone_from(&next);
            }
            places.push(next);
        }
        Ok(Self { places, ids, end })
    }

    /// Where it leads, without a link on the way.
    pub(super) fn end(&self) -> &Path {
        &self.end
    }

    /// Whether anything on it, a link included, lies in this folder: by name, or since the folder itself is on it under
    /// another one, as where case does not count, or where it is mounted twice.
    pub(super) fn touches(&self, folder: &Path) -> bool {
        let by_name = self.end.starts_with(folder) || self.places.iter().any(|place| place.starts_with(folder));
        by_name || folder.metadata().is_ok_and(|about| self.ids.contains(&(about.dev(), about.ino())))
    }
}

/// Its names, the first one last.
fn backwards(path: &Path) -> Vec<OsString> {
    let named = path.components().rev().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    named.map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_way_knows_each_place_that_it_touches() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().canonicalize().unwrap().join(name);
        for folder in ["project/bin", "tools", "far"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        symlink(at("tools"), at("project/out")).unwrap();
        symlink("../project/out", at("far/through")).unwrap();
        symlink("../tools", at("far/past")).unwrap();
        symlink("loop", at("loop")).unwrap();
        for (path, end, touches) in [
            ("tools", "tools", false),
            ("far/past", "tools", false),
            ("far/../tools", "tools", false),
            ("far/through", "tools", true),
            ("project/out", "tools", true),
            ("project/bin/../../tools", "tools", true),
            ("project", "project", true),
        ] {
            let way = Way::of(&at(path)).unwrap();
            assert_eq!((way.end(), way.touches(&at("project"))), (at(end).as_path(), touches), "{path}");
        }
        // The same folder under another name.
        symlink(at("project"), at("alias")).unwrap();
        let way = Way::of(&at("project/bin")).unwrap();
        assert!(way.touches(&at("alias")) && !way.touches(&at("far")));
        for path in ["loop", "nothing", "tools/nothing"] {
            assert!(Way::of(&at(path)).is_err(), "{path}");
        }
        assert!(Way::of(Path::new("tools")).is_err());
    }
}
