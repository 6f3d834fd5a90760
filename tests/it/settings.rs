//! Settings files as a host lives with them: broken, replaced, reloaded.

use std::path::Path;

use serde_json::{Value, json};
use tacklebox::event::{PreToolUse, ToolCall};
use tacklebox::policy::Trust;
use tacklebox::report::Skipped;
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};

use crate::agent::{Seen, bash, cx, spy};
use crate::place::{Place, said, write};

fn pre_tool_use(entry: Value) -> Value {
    json!({"hooks": {"PreToolUse": [entry]}})
}

fn guard() -> Value {
    json!({"name": "guard", "command": "echo no >&2; exit 2"})
}

async fn is_blocked(host: &Runtime) -> bool {
    matches!(host.pre_tool_use(&bash("ls"), &cx()).await.verdict, PreToolUse::Blocked { .. })
}

#[tokio::test]
async fn a_broken_save_keeps_the_last_good_hooks_and_a_good_one_is_taken() {
    let place = Place::new();
    place.user(pre_tool_use(guard()));
    let host = place.host().await;
    assert!(is_blocked(&host).await);
    place.user("{\"hooks\": {");
    host.reload().await;
    assert!(is_blocked(&host).await);
    assert!(said(&host).contains("settings.json"), "{}", said(&host));
    place.user(json!({"hooks": {}}));
    host.reload().await;
    assert!(!is_blocked(&host).await);
}

#[tokio::test]
async fn a_file_of_any_shape_never_takes_the_host_down() {
    let shapes = [
        "",
        "null",
        "7",
        "[]",
        "\"text\"",
        "{",
        "{\"hooks\": 7}",
        "{\"hooks\": []}",
        "{\"hooks\": {\"PreToolUse\": 7}}",
        "{\"hooks\": {\"PreToolUse\": [[[[]]]]}}",
        "{\"hooks\": {\"a\\nb\\u0000\": []}}",
        "\u{feff}{}",
        "// nothing",
    ];
    for shape in shapes {
        let place = Place::new();
        place.user(pre_tool_use(guard()));
        place.project_says(shape);
        assert!(is_blocked(&place.host().await).await, "{shape}: the user's guard is lost");
    }
    let place = Place::new();
    place.project_says("[".repeat(200_000));
    assert!(!said(&place.host().await).is_empty());
}

#[tokio::test]
async fn a_warning_has_file_line_event_name_and_the_nearest_word_and_stays_on_one_line() {
    let place = Place::new();
    place.project_says("{\n \"hooks\": {\n  \"PreToolUse\": [\n   {\"name\": \"a\\nb\", \"command\": \"true\",\n    \"mather\": \"x\"}]}}");
    let host = place.host().await;
    let said = said(&host);
    for part in ["settings.json:5", "PreToolUse[0]", "a\\u{a}b", "mather", "matcher"] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[tokio::test]
async fn a_strict_host_is_not_built_on_a_doubtful_guard() {
    let place = Place::new();
    place.project_says(pre_tool_use(json!({"name": "guard", "command": "true", "mather": "x"})));
    let strict = Runtime::builder(Trust::Trusted, place.surroundings()).strict().build().await;
    assert!(strict.unwrap_err().to_string().contains("guard"));
    place.project_says(json!({"hooks": {"TurnEnd": [{"name": "log", "command": "true", "mather": "x"}]}}));
    assert!(Runtime::builder(Trust::Trusted, place.surroundings()).strict().build().await.is_ok());
}

#[tokio::test]
async fn a_user_switches_off_the_hooks_of_plugins_and_skills_but_not_the_embedders() {
    let place = Place::new();
    place.user(json!({"disabled": ["h"], "hooks": {}}));
    let host = place.host().await;
    let seen = Seen::default();
    for source in [Source::Sdk, Source::Plugin("p".into()), Source::Skill("s".into())] {
        host.register(source, Reach::Everywhere, [spy(tacklebox::event::EventName::PreToolUse, "h", &seen)]).unwrap();
    }
    let answer = host.pre_tool_use(&bash("ls"), &cx()).await;
    assert_eq!(seen.all(), ["ls"]);
    let kept: Vec<_> = answer.report.hooks.iter().map(|hook| hook.skipped).collect();
    assert_eq!(kept, [None, Some(Skipped::Disabled), Some(Skipped::Disabled)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_names_a_plugin_and_gives_it_its_config() {
    let place = Place::new();
    let component = Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins/no-rm-rf/no-rm-rf.wasm");
    std::fs::copy(component, place.path("project/.freecode/guard.wasm")).unwrap();
    let entry =
        |plugin: &str| json!({"name": "guard", "type": "callback", "plugin": plugin, "config": {"deny": ["ls"]}});
    place.project_says(pre_tool_use(entry("guard.wasm")));
    let host = place.host().await;
    assert!(is_blocked(&host).await, "{}", said(&host));

    // A guard whose plugin cannot be read is asked and cannot answer; one that is a stranger's is not registered.
    for (plugin, says, blocks) in [("gone.wasm", "gone.wasm", true), ("../../../x.wasm", "project", false)] {
        place.project_says(pre_tool_use(entry(plugin)));
        let host = place.host().await;
        assert_eq!(is_blocked(&host).await, blocks, "{plugin}");
        assert!(said(&host).contains("guard") && said(&host).contains(says), "{plugin}: {}", said(&host));
    }
}

#[tokio::test]
async fn without_trust_a_projects_hooks_are_not_even_matched() {
    let place = Place::new();
    place.project_says(pre_tool_use(json!({"name": "theirs", "command": "touch ran"})));
    let host = Runtime::builder(Trust::Untrusted, place.surroundings()).build().await.unwrap();
    let answer = host.pre_tool_use(&bash("ls"), &cx().cwd(place.path("project"))).await;
    assert_eq!(answer.verdict, PreToolUse::Untrusted);
    assert!(answer.report.hooks.is_empty());
    assert!(!place.path("project/ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_of_20_mb_reaches_every_kind_of_guard() {
    let place = Place::new();
    place.user(pre_tool_use(
        json!({"name": "shell", "command": "grep -q SECRET \"$CLAUDE_TOOL_INPUT_FILE\" && exit 2; exit 0"}),
    ));
    let host = place.host().await;
    let content = "x".repeat(20_000_000) + "SECRET";
    let call = ToolCall::new("write", [("content".to_owned(), content.into())].into_iter().collect());
    let verdict = host.pre_tool_use(&call, &cx()).await.verdict;
    assert!(matches!(verdict, PreToolUse::Blocked { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_over_a_half_written_plugin_keeps_the_one_that_answered() {
    let place = Place::new();
    let component = Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins/no-rm-rf/no-rm-rf.wasm");
    let copy = place.path("project/.freecode/guard.wasm");
    std::fs::copy(component, &copy).unwrap();
    place.project_says(pre_tool_use(json!({"name": "guard", "type": "callback", "plugin": "guard.wasm"})));
    let host = place.host().await;
    write(&copy, "half");
    host.reload().await;
    for (command, blocked) in [("rm -rf x", true), ("ls", false)] {
        let verdict = host.pre_tool_use(&bash(command), &cx()).await.verdict;
        assert_eq!(matches!(verdict, PreToolUse::Blocked { .. }), blocked, "{command}: {verdict:?}");
    }
    assert!(said(&host).contains("goes on"), "{}", said(&host));
}

#[tokio::test]
async fn a_file_that_comes_back_within_its_grace_has_lost_nothing() {
    let place = Place::new();
    place.user(pre_tool_use(guard()));
    let host = std::sync::Arc::new(place.host().await);
    let file = place.path("home/.freecode/settings.json");
    std::fs::remove_file(&file).unwrap();
    let reloading = tokio::spawn({
        let host = host.clone();
        async move { host.reload().await }
    });
    assert!(is_blocked(&host).await);
    place.user(pre_tool_use(guard()));
    reloading.await.unwrap();
    assert!(is_blocked(&host).await);
}

#[tokio::test]
async fn a_hook_that_is_switched_off_is_not_asked_about_a_rewrite_either() {
    let place = Place::new();
    place.user(json!({"disabled": ["off"], "hooks": {}}));
    let host = place.host().await;
    let seen = Seen::default();
    let event = tacklebox::event::EventName::PreToolUse;
    let mut off = spy(event.clone(), "off", &seen);
    off.condition = Some(tacklebox::matching::Condition::new("bash(two)").0);
    let writer = crate::agent::hook(event, "writer", |_| crate::agent::rewrite("two"));
    host.register(Source::Plugin("p".into()), Reach::Everywhere, [off, writer]).unwrap();
    host.pre_tool_use(&bash("one"), &cx()).await;
    assert!(seen.all().is_empty());
}
