//! A regular expression as a settings file spells it: compiled by the linear engine where that can, by the
//! backtracking one where the pattern needs look-around.
//!
//! It owns which engine reads a pattern and what running out of steps means. What the pattern is tested on is
//! [`super::matcher`]'s and [`super::pattern`]'s affair.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fancy_regex::{Expr, RegexBuilder};

use crate::diagnostic::printable;

/// How many steps back the backtracking engine may take on one text.
const MOST_STEPS: usize = 100_000;

/// The longest text that it is given, in bytes. A step may read the whole text, and the engine counts it as one: without
/// this, one look-ahead and a long payload hold an agent up for hours.
const LONGEST: usize = 64 << 10;

/// How much of a pattern an error shows, in characters.
const LONGEST_SHOWN: usize = 200;

/// A compiled expression, of whichever engine could read it.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// Linear time, no look-around.
    Linear(regex::Regex),
    /// Look-around and back-references, at the price of a step limit.
    Backtracking(fancy_regex::Regex),
}

/// What testing an expression came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It does not occur.
    No,
    /// It occurs.
    Yes,
    /// The engine gave up before it knew, broke, or was not asked about so long a text. A guard must not be passable by making it give up.
    Limit,
}

impl Expression {
    /// Compiles a pattern to be found anywhere in a text.
    ///
    /// A pattern over the engines' size limit is an error like any other: what cannot be compiled cannot guard.
    pub(super) fn new(pattern: &str) -> Result<Expression, String> {
        if let Ok(linear) = regex::Regex::new(pattern) {
            return Ok(Expression::Linear(linear));
        }
        backtracking(pattern).map(Expression::Backtracking)
    }

    /// Compiles a pattern that must cover the whole of a text.
    pub(super) fn covering(pattern: &str) -> Option<Expression> {
        // Both must compile: `a)|(b` is an error on its own, and wrapping it must not make sense of it.
        Expression::new(pattern).ok()?;
        Expression::new(&format!(r"\A(?:{pattern})\z")).ok()
    }

    /// Tests whether it occurs in a text.
    pub(super) fn find(&self, text: &str) -> Found {
        let found = match self {
            Expression::Linear(expression) => return Found::from(expression.is_match(text)),
            Expression::Backtracking(_) if text.len() > LONGEST => None,
            Expression::Backtracking(expression) => unpanicked(|| expression.is_match(text)),
        };
        found.and_then(Result::ok).map_or(Found::Limit, Found::from)
    }
}

fn backtracking(pattern: &str) -> Result<fancy_regex::Regex, String> {
    let built = unpanicked(|| RegexBuilder::new(pattern).backtrack_limit(MOST_STEPS).build());
    let built = built.ok_or("the engine broke on it")?.map_err(|error| one_line(&error.to_string()))?;
    match unpanicked(|| asks_for_no_group(pattern, built.captures_len())) {
        Some(false) => Ok(built),
        _ => Err("a condition `(?(..)..)` asks for a group that is not there".to_owned()),
    }
}

/// Whether a condition in it is about a group that it does not have: the engine compiles that, and reads past its groups.
fn asks_for_no_group(pattern: &str, groups: usize) -> bool {
    let is_past = |part: &Expr| matches!(part, Expr::BackrefExistsCondition { group, .. } if *group >= groups);
    Expr::parse_tree(pattern).map_or(true, |tree| tree.expr.has_descendant_or_self(is_past))
}

/// The engine is not ours: a panic in it must not become one of the agent's.
fn unpanicked<T>(ask: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(ask)).ok()
}

impl From<bool> for Found {
    fn from(found: bool) -> Found {
        if found { Found::Yes } else { Found::No }
    }
}

/// The engines draw their errors over several lines, with the pattern in them; a diagnostic has one, safe to print.
fn one_line(message: &str) -> String {
    shown(&message.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A pattern or what is said of it, safe to print and not too long for a diagnostic.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", printable(&text[..end])),
        None => printable(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_around_falls_back_to_the_backtracking_engine() {
        assert!(matches!(Expression::new("a+"), Ok(Expression::Linear(_))));
        assert!(matches!(Expression::new("^(?!a)"), Ok(Expression::Backtracking(_))));
        assert!(Expression::new("([").is_err());
    }

    #[test]
    fn running_out_of_steps_is_said() {
        let slow = Expression::new(r"(?=(a+)+$)(a|a)*b\1").expect("compiles");
        assert_eq!(slow.find(&"a".repeat(60)), Found::Limit);
    }

    #[test]
    fn a_long_text_is_not_left_to_backtracking() {
        // Tried at each place of the text, and reads the rest of it each time.
        let quadratic = Expression::new("(?=.*x)y").expect("compiles");
        assert_eq!(quadratic.find(&"a".repeat(20 << 20)), Found::Limit);
        assert_eq!(quadratic.find("axy"), Found::No);
        assert_eq!(quadratic.find("yx"), Found::Yes);
        let linear = Expression::new("x.*y").expect("compiles");
        assert_eq!(linear.find(&"a".repeat(1 << 20)), Found::No);
    }

    #[test]
    fn a_condition_on_a_group_that_is_not_there_compiles_nowhere() {
        for pattern in ["(?(2)a|b)", "(a)(?(2)b)", "(?:(?=x)|(?(1)a|b))", "(?(2)\0?!]\\bh~,)n*", "(?(99999)a)"] {
            assert!(
                Expression::new(pattern).is_err_and(|error| error.contains("a group that is not there")),
                "{pattern}"
            );
        }
        let there = Expression::new("^(a)?(?(1)b|c)$").expect("compiles");
        assert_eq!(["ab", "c", "b", "ac"].map(|text| there.find(text)), [Found::Yes, Found::Yes, Found::No, Found::No]);
    }

    #[test]
    fn a_panic_of_the_engine_is_its_own() {
        assert_eq!(unpanicked(|| panic!("in the engine")), None::<()>);
    }

    #[test]
    fn covering_means_from_end_to_end() {
        let whole = Expression::covering("git|git push").expect("compiles");
        assert_eq!(whole.find("git push"), Found::Yes);
        assert_eq!(whole.find("git pull"), Found::No);
        assert!(Expression::covering("a)|(b").is_none());
    }
}
