//! WASI commands as an embedder meets them: named by settings or a package, asked as shell commands are, held as plugins.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tacklebox::event::{EventName, PermissionRequest, PostToolUse, PreToolUse, ToolCall, ToolOutcome};
use tacklebox::outcome::{Cause, Outcome};
use tacklebox::policy::Trust;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime as _, Runtime};
use tempfile::TempDir;

use crate::agent::{Seen, bare, bash, cx, spy};

fn player() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/player/player.wasm")
}

fn skill() -> Source {
    Source::Skill("s".into())
}

#[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::write(path, text).unwrap();
}

/// A package of the player's with this hook on this event, which says this in the words of a shell.
fn package(event: &str, command: &str, hook: Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(player(), folder.path().join("player.wasm")).unwrap();
    let mut hook = hook;
    hook["name"] = "h".into();
    hook["config"] = json!({"command": command});
    let manifest = json!({"component": "player.wasm", "hooks": {event: [hook]}});
    write(&folder.path().join("plugin.json"), manifest.to_string());
    folder
}

async fn with(folder: &TempDir) -> Runtime {
    let runtime = bare().build().await.unwrap();
    runtime.load(skill(), folder.path(), Reach::Everywhere).await.unwrap();
    runtime
}

async fn says(command: &str) -> PreToolUse {
    with(&package("PreToolUse", command, json!({}))).await.pre_tool_use(&bash("ls"), &cx()).await.verdict
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_that_reads_its_payload_and_exits_with_2_blocks() {
    let guard = r#"case "$CLAUDE_TOOL_INPUT" in *'rm -rf'*) echo "never on $CLAUDE_TOOL_NAME" >&2; exit 2;; esac"#;
    let runtime = with(&package("PreToolUse", guard, json!({"matcher": "bash"}))).await;
    match runtime.pre_tool_use(&bash("rm -rf /"), &cx()).await.verdict {
        PreToolUse::Blocked { reason, .. } => assert_eq!(reason, "never on bash"),
        other => panic!("{other:?}"),
    }
    let verdict = runtime.pre_tool_use(&bash("ls"), &cx()).await.verdict;
    assert!(matches!(verdict, PreToolUse::Proceed { context: None, .. }), "{verdict:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_answer_in_json_changes_the_call() {
    match says(r#"echo '{"modifiedInput":{"command":"ls -l"},"context":"longer"}'"#).await {
        PreToolUse::Proceed { input, context, .. } => {
            assert_eq!(input.unwrap()["command"], "ls -l");
            assert_eq!(context.as_deref(), Some("longer"));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_breaks_blocks_a_gate_unless_it_says_pass() {
    for (hook, blocks) in [(json!({}), true), (json!({"onError": "pass"}), false)] {
        let runtime = with(&package("PreToolUse", "what the player does not speak", hook)).await;
        let answer = runtime.pre_tool_use(&bash("ls"), &cx()).await;
        assert_eq!(matches!(answer.verdict, PreToolUse::Blocked { .. }), blocks, "{:?}", answer.verdict);
        let hook = &answer.report.hooks[0];
        assert!(matches!(hook.outcome, Some(Outcome::NoAnswer(Cause::Trapped { .. }))), "{:?}", hook.outcome);
        assert!(hook.log.iter().any(|line| line.message.contains("does not speak")), "{:?}", hook.log);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_approves_nothing_by_silence_or_in_words_and_denies_by_its_exit_code() {
    for (command, denied) in
        [("true", false), ("echo fine", false), (r#"echo '{"permission":"allow"}'"#, false), ("exit 2", true)]
    {
        let runtime = with(&package("PermissionRequest", command, json!({}))).await;
        let verdict = runtime.permission_request(&bash("ls"), &cx()).await.verdict;
        match denied {
            true => assert!(matches!(verdict, PermissionRequest::Deny { .. }), "{command}: {verdict:?}"),
            false => assert!(matches!(verdict, PermissionRequest::Passthrough { .. }), "{command}: {verdict:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_code_after_a_tool_hides_nothing_and_a_block_in_words_does() {
    for (command, hides) in [("echo late >&2; exit 2", false), (r#"echo '{"block":true,"reason":"late"}'"#, true)] {
        let runtime = with(&package("PostToolUse", command, json!({}))).await;
        let outcome = ToolOutcome { call: bash("cat"), output: "the output".into(), original: None };
        let verdict: PostToolUse = runtime.post_tool_use(&outcome, &cx()).await.verdict;
        let shown = verdict.for_model("the output");
        assert_eq!(shown.contains("the output"), !hides, "{command}: {shown}");
        assert!(shown.contains("late"), "{command}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_of_20_mb_reaches_a_guard_in_the_sandbox_whole() {
    let guard = r#"case "$CLAUDE_TOOL_INPUT" in *SECRET*) echo found >&2; exit 2;; esac"#;
    let runtime = with(&package("PreToolUse", guard, json!({"timeout": 60}))).await;
    let content = "x".repeat(20_000_000) + "SECRET";
    let call = ToolCall::new("write", [("content".to_owned(), content.into())].into_iter().collect());
    match runtime.pre_tool_use(&call, &cx()).await.verdict {
        PreToolUse::Blocked { reason, .. } => assert_eq!(reason, "found"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn loaded_whole_it_needs_somebody_who_says_which_hooks_it_answers() {
    let runtime = bare().build().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(player(), folder.path().join("player.wasm")).unwrap();
    write(&folder.path().join("plugin.json"), r#"{"component": "player.wasm"}"#);
    for path in [player(), folder.path().to_owned()] {
        let error = runtime.load(skill(), &path, Reach::Everywhere).await.unwrap_err().to_string();
        assert!(error.contains("cannot say which hooks it answers") && error.contains("plugin.json"), "{error}");
    }
    assert!(runtime.hooks().is_empty());
}

/// A host for a project with this hook and the player beside its settings.
async fn project(hook: Value, env: &[(&str, &str)]) -> (TempDir, Runtime) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join(".freecode");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(player(), folder.join("player.wasm")).unwrap();
    write(&folder.join("settings.json"), json!({"hooks": {"PreToolUse": [hook]}}).to_string());
    let env = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let surroundings = Surroundings { project: Some(place.path().to_owned()), env, ..Surroundings::default() };
    let runtime = Runtime::builder(Trust::Trusted, surroundings).build().await.unwrap();
    (place, runtime)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_settings_entry_names_it_and_nothing_of_the_hosts_environment_is_there() {
    let command = r#"echo "[$HOST_THING][$PATH][$HOOK_EVENT]""#;
    let hook = json!({"name": "h", "type": "callback", "plugin": "player.wasm", "config": {"command": command}});
    let (_place, runtime) = project(hook, &[("HOST_THING", "x"), ("PATH", "/bin")]).await;
    match runtime.pre_tool_use(&bash("ls"), &cx()).await.verdict {
        PreToolUse::Proceed { context, .. } => assert_eq!(context.as_deref(), Some("[][][PreToolUse]")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_dropped_while_it_runs_is_cancelled_and_blocks() {
    let sleeps = package("PreToolUse", "sleep 250", json!({"timeout": 300, "onError": "pass"}));
    let runtime = Arc::new(with(&sleeps).await);
    let seen = Seen::default();
    // Asked before it: when this one was, the other is about to be.
    runtime.register(Source::Sdk, Reach::Everywhere, [spy(EventName::PreToolUse, "spy", &seen)]).unwrap();
    let asking = tokio::spawn({
        let runtime = Arc::clone(&runtime);
        async move { runtime.pre_tool_use(&bash("ls"), &cx()).await.verdict }
    });
    while seen.all().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    runtime.unregister_all_now(skill()).ended().await;
    let verdict = asking.await.unwrap();
    assert!(matches!(verdict, PreToolUse::Blocked { .. }), "{verdict:?}");
}
