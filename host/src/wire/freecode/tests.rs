//! What a command in the freecode dialect answers, read from exit code and output.

use serde_json::json;

use super::*;

fn ended(exit: Exit, stdout: &str, stderr: &str) -> Ended {
    let stream = |text: &str| Stream { bytes: text.as_bytes().to_vec(), ..Stream::default() };
    Ended { exit, stdout: stream(stdout), stderr: stream(stderr) }
}

fn said(event: EventName, stdout: &str) -> Reading {
    read(&event, Speaker::Shell, OnError::Pass, &ended(Exit::Code(0), stdout, ""))
}

fn pre(stdout: &str) -> Outcome {
    said(EventName::PreToolUse, stdout).outcome
}

fn context(text: &str) -> Outcome {
    Outcome::Continue(Change { context: Some(text.into()), ..Change::default() })
}

fn is_no_answer(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::NoAnswer(Cause::NotAnAnswer(_)))
}

#[test]
fn exit_0_passes_gives_context_or_answers_in_json() {
    assert_eq!(pre(""), Outcome::pass());
    assert_eq!(pre(" \n\t"), Outcome::pass());
    assert_eq!(pre("  hello \n"), context("hello"));
    assert_eq!(pre("[1]"), context("[1]"));
    assert_eq!(pre("{}"), Outcome::pass());
    assert_eq!(pre("{not json"), context("{not json"));
    assert_eq!(pre("{} {}"), context("{} {}"));
    assert_eq!(pre("\u{feff}{\n \"block\": true,\n \"reason\": \" why \"}\n"), Outcome::block("why"));
    assert_eq!(pre(r#"{"block": true}"#), Outcome::block(NO_REASON));
    assert_eq!(pre(r#"{"tool_input": {"command": "ls"}, "cwd": "/"}"#), Outcome::pass());
}

#[test]
fn every_key_is_read() {
    let reading = said(
        EventName::PreToolUse,
        r#"{"block": false, "reason": " r ", "modifiedInput": {"a": 1}, "modifiedOutput": " o ", "context": " c ", "permission": "ask"}"#,
    );
    let change = Change {
        input: json!({"a": 1}).as_object().cloned(),
        output: Some(" o ".into()),
        context: Some("c".into()),
        permission: Some(Permission::Ask),
        reason: Some("r".into()),
    };
    assert_eq!(reading, Outcome::Continue(change).into());
}

#[test]
fn a_key_of_a_wrong_type_is_ignored_with_a_warning_and_the_others_count() {
    let reading = said(EventName::PreToolUse, r#"{"modifiedInput": "rm", "modifiedOutput": 1, "context": "c"}"#);
    assert_eq!(reading.outcome, context("c"));
    assert_eq!(reading.warnings.len(), 2);
    let reading = said(EventName::PreToolUse, r#"{"block": true, "reason": 1}"#);
    assert_eq!((reading.outcome, reading.warnings.len()), (Outcome::block(NO_REASON), 1));
}

#[test]
fn a_deciding_key_of_a_wrong_type_or_value_is_no_answer() {
    for stdout in [
        r#"{"block": "true"}"#,
        r#"{"block": null, "context": "c"}"#,
        r#"{"permission": true}"#,
        r#"{"permission": "Deny"}"#,
        r#"{"deny": 1}"#,
        r#"{"decision": ["block"]}"#,
        r#"{"decision": "perhaps"}"#,
        r#"{"permissionDecision": {}}"#,
        r#"{"behavior": 0}"#,
        r#"{"continue": "false"}"#,
    ] {
        for event in [EventName::PreToolUse, EventName::PermissionRequest] {
            assert!(is_no_answer(&said(event, stdout).outcome), "{stdout}");
        }
    }
}

#[test]
fn a_refusal_in_another_dialects_words_is_neither_passed_over_nor_an_approval() {
    for stdout in [
        r#"{"decision": "block"}"#,
        r#"{"deny": true}"#,
        r#"{"continue": false}"#,
        r#"{"permissionDecision": "deny"}"#,
        r#"{"hookSpecificOutput": {"permissionDecision": "deny"}}"#,
        r#"{"hookSpecificOutput": {"decision": {"behavior": "deny"}}}"#,
        r#"{"block": false, "decision": "block"}"#,
        r#"{"permission": "allow", "decision": "block"}"#,
    ] {
        assert!(is_no_answer(&said(EventName::PermissionRequest, stdout).outcome), "{stdout}");
    }
    assert_eq!(pre(r#"{"decision": "approve", "continue": true, "deny": false}"#), Outcome::pass());
    assert_eq!(pre(r#"{"decision": "block", "block": true, "reason": "both"}"#), Outcome::block("both"));
    assert_eq!(pre(r#"{"block": true, "permission": 7, "reason": "r"}"#), Outcome::block("r"));
}

#[test]
fn of_a_repeated_key_the_stricter_counts() {
    assert_eq!(pre(r#"{"block": true, "reason": "x", "block": false}"#), Outcome::block("x"));
    let Outcome::Continue(change) = pre(r#"{"permission": "deny", "permission": "allow"}"#) else { panic!() };
    assert_eq!(change.permission, Some(Permission::Deny));
}

#[test]
fn on_a_permission_request_silence_approves_and_broken_json_does_not() {
    let permission = |stdout: &str| match said(EventName::PermissionRequest, stdout).outcome {
        Outcome::Continue(change) => change.permission,
        other => panic!("{other:?}"),
    };
    let allow = Some(Permission::Allow);
    for stdout in ["", "fine", "{}", r#"{"context": "c"}"#, r#"{"block": false}"#, r#"{"permission": "allow"}"#] {
        assert_eq!(permission(stdout), allow, "{stdout}");
    }
    assert_eq!(permission(r#"{"permission": "none"}"#), None);
    assert_eq!(permission("{not json"), None);
    assert_eq!(permission(r#"{"permission": "deny"}"#), Some(Permission::Deny));
    assert_eq!(said(EventName::PermissionRequest, r#"{"block": true, "reason": "n"}"#).outcome, Outcome::block("n"));
    assert_eq!(pre(""), Outcome::pass());
}

#[test]
fn with_on_error_block_broken_json_is_no_answer_and_plain_text_is_one() {
    let strict = |stdout: &str| {
        read(&EventName::PreToolUse, Speaker::Shell, OnError::Block, &ended(Exit::Code(0), stdout, "")).outcome
    };
    assert!(is_no_answer(&strict("{not json")));
    assert_eq!(strict("text"), context("text"));
    assert_eq!(strict(""), Outcome::pass());
}

#[test]
fn cut_json_is_no_answer_and_cut_text_is_context_with_a_warning() {
    let cut = |stdout: &str| {
        let mut ended = ended(Exit::Code(0), stdout, "");
        ended.stdout.cut = true;
        read(&EventName::PreToolUse, Speaker::Shell, OnError::Pass, &ended)
    };
    assert!(is_no_answer(&cut("{not json").outcome));
    assert!(is_no_answer(&cut(r#"{"context": "c"}"#).outcome));
    assert_eq!(cut("text").outcome, context("text"));
    assert_eq!(cut("text").warnings.len(), 1);
}

#[test]
fn json_that_was_still_being_written_is_no_answer_unless_it_is_whole() {
    let unfinished = |stdout: &str| {
        let mut ended = ended(Exit::Code(0), stdout, "");
        ended.stdout.unfinished = true;
        read(&EventName::PreToolUse, Speaker::Shell, OnError::Pass, &ended).outcome
    };
    assert!(is_no_answer(&unfinished("{\"block\": tr")));
    assert_eq!(unfinished(r#"{"block": true, "reason": "r"}"#), Outcome::block("r"));
    assert_eq!(unfinished("text"), context("text"));
}

#[test]
fn half_a_character_does_not_turn_a_block_into_text() {
    assert_eq!(pre(r#"{"block": true, "reason": "rm \ud83d"}"#), Outcome::block("rm \u{fffd}"));
    assert_eq!(
        pre(r#"{"block": true, "reason": "\ud83d\ude00 \\ud83d \udE00\n"}"#),
        Outcome::block("😀 \\ud83d \u{fffd}")
    );
}

#[test]
fn an_echoed_deep_payload_does_not_hide_a_block() {
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(pre(&format!(r#"{{"input": {deep}, "block": true, "reason": "r"}}"#)), Outcome::block("r"));
    let changed = |rest: &str| pre(&format!(r#"{{"modifiedInput": {{"a": {deep}}}, {rest}}}"#));
    assert_eq!(changed(r#""block": true, "reason": "r""#), Outcome::block("r"));
    assert!(is_no_answer(&changed(r#""block": false"#)));
    assert!(is_no_answer(&pre(&format!(r#"{{"block": {deep}}}"#))));
}

#[test]
fn a_number_that_no_double_holds_does_not_hide_a_block() {
    assert_eq!(pre(r#"{"cost": 1e400, "block": true, "reason": "why"}"#), Outcome::block("why"));
    assert_eq!(pre(r#"{"cost": -1e400}"#), Outcome::pass());
}

#[test]
fn any_other_exit_blocks() {
    let table = [
        (Exit::Code(2), "out", " no \n", Said::ByExitCode, "no"),
        (Exit::Code(2), " out ", " ", Said::ByExitCode, "out"),
        (Exit::Code(2), "", "", Said::ByExitCode, NO_REASON),
        (Exit::Code(1), "", "", Said::ByExitCode, "Exit code 1"),
        (Exit::Code(1), "ignored", "one\ntwo \n\n", Said::ByExitCode, "Exit code 1: two"),
        (Exit::Code(3), r#"{"block": false, "reason": "mine"}"#, "e", Said::ByExitCode, "mine\nExit code 3: e"),
        (Exit::Code(1), r#"{"block": "x"}"#, "", Said::ByExitCode, "Exit code 1"),
        (Exit::Code(126), "", "denied", Said::ByBreaking, "Exit code 126: denied"),
        (Exit::Code(127), "", "", Said::ByBreaking, "Exit code 127"),
        (Exit::Code(137), "", "", Said::ByExitCode, "Exit code 137"),
        (Exit::Signal(9), "", "", Said::ByBreaking, "Killed by signal 9"),
    ];
    for (exit, stdout, stderr, said, reason) in table {
        for event in [EventName::PreToolUse, EventName::PermissionRequest, EventName::Notification] {
            let got = read(&event, Speaker::Shell, OnError::Pass, &ended(exit, stdout, stderr)).outcome;
            assert_eq!(got, Outcome::Block(Block::new(reason, said)));
        }
    }
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let mut ended = ended(Exit::Code(0), "", "");
    ended.stdout.bytes = b"a\xffb".to_vec();
    assert_eq!(read(&EventName::PreToolUse, Speaker::Shell, OnError::Pass, &ended).outcome, context("a\u{fffd}b"));
}

#[test]
fn a_long_reason_is_capped_and_keeps_its_exit_code() {
    let long = "x".repeat(40_000);
    let Outcome::Block(block) = read(
        &EventName::PreToolUse,
        Speaker::Shell,
        OnError::Pass,
        &ended(Exit::Code(1), &format!(r#"{{"reason": "{long}"}}"#), ""),
    )
    .outcome
    else {
        panic!()
    };
    assert!(block.reason.ends_with("[output truncated]\nExit code 1") && block.reason.len() < 30_100);
}
