//! What is rewritten, and what stays as it was.

use super::*;
use tacklebox_sdk::{json, process, testing};

fn ask(text: &str, commands: &[&[&str]]) -> Answer {
    let input = Input::test(Event::PreToolUse, "bash", json!({"command": text, "timeout": 5}));
    RtkRewrite::run(&input, &Context::test().with_commands(commands)).expect("an answer")
}

/// A plain command.
fn plain(text: &str) -> Answer {
    ask(text, &[&text.split_ascii_whitespace().collect::<Vec<_>>()])
}

fn becomes(text: &str) -> Answer {
    Answer::modify().input(json!({"command": text})).into()
}

#[test]
fn noisy_commands_become_compact_and_keep_the_rest_of_their_words() {
    for (noisy, compact) in [
        ("git status", "git status --short --branch"),
        ("git status src", "git status --short --branch src"),
        ("cargo build --release", "cargo build --quiet --release"),
        ("cargo test a::b -- --nocapture", "cargo test --quiet a::b -- --nocapture"),
        ("npm install left-pad", "npm install --loglevel=error --no-progress --no-fund left-pad"),
        ("ls -la src", "ls -oAh src"),
        ("  ls -la\n", "ls -oAh"),
        ("curl https://example.com/$x", "curl --silent --show-error https://example.com/$x"),
    ] {
        assert_eq!(plain(noisy), becomes(compact), "{noisy}");
    }
}

#[test]
fn other_commands_pass() {
    for command in [
        "git log",
        "git statusx",
        "git",
        "ls",
        "ls -l",
        "ls -lah",
        "sudo npm install x",
        "/usr/bin/git status",
        "git -C x status",
        "echo git status",
        "",
    ] {
        assert_eq!(plain(command), Answer::pass(), "{command}");
    }
}

#[test]
fn who_has_chosen_how_much_to_see_is_left_alone() {
    for command in [
        "git status --porcelain",
        "git status --porcelain=v2",
        "git status --short",
        "git status --branch",
        "cargo build --verbose",
        "cargo build -q",
        "cargo check --message-format=json",
        "npm install --help",
        "curl --silent x",
    ] {
        assert_eq!(plain(command), Answer::pass(), "{command}");
    }
}

#[test]
fn what_was_rewritten_is_not_rewritten_again() {
    for (from, to) in RULES.iter().filter_map(|rule| rule.split_once(" => ")) {
        assert_eq!(plain(from), becomes(to));
        assert_eq!(plain(to), Answer::pass(), "{to}");
    }
}

#[test]
fn only_a_single_plain_command_is_touched() {
    let status: &[&str] = &["git", "status"];
    for text in [
        "git status > x",
        "git status 2>&1",
        "X=1 git status",
        "git 'status'",
        "git  status",
        "git st\\atus",
        "git status &",
        "git status;",
        "git status # all",
        "(git status)",
        "! git status",
        "git \\\nstatus",
    ] {
        assert_eq!(ask(text, &[status]), Answer::pass(), "{text}");
    }
    assert_eq!(ask("git status | cat", &[status, &["cat"]]), Answer::pass());
    assert_eq!(ask("git status $(x)", &[&["git", "status", "$(x)"], &["x"]]), Answer::pass());
    assert_eq!(ask("git status && git status", &[status, status]), Answer::pass());
    assert_eq!(ask("git status", &[]), Answer::pass());
}

#[test]
fn a_command_that_was_not_taken_apart_stays() {
    let input = Input::test(Event::PreToolUse, "bash", json!({"command": "git status"}));
    let cut = r#"{"commands": [["git", "status"]], "parsed": false}"#;
    for cx in [Context::test(), Context { extra: cut.into(), ..Context::test() }] {
        assert_eq!(RtkRewrite::run(&input, &cx), Ok(Answer::pass()));
    }
}

#[test]
fn rules_come_from_the_config_and_the_longest_counts() {
    testing::set_config(&json!({
        "rules": ["make => make -s", "make test => make -s test V=0", "git status", "make doc", " => x", "ls -la => ls"]
    }));
    assert_eq!(plain("make all"), becomes("make -s all"));
    assert_eq!(plain("make test x"), becomes("make -s test V=0 x"));
    assert_eq!(plain("make testing"), becomes("make -s testing"));
    assert_eq!(plain("ls -la"), becomes("ls"), "the last of equals");
    assert_eq!(plain("git fetch"), becomes("git fetch --quiet"), "the others stay");
    testing::set_config(&json!({"rules": ["npm => npm --silent", "ls"]}));
    assert_eq!(plain("npm install x"), becomes("npm --silent install x"), "the user's come first");
    assert_eq!(plain("ls -la"), Answer::pass(), "and so do those that leave alone");
}

#[test]
fn what_rules_leave_alone_stays() {
    testing::set_config(&json!({"rules": ["git status", "make => make -s", "make doc"]}));
    for command in ["git status", "git status src", "make doc", "make -s all", "make -v"] {
        assert_eq!(plain(command), Answer::pass(), "{command}");
    }
}

#[test]
fn a_misspelt_config_is_a_failure_and_a_failure_passes() {
    testing::set_config(&json!({"rule": []}));
    let answer = RtkRewrite::run(&Input::test(Event::PreToolUse, "bash", json!({"command": ""})), &Context::test());
    assert!(answer.expect_err("no answer").to_string().contains("unknown field `rule`"));
    assert_eq!(RtkRewrite::info().hooks[0].on_error, Some(Failure::Pass));
}

/// What becomes of a command about which rtk says this.
fn rtk_says(command: &str, exit_code: Option<i32>, printed: &str) -> Option<String> {
    let output = process::Output { exit_code, stdout: printed.into(), stderr: b"warned".to_vec() };
    rtk::answer(command, &output)
}

#[test]
fn what_rtk_answers_is_taken_whether_it_would_approve_the_command_or_not() {
    for exit_code in [0, 3] {
        for (command, answer) in [
            ("git status", "rtk git status"),
            ("git status", "rtk git status\n"),
            ("cat src/lib.rs", "rtk read src/lib.rs"),
            ("head -20 é.txt", "rtk read é.txt --max-lines 20"),
            ("npx tsc --noEmit", "rtk tsc --noEmit"),
            ("ls $HOME/*", "rtk --ultra-compact ls $HOME/*"),
        ] {
            let expected = Some(answer.trim_end().to_owned());
            assert_eq!(rtk_says(command, Some(exit_code), answer), expected, "{answer}");
        }
    }
}

#[test]
fn where_rtk_knows_nothing_or_breaks_it_has_no_answer() {
    for exit_code in [Some(1), Some(4), Some(101), Some(127), Some(-1), None] {
        assert_eq!(rtk_says("git status", exit_code, "rtk git status"), None, "{exit_code:?}");
    }
}

#[test]
fn what_a_rule_denies_is_left_for_that_rule() {
    let says = |stdout: &str, stderr: &str| {
        let output = process::Output { exit_code: Some(2), stdout: stdout.into(), stderr: stderr.into() };
        rtk::answer("git push", &output)
    };
    assert_eq!(says("", "").as_deref(), Some("git push"));
    for (stdout, stderr) in [("", "error: unrecognized subcommand"), ("usage: rtk", ""), ("rtk git push", "")] {
        assert_eq!(says(stdout, stderr), None, "another program of that name");
    }
}

#[test]
fn an_answer_that_is_not_the_same_command_is_none() {
    for answer in [
        "",
        "\n",
        "rtk",
        "rtk ",
        "git status",
        "git status --short",
        "sudo rtk git status",
        "X=1 rtk git status",
        "rtks git status",
        "rtk git status; rm -rf src",
        "rtk git status\nrm -rf src",
        "rtk git status\r\nrm",
        "rtk git status && git status",
        "rtk git status | git",
        "rtk git status > git",
        "rtk git $(status)",
        "rtk `git` status",
        "rtk git status &",
        "rtk  git status",
        "rtk\tgit status",
        "rtk run rm -rf src",
        "rtk git push",
        "rtk git status --output=/etc/passwd",
        "rtk git status -c;id",
        "rtk git status --\u{202e}",
        "rtk ./git status",
        "rtk ;git status",
        "error: unrecognized subcommand 'rewrite'",
        "{\"command\": \"rtk git status\"}",
    ] {
        assert_eq!(rtk_says("git status", Some(0), answer), None, "{answer:?}");
    }
    let long = format!("rtk git status {}", "-v ".repeat(2000));
    assert_eq!(rtk_says("git status", Some(0), &long), None);
    let output = process::Output { exit_code: Some(0), stdout: b"rtk git status \xff".to_vec(), stderr: Vec::new() };
    assert_eq!(rtk::answer("git status", &output), None);
}

#[test]
fn what_another_hook_wrote_is_not_rewritten() {
    let input = Input::test(Event::PreToolUse, "bash", json!({"command": "git status"}));
    let cx = Context { recheck: true, ..Context::test().with_commands(&[&["git", "status"]]) };
    assert_eq!(RtkRewrite::run(&input, &cx), Ok(Answer::pass()));
}
