//! What does not change by the way: the released interface, the components, the versions of the engine.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::tree::Tree;
use crate::{assert_broken, assert_clean};

/// The released interfaces. A change is a new folder beside them, never a new hash here.
const INTERFACES: [(&str, &str); 1] =
    [("wit/v0.1/hooks.wit", "4588689a408d0dee8c72fd4a131cf0257f627ebd89f6d1750c9fabbc513d777c")];

/// The interface that the bindings are made from, and where they are.
const BOUND: (&str, [&str; 4]) = (
    "tacklebox:hooks/callback@0.1.0#run",
    [
        "guest-sdk/assemblyscript/sdk/exports.mjs",
        "guest-sdk/c/sdk/plugin.c",
        "guest-sdk/go/sdk/bindings/wit_exports/wit_exports.go",
        "guest-sdk/rust/src/bindings.rs",
    ],
);

/// Of WASI's interfaces what a guest uses; to change them is WASI's, and a host without them shows at linking.
const WASIS_OWN: &str = "guest-sdk/rust/http/wit/";

/// The largest component, in bytes.
const LARGEST: usize = 100_000;

/// The longest `lib.rs` of an example, in lines of code: one idea each.
const LONGEST: usize = 80;

/// The oldest wasmtime: the long-term support line, with the fixes of its advisories.
const WASMTIME: [u32; 3] = [48, 0, 8];

fn interfaces(tree: &Tree, frozen: &[(&str, &str)]) -> Vec<String> {
    let changed = |(path, hash): &(&str, &str)| {
        let now = tree.bytes(path).map(sha256)?;
        (now != *hash)
            .then(|| format!("{path}: has the hash {now}; what is released does not change, a new version does"))
    };
    let gone = frozen.iter().filter(|(path, _)| tree.bytes(path).is_none()).map(|(path, _)| format!("{path}: is gone"));
    frozen.iter().filter_map(changed).chain(gone).collect()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn examples(tree: &Tree) -> BTreeSet<&str> {
    let paths = tree.all().filter_map(|(path, _)| path.strip_prefix("example-plugins/"));
    paths.filter_map(|path| Some(path.split_once('/')?.0)).collect()
}

fn incomplete(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for name in examples(tree) {
        let folder = format!("example-plugins/{name}");
        for file in [&format!("{name}.wasm"), "README.md", "settings.json", "Cargo.toml", "src/lib.rs"] {
            if tree.bytes(&format!("{folder}/{file}")).is_none() {
                broken.push(format!("{folder}: has no {file}"));
            }
        }
        let lines = lines_of_code(tree.text(&format!("{folder}/src/lib.rs")).unwrap_or_default());
        if lines >= LONGEST {
            broken.push(format!("{folder}/src/lib.rs: {lines} lines of code"));
        }
    }
    let components = tree.all().filter(|(path, _)| path.ends_with(".wasm"));
    let large = components.filter(|(_, bytes)| bytes.len() >= LARGEST);
    broken.extend(large.map(|(path, bytes)| format!("{path}: {} bytes", bytes.len())));
    broken
}

/// Neither blank nor a comment.
fn lines_of_code(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// The packages of a lock file, with their versions.
fn locked(lock: &str) -> Vec<(&str, &str)> {
    let value = |line: &'_ str, key: &str| -> Option<usize> { line.starts_with(key).then_some(key.len()) };
    let mut packages = Vec::new();
    let mut name = "";
    for line in lock.lines() {
        if let Some(start) = value(line, "name = ") {
            name = line[start..].trim_matches('"');
        } else if let Some(start) = value(line, "version = ") {
            packages.push((name, line[start..].trim_matches('"')));
        }
    }
    packages
}

fn engine(lock: &str) -> Vec<String> {
    let packages = locked(lock);
    let family = packages.iter().filter(|(name, _)| *name == "wasmtime" || name.starts_with("wasmtime-"));
    let versions: BTreeSet<_> = family.clone().map(|(_, version)| *version).collect();
    let mut broken = Vec::new();
    for (name, version) in family {
        let numbers: Vec<u32> = version.split('.').map(|part| part.parse().unwrap_or(0)).collect();
        if numbers.as_slice() < WASMTIME.as_slice() {
            broken.push(format!("{name} {version} is older than {WASMTIME:?}"));
        }
    }
    if versions.len() != 1 {
        broken.push(format!("wasmtime and its family have the versions {versions:?}"));
    }
    for name in ["cranelift-codegen", "wasmparser", "wasmtime-wasi"] {
        let count = packages.iter().filter(|(other, _)| *other == name).count();
        if count > 1 {
            broken.push(format!("{name} is there {count} times"));
        }
    }
    broken
}

#[test]
fn released_interfaces_stay_as_they_are() {
    assert_clean("what is released is frozen", &interfaces(Tree::checkout(), &INTERFACES));
    let tree = Tree::of([("wit/a.wit", "package a;")]);
    assert_broken(
        &interfaces(&tree, &[("wit/a.wit", "00"), ("wit/b.wit", "00")]),
        &["a.wit: has the hash", "b.wit: is gone"],
    );
}

#[test]
fn every_interface_in_the_tree_is_frozen() {
    let there = Tree::checkout().all().map(|(path, _)| path).filter(|path| path.ends_with(".wit"));
    let there = there.filter(|path| !path.starts_with(WASIS_OWN));
    let listed: Vec<_> = INTERFACES.iter().map(|(path, _)| *path).collect();
    assert_eq!(there.collect::<Vec<_>>(), listed);
}

#[test]
fn the_bindings_are_of_the_released_interface() {
    let (export, paths) = BOUND;
    for path in paths {
        assert!(Tree::checkout().text(path).unwrap().contains(export), "{path} does not export {export}");
    }
}

#[test]
fn examples_are_whole_and_small() {
    assert_clean(
        "an example is one idea, with its component, its README and settings to try",
        &incomplete(Tree::checkout()),
    );
    assert!(!examples(Tree::checkout()).is_empty());
    let (large, long) = ("x".repeat(LARGEST), "a;\n\n// b\n".repeat(LONGEST));
    let tree = Tree::of([
        ("example-plugins/a/Cargo.toml", ""),
        ("example-plugins/a/README.md", ""),
        ("example-plugins/a/a.wasm", &large),
        ("example-plugins/a/src/lib.rs", &long),
    ]);
    assert_broken(&incomplete(&tree), &["a: has no settings.json", "lib.rs: 80 lines of code", "a.wasm: 100000 bytes"]);
}

#[test]
fn the_engine_is_not_older_than_its_fixes() {
    assert_clean("one wasmtime, at least 48.0.8", &engine(Tree::checkout().text("Cargo.lock").unwrap()));
    let lock = "[[package]]\nname = \"wasmtime\"\nversion = \"48.0.7\"\n\n[[package]]\nname = \"wasmtime-wasi\"\nversion = \"49.0.0\"\n";
    assert_broken(
        &engine(lock),
        &["wasmtime 48.0.7 is older", "[\"48.0.7\", \"49.0.0\"]".replace('[', "{").replace(']', "}").as_str()],
    );
    assert_broken(&engine(""), &["versions {}"]);
}
