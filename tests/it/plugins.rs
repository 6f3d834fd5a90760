//! Plugins as an embedder meets them: loading, calling, limits, replacing, dropping.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tacklebox::event::{EventName, PermissionRequest, PreToolUse, PromptInput, ToolOutcome, UserPromptSubmit};
use tacklebox::id::Generation;
use tacklebox::outcome::{Cause, Limit, Outcome};
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};
use tempfile::TempDir;

use crate::agent::{Seen, bare, bash, cx, spy};

fn tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn no_rm_rf() -> PathBuf {
    tree("example-plugins/no-rm-rf/no-rm-rf.wasm")
}

fn redact_secrets() -> PathBuf {
    tree("example-plugins/redact-secrets/redact-secrets.wasm")
}

fn skill() -> Source {
    Source::Skill("s".into())
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    #[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
    std::fs::write(path, text).unwrap();
}

/// A package around the guest that misbehaves: on PreToolUse it does as `config` says.
fn misbehaving(config: serde_json::Value) -> TempDir {
    package(json!({
        "name": "misbehave", "component": "misbehave.wasm", "config": config,
        "hooks": {"PreToolUse": [{"name": "misbehave", "timeout": 5}]},
    }))
}

fn package(manifest: serde_json::Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(tree("tests/guests/misbehave/misbehave.wasm"), folder.path().join("misbehave.wasm")).unwrap();
    write(&folder.path().join("plugin.json"), manifest.to_string());
    folder
}

async fn with(path: &Path) -> Runtime {
    let runtime = bare().build().await.unwrap();
    runtime.load(skill(), path, Reach::Everywhere).await.unwrap();
    runtime
}

/// What one asking of the guest that misbehaves came to.
async fn deed(config: serde_json::Value) -> Outcome {
    let folder = misbehaving(config);
    let runtime = with(folder.path()).await;
    let answer = runtime.pre_tool_use(&bash("ls"), &cx()).await;
    answer.report.hooks[0].outcome.clone().unwrap()
}

async fn context_of(runtime: &Runtime, session: &str) -> Option<String> {
    let cx = tacklebox::event::Context::new(session);
    match runtime.pre_tool_use(&bash("ls"), &cx).await.verdict {
        PreToolUse::Proceed { context, .. } => context,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_in_the_sandbox_sees_every_command_that_the_shell_would_run() {
    let runtime = with(&no_rm_rf()).await;
    for command in
        ["rm -rf x", "cd x && sudo rm -fr y", "echo $(/bin/rm -r -f y)", "bash -c 'rm -rf /'", "echo 'unclosed"]
    {
        let verdict = runtime.pre_tool_use(&bash(command), &cx()).await.verdict;
        assert!(matches!(verdict, PreToolUse::Blocked { .. }), "{command}: {verdict:?}");
    }
    for command in ["rm x", "ls -la", "echo 'rm -rf x'"] {
        let verdict = runtime.pre_tool_use(&bash(command), &cx()).await.verdict;
        assert!(matches!(verdict, PreToolUse::Proceed { .. }), "{command}: {verdict:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_redacted_in_outputs_and_prompts_however_long() {
    let runtime = with(&redact_secrets()).await;
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    let output = format!("{}{key}", "x".repeat(100_000));
    let outcome = ToolOutcome { call: bash("cat"), output: output.clone(), original: None };
    let shown = runtime.post_tool_use(&outcome, &cx()).await.verdict.for_model(&output);
    assert!(shown.ends_with("[redacted:aws-key]") && shown.len() > 100_000);
    let prompt = PromptInput { prompt: format!("use {key}") };
    let verdict = runtime.user_prompt_submit(&prompt, &cx()).await.verdict;
    assert_eq!(verdict, UserPromptSubmit::Send { prompt: Some("use [redacted:aws-key]".into()), context: None });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_breaks_blocks_a_gate_and_says_how() {
    let panicked = deed(json!({"do": "panic"})).await;
    let Outcome::NoAnswer(Cause::Trapped { backtrace, .. }) = &panicked else { panic!("{panicked:?}") };
    assert!(backtrace.iter().any(|frame| frame.contains("misbehave")), "{backtrace:?}");
    assert!(matches!(deed(json!({"do": "err"})).await, Outcome::NoAnswer(Cause::Failed(_))));
    let memory = deed(json!({"do": "allocate"})).await;
    assert_eq!(memory, Outcome::NoAnswer(Cause::Limit(Limit::Memory(64 << 20))));
    assert!(matches!(deed(json!({"do": "recurse"})).await, Outcome::NoAnswer(Cause::Limit(Limit::Stack(_)))));
    assert!(matches!(deed(json!({"do": "huge"})).await, Outcome::NoAnswer(Cause::Limit(Limit::Answer(_)))));
    assert!(matches!(deed(json!({"do": "invalid-json"})).await, Outcome::NoAnswer(Cause::NotAnAnswer(_))));
    assert!(matches!(deed(json!({"do": "not-object"})).await, Outcome::NoAnswer(Cause::NotAnAnswer(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_blocks_unless_its_package_says_pass() {
    for (on_error, blocks) in [(None, true), (Some("block"), true), (Some("pass"), false)] {
        let folder = package(json!({
            "name": "misbehave", "component": "misbehave.wasm", "config": {"do": "panic"}, "onError": on_error.unwrap_or("block"),
            "hooks": {"PreToolUse": [{"name": "misbehave"}]},
        }));
        let answer = with(folder.path()).await.pre_tool_use(&bash("ls"), &cx()).await;
        assert_eq!(matches!(answer.verdict, PreToolUse::Blocked { .. }), blocks, "{on_error:?}: {:?}", answer.verdict);
        assert!(answer.report.warnings[0].to_string().contains("misbehave"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_spins_costs_its_call_and_no_other() {
    let spinning = package(json!({
        "name": "spin", "component": "misbehave.wasm", "config": {"do": "spin"},
        "hooks": {"Stop": [{"name": "spin", "timeout": 0.5, "onError": "pass"}]},
    }));
    let runtime = Arc::new(with(spinning.path()).await);
    runtime.load(Source::Plugin("guard".into()), no_rm_rf(), Reach::Everywhere).await.unwrap();
    let spinner = runtime.clone();
    let spin = tokio::spawn(async move {
        let begun = Instant::now();
        let input = tacklebox::event::StopInput { reason: String::new(), attempt: 1 };
        let answer = spinner.stop(&input, &cx()).await;
        (begun.elapsed(), answer.report.hooks[0].outcome.clone())
    });
    while !spin.is_finished() {
        let verdict = runtime.pre_tool_use(&bash("rm -rf x"), &cx()).await.verdict;
        assert!(matches!(verdict, PreToolUse::Blocked { .. }));
    }
    let (took, outcome) = spin.await.unwrap();
    assert_eq!(outcome, Some(Outcome::NoAnswer(Cause::TimedOut(Duration::from_millis(500)))));
    // The bound is a busy machine's, not the engine's: that is measured in the benches.
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_leaves_nothing_in_memory_and_state_lasts_for_plugin_and_session() {
    let folder = misbehaving(json!({"do": "remember"}));
    let runtime = with(folder.path()).await;
    assert_eq!(context_of(&runtime, "a").await, context_of(&runtime, "a").await);

    let folder = misbehaving(json!({"do": "state"}));
    let runtime = with(folder.path()).await;
    let first = context_of(&runtime, "a").await;
    let second = context_of(&runtime, "a").await;
    assert_ne!(first, second);
    assert_eq!(context_of(&runtime, "b").await, first, "another session begins anew");
    runtime.load(skill(), folder.path(), Reach::Everywhere).await.unwrap();
    assert_ne!(context_of(&runtime, "a").await, first, "a reload of the same bytes keeps the state");
    runtime.unregister_all(skill()).ended().await;
    runtime.load(skill(), folder.path(), Reach::Everywhere).await.unwrap();
    assert_eq!(context_of(&runtime, "a").await, first, "what was dropped begins anew");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_from_the_sandbox_is_no_opinion_and_a_refusal_counts() {
    for (deed, denied) in [("allow", false), ("deny", true)] {
        let folder = package(json!({
            "name": "misbehave", "component": "misbehave.wasm", "config": {"do": deed},
            "hooks": {"PermissionRequest": [{"name": "misbehave"}]},
        }));
        let verdict = with(folder.path()).await.permission_request(&bash("ls"), &cx()).await.verdict;
        match denied {
            true => assert!(matches!(verdict, PermissionRequest::Deny { .. }), "{verdict:?}"),
            false => assert!(matches!(verdict, PermissionRequest::Passthrough { .. }), "{verdict:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_is_out_of_reach() {
    let folder = misbehaving(json!({"do": "process"}));
    assert_eq!(context_of(&with(folder.path()).await, "a").await.as_deref(), Some("denied"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_file_leaves_the_former_set_in_place_and_names_itself() {
    let folder = misbehaving(json!({"do": "block"}));
    let runtime = with(folder.path()).await;
    let component = folder.path().join("misbehave.wasm");
    let whole = std::fs::read(&component).unwrap();
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/broken");
    let text = |name: &str| wat::parse_file(other.join(name)).unwrap();
    let cases: [(&str, Vec<u8>, &str); 7] = [
        ("empty", Vec::new(), "empty"),
        ("cut short", whole[..whole.len() / 2].to_vec(), "cut short"),
        ("no wasm", b"#!/bin/sh".to_vec(), "no WASM"),
        ("a core module", b"\0asm\x01\0\0\0".to_vec(), "core module"),
        ("another world", text("other-world.wat"), "expected `tacklebox:hooks/callback@0.1.x`"),
        ("a newer interface", text("newer-interface.wat"), "0.2.0"),
        ("a missing import", text("missing-import.wat"), "telepathy"),
    ];
    for (what, bytes, says) in cases {
        write(&component, bytes);
        let error = runtime.load(skill(), folder.path(), Reach::Everywhere).await.unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("misbehave.wasm"), "{what}: {error}");
        let verdict = runtime.pre_tool_use(&bash("ls"), &cx()).await.verdict;
        assert!(matches!(verdict, PreToolUse::Blocked { .. }), "{what}: {verdict:?}");
    }
    let hooks = runtime.hooks();
    assert_eq!((hooks.len(), hooks[0].generation), (1, Generation(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_cannot_reach_out_of_its_folder() {
    let folder = package(json!({"name": "x", "component": "../x.wasm"}));
    let runtime = bare().build().await.unwrap();
    let error = runtime.load(skill(), folder.path(), Reach::Everywhere).await.unwrap_err().to_string();
    assert!(error.contains("component"), "{error}");
    #[cfg(unix)]
    {
        let folder = package(json!({"name": "x", "component": "link.wasm"}));
        std::os::unix::fs::symlink(no_rm_rf(), folder.path().join("link.wasm")).unwrap();
        let error = runtime.load(skill(), folder.path(), Reach::Everywhere).await.unwrap_err().to_string();
        assert!(error.contains("outside of the package"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_plugin_is_asked_no_more_and_its_code_is_gone() {
    let runtime = with(&no_rm_rf()).await;
    let seen = Seen::default();
    runtime.register(Source::Sdk, Reach::Everywhere, [spy(EventName::PreToolUse, "spy", &seen)]).unwrap();
    let code = Arc::downgrade(runtime.hooks().iter().find_map(|hook| hook.code.as_ref()).unwrap());
    let dropped = runtime.unregister_all(skill());
    assert_eq!((dropped.hooks, dropped.running), (1, 0));
    dropped.ended().await;
    assert!(code.upgrade().is_none());
    let verdict = runtime.pre_tool_use(&bash("rm -rf x"), &cx()).await.verdict;
    assert!(matches!(verdict, PreToolUse::Proceed { .. }));
    assert_eq!(seen.all(), ["rm -rf x"]);
}

/// Dispatches go on while a plugin is replaced again and again: none is left without the guard.
#[tokio::test(flavor = "multi_thread")]
async fn a_reload_never_leaves_a_dispatch_without_its_guard() {
    let runtime = Arc::new(with(&no_rm_rf()).await);
    let asking = (0..4).map(|_| {
        let runtime = runtime.clone();
        tokio::spawn(async move {
            let mut revisions = Vec::new();
            for _ in 0..100 {
                let answer = runtime.pre_tool_use(&bash("rm -rf x"), &cx()).await;
                assert!(matches!(answer.verdict, PreToolUse::Blocked { .. }), "{answer:?}");
                assert_eq!(answer.report.hooks.len(), 1);
                revisions.push(answer.report.revision);
            }
            assert!(revisions.is_sorted());
        })
    });
    let asking: Vec<_> = asking.collect();
    for _ in 0..20 {
        runtime.load(skill(), no_rm_rf(), Reach::Everywhere).await.unwrap();
    }
    for task in asking {
        task.await.unwrap();
    }
}
