//! What is asked, and what each answer comes to.

use super::*;
use tacklebox_sdk::json;

fn says(status: u16, body: &str) -> Result<Answer, Error> {
    read(status, body.as_bytes())
}

#[test]
fn the_question_holds_tool_input_and_session() {
    let input = Input::test(Event::PreToolUse, "bash", json!({"command": "ls \"x\""}));
    let cx = Context { session_id: "s 1".into(), ..Context::test() };
    let asked: Value = serde_json::from_str(&question(&input, &cx).unwrap_or_default()).unwrap_or_default();
    assert_eq!(asked, json!({"tool": "bash", "input": {"command": "ls \"x\""}, "session": "s 1"}));
}

#[test]
fn each_decision_is_passed_on() {
    assert_eq!(says(200, r#"{"decision": "allow"}"#), Ok(Answer::modify().allow().into()));
    assert_eq!(says(200, r#"{"decision": "ask", "reason": "hm"}"#), Ok(Answer::modify().ask().into()));
    assert_eq!(says(200, r#"{"decision": "deny", "reason": "no shell"}"#), Ok(Answer::block("no shell")));
    assert_eq!(says(200, r#"{"decision": "deny"}"#), Ok(Answer::block("the policy service says no")));
}

#[test]
fn whatever_is_no_clear_answer_is_none() {
    for body in ["", "allow", "{}", r#"{"decision": "ALLOW"}"#, r#"{"decision": true}"#, r#"{"reason": "x"}"#] {
        assert!(says(200, body).is_err(), "{body}");
    }
    for status in [204, 302, 404, 500] {
        assert!(says(status, r#"{"decision": "allow"}"#).is_err(), "{status}");
    }
}
