//! What is summed, and what is said of it.

use super::*;
use tacklebox_sdk::{json, testing};

fn turn(counts: Value) -> Result<Answer, Error> {
    TokenLedger::run(&Input::test(Event::TurnEnd, "TurnEnd", counts), &Context::test())
}

/// The line at the end of the session.
fn report() -> String {
    let input = Input::test(Event::SessionEnd, "SessionEnd", json!({"reason": "exit"}));
    assert_eq!(TokenLedger::run(&input, &Context::test()), Ok(Answer::pass()));
    let (level, line) = testing::logged().pop().expect("a line");
    assert_eq!(level, log::Level::Info);
    line
}

#[test]
fn turns_are_summed_by_kind() {
    let first = json!({"turnCount": 1, "inputTokens": 100, "outputTokens": 20, "cacheReadInputTokens": 7000});
    let second = json!({"turnCount": 2, "inputTokens": 1, "outputTokens": 2, "cacheCreationInputTokens": 500});
    for counts in [first, second] {
        assert_eq!(turn(counts), Ok(Answer::pass()));
    }
    assert_eq!(report(), "2 turns: 101 input, 22 output, 7000 cache read, 500 cache creation, 0 turns without counts");
}

#[test]
fn a_session_without_turns_has_its_line_too() {
    assert_eq!(report(), "0 turns: 0 input, 0 output, 0 cache read, 0 cache creation, 0 turns without counts");
}

#[test]
fn a_turn_without_counts_is_said_to_be_one() {
    for counts in [json!({"turnCount": 1}), json!({"turnCount": 2, "inputTokens": null}), json!({"outputTokens": 0})] {
        assert_eq!(turn(counts), Ok(Answer::pass()));
    }
    assert_eq!(report(), "3 turns: 0 input, 0 output, 0 cache read, 0 cache creation, 2 turns without counts");
}

#[test]
fn sums_end_at_the_largest_number() {
    for _ in 0..2 {
        assert!(turn(json!({"inputTokens": u64::MAX, "outputTokens": i64::MAX})).is_ok());
    }
    let largest = i64::MAX;
    assert!(report().starts_with(&format!("2 turns: {largest} input, {largest} output, 0 cache read")));
}

#[test]
fn prices_are_for_a_million_tokens_and_missing_ones_are_nothing() {
    assert!(turn(json!({"inputTokens": 200_000, "outputTokens": 10_000, "cacheReadInputTokens": 1_000_000})).is_ok());
    testing::set_config(&json!({"prices": {"input": 3, "output": 15.0, "cacheRead": 0.3}, "currency": "USD"}));
    assert!(report().ends_with("turns without counts; cost: 1.0500 USD"), "{}", report());
    testing::set_config(&json!({"prices": {"output": 1}}));
    assert!(report().ends_with("; cost: 0.0100"), "{}", report());
    testing::set_config(&json!({"prices": {}}));
    assert!(report().ends_with("; cost: 0.0000"), "{}", report());
}

#[test]
fn a_count_that_is_no_number_is_none() {
    assert!(turn(json!({"inputTokens": 5, "outputTokens": "many", "cacheReadInputTokens": -1})).is_ok());
    assert!(turn(json!({"inputTokens": "many"})).is_ok());
    assert!(report().ends_with("2 turns: 5 input, 0 output, 0 cache read, 0 cache creation, 1 turns without counts"));
}

#[test]
fn a_misspelt_config_is_a_failure() {
    testing::set_config(&json!({"prices": {"cache_read": 1}}));
    let input = Input::test(Event::SessionEnd, "SessionEnd", json!({}));
    let error = TokenLedger::run(&input, &Context::test()).expect_err("no answer").to_string();
    assert!(error.contains("unknown field `cache_read`"), "{error}");
}

#[test]
fn it_stands_on_the_end_of_turns_and_of_sessions() {
    let events: Vec<_> = TokenLedger::info().hooks.into_iter().map(|hook| hook.event).collect();
    assert_eq!(events, ["TurnEnd", "SessionEnd"]);
    assert!(TokenLedger::run(&Input::test(Event::Stop, "Stop", json!({})), &Context::test()).is_err());
}
