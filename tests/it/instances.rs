//! Limits and instances as settings and embedders give them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tacklebox::event::{Context, PreToolUse};
use tacklebox::hook::Lifetime;
use tacklebox::limits::LimitsSaid;
use tacklebox::outcome::{Cause, Limit, Outcome};
use tacklebox::plugin::Given;
use tacklebox::policy::Trust;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime as _, Runtime};
use tempfile::TempDir;

use crate::agent::{bare, bash, cx};
use crate::program;

fn misbehave() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/misbehave/misbehave.wasm")
}

fn lay(path: &Path, text: &str) {
    #[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
    fs::write(path, text).unwrap();
}

/// A package around the guest that misbehaves, with more in its `plugin.json`.
fn package(config: Value, more: Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(misbehave(), folder.path().join("misbehave.wasm")).unwrap();
    let mut manifest = json!({
        "component": "misbehave.wasm", "config": config,
        "hooks": {"PreToolUse": [{"name": "it", "timeout": 60}]},
    });
    manifest.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    lay(&folder.path().join("plugin.json"), &manifest.to_string());
    folder
}

/// What memory its allocations ended at, in MiB, and what was said when it was loaded.
async fn memory_of(asked: Value, given: LimitsSaid) -> (usize, Vec<String>) {
    let folder = package(json!({"do": "allocate"}), asked);
    let host = bare().build().await.unwrap();
    let given = Given::default().within(given);
    let loaded = host.load_given(Source::Sdk, folder.path(), Reach::Everywhere, given).await.unwrap();
    let said = loaded.diagnostics.iter().map(ToString::to_string).collect();
    match &host.pre_tool_use(&bash("ls"), &cx()).await.report.hooks[0].outcome {
        Some(Outcome::NoAnswer(Cause::Limit(Limit::Memory(bytes)))) => (bytes >> 20, said),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn limits_are_what_settings_say_and_a_package_alone_only_lowers_them() {
    let (nothing, given) =
        (LimitsSaid::default(), |mib: usize| LimitsSaid { memory: Some(mib << 20), ..LimitsSaid::default() });
    let asks = |mib: u32| json!({"limits": {"memoryMiB": mib}});
    assert_eq!(memory_of(json!({}), nothing).await, (64, vec![]));
    assert_eq!(memory_of(asks(8), nothing).await, (8, vec![]));
    let (mib, said) = memory_of(asks(96), nothing).await;
    assert_eq!((mib, said.len()), (64, 1));
    assert!(said[0].contains("96 MiB of memory are asked for in `limits`, and 64 are given"), "{said:?}");
    assert_eq!(memory_of(asks(96), given(96)).await, (96, vec![]));
    assert_eq!(memory_of(asks(8), given(16)).await, (16, vec![]));
}

fn entry(name: &str, config: Value, more: Value) -> Value {
    let mut entry =
        json!({"name": name, "type": "callback", "plugin": "../misbehave.wasm", "config": config, "timeout": 60});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

/// A project with the guest that misbehaves and these entries at PreToolUse.
async fn project(world: &program::World, entries: Value) -> Runtime {
    world.lay("project/misbehave.wasm", &fs::read(misbehave()).unwrap());
    world.lay("project/.freecode/settings.json", json!({"hooks": {"PreToolUse": entries}}).to_string().as_bytes());
    let home = Some(world.path("home"));
    let surroundings = Surroundings { home, ..Surroundings::of_this_process(world.path("project")) };
    Runtime::builder(Trust::Trusted, surroundings).build().await.unwrap()
}

#[tokio::test]
async fn each_entry_of_a_plugin_has_its_own_limits() {
    let world = program::World::new();
    let allocate = |name: &str, more: Value| entry(name, json!({"do": "allocate"}), more);
    let small = json!({"limits": {"memoryMiB": 8}, "onError": "pass"});
    let host = project(&world, json!([allocate("small", small), allocate("as-ever", json!({}))])).await;
    let hooks = host.pre_tool_use(&bash("ls"), &cx()).await.report.hooks;
    let limits: Vec<_> = hooks.iter().map(|hook| hook.outcome.clone()).collect();
    let memory = |mib: usize| Some(Outcome::NoAnswer(Cause::Limit(Limit::Memory(mib << 20))));
    assert_eq!(limits, [memory(8), memory(64)]);
}

async fn context(host: &Runtime, session: &str) -> Option<String> {
    match host.pre_tool_use(&bash("ls"), &Context::new(session)).await.verdict {
        PreToolUse::Proceed { context, .. } => context,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_session_keeps_its_instance_until_it_ends_and_a_reload_starts_anew() {
    let world = program::World::new();
    let host =
        project(&world, json!([entry("counts", json!({"do": "remember"}), json!({"instance": "session"}))])).await;
    for (session, expected) in [("a", "1"), ("a", "2"), ("b", "1"), ("a", "3")] {
        assert_eq!(context(&host, session).await.as_deref(), Some(expected));
    }
    host.session_end(&tacklebox::event::SessionEndInput { reason: "exit".to_owned() }, &Context::new("a")).await;
    assert_eq!(context(&host, "a").await.as_deref(), Some("1"));
    assert_eq!(context(&host, "b").await.as_deref(), Some("2"));
    host.reload().await.dropped.ended().await;
    assert_eq!(context(&host, "b").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn plugin_json_and_the_embedder_may_ask_for_it_too() {
    for (more, given) in
        [(json!({"instance": "session"}), Given::default()), (json!({}), Given::default().living(Lifetime::Session))]
    {
        let folder = package(json!({"do": "remember"}), more);
        let host = bare().build().await.unwrap();
        host.load_given(Source::Sdk, folder.path(), Reach::Everywhere, given).await.unwrap();
        for expected in ["1", "2"] {
            assert_eq!(context(&host, "s").await.as_deref(), Some(expected));
        }
        host.unregister_all(Source::Sdk).ended().await;
    }
}

#[tokio::test]
async fn a_wasi_command_is_started_anew_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(misbehave().parent().unwrap().join("../player/player.wasm"), folder.path().join("player.wasm")).unwrap();
    let manifest = json!({
        "component": "player.wasm", "instance": "session", "hooks": {"PreToolUse": [{"name": "it", "timeout": 60}]},
    });
    lay(&folder.path().join("plugin.json"), &manifest.to_string());
    let host = bare().build().await.unwrap();
    let loaded = host.load(Source::Sdk, folder.path(), Reach::Everywhere).await.unwrap();
    let said: Vec<_> = loaded.diagnostics.iter().map(ToString::to_string).collect();
    assert!(said.len() == 1 && said[0].contains("started anew for each call"), "{said:?}");
}

#[test]
fn trust_shows_a_projects_limits_and_a_change_of_them_is_not_trusted() {
    let world = program::World::new();
    world.lay("project/misbehave.wasm", &fs::read(misbehave()).unwrap());
    let settings = |mib: u32| {
        let more = json!({"limits": {"memoryMiB": mib, "processorMs": 70}, "instance": "session"});
        json!({"hooks": {"PreToolUse": [entry("e", json!({"do": "continue"}), more)]}}).to_string()
    };
    world.lay("project/.freecode/settings.json", settings(96).as_bytes());
    let said = world.run(&["trust"]);
    let page = format!("{}{}", said.out, said.err);
    for line in ["limits   memoryMiB 96", "limits   processorMs 70", "instance session"] {
        assert!(page.contains(line), "{line}: {page}");
    }
    let digest = world.run(&["trust", "--json"]).json()["digest"].as_str().unwrap().to_owned();
    assert_eq!(world.run(&["trust", "--digest", &digest]).code, Some(0));
    assert_eq!(world.run(&["trust", "--json"]).json()["trusted"], true);
    world.lay("project/.freecode/settings.json", settings(97).as_bytes());
    assert_eq!(world.run(&["trust", "--json"]).json()["trusted"], false);
}
