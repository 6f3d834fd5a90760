//! The caps on texts, and the marker in which a cut text ends. Owns how text is cut; which text is, callers say.

use std::borrow::Cow;

/// The most characters of a prompt, of a tool's output, or of a hook's reason that anyone reads in one piece.
pub const TEXT_CAP: usize = 30_000;

/// What a cut text ends in.
pub const MARKER: &str = "[output truncated]";

/// The text in no more than [`TEXT_CAP`] characters, the marker counted. Owned where it was cut.
pub fn capped(text: &str) -> Cow<'_, str> {
    capped_at(text, TEXT_CAP)
}

/// The text in no more than `cap` characters, the marker counted. Owned where it was cut. A cap below the marker's
/// own length leaves nothing but the marker.
pub fn capped_at(text: &str, cap: usize) -> Cow<'_, str> {
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

fn marked(kept: &str) -> String {
    let mut out = String::with_capacity(kept.len() + MARKER.len());
    out.push_str(kept);
    out.push_str(MARKER);
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
        assert!(cut.ends_with(MARKER));
    }

    #[test]
    fn bytes_are_cut_between_characters() {
        assert_eq!(within("ééééééééééééé", 24), format!("ééé{MARKER}"));
        assert_eq!(within("ééééééééééééé", 25), format!("ééé{MARKER}"));
        assert_eq!(within("short", 5), "short");
    }
}
