//! The caps on texts, and the marker that a cut text ends in (contract: hooks, 1).

use std::borrow::Cow;

/// What a cut text ends in.
pub const MARKER: &str = "[output truncated]";

/// How many characters of a prompt or an output a command sees in its environment.
pub const TEXT_CAP: usize = 30_000;

/// How many characters of context one hook may give.
pub const CONTEXT_CAP: usize = 30_000;

/// How many characters of context one dispatch may give.
pub const DISPATCH_CONTEXT_CAP: usize = 100_000;

/// The text, at most `cap` characters of it: a longer one is cut so that with the marker it has just as many.
pub fn cut(text: &str, cap: usize) -> Cow<'_, str> {
    if text.len() <= cap || text.chars().nth(cap).is_none() {
        return Cow::Borrowed(text);
    }
    let keep = cap.saturating_sub(MARKER.chars().count() + 1);
    let end = text.char_indices().nth(keep).map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!("{}\n{MARKER}", &text[..end]))
}

/// Whether a text ends as a cut one does.
pub fn ends_cut(text: &str) -> bool {
    text.trim_end().ends_with(MARKER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_is_as_long_as_the_cap_and_says_so() {
        let long = "ä".repeat(50);
        let out = cut(&long, 40);
        assert_eq!(out.chars().count(), 40);
        assert!(ends_cut(&out));
    }

    #[test]
    fn a_text_of_just_the_cap_is_whole() {
        let text = "ä".repeat(40);
        assert_eq!(cut(&text, 40), text);
    }
}
