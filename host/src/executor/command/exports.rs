//! The variables that a SessionStart command left in `CLAUDE_ENV_FILE`. The file is read as text, never run.
//!
//! Understood are assignments, with `export` or `declare -x` before them or alone, quoted as a shell quotes them.
//! What would need a shell to find its value is left out with a warning: a `PATH` that says `$PATH` would be a broken
//! one.

use std::fs::File;
use std::io::Read;
use std::iter::Peekable;
use std::path::Path;
use std::str::Chars;

/// The most bytes of the file that are read.
const CAP: u64 = 1 << 20;

/// Reads the file: of a repeated name the last value, in the order of the first.
pub(super) fn read(file: Option<&Path>, warnings: &mut Vec<String>) -> Vec<(String, String)> {
    let Some(text) = file.and_then(text_of) else { return Vec::new() };
    if text.len() as u64 > CAP {
        warnings.push("`CLAUDE_ENV_FILE` is larger than 1 MiB and was ignored".to_owned());
        return Vec::new();
    }
    parsed(&text, warnings)
}

/// Only a plain file is opened: a pipe put in its place would never end.
fn text_of(file: &Path) -> Option<String> {
    file.metadata().ok().filter(|meta| meta.is_file())?;
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(CAP + 1).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}"))
}

fn parsed(text: &str, warnings: &mut Vec<String>) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for (number, words) in statements(text).into_iter().enumerate() {
        let Some(assignments) = words.and_then(|words| assignments(&words)) else {
            warnings
                .push(format!("statement {} of `CLAUDE_ENV_FILE` is no plain assignment and was ignored", number + 1));
            continue;
        };
        for (name, value) in assignments {
            match found.iter_mut().find(|(n, _)| *n == name) {
                Some(entry) => entry.1 = value,
                None => found.push((name, value)),
            }
        }
    }
    found
}

fn assignments(words: &[String]) -> Option<Vec<(String, String)>> {
    let words = match words {
        [first, rest @ ..] if first == "export" => rest,
        [first, flag, rest @ ..] if first == "declare" && flag == "-x" => rest,
        _ => words,
    };
    // `export NAME` alone gives no value: it says nothing that could be kept.
    words
        .iter()
        .map(|word| word.split_once('=').filter(|(name, _)| is_name(name)))
        .map(|pair| pair.map(|(name, value)| (name.to_owned(), value.to_owned())))
        .collect()
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// The statements, each as its words without quotes; none in place of one that needs a shell.
fn statements(text: &str) -> Vec<Option<Vec<String>>> {
    let mut chars = text.chars().peekable();
    let mut out = Vec::new();
    while chars.peek().is_some() {
        let mut statement = Statement::default();
        statement.take(&mut chars);
        out.extend(statement.finished());
    }
    out
}

#[derive(Default)]
struct Statement {
    words: Vec<String>,
    word: Option<String>,
    needs_shell: bool,
}

impl Statement {
    fn take(&mut self, chars: &mut Peekable<Chars<'_>>) {
        while let Some(c) = chars.next() {
            match c {
                '\n' | ';' => return,
                '#' if self.word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
                c if c.is_whitespace() => self.words.extend(self.word.take()),
                '\'' => self.single(chars),
                '"' => self.double(chars),
                '\\' => self.escaped(chars),
                '$' => self.dollar(chars),
                '`' | '&' | '|' | '<' | '>' | '(' | ')' => self.needs_shell = true,
                c => self.push(c),
            }
        }
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn single(&mut self, chars: &mut Peekable<Chars<'_>>) {
        self.word.get_or_insert_default();
        loop {
            match chars.next() {
                Some('\'') => return,
                Some(c) => self.push(c),
                None => return self.needs_shell = true,
            }
        }
    }

    fn double(&mut self, chars: &mut Peekable<Chars<'_>>) {
        self.word.get_or_insert_default();
        loop {
            match chars.next() {
                Some('"') => return,
                Some('\\') => match chars.next_if(|c| matches!(c, '"' | '\\' | '$' | '`' | '\n')) {
                    Some('\n') => {}
                    c => self.push(c.unwrap_or('\\')),
                },
                Some('$') => self.dollar(chars),
                Some('`') => self.needs_shell = true,
                Some(c) => self.push(c),
                None => return self.needs_shell = true,
            }
        }
    }

    fn escaped(&mut self, chars: &mut Peekable<Chars<'_>>) {
        match chars.next() {
            Some('\n') | None => {}
            Some(c) => self.push(c),
        }
    }

    /// A dollar before what could be a name, an expression or a quote needs a shell; any other is itself.
    fn dollar(&mut self, chars: &mut Peekable<Chars<'_>>) {
        let special = |c: &char| c.is_ascii_alphanumeric() || "_{('\"*@#?-$!".contains(*c);
        self.needs_shell |= chars.peek().is_some_and(special);
        self.push('$');
    }

    fn finished(mut self) -> Option<Option<Vec<String>>> {
        self.words.extend(self.word.take());
        if self.needs_shell { Some(None) } else { Some(self.words).filter(|words| !words.is_empty()).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exports(text: &str) -> (Vec<(String, String)>, usize) {
        let mut warnings = Vec::new();
        (parsed(text, &mut warnings), warnings.len())
    }

    #[test]
    fn assignments_are_read_as_a_shell_would() {
        let table = [
            ("export A=1", vec![("A", "1")], 0),
            ("A=1\nB=2;C=3\n", vec![("A", "1"), ("B", "2"), ("C", "3")], 0),
            ("export A='a b' B=\"c \\\"d\\\" \\x\"", vec![("A", "a b"), ("B", "c \"d\" \\x")], 0),
            ("A=a\\ b'c'\"d\"", vec![("A", "a bcd")], 0),
            ("# note\n\n  declare -x A=\"1\" # more", vec![("A", "1")], 0),
            ("A='two\nlines'\nB=x", vec![("A", "two\nlines"), ("B", "x")], 0),
            ("A=1\nA=2", vec![("A", "2")], 0),
            ("A=", vec![("A", "")], 0),
            ("A='$HOME'\nB=\"\\$x\"\nC=5$", vec![("A", "$HOME"), ("B", "$x"), ("C", "5$")], 0),
            ("export PATH=\"$PATH:/x\"\nB=1", vec![("B", "1")], 1),
            ("A=$(rm -rf /)\nB=`id`\nC=1", vec![("C", "1")], 2),
            ("A=1 rm x\nrm y\n1A=2\nexport A-B=1\nC=1", vec![("C", "1")], 4),
            ("A='open\nB=1", vec![], 1),
        ];
        for (text, wanted, warnings) in table {
            let wanted: Vec<_> = wanted.into_iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
            assert_eq!(exports(text), (wanted, warnings), "{text}");
        }
    }
}
