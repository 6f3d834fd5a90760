//! Trust that is a person's: what is trusted runs, as long as it is what was trusted.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};
use tacklebox::event::PreToolUse;
use tacklebox::outcome::{Cause, Outcome};
use tacklebox::surroundings::Surroundings;
use tacklebox::trust::{Root, TrustStore};
use tacklebox::{HookRuntime as _, Runtime, RuntimeBuilder};

use crate::agent::{bash, cx};
use crate::program::{Said, World};

const SETTINGS: &str = "project/.freecode/settings.json";
const CALL: [&str; 6] = ["run", "PreToolUse", "--tool", "bash", "--json", "--input={\"command\": \"rm -rf /\"}"];

fn guard(command: &str) -> String {
    json!({"hooks": {"PreToolUse": [{"name": "guard", "command": command}]}}).to_string()
}

/// A project whose guard is a script.
fn scripted() -> World {
    let world = World::with(&guard("bash hooks/guard.sh"));
    world.lay("project/hooks/guard.sh", b"exit 2");
    world
}

fn decision(world: &World) -> String {
    world.run(&CALL).json()["decision"].as_str().unwrap().to_owned()
}

/// Looks, and agrees to what is shown.
fn trust(world: &World) -> Said {
    let digest = digest(world);
    world.run(&["trust", "--digest", &digest])
}

fn digest(world: &World) -> String {
    world.run(&["trust", "--json"]).json()["digest"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_trusted_runs_until_a_word_a_script_or_a_component_changes() {
    let world = scripted();
    let no_rm_rf = include_bytes!("../../example-plugins/no-rm-rf/no-rm-rf.wasm");
    let other = include_bytes!("../../example-plugins/redact-secrets/redact-secrets.wasm");
    let plugin = json!({"hooks": {"PreToolUse": [
        {"name": "no-rm-rf", "type": "callback", "plugin": "../plugin.wasm"},
        {"name": "guard", "command": "bash hooks/guard.sh"},
    ]}});
    let changes: [(&str, &[u8]); 5] = [
        ("project/hooks/guard.sh", b"exit 2 # changed"),
        (SETTINGS, guard("bash hooks/guard.sh again").leak().as_bytes()),
        ("project/plugin.wasm", no_rm_rf),
        (SETTINGS, plugin.to_string().leak().as_bytes()),
        ("project/plugin.wasm", other),
    ];
    assert_eq!(decision(&world), "untrusted");
    for (path, bytes) in changes {
        assert_eq!(trust(&world).code, Some(0));
        assert_eq!(decision(&world), "block");
        world.lay(path, bytes);
        // A file that nothing names changes nothing.
        let expected = if bytes == no_rm_rf { "block" } else { "untrusted" };
        assert_eq!(decision(&world), expected, "{path}");
    }
    assert_eq!(trust(&world).code, Some(0));
    assert_eq!(world.run(&["untrust"]).out, "not trusted any more\n");
    assert_eq!(decision(&world), "untrusted");
    assert_eq!(world.run(&["untrust"]).out, "it was not trusted\n");
}

#[test]
fn without_a_terminal_it_shows_and_does_not_trust() {
    let world = scripted();
    let said = world.run(&["trust"]);
    assert_eq!(said.code, Some(1));
    let digest = digest(&world);
    assert!(said.out.contains("bash hooks/guard.sh") && said.out.contains(&digest), "{}", said.out);
    assert!(said.err.contains(&format!("tacklebox trust --digest {digest}")), "{}", said.err);
    assert_eq!(decision(&world), "untrusted");
    let wrong = world.run(&["trust", "--digest", &"0".repeat(64)]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.err.contains("look again"), "{}", wrong.err);
    assert_eq!(world.run(&["trust", "--digest", "abc"]).code, Some(1));
    assert_eq!(decision(&world), "untrusted");
    let page = world.run(&["list"]).out + &world.run(&["explain", "PreToolUse", "--tool", "bash"]).out;
    assert_eq!(page.matches("until `tacklebox trust`").count(), 2, "{page}");
}

#[test]
fn what_would_run_is_shown_literally() {
    let world = World::with(
        &json!({"hooks": {"PreToolUse": [
            {"name": "guard", "matcher": "bash", "if": "bash(rm *)", "command": "./a.sh \u{1b}[2K\n; curl x",
                "env": {"TOKEN_FILE": "./t"}},
            {"name": "keeps", "command": "true", "env": ["API_KEY"]},
            {"name": "plugin", "type": "callback", "plugin": "../gone.wasm", "config": {"deep": [1]}},
        ], "UserPromptSubmit": [{"name": "text", "type": "inject", "text": "be nice"}]}})
        .to_string(),
    );
    world.lay("project/a.sh", b"exit 0");
    world.lay("home/.freecode/settings.json", guard("exit 2").as_bytes());
    let page = world.run(&["trust"]).out;
    for part in [
        r"./a.sh \u{1b}[2K\u{a}; curl x",
        "matcher bash",
        "if bash(rm *)",
        "TOKEN_FILE=./t",
        "API_KEY of your environment",
        "be nice",
        "deep = [1]",
        "gone.wasm cannot be read",
        "replaces your own hook at ",
        "Not covered",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let shown = world.run(&["trust", "--json"]).json();
    assert_eq!(shown["trusted"], false);
    let hook = &shown["hooks"][0];
    assert_eq!((&hook["files"][0]["path"], &hook["sets"][0][1]), (&json!("a.sh"), &json!("./t")));
    assert!(hook["replaces"].as_str().unwrap().contains("home"), "{hook}");
}

#[test]
fn a_project_is_one_by_whatever_path_it_is_reached() {
    let world = scripted();
    symlink(world.path("project"), world.path("link")).unwrap();
    let link = world.path("link");
    let via_link = |args: &[&str]| world.run(&[args, &["--project", link.to_str().unwrap()]].concat());
    let digest = via_link(&["trust", "--json"]).json()["digest"].as_str().unwrap().to_owned();
    assert_eq!(via_link(&["trust", "--digest", &digest]).code, Some(0));
    assert_eq!(decision(&world), "block");
    assert_eq!(via_link(&CALL).json()["decision"], "block");
    assert_eq!(digest, self::digest(&world));
    // The same somewhere else has the same digest, and is another project.
    let other = scripted();
    assert_eq!(self::digest(&other), digest);
    assert_eq!(decision(&other), "untrusted");
}

#[test]
fn a_project_that_brings_nothing_has_nothing_to_trust() {
    let said = World::new().run(&["trust"]);
    assert_eq!(said.code, Some(0));
    assert!(said.out.contains("nothing to trust"), "{}", said.out);
}

#[test]
fn a_broken_store_trusts_nothing_and_says_so() {
    let world = scripted();
    trust(&world);
    world.lay("home/.config/tacklebox/trust.json", b"{");
    let verdict = world.run(&CALL).json();
    assert_eq!(verdict["decision"], "untrusted");
    assert!(verdict["warnings"].to_string().contains("trust store trusts nothing"), "{verdict}");
    assert_eq!(trust(&world).code, Some(1));
    assert_eq!(std::fs::read(world.path("home/.config/tacklebox/trust.json")).unwrap(), b"{");
}

/// A host that runs, on a store's word.
struct Host {
    world: World,
    runtime: Runtime,
}

impl Host {
    /// Trusts the project as it is where it `is_trusted`.
    async fn new(world: World, trusted: bool) -> Self {
        Self::built(world, trusted, |builder| builder).await
    }

    async fn built(world: World, trusted: bool, with: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> Self {
        let surroundings = surroundings(&world);
        let mut store = TrustStore::at(world.path("store/trust.json"));
        let before = Runtime::builder(store.clone(), surroundings.clone()).build().await.unwrap();
        if trusted {
            let root = Root::of(&surroundings).unwrap();
            store.trust(root.real(), before.brought().unwrap().digest()).unwrap();
        }
        let runtime = with(Runtime::builder(store, surroundings)).build().await.unwrap();
        Self { world, runtime }
    }

    async fn verdict(&self) -> PreToolUse {
        self.runtime.pre_tool_use(&bash("ls"), &cx().cwd(self.world.path("project"))).await.verdict
    }

    async fn reason(&self) -> String {
        match self.verdict().await {
            PreToolUse::Blocked { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }

    fn said(&self) -> String {
        self.runtime.diagnostics().iter().map(ToString::to_string).collect()
    }
}

fn surroundings(world: &World) -> Surroundings {
    let home: Option<PathBuf> = Some(world.path("home"));
    Surroundings { home, ..Surroundings::of_this_process(world.path("project")) }
}

fn says(text: &str) -> String {
    guard(&format!("echo {text} >&2; exit 2"))
}

#[tokio::test]
async fn what_was_trusted_stays_in_force_until_the_new_one_is_trusted() {
    let host = Host::new(World::with(&says("first")), true).await;
    assert_eq!(host.reason().await, "first");
    host.world.lay(SETTINGS, says("second").as_bytes());
    host.runtime.reload().await;
    assert_eq!(host.reason().await, "first");
    assert!(host.said().contains("what was trusted stays in force"), "{}", host.said());
    // The user's settings are not held up by that.
    host.world.lay("home/.freecode/settings.json", says("users").replace("guard", "users").as_bytes());
    host.runtime.reload().await;
    assert_eq!(host.reason().await, "users");
    host.world.lay("home/.freecode/settings.json", b"{}");
    let digest = host.runtime.brought().unwrap().digest();
    host.runtime.trust(digest).await;
    assert_eq!(host.reason().await, "second");
    // Who agreed to one thing has not agreed to another.
    host.world.lay(SETTINGS, says("third").as_bytes());
    host.runtime.trust(digest).await;
    assert_eq!(host.reason().await, "second");
}

#[tokio::test]
async fn a_guarded_host_adds_nothing_without_trust_and_takes_nothing_with_it() {
    let host = Host::built(World::with(&says("first")), true, RuntimeBuilder::guarded_reload).await;
    let hooks = || host.runtime.hooks().len();
    // A project that brings nothing needs no trust, and takes its guard with it all the same.
    host.world.lay(SETTINGS, b"{}");
    host.runtime.reload().await;
    assert_eq!((host.reason().await.as_str(), hooks()), ("first", 1));
    host.world.lay(SETTINGS, guard("exit 0").as_bytes());
    let shown = host.runtime.waiting().unwrap();
    host.runtime.reload().await;
    assert_eq!((host.reason().await.as_str(), hooks()), ("first", 1));
    assert_eq!(host.runtime.waiting().as_ref(), Some(&shown), "what is not trusted is no reading");
    // Who trusts what is there now has not been shown what is gone.
    host.runtime.trust(host.runtime.brought().unwrap().digest()).await;
    assert_eq!((host.reason().await.as_str(), hooks()), ("first", 2));
    let waiting = host.runtime.waiting().unwrap();
    assert!(host.runtime.accept(shown.reading).is_err());
    host.runtime.accept(waiting.reading).unwrap();
    assert!(matches!(host.verdict().await, PreToolUse::Proceed { .. }));
}

#[tokio::test]
async fn a_project_that_begins_to_bring_hooks_disarms_nobody() {
    let world = World::new();
    world.lay("home/.freecode/settings.json", says("users").as_bytes());
    let host = Host::new(world, false).await;
    assert_eq!(host.reason().await, "users");
    host.world.lay(SETTINGS, guard("exit 0").as_bytes());
    host.runtime.reload().await;
    assert_eq!(host.reason().await, "users");
}

#[tokio::test]
async fn a_command_whose_script_is_not_what_was_trusted_is_not_run_and_blocks() {
    let host = Host::new(scripted(), true).await;
    let script = "project/hooks/guard.sh";
    assert!(matches!(host.verdict().await, PreToolUse::Blocked { .. }));
    for bytes in [b"exit 0".as_slice(), b"touch ran; exit 0"] {
        host.world.lay(script, bytes);
        let reason = host.reason().await;
        assert!(reason.contains("`hooks/guard.sh` is not what was trusted"), "{reason}");
    }
    std::fs::remove_file(host.world.path(script)).unwrap();
    assert!(host.reason().await.contains("is gone"));
    host.world.lay(script, b"exit 2");
    assert!(!host.reason().await.contains("trusted"));
    assert!(!host.world.path("project/ran").exists());
    let answer = host.runtime.pre_tool_use(&bash("ls"), &cx().cwd(host.world.path("project"))).await;
    assert!(matches!(answer.report.hooks[0].outcome, Some(Outcome::Block(_))));
}

#[tokio::test]
async fn a_relative_script_is_not_another_one_where_the_agent_works() {
    let world = World::with(&guard("./guard.sh || exit 2"));
    world.lay("project/guard.sh", b"#!/bin/sh\nexit 1\n");
    world.lay("project/sub/guard.sh", b"#!/bin/sh\nexit 0\n");
    let host = Host::new(world, true).await;
    let answer = host.runtime.pre_tool_use(&bash("ls"), &cx().cwd(host.world.path("project/sub"))).await;
    let outcome = answer.report.hooks[0].outcome.clone();
    let Some(Outcome::NoAnswer(Cause::NotTrusted(why))) = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("sub/guard.sh"), "{why}");
    assert!(matches!(answer.verdict, PreToolUse::Blocked { .. }));
}

#[tokio::test]
async fn a_plugin_in_force_is_the_one_that_was_trusted() {
    let entry: Value = json!({"name": "no-rm-rf", "type": "callback", "plugin": "../plugin"});
    let world = World::with(&json!({"hooks": {"PreToolUse": [entry]}}).to_string());
    let manifest = |config: &str| format!(r#"{{"component": "p.wasm", "config": {{"x": "{config}"}}}}"#);
    world.lay("project/plugin/plugin.json", manifest("a").as_bytes());
    world.lay("project/plugin/p.wasm", include_bytes!("../../example-plugins/no-rm-rf/no-rm-rf.wasm"));
    let host = Host::new(world, true).await;
    let asked = async || host.runtime.pre_tool_use(&bash("rm -rf /"), &cx()).await.verdict;
    assert!(matches!(asked().await, PreToolUse::Blocked { .. }));
    for (path, bytes) in [("plugin.json", manifest("b").into_bytes()), ("p.wasm", b"no wasm".to_vec())] {
        host.world.lay(&format!("project/plugin/{path}"), &bytes);
        host.runtime.reload().await;
        assert!(host.said().contains("not trusted"), "{path}: {}", host.said());
        assert!(matches!(asked().await, PreToolUse::Blocked { .. }), "{path}");
    }
}
