//! How answers are written: for a person with colours where a terminal reads them, for a program as JSON lines.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Severity, printable};

use super::style::{ERROR, HINT, WARNING};

/// Writes `text` to stdout, colours and all.
pub(super) fn person(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes one JSON value on a line of its own, at once.
pub(super) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}

/// Says on stderr what was found along the way.
pub(super) fn notes(diagnostics: &[Diagnostic]) {
    let mut stderr = anstream::stderr().lock();
    for diagnostic in diagnostics {
        // Where stderr is closed there is nobody to tell.
        let _ = stderr.write_all(note(diagnostic).as_bytes());
    }
}

/// One diagnostic, with its hint on a line of its own.
pub(super) fn note(diagnostic: &Diagnostic) -> String {
    let (style, word) = match diagnostic.severity {
        Severity::Warning => (WARNING, "warning"),
        Severity::Error => (ERROR, "error"),
    };
    let place = diagnostic.place.to_string();
    let gap = if place.is_empty() { "" } else { ": " };
    let text = printable(&format!("{place}{gap}{}", diagnostic.message));
    let mut out = format!("{style}{word}:{style:#} {text}\n");
    if let Some(hint) = &diagnostic.hint {
        out.push_str(&format!("  {HINT}hint:{HINT:#} {}\n", printable(hint)));
    }
    out
}

/// Columns as wide as their widest cell; the last one is as long as it likes.
pub(super) fn table(rows: &[Vec<String>], indent: &str) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |n: usize| rows.iter().filter_map(|row| row.get(n)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{indent}{}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["a".into(), "bb".into(), "c".into()], vec!["aaa".into(), "b".into()]];
        assert_eq!(table(&rows, " "), " a    bb  c\n aaa  b\n");
    }
}
