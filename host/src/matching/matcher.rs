//! The matcher of a hook: a text tested against the name of a tool.
//!
//! It owns the reading of the text and says which of its readings held. On which events a matcher counts is the
//! loader's to know, and whether it can fit any tool at all is [`super::tools`]'s.

use super::expression::{Expression, Found, shown};

/// A matcher, compiled once.
///
/// Two matchers are equal when their texts are.
#[derive(Clone)]
pub struct Matcher {
    text: String,
    reading: Reading,
}

/// How a text is read. A dialect that reads matchers otherwise becomes another variant.
#[derive(Clone)]
enum Reading {
    /// Nothing is asked of the name.
    Everything,
    /// Equal, else found as an expression, else equal to an alternative.
    Freecode(Expression),
}

/// Which reading of a matcher held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatcherHit {
    /// The matcher asks nothing: it is empty or `*`.
    Everything,
    /// The name is the text.
    Equal,
    /// The text, read as a regular expression, occurs in the name.
    Pattern,
    /// The name is one of the alternatives between `|`, spaces around them left out.
    Alternative,
    /// The expression reached its backtrack limit, or the name is too long for it, which counts as a match.
    PatternLimit,
}

/// A matcher that no engine can compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{}` does not compile: {cause}", shown(text))]
pub struct MatcherError {
    /// The matcher as it was given.
    pub text: String,
    /// What the engine said, on one line.
    pub cause: String,
}

impl Matcher {
    /// Compiles a matcher. Empty (or blank) and `*` mean every tool.
    ///
    /// # Errors
    ///
    /// When the text is no regular expression of either engine. That holds even where the text could still equal a
    /// name: a guard half understood is a guard nobody should rely on.
    pub fn new(text: &str) -> Result<Matcher, MatcherError> {
        let reading = match text.trim() {
            "" | "*" => Reading::Everything,
            _ => {
                Reading::Freecode(Expression::new(text).map_err(|cause| MatcherError { text: text.to_owned(), cause })?)
            }
        };
        Ok(Matcher { text: text.to_owned(), reading })
    }

    /// The matcher of a hook that gives none: every tool.
    pub fn everything() -> Matcher {
        Matcher { text: String::new(), reading: Reading::Everything }
    }

    /// The text it was made from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it asks nothing of the name.
    pub fn is_everything(&self) -> bool {
        matches!(self.reading, Reading::Everything)
    }

    /// Tests the name of a tool; `None` when it does not match.
    pub fn test(&self, tool: &str) -> Option<MatcherHit> {
        let Reading::Freecode(expression) = &self.reading else {
            return Some(MatcherHit::Everything);
        };
        if tool == self.text {
            return Some(MatcherHit::Equal);
        }
        match expression.find(tool) {
            Found::Yes => Some(MatcherHit::Pattern),
            Found::Limit => Some(MatcherHit::PatternLimit),
            Found::No => self.alternatives().any(|name| name == tool).then_some(MatcherHit::Alternative),
        }
    }

    /// The texts between `|`, trimmed.
    fn alternatives(&self) -> impl Iterator<Item = &str> {
        self.text.split('|').map(str::trim)
    }
}

impl Default for Matcher {
    fn default() -> Matcher {
        Matcher::everything()
    }
}

impl std::fmt::Debug for Matcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Matcher").field(&self.text).finish()
    }
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Matcher) -> bool {
        self.text == other.text
    }
}

impl Eq for Matcher {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::printable;

    #[test]
    fn each_reading_says_that_it_held() {
        use MatcherHit::{Alternative, Equal, Everything, Pattern};
        let cases: &[(&str, &str, Option<MatcherHit>)] = &[
            ("*", "bash", Some(Everything)),
            ("*", "mcp__x__y", Some(Everything)),
            ("", "bash", Some(Everything)),
            ("  ", "bash", Some(Everything)),
            ("bash", "bash", Some(Equal)),
            ("bash", "Bash", None),
            ("bash", "edit", None),
            ("bash", "mcp__bash__run", Some(Pattern)),
            ("edit|write", "edit", Some(Pattern)),
            ("edit|write", "write", Some(Pattern)),
            ("edit|write", "bash", None),
            ("mcp__.*__delete_.*", "mcp__db__delete_row", Some(Pattern)),
            ("mcp__.*__delete_.*", "mcp__db__read_row", None),
            ("^(?!bash$).*", "edit", Some(Pattern)),
            ("^(?!bash$).*", "bash", None),
            ("edit | write", "edit", Some(Alternative)),
            ("edit | write", "write", Some(Alternative)),
            ("edit | write", "read", None),
            ("a.b", "a.b", Some(Equal)),
            ("Edit:.*\\.cs", "Edit", None),
        ];
        for (text, tool, expected) in cases {
            let matcher = Matcher::new(text).expect("compiles");
            assert_eq!(matcher.test(tool), *expected, "{text:?} on {tool:?}");
        }
    }

    #[test]
    fn a_pattern_that_compiles_nowhere_is_an_error_on_one_line() {
        for text in ["([", "*bash", "(?<=a"] {
            let error = Matcher::new(text).expect_err(text).to_string();
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn an_error_about_a_pattern_is_safe_to_print() {
        for text in ["([\u{1b}[2J", "(?<\u{202e}", "\u{7}[b-\u{7}]"] {
            let error = Matcher::new(text).expect_err(text).to_string();
            assert_eq!(error, printable(&error));
        }
    }

    #[test]
    fn the_backtrack_limit_counts_as_a_match() {
        let matcher = Matcher::new(r"(?=(a+)+$)(a|a)*b\1").expect("compiles");
        assert_eq!(matcher.test(&"a".repeat(60)), Some(MatcherHit::PatternLimit));
    }

    #[test]
    fn equality_is_of_texts() {
        assert_eq!(Matcher::new("a").ok(), Matcher::new("a").ok());
        assert_ne!(Matcher::new("a").ok(), Matcher::new("b").ok());
        assert!(Matcher::default().is_everything());
    }
}
