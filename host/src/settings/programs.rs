//! Whether what a command names is there at all, as far as its text tells without running it.
//!
//! A warning that is wrong teaches people to read past warnings, so this looks at plain words of the first simple
//! command alone, and leaves alone whatever a shell would still change.

use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, printable};
use crate::hook::{CommandHook, HookKind, HookSpec, Shell};
use crate::surroundings::Surroundings;

/// Programs that run the script they are given, and those that run another program.
const RUNNERS: [&str; 28] = [
    "bash", "sh", "zsh", "dash", "fish", "node", "nodejs", "deno", "bun", "tsx", "ts-node", "npx", "bunx", "python",
    "python2", "python3", "uv", "run", "ruby", "perl", "env", "exec", "command", "nohup", "time", "sudo", "source",
    ".",
];

const SCRIPTS: [&str; 7] = ["sh", "py", "js", "mjs", "ts", "rb", "pl"];

/// Whether the word names a program that runs what it is given.
pub(crate) fn is_runner(word: &str) -> bool {
    RUNNERS.contains(&word.rsplit('/').next().unwrap_or(word))
}

/// A warning where the program or script of a command hook does not exist. Looks at the file system.
pub fn missing_programs(hook: &HookSpec, surroundings: &Surroundings) -> Option<Diagnostic> {
    let HookKind::Command(command) = &hook.kind else { return None };
    let project = surroundings.project.as_deref();
    let missing = candidates(command).into_iter().find(|word| {
        located(word, project, surroundings.home.as_deref()).is_some_and(|path| !path.try_exists().unwrap_or(true))
    })?;
    let message = format!("`{}` does not exist, and this hook needs it", printable(&missing));
    let hint = match project {
        Some(project) if !missing.starts_with(['/', '~']) => {
            Some(format!("a relative path starts at the project, {}", project.display()))
        }
        _ => None,
    };
    Some(Diagnostic { hint, ..Diagnostic::warning(hook.place.clone(), message) })
}

/// The words that are to be there.
fn candidates(command: &CommandHook) -> Vec<String> {
    if let Some(args) = &command.args {
        let words =
            std::iter::once(&command.command).chain(args).map(|word| (word.clone(), !word.contains(['$', '~'])));
        return chosen(&words.collect::<Vec<_>>());
    }
    match command.shell {
        Shell::Bash => chosen(&first_command(&command.command)),
        Shell::Powershell => Vec::new(),
    }
}

/// Of the words of a simple command: the program where it is a path, and the script that it runs. Each word comes with
/// whether a shell would leave it as it is.
fn chosen(words: &[(String, bool)]) -> Vec<String> {
    const TEXT_FOLLOWS: [&str; 4] = ["-c", "-e", "-m", "-p"];
    let mut found = Vec::new();
    let mut is_program = true;
    for (word, plain) in words {
        if !plain || TEXT_FOLLOWS.contains(&word.as_str()) {
            break;
        }
        if word.starts_with('-') || is_assignment(word) {
            continue;
        }
        if is_script(word) || (is_program && word.contains('/')) {
            found.push(word.clone());
        }
        if !is_runner(word) {
            break;
        }
        is_program = false;
    }
    found
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| !name.contains('/'))
}

/// A word with a colon names something elsewhere: `https://..`, `npm:..`.
fn is_script(word: &str) -> bool {
    !word.contains(':') && Path::new(word).extension().is_some_and(|end| SCRIPTS.iter().any(|script| end == *script))
}

/// The words up to the first operator, each with whether it is free of anything a shell would change.
fn first_command(text: &str) -> Vec<(String, bool)> {
    const OPERATORS: [char; 9] = ['|', '&', ';', '<', '>', '(', ')', '\n', '#'];
    const CHANGED: [char; 13] = ['$', '`', '*', '?', '[', ']', '{', '}', '\'', '"', '\\', '!', '^'];
    let text = with_project(text);
    let plain = text.split(OPERATORS).next().unwrap_or_default();
    plain.split_whitespace().map(|word| (word.to_owned(), !word.contains(CHANGED))).collect()
}

/// The project's variable, in the spellings people use, as a relative path; that is where those start.
fn with_project(text: &str) -> String {
    const SPELLINGS: [&str; 4] =
        ["\"$CLAUDE_PROJECT_DIR\"/", "\"${CLAUDE_PROJECT_DIR}\"/", "$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/"];
    let mut text = quoted_whole(text);
    for spelling in SPELLINGS {
        text = text.replace(spelling, "./");
    }
    text
}

/// `"$CLAUDE_PROJECT_DIR/a.sh"` without its quotes, where nothing in it needs them.
fn quoted_whole(text: &str) -> String {
    let parts: Vec<&str> = text.split('"').collect();
    let mut out = String::with_capacity(text.len());
    for (i, part) in parts.iter().enumerate() {
        let path = part.strip_prefix("$CLAUDE_PROJECT_DIR/").or_else(|| part.strip_prefix("${CLAUDE_PROJECT_DIR}/"));
        let simple = |path: &str| !path.is_empty() && path.chars().all(|c| c.is_alphanumeric() || "/._-+@".contains(c));
        let closed = i % 2 == 1 && i + 1 < parts.len();
        match path.filter(|path| closed && simple(path)) {
            Some(path) => out.extend(["./", path]),
            None if i % 2 == 1 => {
                out.push('"');
                out.push_str(part);
                if closed {
                    out.push('"');
                }
            }
            None => out.push_str(part),
        }
    }
    out
}

fn located(word: &str, project: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    if let Some(rest) = word.strip_prefix("~/") {
        return Some(home?.join(rest));
    }
    if word.starts_with('~') {
        return None;
    }
    let path = Path::new(word);
    if path.is_absolute() { Some(path.to_owned()) } else { Some(project?.join(path)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventName;

    fn project() -> (tempfile::TempDir, Surroundings) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("hooks")).unwrap();
        std::fs::File::create(folder.path().join("hooks/here.sh")).unwrap();
        let root = Some(folder.path().to_owned());
        let surroundings = Surroundings { home: root.clone(), project: root, ..Surroundings::default() };
        (folder, surroundings)
    }

    fn missing(command: CommandHook, surroundings: &Surroundings) -> Option<String> {
        let hook = HookSpec::new(EventName::Stop, "h", HookKind::Command(command));
        missing_programs(&hook, surroundings).map(|said| said.message)
    }

    #[test]
    fn a_program_or_script_that_is_not_there_is_named() {
        let (_folder, surroundings) = project();
        for (text, word) in [
            ("./hooks/gone.sh", "./hooks/gone.sh"),
            ("hooks/gone --fast", "hooks/gone"),
            ("/no/such/program", "/no/such/program"),
            ("bash hooks/gone.sh arg", "hooks/gone.sh"),
            ("/usr/bin/env python3 -u gone.py | tail", "gone.py"),
            ("X=1 node gone.mjs || true", "gone.mjs"),
            ("~/gone.sh", "~/gone.sh"),
            ("$CLAUDE_PROJECT_DIR/hooks/gone.sh", "./hooks/gone.sh"),
            ("\"$CLAUDE_PROJECT_DIR\"/hooks/gone.sh", "./hooks/gone.sh"),
            ("bash \"${CLAUDE_PROJECT_DIR}/hooks/gone.sh\" x", "./hooks/gone.sh"),
        ] {
            let said = missing(CommandHook::new(text), &surroundings);
            assert_eq!(said, Some(format!("`{word}` does not exist, and this hook needs it")), "{text}");
        }
    }

    #[test]
    fn what_a_shell_would_still_change_is_left_alone() {
        let (_folder, surroundings) = project();
        for text in [
            "",
            "./hooks/here.sh",
            "bash hooks/here.sh",
            "\"$CLAUDE_PROJECT_DIR\"/hooks/here.sh",
            "echo gone.sh",
            "test -x ./gone.sh && ./gone.sh",
            "[ -f gone.py ] && python3 gone.py",
            "cd sub && ./gone.sh",
            "$HOME/gone.sh",
            "`which x`/gone.sh",
            "./hooks/*.sh",
            "'./my hooks/gone.sh'",
            "bash -c 'gone.sh'",
            "bash -c gone.sh",
            "python3 -m gone.py",
            "npx @scope/tool",
            "npx some/thing",
            "deno run https://example.com/gone.ts",
            "touch gone.sh",
            "cat > gone.sh",
            "true; ./gone.sh",
            "if true; then ./gone.sh; fi",
            "\"$CLAUDE_PROJECT_DIR/gone",
            "\"${CLAUDE_PLUGIN_ROOT}/hooks/gone.sh\"",
            "~bob/gone.sh",
            "FOO=a/b true",
        ] {
            assert_eq!(missing(CommandHook::new(text), &surroundings), None, "{text}");
        }
        let powershell = CommandHook { shell: Shell::Powershell, ..CommandHook::new("./gone.ps1") };
        assert_eq!(missing(powershell, &surroundings), None);
    }

    #[test]
    fn with_args_no_shell_looks_at_the_words() {
        let (_folder, surroundings) = project();
        let with = |program: &str, args: &[&str]| CommandHook {
            args: Some(args.iter().map(|arg| (*arg).to_owned()).collect()),
            ..CommandHook::new(program)
        };
        assert!(missing(with("./my gone", &[]), &surroundings).is_some());
        assert!(missing(with("node", &["gone.js"]), &surroundings).is_some());
        assert!(missing(with("node", &["${CLAUDE_PLUGIN_ROOT}/gone.js"]), &surroundings).is_none());
        assert!(missing(with("jq", &["-r", "gone.js"]), &surroundings).is_none());
    }
}
