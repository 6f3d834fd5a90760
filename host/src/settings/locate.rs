//! Where settings files are, and their bytes.
//! Never writes: a file that cannot be read is left as it is.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Place};
use crate::event::Events;
use crate::hook::{HookKind, HookSpec};
use crate::source::Scope;
use crate::surroundings::Surroundings;
use crate::wire::settings::{FileRef, Parsed, parse};

/// A larger file is no settings file.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The settings files of these surroundings, the user's before the project's, whether they exist or not. A file that is
/// reached twice (the project is the home folder, or a link leads there) is the user's alone.
pub fn locate(surroundings: &Surroundings) -> Vec<FileRef> {
    let roots = [(&surroundings.home, Scope::User), (&surroundings.project, Scope::Project)];
    let mut files: Vec<FileRef> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    for (root, scope) in roots {
        let Some(root) = root else { continue };
        let path = root.join(".freecode").join("settings.json");
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if !seen.contains(&real) {
            seen.push(real);
            files.push(FileRef { path, scope });
        }
    }
    files
}

/// Reads one of them; `None` where there is none.
pub fn read(file: &FileRef, events: &Events, surroundings: &Surroundings) -> Option<Parsed> {
    match bytes(&file.path) {
        Ok(Some(bytes)) => {
            let mut parsed = parse(&bytes, file, events, surroundings);
            if file.scope != Scope::User {
                refuse_what_links_out(&mut parsed, surroundings);
            }
            Some(parsed)
        }
        Ok(None) => None,
        Err(error) => {
            let message = format!("cannot be read: {}; no hook of this file is read", cause(&error));
            let why = Diagnostic::warning(Place::file(&file.path), message);
            Some(Parsed::unreadable(file.clone(), why))
        }
    }
}

fn bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if is_missing(&error) && fs::symlink_metadata(path).is_ok() => {
            return Err(io::Error::other("it is a link that leads nowhere"));
        }
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    // Opening a pipe would wait for its other end, and a repository may hold one.
    if !about.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(LARGEST + 1).read_to_end(&mut bytes)?,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("it is larger than 64 MiB"));
    }
    Ok(Some(bytes))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The system's words, without its number.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    let plain = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = plain.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// A project's plugin must be the project's own; the text was checked where it was read, here a link that leads out is.
fn refuse_what_links_out(parsed: &mut Parsed, surroundings: &Surroundings) {
    let Some(project) = surroundings.project.as_deref().and_then(|project| fs::canonicalize(project).ok()) else {
        return;
    };
    let diagnostics = &mut parsed.diagnostics;
    parsed.hooks.retain(|hook| {
        let stays = !links_out(hook, &project);
        if !stays {
            let message = "`plugin` is a link that leads outside: a project may name only what it brings itself; \
                           this hook is skipped";
            diagnostics.push(Diagnostic::warning(hook.place.clone(), message));
        }
        stays
    });
}

fn links_out(hook: &HookSpec, project: &Path) -> bool {
    match &hook.kind {
        HookKind::Callback(callback) => fs::canonicalize(&callback.plugin).is_ok_and(|real| !real.starts_with(project)),
        _ => false,
    }
}
