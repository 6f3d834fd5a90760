//! The escapes of `$'..'`.

/// Replaces the escapes of an ANSI-C quoted text. A NUL ends the text, as it does in bash; bytes that are not UTF-8
/// are replaced.
pub(super) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let (escaped, length) = escape(after);
        if escaped == [0] {
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        bytes.extend(escaped);
        rest = &after[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What the escape at the start of `text` (after its backslash) stands for, and its length.
fn escape(text: &str) -> (Vec<u8>, usize) {
    let Some(first) = text.chars().next() else {
        return (vec![b'\\'], 0);
    };
    let simple = |byte: u8| (vec![byte], 1);
    match first {
        'a' => simple(7),
        'b' => simple(8),
        'e' | 'E' => simple(27),
        'f' => simple(12),
        'n' => simple(b'\n'),
        'r' => simple(b'\r'),
        't' => simple(b'\t'),
        'v' => simple(11),
        '\\' | '\'' | '"' | '?' => simple(first as u8),
        '0'..='7' => number(text, 0, 3, 8),
        'x' => number(text, 1, 2, 16),
        'u' => number(text, 1, 4, 16),
        'U' => number(text, 1, 8, 16),
        'c' => control(text),
        other => (format!("\\{other}").into_bytes(), other.len_utf8()),
    }
}

/// Up to `most` digits after `skip` letters: a byte, or a character for `\u` and `\U`.
fn number(text: &str, skip: usize, most: usize, radix: u32) -> (Vec<u8>, usize) {
    let digits = text[skip..].chars().take(most).take_while(|digit| digit.is_digit(radix)).count();
    let Ok(value) = u32::from_str_radix(&text[skip..skip + digits], radix) else {
        return (format!("\\{}", &text[..skip]).into_bytes(), skip);
    };
    let bytes = if most > 3 {
        char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER).to_string().into_bytes()
    } else {
        vec![(value & 0xff) as u8]
    };
    (bytes, skip + digits)
}

/// `\cx`, a control character.
fn control(text: &str) -> (Vec<u8>, usize) {
    match text.as_bytes().get(1) {
        Some(byte) if byte.is_ascii() => (vec![byte.to_ascii_uppercase() & 0x1f], 2),
        _ => (b"\\c".to_vec(), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn escapes_are_replaced() {
        let cases = [
            ("rm", "rm"),
            (r"\x72\x6d", "rm"),
            (r"\162\155", "rm"),
            (r"\u0072\U0000006d", "rm"),
            (r"a\nb\tc", "a\nb\tc"),
            (r"\'\\", r"'\"),
            (r"\q", r"\q"),
            (r"\x", r"\x"),
            (r"rm\0zz", "rm"),
            (r"\cA", "\u{1}"),
            (r"\c", r"\c"),
            (r"\xff", "\u{fffd}"),
            (r"\é", r"\é"),
            ("\\", "\\"),
        ];
        for (text, expected) in cases {
            assert_eq!(unescape(text), expected, "{text:?}");
        }
    }
}
