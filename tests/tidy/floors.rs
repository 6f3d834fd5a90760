//! Who may import whom: the modules of the library stand on floors, and use lower floors and their own, without cycles.
//!
//! Tests may reach wherever they like.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;
use crate::{assert_broken, assert_clean};

/// From the ground up.
const FLOORS: [(&str, &[&str]); 7] = [
    ("words", &["diagnostic", "event", "id", "outcome", "source", "surroundings", "text"]),
    (
        "rules",
        &[
            "ask",
            "hook",
            "life",
            "limits",
            "matching",
            "permission",
            "plugin",
            "policy",
            "port",
            "record",
            "report",
            "wire",
        ],
    ),
    ("state", &["aside", "bus", "once", "registry", "session", "settings", "trust"]),
    ("effects", &["executor", "process", "provider", "sink", "wasm", "watch"]),
    ("conduct", &["dispatch", "gate"]),
    ("runtime", &["runtime"]),
    ("cli", &["cli"]),
];

/// What the floors would let pass, and is absent on purpose.
const STRANGERS: [(&str, &str, &str); 7] = [
    ("settings", "registry", "runtime carries changes across"),
    ("registry", "settings", "runtime carries changes across"),
    ("settings", "trust", "a file is read the same way, whoever trusts it"),
    ("trust", "registry", "what may run is not who is registered"),
    ("registry", "matching", "a registry that also matches does two things"),
    ("executor", "provider", "a model is asked through `port::Model`, and may be the embedder's own"),
    ("executor", "wasm", "a plugin is called through `plugin::Code`, so that the feature `wasm` gates modules alone"),
];

/// The floors on which nothing happens: no runtime, no files, no network, no processes.
const PURE: [&str; 2] = ["words", "rules"];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|(_, modules)| modules.contains(&module))
}

/// One module names another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Import {
    from: String,
    to: String,
    place: String,
}

fn imports(tree: &Tree) -> Vec<Import> {
    let roots = root_names(tree);
    let mut imports = Vec::new();
    for source in tree.modules() {
        let (code, from) = (source.product(), source.module().unwrap());
        let to_the_root: Vec<_> = std::iter::repeat_n(["super", "::"], source.depth()).flatten().collect();
        let to_the_root = &to_the_root[..to_the_root.len() - 1];
        for (name, line) in code.below(&["crate"]).into_iter().chain(code.below(to_the_root)) {
            let to = roots.get(name).map_or(name, String::as_str);
            // `super` stands for what lies deeper than the root.
            if to != from && !["self", "super"].contains(&to) {
                imports.push(Import { from: from.into(), to: to.into(), place: format!("{}:{line}", source.path) });
            }
        }
    }
    imports
}

/// What `lib.rs` exports from its modules, with the module.
fn root_names(tree: &Tree) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for line in tree.text("host/src/lib.rs").unwrap_or_default().split(';') {
        let Some(path) = line.trim().strip_prefix("pub use ") else { continue };
        let module = path.split("::").next().unwrap_or_default();
        for name in path.split(|char: char| !char.is_alphanumeric() && char != '_') {
            if name.starts_with(char::is_uppercase) {
                names.insert(name.to_owned(), module.to_owned());
            }
        }
    }
    names
}

fn homeless(tree: &Tree) -> Vec<String> {
    let there: BTreeSet<_> = tree.modules().filter_map(|source| source.module()).collect();
    let listed: BTreeSet<_> = FLOORS.iter().flat_map(|(_, modules)| *modules).copied().collect();
    let without = there.difference(&listed).map(|module| format!("`{module}` has no floor"));
    let gone = listed.difference(&there).map(|module| format!("`{module}` has a floor and is not there"));
    without.chain(gone).collect()
}

fn upward(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for Import { from, to, place } in imports(tree) {
        match (floor(&from), floor(&to)) {
            (Some(own), Some(other)) if own < other => {
                let (own, other) = (FLOORS[own].0, FLOORS[other].0);
                broken.push(format!("{place}: `{from}` ({own}) uses `{to}` ({other})"));
            }
            (_, None) => broken.push(format!("{place}: `{to}` is no module with a floor")),
            _ => {}
        }
    }
    broken
}

fn strangers(tree: &Tree) -> Vec<String> {
    let imports = imports(tree);
    let met = STRANGERS.iter().flat_map(|(from, to, why)| {
        let those = imports.iter().filter(move |import| import.from == *from && import.to == *to);
        those.map(move |import| format!("{}: `{from}` uses `{to}`: {why}", import.place))
    });
    met.collect()
}

/// The first cycle that is found, as `a -> b -> a`.
fn cycles(tree: &Tree) -> Vec<String> {
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for import in imports(tree) {
        graph.entry(import.from).or_default().insert(import.to);
    }
    // What uses only what is known to be without cycles is itself without; what then remains has cycles.
    loop {
        let before = graph.len();
        let left: BTreeSet<_> = graph.keys().cloned().collect();
        graph.retain(|_, uses| uses.iter().any(|module| left.contains(module)));
        if graph.len() == before {
            break;
        }
    }
    let Some(first) = graph.keys().next().cloned() else { return Vec::new() };
    let mut way = vec![first];
    loop {
        let next = graph[way.last().unwrap()].iter().find(|module| graph.contains_key(*module)).unwrap().clone();
        let seen = way.iter().position(|module| *module == next);
        way.push(next);
        if let Some(start) = seen {
            return vec![way[start..].join(" -> ")];
        }
    }
}

fn impure(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for source in tree.modules() {
        let on = floor(source.module().unwrap()).map(|floor| FLOORS[floor].0);
        if !on.is_some_and(|on| PURE.contains(&on)) {
            continue;
        }
        let code = source.product();
        let effects = ["fs", "net", "process", "thread"];
        let std = code.below(&["std"]).into_iter().filter(|(name, _)| effects.contains(name));
        let runtime = code.lines_with_crate("tokio").into_iter().map(|line| ("tokio", line));
        for (what, line) in std.chain(runtime) {
            broken.push(format!("{}:{line}: names `{what}` on a floor where nothing happens", source.path));
        }
    }
    broken
}

/// Folding gives the same verdict for the same answers, whenever they came.
fn waits(tree: &Tree) -> Vec<String> {
    let fold = tree.modules().filter(|source| source.path.starts_with("host/src/dispatch/fold"));
    fold.flat_map(|source| {
        let code = source.product();
        ["async", "await", "tokio"].map(|word| (word, code.lines_with(&[word]), source.path))
    })
    .flat_map(|(word, lines, path)| lines.into_iter().map(move |line| format!("{path}:{line}: names `{word}`")))
    .collect()
}

#[test]
fn every_module_has_a_floor() {
    assert_clean("each module at the top of the library stands in `FLOORS`", &homeless(Tree::checkout()));
    let tree = Tree::of([("host/src/new_one.rs", "")]);
    assert!(homeless(&tree).contains(&"`new_one` has no floor".to_owned()));
    assert!(homeless(&tree).contains(&"`event` has a floor and is not there".to_owned()));
}

#[test]
fn no_module_imports_upward() {
    assert_clean("a module uses lower floors and its own", &upward(Tree::checkout()));
    let tree = Tree::of([
        ("host/src/lib.rs", "pub use runtime::{FakeRuntime, Runtime};"),
        ("host/src/event.rs", "use super::gate::ToolGate;\n/// crate::cli\nuse crate::id::Id;"),
        (
            "host/src/event/tool.rs",
            "use super::id::Id; use super::super::wasm;\n#[cfg(test)] mod t { use crate::cli; }",
        ),
        ("host/src/gate.rs", "use crate::{\n  event::Event,\n  Runtime,\n  nowhere::X,\n};"),
    ]);
    let about =
        ["event.rs:1: `event` (words) uses `gate`", "tool.rs:1: `event` (words) uses `wasm`", "gate.rs:3", "`nowhere`"];
    assert_broken(&upward(&tree), &about);
}

#[test]
fn strangers_stay_strangers() {
    assert_clean("absent on purpose", &strangers(Tree::checkout()));
    let tree = Tree::of([("host/src/settings/merge.rs", "use crate::registry::Hook;")]);
    assert_broken(&strangers(&tree), &["merge.rs:1: `settings` uses `registry`"]);
}

#[test]
fn modules_do_not_go_in_circles() {
    assert_clean("modules of a floor do not use each other in a circle", &cycles(Tree::checkout()));
    let tree = Tree::of([
        ("host/src/cli.rs", "use crate::hook::Hook;"),
        ("host/src/hook.rs", "use crate::matching::Matcher;"),
        ("host/src/matching/tools.rs", "use crate::{id, port};"),
        ("host/src/port.rs", "fn f(_: &crate::hook::Hook) {}"),
    ]);
    assert_eq!(cycles(&tree), ["hook -> matching -> port -> hook"]);
}

#[test]
fn words_and_rules_do_nothing() {
    assert_clean("words and rules are pure", &impure(Tree::checkout()));
    let tree = Tree::of([
        ("host/src/policy.rs", "use std::{fmt, fs::File};\nuse tokio::sync::Mutex;"),
        ("host/src/registry.rs", "use tokio::sync::watch;"),
    ]);
    assert_broken(&impure(&tree), &["policy.rs:1: names `fs`", "policy.rs:2: names `tokio`"]);
}

#[test]
fn folding_cannot_wait() {
    assert_clean("`fold` is pure", &waits(Tree::checkout()));
    assert!(Tree::checkout().bytes("host/src/dispatch/fold.rs").is_some());
    let tree = Tree::of([("host/src/dispatch/fold.rs", "async fn f() {}")]);
    assert_broken(&waits(&tree), &["fold.rs:1: names `async`"]);
}
