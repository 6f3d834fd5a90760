//! How a file looks: its first line, its name, its length, and what it does not leave behind.

use crate::tree::{Source, Tree};
use crate::{assert_broken, assert_clean};

/// The longest file, in lines, its tests not counted.
const LONGEST: usize = 500;

/// Files that are as their generator makes them: as long as it takes, and without a story.
const GENERATED: [(&str, &str); 1] = [("guest-sdk/rust/src/bindings.rs", "by wit-bindgen, from wit/v0.1/hooks.wit")];

/// Names that say nothing of what is inside.
const EMPTY_NAMES: [&str; 8] = ["common", "helper", "helpers", "manager", "misc", "mod", "util", "utils"];

/// Files in which a thread sleeps, and why no clock can be turned there.
const SLEEPERS: &[(&str, &str)] = &[
    ("host/src/wasm/ticker.rs", "the thread that ticks"),
    ("host/src/executor/command/payload.rs", "a process of the machine's is waited for"),
    ("host/src/executor/command/tests.rs", "a process of the machine's is waited for"),
    ("tests/conformance/expect.rs", "a process of the machine's is waited for"),
    ("tests/conformance/play.rs", "the program's own end is waited for"),
    ("tests/guests/player/src/main.rs", "it plays `sleep`, and is ended in it"),
    ("tests/benches/soak.rs", "it waits for what the system is slow to take away"),
    ("tests/benches/soak/left.rs", "it looks at memory four times a second"),
];

/// What is not left behind.
const LEFT_BEHIND: [(&[&str], &str); 4] = [
    (&["#", "[", "ignore"], "#[ignore]"),
    (&["todo", "!"], "todo!"),
    (&["unimplemented", "!"], "unimplemented!"),
    (&["dbg", "!"], "dbg!"),
];

fn without_a_story(tree: &Tree) -> Vec<String> {
    let written = tree.rust().filter(|source| !listed(&GENERATED, source));
    let silent = written.filter(|source| !source.text.starts_with("//! "));
    silent.map(|source| format!("{}:1: does not open with `//!`", source.path)).collect()
}

fn empty_names(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for source in tree.rust() {
        let parts = source.path.trim_end_matches(".rs").split('/');
        let named = parts.filter(|part| EMPTY_NAMES.contains(part));
        broken.extend(named.map(|name| format!("{}: `{name}` says nothing of what is inside", source.path)));
        let code = source.code();
        let inside = EMPTY_NAMES.iter().flat_map(|name| code.lines_with(&["mod", name]));
        broken.extend(inside.map(|line| format!("{}:{line}: a module whose name says nothing", source.path)));
    }
    broken
}

fn too_long(tree: &Tree) -> Vec<String> {
    let counted = tree.rust().filter(|source| !source.is_test() && !listed(&GENERATED, source));
    let long = counted.map(|source| (lines_without_tests(source.text), source.path));
    long.filter(|(lines, _)| *lines > LONGEST).map(|(lines, path)| format!("{path}: {lines} lines")).collect()
}

/// Tests stand last in a file.
fn lines_without_tests(text: &str) -> usize {
    text.lines().take_while(|line| *line != "#[cfg(test)]").count()
}

fn listed(list: &[(&str, &str)], source: &Source<'_>) -> bool {
    list.iter().any(|(path, _)| *path == source.path)
}

fn left_behind(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for source in tree.rust() {
        let code = source.code();
        for (words, name) in LEFT_BEHIND {
            broken.extend(code.lines_with(words).iter().map(|line| format!("{}:{line}: {name}", source.path)));
        }
    }
    broken
}

fn sleepers(tree: &Tree) -> Vec<String> {
    let others = tree.rust().filter(|source| !listed(SLEEPERS, source));
    let sleep = |source: Source<'_>| {
        let lines = source.code().lines_with(&["thread", "::", "sleep"]);
        lines.into_iter().map(|line| format!("{}:{line}: a thread sleeps", source.path)).collect::<Vec<_>>()
    };
    others.flat_map(sleep).collect()
}

#[test]
fn files_open_with_their_story() {
    assert_clean("a file says first what it owns", &without_a_story(Tree::checkout()));
    let tree = Tree::of([("host/src/a.rs", "use std::fmt;\n"), ("tests/b.rs", "//! B.\n")]);
    assert_broken(&without_a_story(&tree), &["host/src/a.rs"]);
}

#[test]
fn names_say_what_is_inside() {
    assert_clean("no file and no module is a drawer", &empty_names(Tree::checkout()));
    let tree = Tree::of([
        ("guest-sdk/rust/src/util/text.rs", ""),
        ("host/src/a/mod.rs", ""),
        ("host/src/b.rs", "// mod util;\nmod helpers {}"),
    ]);
    assert_broken(&empty_names(&tree), &["`util`", "`mod`", "b.rs:2"]);
}

#[test]
fn files_are_read_in_one_sitting() {
    assert_clean("500 lines without tests", &too_long(Tree::checkout()));
    let long = "\n".repeat(501);
    let tested = format!("#[cfg(test)]\nmod tests {{{long}}}");
    let tree = Tree::of([("host/src/a.rs", &long), ("host/src/b.rs", &tested), ("host/src/c/tests.rs", &long)]);
    assert_broken(&too_long(&tree), &["host/src/a.rs: 501 lines"]);
}

#[test]
fn nothing_is_left_behind() {
    assert_clean("nothing half done, and no test that does not run", &left_behind(Tree::checkout()));
    let text =
        "// todo!()\nfn a() { todo!(\"x\") }\n#[test]\n#[ignore = \"slow\"]\nfn b() { dbg!(\"unimplemented!\"); }";
    assert_broken(
        &left_behind(&Tree::of([("tests/a.rs", text)])),
        &["a.rs:4: #[ignore]", "a.rs:2: todo!", "a.rs:5: dbg!"],
    );
}

#[test]
fn nobody_sleeps_where_a_clock_can_be_turned() {
    assert_clean("no thread sleeps", &sleepers(Tree::checkout()));
    let tree = Tree::of([("tests/it/a.rs", "std::thread::sleep(PAUSE);"), (SLEEPERS[0].0, "thread::sleep(PERIOD)")]);
    assert_broken(&sleepers(&tree), &["tests/it/a.rs:1"]);
}
