//! The rules of the house as tests: floors, doors, style, what is frozen, what must not be in the tree.
//!
//! Every rule is a function from a tree of files to what breaks it, and is tried twice: on this checkout, and on a small
//! made-up tree that breaks it. What clippy, `cargo deny` and `scripts/build-plugins.sh` hold is left to them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod code;
mod documents;
mod doors;
mod floors;
mod frozen;
mod style;
mod traces;
mod tree;

/// Fails with all of `broken`, one a line.
#[track_caller]
fn assert_clean(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}:\n  {}\n", broken.join("\n  "));
}

/// A rule that cannot fail holds nothing: here it must, and each time about what was named.
#[track_caller]
fn assert_broken(broken: &[String], about: &[&str]) {
    assert_eq!(broken.len(), about.len(), "{broken:#?}");
    for (said, what) in broken.iter().zip(about) {
        assert!(said.contains(what), "`{said}` is not about `{what}`");
    }
}
