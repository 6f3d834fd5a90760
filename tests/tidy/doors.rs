//! What has one door: crates and effects that only certain modules of the library name.

use crate::tree::{Source, Tree};
use crate::{assert_broken, assert_clean};

/// Crates, and the modules that may name them.
const CRATES: [(&[&str], &[&str], &str); 11] = [
    (
        &["wasmtime", "wasmtime_wasi", "wasmtime_wasi_http", "wasmparser", "rustc_demangle"],
        &["wasm"],
        "the engine is private to `wasm`",
    ),
    (&["clap", "clap_complete", "anyhow", "anstream", "anstyle"], &["cli"], "the library has no command line"),
    (&["jsonc_parser"], &["wire"], "what comes from outside is read in `wire`"),
    (&["brush_parser", "fancy_regex", "regex"], &["matching"], "patterns and commands are compiled in `matching`"),
    (&["reqwest"], &["provider"], "models are asked from one place"),
    (&["hyper", "hyper_util", "tokio_rustls"], &["wasm"], "what plugins send goes out by one door"),
    (&["rustls", "rustls_platform_verifier"], &["provider", "wasm"], "the network has two doors"),
    (&["notify"], &["watch"], "what the system tells of files is heard in one place"),
    (&["arc_swap"], &["registry"], "the registry alone swaps"),
    (
        &["rustix"],
        &["executor", "process", "settings", "sink", "trust", "wasm", "cli"],
        "process groups are `process`'s, the lock on the trust store is its own, owners and modes are the sandbox's and the records', \
        files that are opened without waiting `settings`'s",
    ),
    (&["tempfile"], &["executor", "trust", "wasm", "cli"], "private files are theirs alone"),
];

/// Modules that turn text from outside into values: outside shapes, a guest's answer, the arguments of the program.
const READERS: [&str; 3] = ["wire", "wasm", "cli"];

/// Where programs are started.
const STARTERS: [&str; 2] = ["host/src/process", "host/src/cli"];

fn named_crates(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for source in tree.modules() {
        let code = source.product();
        for (crates, modules, why) in CRATES {
            if modules.contains(&source.module().unwrap()) {
                continue;
            }
            for name in crates {
                let lines = code.lines_with_crate(name);
                broken.extend(lines.iter().map(|line| format!("{}:{line}: names `{name}`: {why}", source.path)));
            }
        }
    }
    broken
}

fn readers(tree: &Tree) -> Vec<String> {
    let others = tree.modules().filter(|source| !READERS.contains(&source.module().unwrap()));
    others.flat_map(|source| reads(&source)).collect()
}

fn reads(source: &Source<'_>) -> Vec<String> {
    let code = source.product();
    let functions = ["from_str", "from_slice", "from_reader", "from_value"];
    let named = code.below(&["serde_json"]).into_iter().filter(|(name, _)| functions.contains(name));
    let derived = code.lines_with(&["Deserialize"]).into_iter().map(|line| ("Deserialize", line));
    named.chain(derived).map(|(what, line)| format!("{}:{line}: names `{what}`", source.path)).collect()
}

fn starters(tree: &Tree) -> Vec<String> {
    let others = tree.modules().filter(|source| !STARTERS.iter().any(|door| source.path.starts_with(door)));
    let start = |source: Source<'_>| {
        let code = source.product();
        let lines = [code.lines_with(&["Command", "::", "new"]), code.lines_with(&["process", "::", "Command"])];
        lines.concat().into_iter().map(|line| format!("{}:{line}: starts a program", source.path)).collect::<Vec<_>>()
    };
    others.flat_map(start).collect()
}

#[test]
fn crates_have_their_doors() {
    assert_clean("each of these crates is named by its modules alone", &named_crates(Tree::checkout()));
    let tree = Tree::of([
        ("host/src/runtime.rs", "use wasmtime::Engine; // anyhow::Error"),
        ("host/src/hook.rs", "fn f() -> anyhow::Result<()> {}\n#[cfg(test)] mod tests { use tempfile::tempdir; }"),
        ("host/src/wasm/engine.rs", "use wasmtime::Engine;"),
    ]);
    assert_broken(&named_crates(&tree), &["hook.rs:1: names `anyhow`", "runtime.rs:1: names `wasmtime`"]);
}

#[test]
fn outside_shapes_are_read_in_one_place() {
    assert_clean("only `wire`, `wasm` and `cli` turn outside text into values", &readers(Tree::checkout()));
    let tree = Tree::of([
        ("host/src/settings/merge.rs", "let v: Value = serde_json::from_str(text)?;"),
        ("host/src/hook.rs", "#[derive(Clone, serde::Deserialize)]\nstruct A;"),
        ("host/src/wire.rs", "use serde::Deserialize;"),
    ]);
    assert_broken(&readers(&tree), &["hook.rs:1: names `Deserialize`", "merge.rs:1: names `from_str`"]);
}

#[test]
fn programs_are_started_in_one_place() {
    assert_clean("programs are started in `process`", &starters(Tree::checkout()));
    let tree = Tree::of([
        ("host/src/gate.rs", "let c =\n std::process::Command::new(program);"),
        ("host/src/process.rs", "Command::new(program)"),
    ]);
    assert_broken(&starters(&tree), &["gate.rs:2", "gate.rs:2"]);
}
