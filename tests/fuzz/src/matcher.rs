//! Matchers: the first line is the matcher, the rest the name of a tool.

use serde_json::Map;
use tacklebox::matching::{Call, Condition, Matcher, MatcherError, MatcherHit, Subject};

use crate::line_and_rest;
use crate::shown::is_printable;

/// Compiles the first line and tests the rest.
pub fn check(bytes: &[u8]) {
    let Some((text, tool)) = line_and_rest(bytes) else { return };
    match Matcher::new(text) {
        Ok(matcher) => matches(&matcher, tool),
        Err(error) => refused(text, tool, &error),
    }
}

fn matches(matcher: &Matcher, tool: &str) {
    let (text, hit) = (matcher.text(), matcher.test(tool));
    assert_eq!(hit, matcher.test(tool), "{matcher:?} on {tool:?} is tested twice");
    assert_eq!(matcher.is_everything(), matches!(text.trim(), "" | "*"), "{matcher:?}");
    assert_eq!(matcher.is_everything(), hit == Some(MatcherHit::Everything), "{matcher:?} on {tool:?}");
    let named = text.split('|').any(|name| name.trim() == tool);
    assert!(hit.is_some() || !named, "{matcher:?} names {tool:?} and misses it");
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        assert_eq!(hit.is_some(), tool.contains(text), "{matcher:?} is a plain text, on {tool:?}");
    }
    as_a_condition(text, tool, hit);
}

/// Whether the text means a bare tool as a condition too: that has its blanks taken off.
fn is_bare(text: &str) -> bool {
    !text.contains('(') && text.trim() == text
}

/// A bare condition is a matcher, and one that gave up approves nothing.
fn as_a_condition(text: &str, tool: &str, hit: Option<MatcherHit>) {
    if !is_bare(text) {
        return;
    }
    let input = Map::new();
    let call = Call::new(tool, &input, Subject::Unknown);
    let condition = Condition::new(text).0;
    assert_eq!(condition.test(&call).holds(), hit.is_some(), "{text:?} on {tool:?}");
    let sure = hit.is_some_and(|hit| hit != MatcherHit::PatternLimit);
    assert_eq!(condition.approves(&call), sure, "{text:?} on {tool:?}");
}

/// What compiles nowhere is said on one line, and as a condition it makes the hook run and approves nothing.
fn refused(text: &str, tool: &str, error: &MatcherError) {
    is_printable(&error.to_string());
    if !is_bare(text) {
        return;
    }
    let input = Map::new();
    let call = Call::new(tool, &input, Subject::Unknown);
    let (condition, doubt) = Condition::new(text);
    assert!(doubt.is_some() && condition.test(&call).holds() && !condition.approves(&call), "{text:?} on {tool:?}");
}
