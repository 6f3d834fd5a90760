//! What a machine leaves in a file: its paths, the mirrors that it fetches from.

use crate::tree::Tree;
use crate::{assert_broken, assert_clean};

/// Where Cargo.lock says that every package comes from.
const INDEX: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

/// Folders of machines. In two pieces, so that this file has none of them.
const FOLDERS: [(&str, &str); 5] =
    [("/ro", "ot/"), ("/ho", "me/"), ("/Us", "ers/"), ("/wo", "rk/"), ("/tm", "p/target-")];

/// People who are made up, and live in folders of tests and examples.
const MADE_UP: [&str; 4] = ["me", "u", "user", "you"];

/// Hosts that a machine fetches packages from, in two pieces as well. A mirror of one's own is none of the tree's business.
const HOSTS: [(&str, &str); 8] = [
    ("index.", "crates.io"),
    ("static.", "crates.io"),
    ("deb.", "debian.org"),
    ("security.", "debian.org"),
    ("py", "pi.org"),
    ("files.", "pythonhosted.org"),
    ("registry.", "npmjs.org"),
    ("proxy.", "golang.org"),
];

fn traces(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for (path, bytes) in tree.all() {
        let text = String::from_utf8_lossy(bytes);
        let is_text = std::str::from_utf8(bytes).is_ok();
        for (at, folder) in FOLDERS.iter().flat_map(|(a, b)| occurrences(&text, &format!("{a}{b}"))) {
            if !(is_text && is_harmless(&text, at, &folder)) {
                broken.push(format!("{path}:{}: holds the path of a machine, {folder}..", line(&text, at)));
            }
        }
        for (at, host) in HOSTS.iter().flat_map(|(a, b)| occurrences(&text, &format!("{a}{b}"))) {
            broken.push(format!("{path}:{}: names the registry {host}", line(&text, at)));
        }
    }
    broken
}

fn occurrences(text: &str, what: &str) -> Vec<(usize, String)> {
    text.match_indices(what).map(|(at, found)| (at, found.to_owned())).collect()
}

/// A relative path that only looks like one of a machine, or the folder of somebody who is made up.
fn is_harmless(text: &str, at: usize, folder: &str) -> bool {
    let continues = text[..at].ends_with(|char: char| char.is_alphanumeric() || "._-/*)}".contains(char));
    let rest = &text[at + folder.len()..];
    let who = rest.split(|char: char| !char.is_alphanumeric()).next().unwrap_or_default();
    continues
        || (FOLDERS[1..3].iter().any(|(a, b)| *folder == format!("{a}{b}"))
            && (who.is_empty() || MADE_UP.contains(&who)))
}

fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn foreign_sources(lock: &str) -> Vec<String> {
    let sources = lock.lines().filter(|line| line.starts_with("source = "));
    sources.filter(|line| *line != INDEX).map(str::to_owned).collect()
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    assert_clean("the tree is the same wherever it is checked out", &traces(Tree::checkout()));
    let path = |(a, b): (&str, &str), rest: &str| format!("x\n\"{a}{b}{rest}\"");
    let tree = Tree::of([
        ("a.md", &path(FOLDERS[0], "x")),
        ("b.md", &path(FOLDERS[1], "jane/x")),
        ("c.md", &path(FOLDERS[1], "me/x")),
        ("d.md", &path(("..", FOLDERS[1].0), FOLDERS[1].1)),
        ("e.md", &path(("https://", HOSTS[0].0), HOSTS[0].1)),
    ]);
    assert_broken(&traces(&tree), &["a.md:2: holds", "b.md:2: holds", "e.md:2: names the registry"]);
}

#[test]
fn every_package_comes_from_the_public_index() {
    assert_clean("no mirror and no repository", &foreign_sources(Tree::checkout().text("Cargo.lock").unwrap()));
    assert_broken(&foreign_sources(&format!("{INDEX}\nsource = \"git+https://example.org/a\"\n")), &["example.org"]);
}
