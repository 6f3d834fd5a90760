//! What is shown to people: it stands on one line, and holds nothing that would move a terminal's cursor or turn its text.

use tacklebox::diagnostic::{Diagnostic, printable};

/// Every diagnostic is safe to print, and says something.
#[track_caller]
pub(crate) fn all_printable(diagnostics: &[Diagnostic]) {
    for said in diagnostics {
        assert!(!said.message.is_empty(), "{said:?} says nothing");
        is_printable(&said.to_string());
    }
}

/// The text is safe to print.
#[track_caller]
pub(crate) fn is_printable(text: &str) {
    assert_eq!(text, printable(text), "not safe to print");
}
