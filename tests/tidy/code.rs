//! Rust as words: comments and literals left out, so that only what is code is looked at.

use std::ops::Range;

/// The words of a file: names, `::`, and every other character for itself.
#[derive(Debug, Default)]
pub(crate) struct Code {
    words: Vec<Word>,
}

#[derive(Debug)]
struct Word {
    text: String,
    line: usize,
}

impl Code {
    pub(crate) fn of(source: &str) -> Self {
        Self::from_blanked(&blanked(source))
    }

    /// Without the items under `#[cfg(test)]`.
    pub(crate) fn without_tests(source: &str) -> Self {
        Self::from_blanked(&tests_blanked(blanked(source)))
    }

    fn from_blanked(source: &str) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let mut line = 1;
        let mut joins = false;
        for char in source.chars() {
            let is_name = char.is_alphanumeric() || char == '_';
            match words.last_mut() {
                Some(last) if joins && is_name && last.text.starts_with(name_start) => last.text.push(char),
                Some(last) if joins && char == ':' && last.text == ":" => last.text.push(char),
                _ if !char.is_whitespace() => words.push(Word { text: char.to_string(), line }),
                _ => {}
            }
            joins = !char.is_whitespace();
            line += usize::from(char == '\n');
        }
        Self { words }
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.text)
    }

    /// The lines on which these words follow each other.
    pub(crate) fn lines_with(&self, words: &[&str]) -> Vec<usize> {
        let starts = 0..self.words.len();
        let fits = |at: &usize| words.iter().enumerate().all(|(i, word)| self.word(at + i) == *word);
        starts.filter(fits).map(|at| self.words[at].line).collect()
    }

    /// The lines on which a crate is named.
    pub(crate) fn lines_with_crate(&self, name: &str) -> Vec<usize> {
        let named = |at: &usize| {
            let before = at.checked_sub(1).map_or("", |before| self.word(before));
            self.word(*at) == name && before != "::" && (self.word(at + 1) == "::" || before == "use")
        };
        (0..self.words.len()).filter(named).map(|at| self.words[at].line).collect()
    }

    /// What is named right below `root`, also as `root::{a, b}`, with its lines.
    pub(crate) fn below(&self, root: &[&str]) -> Vec<(&str, usize)> {
        let mut found = Vec::new();
        for at in 0..self.words.len() {
            let fits = root.iter().enumerate().all(|(i, word)| self.word(at + i) == *word);
            let continues_a_path = at > 0 && self.word(at - 1) == "::";
            if fits && !continues_a_path && self.word(at + root.len()) == "::" {
                self.heads(at + root.len() + 1, &mut found);
            }
        }
        found
    }

    /// The first names of a path or of a group of paths that begins at `at`.
    fn heads<'a>(&'a self, at: usize, found: &mut Vec<(&'a str, usize)>) {
        if self.word(at) != "{" {
            found.extend(self.words.get(at).map(|word| (word.text.as_str(), word.line)));
            return;
        }
        let mut depth = 0;
        for (i, word) in self.words.iter().enumerate().skip(at) {
            match word.text.as_str() {
                "{" => depth += 1,
                "}" if depth == 1 => return,
                "}" => depth -= 1,
                head if depth == 1 && (i == at + 1 || self.word(i - 1) == ",") => found.push((head, word.line)),
                _ => {}
            }
        }
    }
}

fn name_start(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// The source with a blank for every character of a comment or a literal; lines stay where they are.
fn blanked(source: &str) -> String {
    let mut out = source.as_bytes().to_vec();
    let mut at = 0;
    while at < source.len() {
        let end = literal_or_comment(source.as_bytes(), at);
        blank(&mut out, at..end);
        at = end.max(at + 1);
    }
    String::from_utf8(out).unwrap()
}

fn blank(out: &mut [u8], range: Range<usize>) {
    out[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Where the comment or the literal that begins at `at` ends; `at` itself where none does.
fn literal_or_comment(source: &[u8], at: usize) -> usize {
    let rest = &source[at..];
    let in_name = at > 0 && (source[at - 1].is_ascii_alphanumeric() || source[at - 1] == b'_');
    match rest {
        [b'/', b'/', ..] => at + find(rest, b"\n").unwrap_or(rest.len()),
        [b'/', b'*', ..] => at + block_comment(rest),
        [b'"', ..] => at + quoted(rest),
        [b'\'', ..] => at + character(rest),
        [b'r', b'"' | b'#', ..] if !in_name => at + raw(rest, 1),
        [b'b' | b'c', b'r', ..] if !in_name => at + raw(rest, 2),
        _ => at,
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn quoted(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// A character; a lifetime is none.
fn character(rest: &[u8]) -> usize {
    if rest.get(1) == Some(&b'\\') {
        return rest.iter().skip(3).position(|byte| *byte == b'\'').map_or(rest.len(), |end| end + 4);
    }
    let width = match rest.get(1) {
        Some(0xf0..) => 4,
        Some(0xe0..) => 3,
        Some(0xc0..) => 2,
        _ => 1,
    };
    if rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 0 }
}

fn raw(rest: &[u8], prefix: usize) -> usize {
    let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&b'"') {
        return 0;
    }
    let close = [b"\"", "#".repeat(hashes).as_bytes()].concat();
    find(&rest[open + 1..], &close).map_or(rest.len(), |end| open + 1 + end + close.len())
}

/// Blanks each item under a `cfg` that asks for tests. Expects comments and literals to be blank already.
fn tests_blanked(source: String) -> String {
    let mut out = source.clone().into_bytes();
    for (start, _) in source.match_indices("#[cfg(") {
        let Some(length) = source[start..].find(']') else { continue };
        let asked = source[start..start + length].replace(|char: char| !name_start(char), " ");
        if asked.split(' ').any(|word| word == "test") && !asked.split(' ').any(|word| word == "not") {
            let end = start + length + item(&source[start + length..]);
            blank(&mut out, start..end);
        }
    }
    String::from_utf8(out).unwrap()
}

/// Where an item ends: at its `;`, or at the brace that closes its first one.
fn item(source: &str) -> usize {
    let mut depth = 0;
    for (at, char) in source.char_indices() {
        match char {
            ';' if depth == 0 => return at + 1,
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    source.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_no_code() {
        let source = r##"
            // crate::a
            /* /* crate::b */ crate::c */
            let x = ("crate::d \" crate::e", 'x', '\'', '"', 'é', b"crate::f", r#"crate::"g"#, crate::h);
            fn f<'a>(x: &'a str) -> &'a crate::i { r#type }
        "##;
        let below = Code::of(source).below(&["crate"]).into_iter().map(|(name, _)| name).collect::<String>();
        assert_eq!(below, "hi");
    }

    #[test]
    fn groups_are_opened_one_level_deep() {
        let code = Code::of("use crate::{a::{b, c}, d, e as f};\nuse x::crate::y;\nuse crate::g;");
        assert_eq!(code.below(&["crate"]), [("a", 1), ("d", 1), ("e", 1), ("g", 3)]);
    }

    #[test]
    fn code_of_tests_can_be_left_out() {
        let source = "a!(); #[cfg(test)] mod tests { fn f() { b!(); } } c!();
            #[cfg(test)] mod more; #[cfg(all(test, unix))] use x::{d}; #[cfg(not(test))] fn e() {}";
        let code = Code::without_tests(source);
        let there = |word| !code.lines_with(&[word]).is_empty();
        assert_eq!(["a", "b", "c", "more", "d", "e"].map(there), [true, false, true, false, false, true]);
    }

    #[test]
    fn a_crate_is_named_by_use_or_in_a_path() {
        let code = Code::of("use tokio;\nlet tokio = 1;\nx::tokio::y();\ntokio::spawn();");
        assert_eq!(code.lines_with_crate("tokio"), [1, 4]);
    }
}
