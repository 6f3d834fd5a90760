//! Which of the project's files a command names: its words, looked up in the project, without running anything.
//!
//! A shell can hide a name in many ways, so this is no promise that nothing else runs. It takes more words for paths
//! than a shell would (each piece of a quoted text, each after a `cd`) and leaves out only what a command writes to.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::hook::{CommandHook, HookEnv};
use crate::plugin::Digest;
use crate::settings::{is_runner, open_regular};
use crate::surroundings::Surroundings;

use super::ration::{Ration, Spent};

/// A larger file has no digest, and a command that names it does not run.
const LARGEST: u64 = 64 << 20;

/// So many words of a command are looked at, and so many folders that it may go to. One with more does not run: what it
/// names behind them nobody has seen.
const MOST_WORDS: usize = 1000;
const MOST_FOLDERS: usize = 32;
const TOO_MANY: &str = "(more words or folders than are looked at)";

/// The project's folder, by both of its names.
#[derive(Clone, Debug)]
pub struct Root {
    given: PathBuf,
    real: PathBuf,
    home: Option<PathBuf>,
}

impl Root {
    /// The one of these surroundings; `None` where they have no project.
    pub fn of(surroundings: &Surroundings) -> Option<Self> {
        let given = surroundings.project.clone()?;
        let real = std::fs::canonicalize(&given).unwrap_or_else(|_| given.clone());
        Some(Self { given, real, home: surroundings.home.clone() })
    }

    /// Its canonical path.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// The path as seen from the project; as it is where it lies elsewhere.
    pub(super) fn seen(&self, path: &Path) -> PathBuf {
        self.inside(path).map_or_else(|| path.to_owned(), Path::to_owned)
    }

    fn inside<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.given).or_else(|_| path.strip_prefix(&self.real)).ok()
    }
}

/// A file of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// Where it is, from the project's folder.
    pub path: PathBuf,
    /// What it holds; `None` where it cannot be read, is larger than 64 MiB, or is beyond what is read of a project.
    pub digest: Option<Digest>,
}

impl NamedFile {
    /// Reads it, as far as the ration allows.
    fn read(at: &Path, seen: PathBuf, ration: &Ration) -> Self {
        let digest = ration.digest(at, || digest(at, &seen, ration));
        Self { path: seen, digest }
    }
}

fn digest(at: &Path, seen: &Path, ration: &Ration) -> Option<Digest> {
    let most = ration.at_most(seen, LARGEST + 1).ok()?;
    let mut bytes = Vec::new();
    let read = open_regular(at).and_then(|file| file.take(most).read_to_end(&mut bytes));
    ration.took(seen, bytes.len() as u64).ok()?;
    read.is_ok_and(|size| size as u64 <= LARGEST).then(|| Digest::of(&bytes))
}

/// The files of the project that the words of `command` name, in the order of their paths. A relative word is looked up
/// in the project's folder, and in `cwd` where that is given and lies in the project.
///
/// What `ration` does not allow has no digest, and where it does not allow to look, that stands for all.
pub(super) fn named_files(root: &Root, command: &CommandHook, cwd: Option<&Path>, ration: &Ration) -> Vec<NamedFile> {
    let words = words_of(command, root);
    let too_many = || NamedFile { path: TOO_MANY.into(), digest: None };
    let Ok((found, folders)) = found(root, &words, cwd, ration) else { return vec![too_many()] };
    let mut files: Vec<_> = found.into_iter().map(|(seen, at)| NamedFile::read(&at, seen, ration)).collect();
    if words.len() > MOST_WORDS || folders > MOST_FOLDERS {
        files.push(too_many());
    }
    files
}

/// The files that these words name: as the project calls them, and where they are. In how many folders they were looked up,
/// too.
fn found(
    root: &Root,
    words: &BTreeSet<String>,
    cwd: Option<&Path>,
    ration: &Ration,
) -> Result<(BTreeMap<PathBuf, PathBuf>, usize), Spent> {
    let folders = folders(root, words, cwd, ration)?;
    let any_word = words.iter().any(|word| is_runner(word));
    let mut found = BTreeMap::new();
    for word in words.iter().filter(|word| any_word || looks_like_a_path(word)) {
        for folder in &folders {
            let path = folder.join(word);
            ration.look_up(&path)?;
            if let Some((at, seen)) = located(root, &path) {
                found.entry(seen).or_insert(at);
            }
        }
    }
    Ok((found, folders.len()))
}

/// Where a file of the project is, and how the project calls it: by its real place, or, where a link leads out, by the
/// link's.
fn located(root: &Root, path: &Path) -> Option<(PathBuf, PathBuf)> {
    let real = std::fs::canonicalize(path).ok()?;
    if !real.is_file() {
        return None;
    }
    let lexical = crate::wire::path::normal(path);
    let seen = real.strip_prefix(&root.real).ok().or_else(|| root.inside(&lexical))?.to_owned();
    Some((real, seen))
}

/// The folders in which relative words are looked up: the project, where the agent works, and where a `cd` may go.
fn folders(root: &Root, words: &BTreeSet<String>, cwd: Option<&Path>, ration: &Ration) -> Result<Vec<PathBuf>, Spent> {
    let mut folders = vec![root.real.clone()];
    let cwd = cwd.map(|cwd| root.real.join(cwd)).and_then(|cwd| std::fs::canonicalize(cwd).ok());
    folders.extend(cwd.filter(|cwd| cwd.starts_with(&root.real)));
    let starts = folders.clone();
    for word in words {
        for start in &starts {
            let path = start.join(word);
            ration.look_up(&path)?;
            let Ok(folder) = std::fs::canonicalize(path) else { continue };
            let fits = folder.is_dir() && folder.starts_with(&root.real) && !folders.contains(&folder);
            if fits && folders.len() <= MOST_FOLDERS {
                folders.push(folder);
            }
        }
    }
    Ok(folders)
}

/// A plain word is one only where something is there to run or read it: `echo test` names no file, `bash test` does.
fn looks_like_a_path(word: &str) -> bool {
    word.contains(['/', '.'])
}

/// Every text that could name a file.
fn words_of(command: &CommandHook, root: &Root) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let expanded = |text: &str| expanded(&with_package(text, command), root);
    match &command.args {
        None => split(&written(&expanded(&command.command)), &mut words),
        Some(args) => {
            for word in std::iter::once(&command.command).chain(args) {
                take(&expanded(word), &mut words);
            }
        }
    }
    if let HookEnv::Set(set) = &command.env {
        set.iter().for_each(|(_, value)| take(&expanded(value), &mut words));
    }
    words
}

/// The text with the folder of the command's package, where it has one.
fn with_package(text: &str, command: &CommandHook) -> String {
    let Some(folder) = &command.plugin_root else { return text.to_owned() };
    let folder = folder.to_string_lossy();
    text.replace("${CLAUDE_PLUGIN_ROOT}", &folder).replace("$CLAUDE_PLUGIN_ROOT", &folder)
}

/// The text with the folders that its variables mean.
fn expanded(text: &str, root: &Root) -> String {
    let project = root.real.to_string_lossy();
    let mut text = text.replace("${CLAUDE_PROJECT_DIR}", &project).replace("$CLAUDE_PROJECT_DIR", &project);
    if let Some(home) = &root.home {
        let home = home.to_string_lossy();
        text = text.replace("${HOME}", &home).replace("$HOME/", &format!("{home}/"));
        text = text.replace("~/", &format!("{home}/"));
    }
    text
}

/// The text without what it writes to: the words behind `>` and `>>`, outside of quotes.
fn written(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let (mut quote, mut before) = (None, ' ');
    while let Some(c) = rest.next() {
        out.push(c);
        match (c, quote) {
            ('\\', None | Some('"')) => out.extend(rest.next()),
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('>', None) if before != '<' => {
                while rest.next_if(|c| matches!(c, '>' | '|' | '&' | ' ' | '\t')).is_some() {}
                while rest.next_if(|c| !c.is_whitespace() && !"|&;<>()`'\"\\$".contains(*c)).is_some() {}
                out.push(' ');
            }
            _ => {}
        }
        before = c;
    }
    out
}

/// The words of a shell's text, without their quotes, and the pieces of each.
fn split(text: &str, words: &mut BTreeSet<String>) {
    let (mut word, mut quote) = (String::new(), None);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.extend(rest.next()),
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, None) if c.is_whitespace() || "|&;<>()`".contains(c) => take(&std::mem::take(&mut word), words),
            _ => word.push(c),
        }
    }
    take(&word, words);
}

/// A word, and what it may be put together of: `--config=a.json`, `bash -c 'a.sh x'`, `$ROOT/a.sh`.
fn take(word: &str, words: &mut BTreeSet<String>) {
    let part = |c: char| c.is_whitespace() || "=:,;@|&<>(){}[]`'\"".contains(c);
    for piece in std::iter::once(word).chain(word.split(part)) {
        let of_variable = piece.strip_prefix('$').and_then(|piece| piece.split_once('/')).map(|(_, rest)| rest);
        // Behind what is not known here the project may stand.
        let below = of_variable.or_else(|| piece.strip_prefix('/'));
        for name in std::iter::once(piece).chain(below) {
            let fits = !name.is_empty() && name.len() <= 4096 && !name.contains('\0');
            if fits && words.len() <= MOST_WORDS {
                words.insert(name.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::*;

    fn project() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for path in ["hooks/a.sh", "hooks/my guard.sh", "sub/a.sh", "guard", "conf.json", "log.txt"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(path).unwrap().write_all(b"x").unwrap();
        }
        let surroundings = Surroundings { project: Some(folder.path().to_owned()), ..Surroundings::default() };
        let root = Root::of(&surroundings).unwrap();
        (folder, root)
    }

    fn names(root: &Root, command: &CommandHook, cwd: Option<&Path>) -> Vec<String> {
        named_files(root, command, cwd, &Ration::unbounded())
            .iter()
            .map(|file| file.path.display().to_string())
            .collect()
    }

    #[test]
    fn the_folder_of_a_commands_package_is_known() {
        let (_folder, root) = project();
        let plugin_root = Some(root.real().join("hooks"));
        for text in
            ["\"$CLAUDE_PLUGIN_ROOT/a.sh\"", "\"${CLAUDE_PLUGIN_ROOT}\"/a.sh", "bash -c '$CLAUDE_PLUGIN_ROOT/a.sh'"]
        {
            let command = CommandHook { plugin_root: plugin_root.clone(), ..CommandHook::new(text) };
            assert_eq!(names(&root, &command, None), ["hooks/a.sh"], "{text}");
        }
    }

    #[test]
    fn words_that_name_a_file_of_the_project_are_found() {
        let (folder, root) = project();
        let absolute = format!("{}/hooks/a.sh", folder.path().display());
        for (text, files) in [
            ("./hooks/a.sh --fast", &["hooks/a.sh"][..]),
            (absolute.as_str(), &["hooks/a.sh"]),
            ("\"$CLAUDE_PROJECT_DIR\"/hooks/a.sh", &["hooks/a.sh"]),
            ("\"${CLAUDE_PROJECT_DIR}/hooks/my guard.sh\"", &["hooks/my guard.sh"]),
            ("$(git rev-parse --show-toplevel)/hooks/a.sh", &["hooks/a.sh"]),
            ("$ROOT/hooks/a.sh", &["hooks/a.sh"]),
            ("hooks/my\\ guard.sh", &["hooks/my guard.sh"]),
            ("bash -c 'true; hooks/a.sh x'", &["hooks/a.sh"]),
            ("bash guard", &["guard"]),
            ("echo guard", &[]),
            ("jq --config=conf.json .", &["conf.json"]),
            ("true && cd hooks && ./a.sh", &["hooks/a.sh"]),
            ("cat < conf.json", &["conf.json"]),
            ("hooks/a.sh >> log.txt 2>log.txt", &["hooks/a.sh"]),
            ("hooks/a.sh > \"log.txt\"", &["hooks/a.sh", "log.txt"]),
            ("cat log.txt > log.txt", &["log.txt"]),
            ("echo 'a > ' hooks/a.sh", &["hooks/a.sh"]),
            ("ls hooks gone.sh /etc/passwd", &[]),
        ] {
            assert_eq!(names(&root, &CommandHook::new(text), None), files, "{text}");
        }
    }

    #[test]
    fn arguments_and_variables_name_files_too() {
        let (_folder, root) = project();
        let args = Some(vec!["hooks/my guard.sh".to_owned()]);
        assert_eq!(names(&root, &CommandHook { args, ..CommandHook::new("bash") }, None), ["hooks/my guard.sh"]);
        let env = HookEnv::Set(vec![("BASH_ENV".to_owned(), "hooks/a.sh".to_owned())]);
        assert_eq!(names(&root, &CommandHook { env, ..CommandHook::new("true") }, None), ["hooks/a.sh"]);
    }

    #[test]
    fn a_relative_word_may_mean_another_file_where_the_agent_works() {
        let (folder, root) = project();
        let command = CommandHook::new("./a.sh");
        assert!(names(&root, &command, None).is_empty());
        assert_eq!(names(&root, &command, Some(Path::new("sub"))), ["sub/a.sh"]);
        assert_eq!(names(&root, &command, Some(&folder.path().join("hooks"))), ["hooks/a.sh"]);
        assert!(names(&root, &command, Some(Path::new("/"))).is_empty());
    }

    #[test]
    fn a_link_is_followed_and_nothing_but_a_file_is_opened() {
        use std::os::unix::fs::symlink;
        let (folder, root) = project();
        let outside = tempfile::NamedTempFile::new().unwrap();
        symlink(outside.path(), folder.path().join("out.sh")).unwrap();
        symlink("hooks/a.sh", folder.path().join("in.sh")).unwrap();
        symlink("/dev/zero", folder.path().join("zero.sh")).unwrap();
        assert_eq!(names(&root, &CommandHook::new("./out.sh; ./in.sh; ./zero.sh"), None), ["hooks/a.sh", "out.sh"]);
    }

    #[test]
    fn a_command_with_too_many_words_is_not_taken_for_seen() {
        let (_folder, root) = project();
        let text = (0..=MOST_WORDS).map(|word| format!("w{word} ")).collect::<String>() + "hooks/a.sh";
        let found = named_files(&root, &CommandHook::new(text), None, &Ration::of_a_project());
        assert_eq!(found.last(), Some(&NamedFile { path: TOO_MANY.into(), digest: None }));
    }

    #[test]
    fn a_file_that_is_too_large_has_no_digest() {
        let (folder, root) = project();
        File::create(folder.path().join("conf.json")).unwrap().set_len(LARGEST + 1).unwrap();
        let found = named_files(&root, &CommandHook::new("cat conf.json"), None, &Ration::of_a_project());
        assert_eq!(found, [NamedFile { path: "conf.json".into(), digest: None }]);
    }
}
