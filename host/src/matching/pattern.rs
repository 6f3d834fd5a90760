//! The pattern between the parentheses of a condition: a glob, a regular expression, or both.
//!
//! It owns how one pattern reads one text. Which texts of a call it is tested on is [`super::condition`]'s choice,
//! and what an approval may rest on is [`super::approval`]'s.

use super::expression::{Expression, Found};

/// A pattern, compiled once.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    text: String,
    glob: Option<Glob>,
    expression: Option<Expression>,
    covering: Option<Expression>,
}

/// The literal stretches between the stars of a glob, and the head that is enough alone where the tail is optional.
#[derive(Clone, Debug)]
struct Glob {
    stretches: Vec<String>,
    /// `git` of `git *` and of `git:*`.
    optional_after: Option<Box<Glob>>,
    /// `git:*` also covers what `git *` does.
    spaced: Option<Box<Glob>>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// What the engine said, when the text is neither a glob nor an expression.
    pub(super) fn new(text: &str) -> Result<Pattern, String> {
        let glob = text.contains('*').then(|| Glob::new(text));
        let (expression, covering) = match &glob {
            Some(_) if !reads_like_expression(text) => (None, None),
            // A glob that is no expression as well still reads one way.
            Some(_) => (Expression::new(text).ok(), Expression::covering(text)),
            None => (Some(Expression::new(text)?), Expression::covering(text)),
        };
        Ok(Pattern { text: text.to_owned(), glob, expression, covering })
    }

    /// The text it was made from.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Tests a text: covered by the glob, or holding the expression. A backtrack limit counts as holding.
    pub(super) fn test(&self, text: &str) -> bool {
        self.glob.as_ref().is_some_and(|glob| glob.covers(text))
            || self.expression.as_ref().is_some_and(|expression| expression.find(text) != Found::No)
    }

    /// Tests whether it covers the whole of a text, and surely: a backtrack limit does not count here.
    pub(super) fn covers(&self, text: &str) -> bool {
        self.glob.as_ref().is_some_and(|glob| glob.covers(text))
            || self.covering.as_ref().is_some_and(|expression| expression.find(text) == Found::Yes)
    }
}

impl Glob {
    fn new(text: &str) -> Glob {
        let colon = text.strip_suffix(":*");
        let head = text.strip_suffix(" *").or(colon);
        Glob {
            stretches: text.split('*').map(str::to_owned).collect(),
            optional_after: head.map(|head| Box::new(Glob::new_plain(head))),
            spaced: colon.map(|head| Box::new(Glob::new_plain(&format!("{head} *")))),
        }
    }

    /// A glob whose tail is not optional.
    fn new_plain(text: &str) -> Glob {
        Glob { stretches: text.split('*').map(str::to_owned).collect(), optional_after: None, spaced: None }
    }

    fn covers(&self, text: &str) -> bool {
        stretches_cover(&self.stretches, text)
            || self.optional_after.as_ref().is_some_and(|glob| glob.covers(text))
            || self.spaced.as_ref().is_some_and(|glob| glob.covers(text))
    }
}

/// The first stretch begins the text, the last ends it, the others follow each other in between. Taking each at its
/// first place is enough, since a star spans anything; so the time is linear.
fn stretches_cover(stretches: &[String], text: &str) -> bool {
    let [first, middle @ .., last] = stretches else {
        return stretches.first().is_some_and(|only| only == text);
    };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else {
        return false;
    };
    for stretch in middle {
        let Some(at) = rest.find(stretch.as_str()) else {
            return false;
        };
        rest = &rest[at + stretch.len()..];
    }
    rest.ends_with(last.as_str())
}

/// Whether a glob may have been meant as a regular expression.
fn reads_like_expression(text: &str) -> bool {
    text.contains(['\\', '^', '$', '(', '|', '+', '[', '?']) || text.contains(".*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_cover_the_whole_text() {
        let cases: &[(&str, &str, bool)] = &[
            ("*", "", true),
            ("*", "a\nb", true),
            ("git *", "git", true),
            ("git *", "git status", true),
            ("git *", "gitk", false),
            ("git *", "a git b", false),
            ("git:*", "git", true),
            ("git:*", "git push", true),
            ("git:*", "gitk", false),
            ("npm run test:*", "npm run test:unit", true),
            ("npm run test:*", "npm run test -- x", true),
            ("git push*", "git push", true),
            ("git push*", "git push\norigin", true),
            ("git push*", "git pull", false),
            ("*.ts", "src/a.ts", true),
            ("*.ts", "src/a.tsx", false),
            ("*.ts", "aXts", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("ab*ba", "aba", false),
            ("ab*ba", "abba", true),
            ("* *", "rm", true),
            ("git * *", "git", false),
            ("git * *", "git a", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Pattern::new(pattern).expect("reads").test(text), *expected, "{pattern:?} on {text:?}");
        }
    }

    #[test]
    fn a_glob_may_also_be_an_expression() {
        let cases: &[(&str, &str, bool)] = &[
            ("rm .*", "sudo rm x", true),
            ("^rm .*", "sudo rm x", false),
            ("rm\\s*-rf", "rm   -rf", true),
            ("(rm|mv) *", "rm x", true),
            ("foo(*", "foo(bar", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Pattern::new(pattern).expect("reads").test(text), *expected, "{pattern:?} on {text:?}");
        }
    }

    #[test]
    fn any_other_pattern_is_an_expression_found_anywhere() {
        let cases: &[(&str, &str, bool)] = &[
            ("rm -[rf]+", "rm -rf x", true),
            ("rm -[rf]+", "rm x", false),
            ("rm\\s+-rf", "sudo rm  -rf /", true),
            ("rm\\s+-rf", "rm -r x", false),
            ("^(?!git )", "ls", true),
            ("", "anything", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Pattern::new(pattern).expect("reads").test(text), *expected, "{pattern:?} on {text:?}");
        }
        assert!(Pattern::new("([").is_err());
    }

    #[test]
    fn covering_is_stricter_than_holding() {
        let pattern = Pattern::new("git push").expect("reads");
        assert!(pattern.test("rm git push"));
        assert!(!pattern.covers("rm git push"));
        assert!(pattern.covers("git push"));
    }

    #[test]
    fn a_long_text_takes_no_time() {
        let pattern = Pattern::new("*a*a*a*a*a*a*a*a*b").expect("reads");
        assert!(!pattern.test(&"a".repeat(1 << 20)));
    }
}
