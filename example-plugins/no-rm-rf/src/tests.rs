//! What the guard stops, and what it lets through.

use super::*;
use tacklebox_sdk::{json, testing};

fn ask(command: &[&str]) -> Answer {
    let input = Input::test(Event::PreToolUse, "bash", json!({"command": command.join(" ")}));
    NoRmRf::run(&input, &Context::test().with_commands(&[command])).expect("an answer")
}

fn blocks(command: &str) -> bool {
    matches!(ask(&command.split(' ').collect::<Vec<_>>()), Answer::Block(_))
}

#[test]
fn every_spelling_of_the_flags_is_caught() {
    for command in [
        "rm -rf x",
        "rm -fr x",
        "rm -r -f x",
        "rm -Rf x",
        "rm x -rf",
        "rm -f x -r",
        "rm -rfv x",
        "rm --recursive --force x",
        "rm --rec --fo x",
        "rm -r --force x",
        "RM -rf x",
        "rm -rf -- x",
        "mkfs.ext4 /dev/sda",
        "shred x",
    ] {
        assert!(blocks(command), "{command}");
    }
}

#[test]
fn wrappers_folders_and_unknown_programs_do_not_hide_it() {
    for command in [
        "/bin/rm -rf x",
        "sudo rm -rf x",
        "/usr/bin/sudo -u root /bin/rm -fr x",
        "env -i A=b rm -rf x",
        "find . -name x -exec rm -rf {} +",
        "xargs -n 1 rm -rf",
        "$RM -rf x",
    ] {
        assert!(blocks(command), "{command}");
    }
}

#[test]
fn what_can_be_taken_back_passes() {
    for command in [
        "rm x",
        "rm -f x",
        "rm -r x",
        "ls -rf",
        "echo rm -rf x",
        "git rm -rf x",
        "$EDITOR x",
        "sudo ls -l",
        "rmdir x",
        "",
    ] {
        assert!(!blocks(command), "{command}");
    }
}

#[test]
fn rules_come_from_the_config() {
    testing::set_config(&json!({"deny": ["git push --force", "git reset --hard"]}));
    assert!(blocks("git push --force origin main"));
    assert!(blocks("git -C dir push origin main -f"));
    assert!(blocks("git reset --hard HEAD~1"));
    assert!(!blocks("git push --force-with-lease"));
    assert!(!blocks("git push origin main"));
    assert!(!blocks("git reset HEAD~1"));
    assert!(!blocks("rm -rf x"));
}

#[test]
fn an_allowed_command_is_allowed_as_a_whole_and_nothing_more() {
    testing::set_config(&json!({"allow": ["rm -rf build"]}));
    for command in ["rm -rf build", "rm -fr build/", "rm --force --recursive build"] {
        assert!(!blocks(command), "{command}");
    }
    for command in ["rm -rf build x", "rm -rf x", "rm -rf", "sudo rm -rf build", "xargs rm -rf build", "rm -rf /"] {
        assert!(blocks(command), "{command}");
    }
    testing::set_config(&json!({"allow": ["sudo rm -rf build"]}));
    assert!(!blocks("sudo rm -rf build"));
    assert!(!blocks("rm -rf build"), "the host lists it too, as what sudo runs");
}

#[test]
fn one_bad_command_among_good_ones_is_enough() {
    let cx = Context::test().with_commands(&[&["cd", "/tmp"], &["rm", "-rf", "a b"], &["ls"]]);
    let answer = NoRmRf::run(&Input::test(Event::PreToolUse, "bash", json!({})), &cx);
    let reason = "`rm -rf a b` is denied by the rule `rm -rf`: find a safer way, or ask the person";
    assert_eq!(answer, Ok(Answer::block(reason)));
}

#[test]
fn a_command_that_was_not_taken_apart_is_blocked() {
    let answer = NoRmRf::run(&Input::test(Event::PreToolUse, "bash", json!({"command": "ls"})), &Context::test());
    assert!(matches!(answer, Ok(Answer::Block(_))));
}

#[test]
fn a_misspelt_config_is_a_failure() {
    testing::set_config(&json!({"denyy": []}));
    let answer = NoRmRf::run(&Input::test(Event::PreToolUse, "bash", json!({})), &Context::test());
    assert!(answer.expect_err("no answer").to_string().contains("unknown field `denyy`"));
}
