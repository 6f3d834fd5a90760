//! What is redacted, and what stays.

use super::*;
use tacklebox_sdk::{json, testing};

fn redact(text: &str) -> String {
    let input = Input::test(Event::PostToolUse, "bash", json!({})).with_output(text);
    match RedactSecrets::run(&input, &Context::test()).expect("an answer") {
        Answer::Modify(change) => change.output.expect("an output"),
        answer => {
            assert_eq!(answer, Answer::pass());
            text.to_owned()
        }
    }
}

/// Pieces that only a test joins, so that no scanner takes this file for a leak.
fn fake(begin: &str) -> String {
    format!("{begin}{}", "A1b2C3d4".repeat(5))
}

#[test]
fn tokens_go_wherever_they_stand() {
    for (begin, kind) in [
        ("ghp_", "github-token"),
        ("github_pat_", "github-token"),
        ("sk-", "api-key"),
        ("sk-ant-api03-", "api-key"),
        ("AKIA", "aws-key"),
    ] {
        let token = if kind == "aws-key" { format!("{begin}{}", "IOSFODNN7EXAMPLE") } else { fake(begin) };
        for (before, after) in [("", ""), ("é ", " ü"), ("x=", "\n"), ("https://", "@host"), ("\"a\\n", "\"")] {
            let expected = format!("{before}[redacted:{kind}]{after}");
            assert_eq!(redact(&format!("{before}{token}{after}")), expected);
        }
    }
    let jwt = [fake("eyJ"), fake("eyJ"), fake("_")].join(".");
    assert_eq!(redact(&format!("t: {jwt};")), "t: [redacted:jwt];");
    assert_eq!(redact(&format!("Authorization: Bearer {}", fake("~/+"))), "Authorization: Bearer [redacted:bearer]");
}

#[test]
fn what_only_begins_like_a_token_stays() {
    for text in [
        "ghp_short",
        "a risk-of-something-that-is-long-enough",
        "sk-learn",
        "AKIA",
        "eyJhbGciOiJIUzI1NiJ9IsNoTokenAtAll",
        "the bearer of it",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn private_keys_go_whole_and_other_blocks_stay() {
    let block = |name: &str| format!("-----BEGIN {name}-----\nMIIé\n-----END {name}-----");
    for name in ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
        assert_eq!(redact(&format!("a\n{}\nb", block(name))), "a\n[redacted:private-key]\nb");
    }
    assert_eq!(redact("-----BEGIN PRIVATE KEY-----\nMII"), "[redacted:private-key]");
    assert_eq!(redact(&block("CERTIFICATE")), block("CERTIFICATE"));
}

#[test]
fn assigned_values_go_and_their_names_stay() {
    for (text, expected) in [
        ("password=hunter2", "password=[redacted:password]"),
        ("DB_PASSWORD=hünter2 x", "DB_PASSWORD=[redacted:password] x"),
        ("{\"password\": \"a b c\"}", "{\"password\": \"[redacted:password]\"}"),
        ("{\\\"secret\\\":\\\"abcd\\\"}", "{\\\"secret\\\":\\\"[redacted:password]\\\"}"),
        ("passwd: hunter2\nuser: me", "passwd: [redacted:password]\nuser: me"),
        ("aws_secret_access_key = wJal/rXU+x", "aws_secret_access_key = [redacted:password]"),
        ("'api_key' => 'abcd1234',", "'api_key' => '[redacted:password]',"),
        ("?password=abcd&user=me", "?password=[redacted:password]&user=me"),
    ] {
        assert_eq!(redact(text), expected);
    }
}

#[test]
fn code_without_a_secret_stays() {
    for text in [
        "password: string;",
        "let password = ask();",
        "password=$PASSWORD",
        "password = None",
        "password == x",
        "the password is lost",
        "password:",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_second_time_changes_nothing() {
    let text = format!("password=hunter2 {} \"secret\": \"abcdef\"", fake("ghp_"));
    let once = redact(&text);
    assert_eq!(redact(&once), once);
}

#[test]
fn own_tokens_come_from_the_config() {
    testing::set_config(&json!({"prefixes": ["acme_live_", "acme_test_"]}));
    assert_eq!(redact("key acme_test_12ab, acme_other_1"), "key [redacted:token], acme_other_1");
    let input = Input::test(Event::PostToolUse, "bash", json!({})).with_output("x");
    let error = |prefixes| {
        testing::set_config(&json!({"prefixes": prefixes}));
        RedactSecrets::run(&input, &Context::test()).expect_err("no answer").to_string()
    };
    assert_eq!(error(json!("acme_")), "config, at `prefixes`: expected a sequence, found string");
}

#[test]
fn a_prompt_is_redacted_and_where_there_is_no_text_there_is_no_answer() {
    let prompt = Input::test(Event::UserPromptSubmit, "UserPromptSubmit", json!({"prompt": "password=hunter2"}));
    let answer = Answer::modify().output("password=[redacted:password]").into();
    assert_eq!(RedactSecrets::run(&prompt, &Context::test()), Ok(answer));
    let silent = Input::test(Event::PostToolUse, "bash", json!({}));
    assert!(RedactSecrets::run(&silent, &Context::test()).is_err());
    let other = Input::test(Event::UserPromptSubmit, "UserPromptSubmit", json!({}));
    assert!(RedactSecrets::run(&other, &Context::test()).is_err());
}

#[test]
fn it_fails_closed() {
    let info = RedactSecrets::info();
    assert_eq!(info.hooks.len(), 3);
    assert!(info.hooks.iter().all(|hook| hook.on_error == Some(Failure::Block)));
}

#[test]
fn the_fast_way_passes_no_secret_by() {
    let tokens = TOKENS.iter().flat_map(|(_, begins, ..)| begins.iter());
    for begin in tokens.chain(&NAMES).chain(&["-----BEGIN"]) {
        let first = |text: &str| BEGINS.contains(&text[..1]);
        assert!(first(begin) && first(&begin.to_ascii_uppercase()), "{begin}");
    }
}
