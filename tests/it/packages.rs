//! Folders of skills and plugins: shell hooks and components side by side, loaded as one set or not at all.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tacklebox::Runtime;
use tacklebox::id::Generation;
use tacklebox::policy::Trust;
use tacklebox::source::{Reach, Source};
use tacklebox::trust::TrustStore;

use crate::agent::bare;
use crate::place::{Place, blocked, component, guard, pre_tool_use, said, write};
use crate::program::{Said, World};

/// A busy machine may take so long for what takes a second on an idle one.
const PATIENCE: Duration = Duration::from_secs(30);

fn skill() -> Source {
    Source::Skill("s".into())
}

/// A folder with these files.
struct Folder(tempfile::TempDir);

impl Folder {
    fn of(files: &[(&str, &[u8])]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, content)| folder.lay(path, content));
        folder
    }

    /// Shell hooks, a plugin with a `plugin.json`, and a component that an entry names.
    fn whole() -> Self {
        let entry = json!({"name": "rm", "type": "callback", "plugin": "${CLAUDE_PLUGIN_ROOT}/bin/no-rm-rf.wasm"});
        let hooks = pre_tool_use([guard("no-sudo", "sudo"), entry]);
        let manifest = json!({"name": "redact", "component": "redact.wasm"});
        Self::of(&[
            ("hooks/hooks.json", hooks.to_string().as_bytes()),
            ("bin/no-rm-rf.wasm", &component("no-rm-rf")),
            ("redact.wasm", &component("redact-secrets")),
            ("plugin.json", manifest.to_string().as_bytes()),
        ])
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    fn lay(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        write(&self.at(path), content);
    }

    fn hooks(&self, text: &Value) {
        self.lay("hooks/hooks.json", text.to_string());
    }
}

async fn with(folder: &Folder) -> Runtime {
    let host = bare().build().await.unwrap();
    host.load(skill(), folder.path(), Reach::Everywhere).await.unwrap();
    host
}

fn names(host: &Runtime) -> Vec<String> {
    host.hooks().iter().map(|hook| hook.spec.name.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folders_shell_hooks_and_components_are_one_set() {
    let folder = Folder::whole();
    let host = bare().build().await.unwrap();
    let loaded = host.load(skill(), folder.path(), Reach::Everywhere).await.unwrap();
    assert_eq!((loaded.generation, loaded.hooks), (Generation(1), host.hooks().len()));
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    assert_eq!(names(&host)[..2], ["no-sudo", "rm"]);
    assert!(names(&host).len() > 2, "the hooks that the plugin asks for are there, too");
    assert!(host.hooks().iter().all(|hook| hook.generation == Generation(1) && hook.source == skill()));
    assert_eq!(blocked(&host, "sudo ls").await.as_deref(), Some("no-sudo"));
    assert!(blocked(&host, "rm -rf /").await.is_some());
    let dropped = host.unregister_all(skill());
    assert_eq!(dropped.hooks, loaded.hooks);
    dropped.ended().await;
    assert!(host.hooks().is_empty());
}

#[tokio::test]
async fn a_folder_of_shell_hooks_alone_needs_no_plugin() {
    let folder = Folder::of(&[("guard.sh", b"echo \"$CLAUDE_PLUGIN_ROOT\" >&2; exit 2")]);
    folder.hooks(&pre_tool_use([json!({"command": "bash \"$CLAUDE_PLUGIN_ROOT/guard.sh\""})]));
    let host = with(&folder).await;
    assert_eq!(blocked(&host, "ls").await.as_deref(), Some(folder.path().to_str().unwrap()));
    assert_eq!(names(&host), ["package/PreToolUse-0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_part_refuses_the_whole_and_what_was_loaded_stays() {
    let folder = Folder::whole();
    let host = with(&folder).await;
    let before = names(&host);
    let good = pre_tool_use([guard("no-sudo", "sudo")]);
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("hooks/hooks.json", b"{\"hooks\": {".to_vec(), "hooks.json:1: not JSON"),
        ("hooks/hooks.json", b"".to_vec(), "hooks.json: not JSON"),
        ("hooks/hooks.json", good.to_string().replace("command", "comand").into_bytes(), "PreToolUse[0]"),
        ("hooks/hooks.json", good.to_string().replace("PreToolUse", "PreTool").into_bytes(), "unknown event `PreTool`"),
        ("hooks/hooks.json", vec![b' '; (1 << 20) + 1], "larger than 1 MiB"),
        ("bin/no-rm-rf.wasm", b"no wasm".to_vec(), "no-rm-rf.wasm"),
        ("redact.wasm", b"no wasm".to_vec(), "redact.wasm"),
        (
            "plugin.json",
            json!({"component": "redact.wasm", "hooks": {"PreTool": [{}]}}).to_string().into_bytes(),
            "plugin.json:1: PreTool: unknown event",
        ),
    ];
    for (file, content, says) in cases {
        let whole = fs::read(folder.at(file)).unwrap();
        folder.lay(file, content);
        let error = host.load(skill(), folder.path(), Reach::Everywhere).await.unwrap_err().to_string();
        assert!(error.contains(says) && error.contains(folder.at(file).to_str().unwrap()), "{file}: {error}");
        assert_eq!(names(&host), before, "{file}");
        assert_eq!(blocked(&host, "sudo ls").await.as_deref(), Some("no-sudo"), "{file}");
        folder.lay(file, whole);
    }
    fs::remove_file(folder.at("bin/no-rm-rf.wasm")).unwrap();
    host.load(skill(), folder.path(), Reach::Everywhere).await.unwrap_err();
    assert!(host.hooks().iter().all(|hook| hook.generation == Generation(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_package_leads_out_of_it() {
    let outside = Folder::of(&[("own.wasm", &component("no-rm-rf"))]);
    outside.hooks(&pre_tool_use([guard("foreign", "x")]));
    let entry = |path: &str| pre_tool_use([json!({"name": "g", "type": "callback", "plugin": path})]);
    let host = bare().build().await.unwrap();
    let refused = async |folder: &Folder, says: &str| {
        let error = host.load(skill(), folder.path(), Reach::Everywhere).await.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    let folder = Folder::of(&[]);
    refused(&folder, "neither `plugin.json` nor `hooks/hooks.json`").await;
    for path in ["../../own.wasm", "/own.wasm", "${CLAUDE_PLUGIN_ROOT}/../own.wasm", "~/own.wasm"] {
        folder.hooks(&entry(path));
        refused(&folder, "hooks.json").await;
    }
    symlink(outside.at("own.wasm"), folder.at("link.wasm")).unwrap();
    folder.hooks(&entry("../link.wasm"));
    refused(&folder, "outside of the package").await;
    fs::remove_file(folder.at("hooks/hooks.json")).unwrap();
    symlink(outside.at("hooks/hooks.json"), folder.at("hooks/hooks.json")).unwrap();
    refused(&folder, "outside of the package").await;
    // What a link should lead to is missed, not absent.
    fs::remove_dir_all(folder.at("hooks")).unwrap();
    folder.lay("plugin.json", json!({"component": "p.wasm"}).to_string());
    folder.lay("p.wasm", component("no-rm-rf"));
    symlink("nowhere", folder.at("hooks")).unwrap();
    refused(&folder, "hooks/hooks.json").await;
    assert!(host.hooks().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_an_entry_names_is_not_loaded_whole_as_well() {
    let entry = json!({"name": "mine", "type": "callback", "function": "no-rm-rf", "plugin": ".."});
    let folder = Folder::of(&[("p.wasm", &component("no-rm-rf"))]);
    folder.lay("plugin.json", json!({"component": "p.wasm"}).to_string());
    assert_eq!(names(&with(&folder).await).len(), 1);
    for path in ["..", "../p.wasm"] {
        let entry = json!({"name": "mine", "type": "callback", "function": "no-rm-rf", "plugin": path});
        folder.hooks(&pre_tool_use([entry]));
        let host = with(&folder).await;
        assert_eq!(names(&host), ["mine"], "{path}");
        assert!(blocked(&host, "rm -rf /").await.is_some(), "{path}");
    }
    let hooks = json!({"component": "p.wasm", "hooks": {"PreToolUse": [{"name": "lost"}]}});
    folder.lay("plugin.json", hooks.to_string());
    folder.hooks(&pre_tool_use([entry]));
    let host = bare().build().await.unwrap();
    let loaded = host.load(skill(), folder.path(), Reach::Everywhere).await.unwrap();
    assert!(loaded.diagnostics[0].to_string().contains("left to such entries"), "{:?}", loaded.diagnostics);
}

#[tokio::test]
async fn a_plugin_of_another_agents_is_not_taken_for_one_of_ours() {
    let folder = Folder::of(&[(".claude-plugin/plugin.json", b"{}")]);
    folder.hooks(&pre_tool_use([guard("g", "x")]));
    let host = bare().build().await.unwrap();
    let error = host.load(skill(), folder.path(), Reach::Everywhere).await.unwrap_err().to_string();
    assert!(error.contains("Claude Code"), "{error}");
}

async fn until_blocked(host: &Runtime, command: &str, name: &str) {
    let began = Instant::now();
    while blocked(host, command).await.as_deref() != Some(name) {
        assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}: {name}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watched_folder_is_loaded_anew_as_a_whole() {
    let folder = Folder::whole();
    let host = Arc::new(with(&folder).await);
    let _watching = host.watch().unwrap();
    let before = host.hooks().len();
    folder.hooks(&pre_tool_use([guard("changed", "sudo")]));
    until_blocked(&host, "sudo ls", "changed").await;
    assert_eq!(host.hooks().len(), before - 1);
    folder.lay("hooks/hooks.json", "{");
    fs::remove_file(folder.at("plugin.json")).unwrap();
    folder.hooks(&pre_tool_use([guard("alone", "sudo")]));
    until_blocked(&host, "sudo ls", "alone").await;
    assert_eq!(names(&host), ["alone"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hooks_json_that_comes_later_is_heard_of() {
    let folder = Folder::of(&[("p.wasm", &component("no-rm-rf"))]);
    folder.lay("plugin.json", json!({"component": "p.wasm"}).to_string());
    let host = Arc::new(with(&folder).await);
    let _watching = host.watch().unwrap();
    folder.hooks(&pre_tool_use([guard("later", "sudo")]));
    until_blocked(&host, "sudo ls", "later").await;
}

/// Settings that load this whole, beside these entries.
fn plugins(name: &str, plugin: Value, entries: impl IntoIterator<Item = Value>) -> Value {
    let mut settings = pre_tool_use(entries);
    settings["plugins"] = json!({name: plugin});
    settings
}

/// Shell hooks and a plugin, below `path`.
fn lay_whole(place: &Place, path: &str) {
    let folder = place.path(path);
    fs::create_dir_all(folder.join("hooks")).unwrap();
    write(&folder.join("hooks/hooks.json"), pre_tool_use([guard("no-sudo", "sudo")]).to_string());
    write(&folder.join("p.wasm"), component("no-rm-rf"));
    write(&folder.join("plugin.json"), json!({"component": "p.wasm"}).to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_load_a_plugin_whole_behind_their_entries() {
    for path in ["../kit", "~/kit"] {
        let place = Place::new();
        lay_whole(&place, "home/kit");
        place.user(plugins("kit", json!({"path": path}), [guard("own", "x")]));
        let host = place.host().await;
        assert_eq!(names(&host), ["own", "no-sudo", "no-rm-rf"], "{path}: {}", said(&host));
        assert!(host.hooks().iter().all(|hook| hook.source.to_string() == "user"));
        assert_eq!(blocked(&host, "sudo ls").await.as_deref(), Some("no-sudo"));
        assert!(blocked(&host, "rm -rf /").await.is_some());
        assert_eq!(said(&host), "");
    }
    let place = Place::new();
    place.lay("home/p.wasm", component("no-rm-rf"));
    place.user(plugins("bare", json!({"path": "../p.wasm"}), []));
    let host = place.host().await;
    assert_eq!(names(&host), ["no-rm-rf"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_of_whole_plugins_merge_and_are_switched_off_as_entries_are() {
    let place = Place::new();
    lay_whole(&place, "home/kit");
    lay_whole(&place, "project/kit");
    let kit = json!({"path": "../kit"});
    place.user(plugins("kit", kit.clone(), []));
    place.project_says(plugins("kit", kit.clone(), []));
    let host = place.host().await;
    let sources = |host: &Runtime| -> Vec<_> {
        host.hooks().iter().map(|hook| format!("{}:{}", hook.source, hook.spec.name)).collect()
    };
    assert_eq!(sources(&host), ["user:no-sudo", "user:no-rm-rf", "project:no-sudo", "project:no-rm-rf"]);
    assert_eq!(host.dropped().len(), 0);
    let mut off = plugins("kit", kit.clone(), []);
    off["disabled"] = json!(["no-sudo"]);
    place.project_says(&off);
    host.reload().await;
    assert_eq!(sources(&host), ["user:no-sudo", "user:no-rm-rf", "project:no-rm-rf"]);
    off["disableAllHooks"] = json!(true);
    place.project_says(&off);
    host.reload().await;
    assert!(host.hooks().iter().all(|hook| hook.source.to_string() == "user"), "{:?}", names(&host));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_flood_of_doubts_about_plugins_hides_that_a_guard_is_replaced() {
    let place = Place::new();
    // It asks for nothing.
    lay_whole(&place, "project/kit");
    place.user(pre_tool_use([guard("mine", "secret")]));
    let entry = |nth: usize| {
        let names: Vec<_> = (0..2_000).map(|name| format!("N{nth}_{name}")).collect();
        let grant = json!({"env": names});
        json!({"name": format!("e{nth}"), "type": "callback", "plugin": "../kit", "grant": grant})
    };
    place.project_says(pre_tool_use((0..12).map(entry).chain([guard("mine", "other")])));
    let host = place.host().await;
    assert!(said(&host).contains("hook `mine`: replaces the user's hook of this name"), "{}", said(&host));
    assert!(said(&host).contains("1900 more warnings are left out"), "{}", said(&host));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_is_none_of_the_plugins_hooks_is_said() {
    let entry = |function: &str| json!({"name": "g", "type": "callback", "plugin": "../p.wasm", "function": function});
    let place = Place::new();
    place.lay("home/p.wasm", component("no-rm-rf"));
    place.user(pre_tool_use([entry("no-rm-fr")]));
    let host = place.host().await;
    let words =
        "hook `g`: `function` names `no-rm-fr`, and the plugin tells of no such hook (hint: did you mean `no-rm-rf`?)";
    assert!(said(&host).contains(words), "{}", said(&host));
    place.user(pre_tool_use([entry("no-rm-rf")]));
    assert_eq!(said(&place.host().await), "");
    let folder = Folder::of(&[("p.wasm", &component("no-rm-rf"))]);
    folder.hooks(&pre_tool_use([entry("no-rm-fr")]));
    let host = bare().build().await.unwrap();
    let loaded = host.load(skill(), folder.path(), Reach::Everywhere).await.unwrap();
    assert!(loaded.diagnostics[0].to_string().contains("no such hook"), "{:?}", loaded.diagnostics);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_calls_its_hook_like_a_guard_does_not_take_its_place() {
    let place = Place::new();
    // It describes a hook for PreToolUse of this name.
    place.lay("home/p.wasm", component("no-rm-rf"));
    place.lay("project/p.wasm", component("no-rm-rf"));
    place.user(plugins("kit", json!({"path": "../p.wasm"}), [guard("no-rm-rf", "secret")]));
    place.project_says(plugins("kit", json!({"path": "../p.wasm"}), []));
    let host = place.host().await;
    assert_eq!(blocked(&host, "cat secret").await.as_deref(), Some("no-rm-rf"), "{}", said(&host));
    assert_eq!(names(&host), ["no-rm-rf"; 3]);
    assert!(said(&host).contains("a plugin's takes nobody's place, so both run"), "{}", said(&host));
    // An entry of the project's replaces, as ever, and only what it may.
    place.project_says(pre_tool_use([guard("no-rm-rf", "other")]));
    host.reload().await;
    assert_eq!(blocked(&host, "cat secret").await, None);
    assert_eq!(names(&host), ["no-rm-rf"; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_of_the_same_scope_takes_the_components_hooks_and_one_of_another_takes_nothing() {
    let entry = |path: &str| json!({"name": "mine", "type": "callback", "function": "no-rm-rf", "plugin": path});
    let place = Place::new();
    lay_whole(&place, "project/kit");
    let kit = json!({"path": "../kit"});
    for path in ["../kit", "../kit/p.wasm"] {
        place.project_says(plugins("kit", kit.clone(), [entry(path)]));
        assert_eq!(names(&place.host().await), ["mine", "no-sudo"], "{path}");
    }
    place.project_says(plugins("kit", kit, []));
    place.user(pre_tool_use([entry("../../project/kit")]));
    assert_eq!(names(&place.host().await), ["mine", "no-sudo", "no-rm-rf"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_loads_whole_only_what_it_brings() {
    let place = Place::new();
    lay_whole(&place, "home/kit");
    symlink(place.path("home/kit"), place.path("project/link")).unwrap();
    for path in ["../../home/kit", "~/kit", "../link"] {
        place.project_says(plugins("kit", json!({"path": path}), []));
        let host = place.host().await;
        assert!(host.hooks().is_empty(), "{path}");
        assert!(said(&host).contains("may name only what it brings itself"), "{path}: {}", said(&host));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_no_longer_loads_goes_on_and_one_that_never_did_blocks() {
    let place = Place::new();
    lay_whole(&place, "home/kit");
    place.user(plugins("kit", json!({"path": "../kit"}), []));
    let host = place.host().await;
    let component = fs::read(place.path("home/kit/p.wasm")).unwrap();
    for broken in ["home/kit/p.wasm", "home/kit/hooks/hooks.json", "home/kit/plugin.json"] {
        let whole = fs::read(place.path(broken)).unwrap();
        place.lay(broken, "{");
        for _ in 0..2 {
            host.reload().await;
            assert_eq!(names(&host), ["no-sudo", "no-rm-rf"], "{broken}");
            assert_eq!(blocked(&host, "sudo ls").await.as_deref(), Some("no-sudo"), "{broken}");
            assert!(blocked(&host, "rm -rf /").await.is_some() && blocked(&host, "ls").await.is_none(), "{broken}");
        }
        assert!(said(&host).contains("what was loaded before goes on"), "{}", said(&host));
        place.lay(broken, whole);
    }
    // Nothing was loaded before: what its files name is there and blocks.
    place.lay("home/kit/p.wasm", "no wasm");
    let host = place.host().await;
    assert_eq!(names(&host), ["no-sudo"]);
    assert!(blocked(&host, "ls").await.is_some());
    let hooks = json!({"component": "p.wasm", "hooks": {"PreToolUse": [{"name": "listed"}]}});
    place.lay("home/kit/plugin.json", hooks.to_string());
    fs::remove_dir_all(place.path("home/kit/hooks")).unwrap();
    let host = place.host().await;
    assert_eq!(names(&host), ["listed"]);
    assert!(blocked(&host, "ls").await.is_some());
    place.lay("home/kit/plugin.json", json!({"component": "p.wasm"}).to_string());
    let host = place.host().await;
    assert!(host.hooks().is_empty() && said(&host).contains("nobody knows which hooks it has"), "{}", said(&host));
    place.lay("home/kit/p.wasm", component);
    host.reload().await;
    assert_eq!(names(&host), ["no-rm-rf"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_trust_a_projects_plugins_are_neither_compiled_nor_asked_and_keep_every_hook_off() {
    let place = Place::new();
    place.lay("project/p.wasm", component("no-rm-rf"));
    place.project_says(plugins("kit", json!({"path": "../p.wasm"}), []));
    let host = Runtime::builder(Trust::Untrusted, place.surroundings()).build().await.unwrap();
    assert!(host.hooks().is_empty() && !host.is_open());
    place.project_says(json!({}));
    host.reload().await;
    assert!(host.is_open());
    lay_whole(&place, "project/kit");
    place.project_says(plugins("kit", json!({"path": "../kit"}), []));
    let host = Runtime::builder(Trust::Untrusted, place.surroundings()).build().await.unwrap();
    assert_eq!(names(&host), ["no-sudo"]);
    assert!(!host.is_open() && host.hooks().iter().all(|hook| hook.code.is_none()));
}

#[test]
fn what_is_trusted_of_a_plugin_is_all_that_it_is_made_of() {
    let world = World::new();
    let settings = |change: &dyn Fn(&mut Value)| {
        let mut settings = plugins("kit", json!({"path": "../kit", "config": {}, "limits": {}}), []);
        change(&mut settings);
        settings.to_string()
    };
    world.lay("project/.freecode/settings.json", settings(&|_| {}).as_bytes());
    world.lay("project/kit/guard.sh", b"exit 2");
    let command = json!({"name": "script", "command": "bash \"$CLAUDE_PLUGIN_ROOT/guard.sh\""});
    let named = json!({"name": "named", "type": "callback", "plugin": "../named.wasm"});
    world.lay("project/kit/hooks/hooks.json", pre_tool_use([command, named]).to_string().as_bytes());
    world.lay("project/kit/plugin.json", json!({"component": "p.wasm"}).to_string().as_bytes());
    world.lay("project/kit/p.wasm", &component("no-rm-rf"));
    world.lay("project/kit/named.wasm", &component("no-rm-rf"));
    let shown = world.run(&["trust", "--json"]).json();
    let first = shown["digest"].as_str().unwrap().to_owned();
    let shown = shown.to_string();
    for part in [
        "kit/guard.sh",
        "kit/p.wasm",
        "kit/plugin.json",
        "kit/hooks/hooks.json",
        "kit/named.wasm",
        "$CLAUDE_PLUGIN_ROOT",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let page = world.run(&["trust"]);
    assert!(page.code == Some(1) && page.out.contains("kit/guard.sh"), "{}", page.out);
    let mut digests = vec![first.clone()];
    let mut changed = |file: &str, content: &[u8]| {
        let before = fs::read(world.path(file)).unwrap();
        world.lay(file, content);
        digests.push(world.run(&["trust", "--json"]).json()["digest"].as_str().unwrap().to_owned());
        world.lay(file, &before);
    };
    changed("project/kit/guard.sh", b"exit 0");
    changed("project/kit/p.wasm", &component("redact-secrets"));
    changed("project/kit/named.wasm", &component("redact-secrets"));
    changed("project/kit/plugin.json", b"{\"component\": \"p.wasm\", \"version\": \"2\"}");
    changed("project/kit/hooks/hooks.json", pre_tool_use([guard("other", "x")]).to_string().as_bytes());
    let edits: [&dyn Fn(&mut Value); 6] = [
        &|s| s["plugins"]["kit"]["grant"] = json!({"env": ["A"]}),
        &|s| s["plugins"]["kit"]["limits"] = json!({"memoryMiB": 1}),
        &|s| s["plugins"]["kit"]["config"] = json!({"a": 1}),
        &|s| s["plugins"] = json!({"other": {"path": "../kit"}}),
        &|s| s["disabled"] = json!(["script"]),
        &|s| s["onError"] = json!("pass"),
    ];
    for edit in edits {
        changed("project/.freecode/settings.json", settings(edit).as_bytes());
    }
    let all = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), all, "two different plugins have one digest");

    let call = ["run", "PreToolUse", "--tool", "bash", "--json", "--input={\"command\": \"ls\"}"];
    let decision = || world.run(&call).json()["decision"].as_str().unwrap().to_owned();
    assert_eq!(decision(), "untrusted");
    assert_eq!(world.run(&["trust", "--digest", &first]).code, Some(0));
    assert_eq!(decision(), "block");
    world.lay("project/kit/guard.sh", b"exit 0");
    assert_eq!(decision(), "untrusted");
}

#[tokio::test]
async fn a_script_of_a_trusted_plugin_that_was_written_to_is_not_run_and_blocks() {
    let place = Place::new();
    lay_whole(&place, "project/kit");
    place.lay("project/kit/guard.sh", "exit 0");
    let command = json!({"name": "script", "command": "bash \"$CLAUDE_PLUGIN_ROOT/guard.sh\""});
    place.lay("project/kit/hooks/hooks.json", pre_tool_use([command]).to_string());
    place.project_says(plugins("kit", json!({"path": "../kit"}), []));
    let store = TrustStore::of_this_user(&place.surroundings());
    let host = Runtime::builder(store, place.surroundings()).build().await.unwrap();
    assert!(!host.is_open());
    host.trust(host.brought().unwrap().digest()).await;
    assert!(host.is_open() && blocked(&host, "ls").await.is_none(), "{}", said(&host));
    place.lay("project/kit/guard.sh", "echo changed; exit 0");
    assert!(blocked(&host, "ls").await.is_some());
    // What was trusted stays in force, its components and hooks as they were.
    place.lay("project/kit/hooks/hooks.json", pre_tool_use([guard("evil", "x")]).to_string());
    host.reload().await;
    assert_eq!(names(&host), ["script", "no-rm-rf"]);
}

#[test]
fn the_program_knows_folders_and_plugins() {
    let world = World::new();
    world.lay("project/kit/hooks/hooks.json", pre_tool_use([guard("no-sudo", "sudo")]).to_string().as_bytes());
    let settings = plugins("kit", json!({"path": "../kit"}), []);
    world.lay("project/.freecode/settings.json", settings.to_string().as_bytes());
    let fine = world.run(&["check"]);
    assert_eq!(fine.code, Some(0), "{}{}", fine.out, fine.err);
    assert!(world.run(&["list", "--trust"]).out.contains("no-sudo"));
    let call = ["explain", "PreToolUse", "--tool", "bash", "--input={\"command\": \"sudo ls\"}", "--trust"];
    assert!(world.run(&call).out.contains("no-sudo"));
    let inspected = world.run(&["plugin", "inspect", "kit", "--json"]);
    assert!(inspected.code == Some(0) && inspected.out.contains("no-sudo"), "{}{}", inspected.out, inspected.err);
    assert!(world.run(&["plugin", "inspect", "kit"]).out.contains("no-sudo"));
    world.lay("project/kit/hooks/hooks.json", b"{");
    let broken = world.run(&["check"]);
    assert!(broken.code == Some(1) && broken.out.contains("hooks.json"), "{}{}", broken.out, broken.err);
    for (plugin, words) in [
        (json!({"path": "../kit", "grants": {}}), "unknown key `grants`\n  hint: did you mean `grant`?"),
        (json!({"pat": "../kit"}), "`path` is missing"),
        (json!({"path": 7}), "`path` must be a string, found a number"),
        (json!({"path": "../kit", "config": 7}), "`config` must be an object"),
        (json!({"path": "../kit", "limits": 7}), "`limits` must be an object"),
        (json!({"path": "../kit", "grant": {"rum": []}}), "`rum`"),
        (json!("../kit"), "it must be an object, found a string"),
    ] {
        world.lay("project/.freecode/settings.json", plugins("kit", plugin, []).to_string().as_bytes());
        let said = world.run(&["check"]);
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
}

#[test]
fn no_name_in_a_package_gives_orders_to_a_terminal() {
    let world = World::new();
    let nasty = "a\u{1b}]0;owned\u{7}\nerror: none.wasm";
    let kit = json!({"component": nasty}).to_string();
    world.lay("project/kit/plugin.json", kit.as_bytes());
    world.lay(
        "project/.freecode/settings.json",
        plugins("kit", json!({"path": format!("../{nasty}")}), []).to_string().as_bytes(),
    );
    // A core module that exports a function of this name.
    let name = b"\x1b[2J";
    let mut module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x07\x08\x01\x04".to_vec();
    module.extend_from_slice(name);
    module.extend_from_slice(b"\0\0\x0a\x04\x01\x02\0\x0b");
    world.lay("project/m.wasm", &module);
    let calls: [&[&str]; 7] = [
        &["plugin", "inspect", "kit"],
        &["plugin", "inspect", "m.wasm"],
        &["run", "Stop", "--plugin", "kit"],
        &["run", "Stop", "--plugin", "m.wasm"],
        &["run", "Stop", "--trust"],
        &["list", "--trust"],
        &["check"],
    ];
    for call in calls {
        let mut command = world.command(call);
        // As on a terminal: whether it is one is not what keeps orders out.
        let said = Said::of(command.env("CLICOLOR_FORCE", "1").output().unwrap());
        for text in [&said.out, &said.err] {
            assert!(
                !text.contains("\u{1b}]") && !text.contains("\u{1b}[2J") && !text.contains('\u{7}'),
                "{call:?}: {text:?}"
            );
            assert!(!text.lines().any(|line| line.starts_with("error: none")), "{call:?}: {text:?}");
        }
        assert!(said.out.contains("\\u{1b}") || said.err.contains("\\u{1b}"), "{call:?}: {} {}", said.out, said.err);
    }
}
