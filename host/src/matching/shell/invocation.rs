//! What a simple command runs in turn: behind wrappers, in the text of another shell, out of a file or a pipe.
//!
//! It owns the names of wrappers and shells and the forms a command is tested in. It knows no wrapper's options: each
//! takes at most one argument, and that is enough to bound where the wrapped program can stand.

use super::Reason;
use super::word::Word;

/// Programs and builtins that run the rest of their words. `rtk`, a filter of outputs, is what a hook may have put before them.
const WRAPPERS: [&str; 11] =
    ["sudo", "doas", "env", "command", "builtin", "exec", "nohup", "time", "timeout", "nice", "rtk"];

/// As a wrapper, and what it appends to the words comes from its input.
const XARGS: &str = "xargs";

/// Shells whose texts read like ours.
const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "rbash"];

/// Shells whose texts do not.
const FOREIGN_SHELLS: [&str; 4] = ["fish", "csh", "tcsh", "pwsh"];

/// Behind a wrapper, how many tails of a command are tested; more and it counts as not parsed.
const MAX_TAILS: usize = 256;

/// How many bytes of texts one simple command may give.
const MAX_TEXTS: usize = 256 * 1024;

/// What was read out of one simple command.
#[derive(Debug, Default)]
pub(super) struct Invocation {
    /// The words joined by single spaces.
    pub(super) joined: String,
    /// Where in it the forms begin; each runs to the end.
    pub(super) forms: Vec<usize>,
    /// Texts that are programs again.
    pub(super) texts: Vec<String>,
    pub(super) reasons: Vec<Reason>,
    /// No bound was reached.
    pub(super) understood: bool,
}

impl Invocation {
    /// Reads a simple command.
    pub(super) fn read(words: &[Word]) -> Invocation {
        let (joined, starts) = join(words);
        let mut read = Invocation { joined, understood: true, ..Invocation::default() };
        let wraps = words.first().is_some_and(wraps);
        let mut last_candidate = 0;
        for (at, start) in starts.iter().enumerate() {
            let (Some(tail), Some(word)) = (words.get(at..), words.get(at)) else { break };
            read.understood &= at <= MAX_TAILS;
            if !read.understood {
                break;
            }
            read.form(*start, &word.text);
            read.text_of(tail);
            if at <= last_candidate {
                read.program(tail);
                last_candidate = last_candidate.max(at + reach(tail));
            }
            if !wraps {
                break;
            }
        }
        read
    }

    /// Adds a tail, with and without the folder of its first word.
    fn form(&mut self, start: usize, first: &str) {
        self.forms.push(start);
        if let Some(slash) = first.rfind('/') {
            self.forms.push(start + slash + 1);
        }
    }

    /// Notes what the program in the first word does, if it can stand there.
    fn program(&mut self, tail: &[Word]) {
        let Some(first) = tail.first() else { return };
        let name = base(&first.text);
        if first.expands {
            self.reasons.push(Reason::ProgramNotLiteral(first.text.clone()));
        } else if name == "source" || first.text == "." {
            self.reasons.push(Reason::Sources);
        } else if FOREIGN_SHELLS.contains(&name) || (SHELLS.contains(&name) && shell_text(tail) == ShellText::Elsewhere)
        {
            self.reasons.push(Reason::ShellReadsProgram(name.to_owned()));
        }
    }

    /// Adds the text that the program in the first word is given, if it runs it.
    fn text_of(&mut self, tail: &[Word]) {
        let Some(first) = tail.first() else { return };
        let name = base(&first.text);
        match name {
            "eval" => self.text(name, operands(tail)),
            "env" => self.split_string(tail),
            _ if SHELLS.contains(&name) => {
                if let ShellText::Given(word) = shell_text(tail) {
                    self.text(name, std::slice::from_ref(word));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, program: &str, words: &[Word]) {
        if words.iter().any(|word| word.expands) {
            self.reasons.push(Reason::TextNotLiteral(program.to_owned()));
        }
        let (text, _) = join(words);
        // In a plain `sh` a `$` before a quote is a character, and the quote then ends elsewhere.
        self.understood &= !(matches!(program, "sh" | "dash" | "ash") && text.contains("$'"));
        self.add(text);
    }

    fn add(&mut self, text: String) {
        let length: usize = self.texts.iter().map(String::len).sum();
        if length > MAX_TEXTS {
            self.understood = false;
        } else {
            self.texts.push(text);
        }
    }

    /// `env -S TEXT` cuts its text into words.
    fn split_string(&mut self, tail: &[Word]) {
        for (at, word) in tail.iter().enumerate().skip(1) {
            let glued = word.text.strip_prefix("--split-string").map(|text| text.trim_start_matches('='));
            let short = || {
                word.text
                    .strip_prefix('-')
                    .filter(|flags| !flags.starts_with('-'))
                    .and_then(|flags| flags.split_once('S'))
            };
            let Some(text) = glued.or_else(|| short().map(|(_, text)| text)) else { continue };
            let rest = tail.iter().skip(at + 1).map(|word| word.text.as_str());
            let words: Vec<&str> = std::iter::once(text).chain(rest).collect();
            return self.add(words.join(" "));
        }
    }
}

/// The words behind the first, less a `--`.
fn operands(tail: &[Word]) -> &[Word] {
    match tail {
        [_, dashes, rest @ ..] if dashes.text == "--" => rest,
        [_, rest @ ..] => rest,
        [] => &[],
    }
}

/// The words joined by single spaces, and where each begins.
fn join(words: &[Word]) -> (String, Vec<usize>) {
    let (mut joined, mut starts) = (String::new(), Vec::with_capacity(words.len()));
    for word in words {
        if !starts.is_empty() {
            joined.push(' ');
        }
        starts.push(joined.len());
        joined.push_str(&word.text);
    }
    (joined, starts)
}

/// The name of a program without its folder.
fn base(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

/// Whether what follows this word may be a command of its own: it is a wrapper, or an option (`time -- rm` leaves one
/// in front).
fn wraps(first: &Word) -> bool {
    let name = base(&first.text);
    first.text.starts_with('-') || WRAPPERS.contains(&name) || name == XARGS
}

/// Behind a wrapper, how many words on its program can stand at most: after its options, their arguments (one each at
/// most), assignments, and the duration of `timeout`. Zero for what is no wrapper.
fn reach(tail: &[Word]) -> usize {
    let Some(first) = tail.first() else { return 0 };
    let wrapper = base(&first.text);
    if !wraps(first) || (wrapper == "command" && asks(tail.get(1))) {
        return 0;
    }
    let mut programs = if wrapper == "timeout" { 2 } else { 1 };
    for (at, word) in tail.iter().enumerate().take(MAX_TAILS).skip(1) {
        if word.text.starts_with('-') {
            programs += usize::from(word.text.len() > 1 && word.text != "--" && !word.text.contains('='));
        } else if word.assignment.is_none() {
            programs -= 1;
        }
        if programs == 0 {
            return at;
        }
    }
    tail.len()
}

/// Whether `command` only says what a name means.
fn asks(option: Option<&Word>) -> bool {
    option.is_some_and(|word| word.text.starts_with('-') && word.text.contains(['v', 'V']))
}

/// Where a shell's program comes from.
#[derive(Debug, PartialEq, Eq)]
enum ShellText<'a> {
    /// From this word, after `-c`.
    Given(&'a Word),
    /// From a file or from its input.
    Elsewhere,
    /// It only says its version or help.
    None,
}

/// Reads the options of a shell.
fn shell_text(tail: &[Word]) -> ShellText<'_> {
    let mut given = false;
    let mut words = tail.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        match text {
            "--version" | "--help" => return ShellText::None,
            "--" | "-" => break,
            "--rcfile" | "--init-file" => {
                words.next();
            }
            _ if text.starts_with("--") => {}
            _ if text.starts_with(['-', '+']) => {
                given |= text.starts_with('-') && text.contains('c');
                // `-o pipefail` and `-O globstar`, alone or at the end of others.
                for _ in text.bytes().filter(|byte| matches!(byte, b'o' | b'O')) {
                    words.next();
                }
            }
            _ if given => return ShellText::Given(word),
            _ => return ShellText::Elsewhere,
        }
    }
    match words.next() {
        Some(word) if given => ShellText::Given(word),
        _ => ShellText::Elsewhere,
    }
}
