//! Where settings files are, and their bytes.
//! Never writes: a file that cannot be read is left as it is.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Place, printable};
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
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut files = candidates(surroundings);
    files.retain(|file| {
        let real = fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
        let is_new = !seen.contains(&real);
        seen.push(real);
        is_new
    });
    files
}

/// The same, those that are reached twice included.
pub fn candidates(surroundings: &Surroundings) -> Vec<FileRef> {
    let roots = [(&surroundings.home, Scope::User), (&surroundings.project, Scope::Project)];
    let file = |(root, scope): (&Option<PathBuf>, Scope)| {
        let path = root.as_ref()?.join(".freecode").join("settings.json");
        Some(FileRef { path, scope })
    };
    roots.into_iter().filter_map(file).collect()
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
    if !about.is_file() {
        return Err(not_regular());
    }
    let mut bytes = Vec::new();
    match open_regular(path) {
        Ok(file) => file.take(LARGEST + 1).read_to_end(&mut bytes)?,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("it is larger than 64 MiB"));
    }
    Ok(Some(bytes))
}

/// Opens a regular file, and nothing else: opening a pipe would wait for its other end, and a repository may hold one, or
/// somebody put one in a file's place just now.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // A device may act on being opened.
    if !fs::metadata(path)?.is_file() {
        return Err(not_regular());
    }
    let at_once = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(at_once).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::other("it is not a regular file")
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
    parsed.plugins.retain(|plugin| {
        let stays = fs::canonicalize(&plugin.path).map_or(true, |real| real.starts_with(&project));
        if !stays {
            let message = format!(
                "the plugin `{}` is a link that leads outside: a project may name only what it brings itself; it is not \
                 loaded",
                printable(plugin.name.as_str())
            );
            diagnostics.push(Diagnostic::warning(plugin.place.clone(), message));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    struct Machine {
        _folder: tempfile::TempDir,
        at: Surroundings,
    }

    impl Machine {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let [home, project] = ["home", "project"].map(|name| folder.path().join(name));
            for root in [&home, &project] {
                fs::create_dir_all(root.join(".freecode")).unwrap();
            }
            let at = Surroundings { home: Some(home), project: Some(project), ..Surroundings::default() };
            Self { _folder: folder, at }
        }

        fn project(&self, path: &str) -> PathBuf {
            self.at.project.as_ref().unwrap().join(path)
        }

        fn home(&self, path: &str) -> PathBuf {
            self.at.home.as_ref().unwrap().join(path)
        }

        fn load(&self) -> crate::settings::Merged {
            crate::settings::load(&self.at, &Events::default())
        }
    }

    fn put(path: &Path, bytes: &[u8]) {
        File::create(path).unwrap().write_all(bytes).unwrap();
    }

    const ONE: &[u8] = br#"{"hooks": {"Stop": [{"name": "a", "command": "true"}]}}"#;
    const SETTINGS: &str = ".freecode/settings.json";

    #[test]
    fn missing_files_are_silent() {
        let machine = Machine::new();
        let merged = machine.load();
        assert!(merged.hooks.is_empty() && merged.diagnostics.is_empty());
        fs::remove_dir(machine.project(".freecode")).unwrap();
        put(&machine.project(".freecode"), b"a file where a folder was expected");
        assert!(machine.load().diagnostics.is_empty());
        assert!(crate::settings::load(&Surroundings::default(), &Events::default()).diagnostics.is_empty());
    }

    #[test]
    fn a_file_reached_twice_is_the_users() {
        let mut machine = Machine::new();
        put(&machine.home(SETTINGS), ONE);
        symlink(machine.home(SETTINGS), machine.project(SETTINGS)).unwrap();
        let sources = |merged: &crate::settings::Merged| {
            merged.hooks.iter().map(|(source, _)| source.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(sources(&machine.load()), ["user"]);
        machine.at.project = machine.at.home.clone();
        assert_eq!(sources(&machine.load()), ["user"]);
        assert!(machine.load().diagnostics.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_said_and_never_waited_for() {
        let machine = Machine::new();
        let path = machine.project(SETTINGS);
        let said = |expected: &str| {
            let merged = machine.load();
            assert_eq!(merged.unreadable.len(), 1, "{expected}");
            let text = merged.diagnostics.iter().map(ToString::to_string).collect::<String>();
            assert!(text.contains(expected), "{text}");
        };
        fs::create_dir(&path).unwrap();
        said("not a regular file");
        fs::remove_dir(&path).unwrap();
        symlink("/nowhere/at/all", &path).unwrap();
        said("leads nowhere");
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        said("not a regular file");
        fs::remove_file(&path).unwrap();
        File::create(&path).unwrap().set_len(LARGEST + 1).unwrap();
        said("larger than 64 MiB");
    }

    #[test]
    fn a_file_that_does_not_parse_is_left_as_it_is() {
        let machine = Machine::new();
        let path = machine.project(SETTINGS);
        for bytes in [b"\xef\xbb\xbf{ not json".as_slice(), b"", b"\xff\xfe{\0}\0", b"{\"a\": \"\xe9\"}"] {
            put(&path, bytes);
            assert_eq!(machine.load().unreadable.len(), 1);
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn a_projects_plugin_that_links_out_is_refused() {
        let machine = Machine::new();
        put(&machine.home("own.wasm"), b"");
        put(&machine.project("own.wasm"), b"");
        symlink(machine.home("own.wasm"), machine.project("link.wasm")).unwrap();
        let entry =
            |name: &str, plugin: &str| format!(r#"{{"name": "{name}", "type": "callback", "plugin": "{plugin}"}}"#);
        let text = format!(
            r#"{{"hooks": {{"Stop": [{}, {}, {}, {}]}}}}"#,
            entry("own", "../own.wasm"),
            entry("link", "../link.wasm"),
            entry("out", "../../home/own.wasm"),
            entry("later", "${CLAUDE_PROJECT_DIR}/not-built-yet.wasm"),
        );
        put(&machine.project(SETTINGS), text.as_bytes());
        let merged = machine.load();
        let names: Vec<_> = merged.hooks.iter().map(|(_, hook)| hook.name.as_str()).collect();
        assert_eq!(names, ["own", "later"]);
        assert_eq!(merged.diagnostics.len(), 2);
        put(&machine.home(SETTINGS), entry_file(&entry("mine", "~/../project/own.wasm")).as_bytes());
        assert_eq!(machine.load().hooks.len(), 3);
    }

    fn entry_file(entry: &str) -> String {
        format!(r#"{{"hooks": {{"TurnEnd": [{entry}]}}}}"#)
    }
}
