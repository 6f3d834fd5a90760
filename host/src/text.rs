//! The caps on texts, and the marker in which a cut text ends (HOOKS.md, 1); and paths as far as they are texts.
//! Owns how a text is cut; which text is, callers say.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// What a cut text ends in.
pub const MARKER: &str = "[output truncated]";

/// The most characters of a prompt or an output that a command sees in its environment.
pub const TEXT_CAP: usize = 30_000;

/// The most characters of context that one hook may give.
pub const CONTEXT_CAP: usize = 30_000;

/// The most characters of context that one dispatch may give.
pub const DISPATCH_CONTEXT_CAP: usize = 100_000;

/// The text in no more than [`TEXT_CAP`] characters, the marker counted. Owned where it was cut.
pub fn capped(text: &str) -> Cow<'_, str> {
    cut(text, TEXT_CAP)
}

/// The text in no more than `cap` characters, the marker counted. Owned where it was cut.
pub fn cut(text: &str, cap: usize) -> Cow<'_, str> {
    if text.len() <= cap || text.char_indices().nth(cap).is_none() {
        return Cow::Borrowed(text);
    }
    let kept = cap.saturating_sub(MARKER.len());
    let end = text.char_indices().nth(kept).map_or(text.len(), |(at, _)| at);
    Cow::Owned(marked(&text[..end]))
}

/// The text in no more than `bytes` bytes, the marker counted, cut between characters. Owned where it was cut.
/// Less than the marker's own length cuts to nothing but the marker.
pub fn within(text: &str, bytes: usize) -> Cow<'_, str> {
    if text.len() <= bytes {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(bytes.saturating_sub(MARKER.len()));
    Cow::Owned(marked(&text[..end]))
}

/// Whether a text ends as a cut one does.
pub fn ends_cut(text: &str) -> bool {
    text.trim_end().ends_with(MARKER)
}

fn marked(kept: &str) -> String {
    let mut out = String::with_capacity(kept.len() + MARKER.len());
    out.push_str(kept);
    out.push_str(MARKER);
    out
}

/// The same path without `.` and `..`, worked out in the text: `..` at the root stays there.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if matches!(out.components().next_back(), None | Some(Component::ParentDir)) {
                    out.push("..");
                } else {
                    out.pop();
                }
            }
            _ => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_at_the_cap_is_left_alone_and_one_above_it_is_cut_to_the_cap() {
        let exact = "é".repeat(TEXT_CAP);
        assert!(matches!(capped(&exact), Cow::Borrowed(_)));
        let cut = capped(&format!("{exact}é")).into_owned();
        assert_eq!(cut.chars().count(), TEXT_CAP);
        assert!(ends_cut(&cut));
    }

    #[test]
    fn bytes_are_cut_between_characters() {
        assert_eq!(within("ééééééééééééé", 24), format!("ééé{MARKER}"));
        assert_eq!(within("ééééééééééééé", 25), format!("ééé{MARKER}"));
        assert_eq!(within("short", 5), "short");
    }
}
