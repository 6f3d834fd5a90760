//! Paths as settings write them: from the file's own folder, with `~` and two variables.
//! Owns the text of a path; whether anything is there is for those who open files.

use std::path::{Component, Path, PathBuf};

use super::document::Quoted;
pub(crate) use crate::text::normal;

/// What a path may refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bases<'a> {
    /// The folder of the file it is written in.
    pub(crate) folder: &'a Path,
    /// `~`.
    pub(crate) home: Option<&'a Path>,
    /// `${CLAUDE_PROJECT_DIR}`.
    pub(crate) project: Option<&'a Path>,
    /// `${CLAUDE_PLUGIN_ROOT}`: where the file belongs to a package.
    pub(crate) package: Option<&'a Path>,
}

/// The path that `text` means: absolute as far as its folder is, without `.` and `..`.
pub(crate) fn resolve(text: &str, bases: &Bases<'_>) -> Result<PathBuf, String> {
    if text.trim().is_empty() || text.contains('\0') {
        return Err("names no file".to_owned());
    }
    let expanded = expand(text, bases)?;
    Ok(normal(&bases.folder.join(expanded)))
}

fn expand(text: &str, bases: &Bases<'_>) -> Result<PathBuf, String> {
    let (first, rest) = match text.split_once('/') {
        Some((first, rest)) => (first, rest),
        None => (text, ""),
    };
    let base = match first {
        "~" => bases.home,
        "${CLAUDE_PROJECT_DIR}" => bases.project,
        "${CLAUDE_PLUGIN_ROOT}" => bases.package,
        _ if text.contains("${") => {
            return Err("holds a variable that is not known there; `${CLAUDE_PROJECT_DIR}`, `${CLAUDE_PLUGIN_ROOT}` and `~` are, at its start".to_owned());
        }
        _ => return Ok(PathBuf::from(text)),
    };
    let base = base.ok_or_else(|| format!("starts at {}, which has no value here", Quoted(first)))?;
    // `~//x` is below home: a second slash must not make the rest absolute.
    let rest = rest.trim_start_matches('/');
    if rest.contains("${") {
        return Err("holds a second variable".to_owned());
    }
    Ok(base.join(rest))
}

/// Whether `text` stays inside the folder it starts from: relative, and without `..`.
pub(crate) fn stays_inside(text: &str) -> bool {
    let mut named = false;
    let inside = Path::new(text).components().all(|part| {
        named |= matches!(part, Component::Normal(_));
        matches!(part, Component::Normal(_) | Component::CurDir)
    });
    // A backslash parts folders on some systems; a package is to mean the same file everywhere.
    inside && named && !text.contains(['\0', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_at_the_files_folder() {
        let bases = Bases {
            folder: Path::new("/p/.freecode"),
            home: Some(Path::new("/h")),
            project: Some(Path::new("/p")),
            package: None,
        };
        for (text, expected) in [
            ("a.wasm", "/p/.freecode/a.wasm"),
            ("./x/../a.wasm", "/p/.freecode/a.wasm"),
            ("../plugins/a", "/p/plugins/a"),
            ("/abs/a", "/abs/a"),
            ("~/a", "/h/a"),
            ("~//etc/a", "/h/etc/a"),
            ("~", "/h"),
            ("~bob/a", "/p/.freecode/~bob/a"),
            ("${CLAUDE_PROJECT_DIR}/a", "/p/a"),
            ("../../../../a", "/a"),
        ] {
            assert_eq!(resolve(text, &bases), Ok(PathBuf::from(expected)), "{text}");
        }
        for text in ["", " ", "a\0b", "${CLAUDE_PLUGIN_ROOT}/a", "${HOME}/a", "x${HOME}", "~/${HOME}"] {
            assert!(resolve(text, &bases).is_err(), "{text}");
        }
    }

    #[test]
    fn inside_means_inside() {
        for good in ["a.wasm", "./a.wasm", "b/a.wasm", "..a"] {
            assert!(stays_inside(good), "{good}");
        }
        for bad in ["", ".", "/a", "../a", "a/../../b", "a/..", "..\\a", "a\0"] {
            assert!(!stays_inside(bad), "{bad}");
        }
    }
}
