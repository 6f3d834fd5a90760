//! The example plugins as an embedder meets them: their components in a host, which takes commands apart and keeps state.

mod programs;

use std::path::Path;

use serde_json::{Value, json};
use tacklebox::event::{Context, Object, PreToolUse, SessionEndInput, ToolCall, TurnEndInput};
use tacklebox::permission::{Host, Permissions};
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::agent::{bare, bash, command_input, cx};

/// A host with this example, as a package with this config.
async fn with(name: &str, config: Value) -> Runtime {
    granting(name, config, Permissions::default()).await
}

/// The same, and it asks for and is granted these hosts.
async fn granting(name: &str, config: Value, granted: Permissions) -> Runtime {
    let folder = tempfile::tempdir().unwrap();
    let component = format!("{name}.wasm");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins").join(name).join(&component);
    std::fs::copy(committed, folder.path().join(&component)).unwrap();
    let hosts: Vec<_> = granted.http.0.iter().map(ToString::to_string).collect();
    let asks = json!({"http": hosts});
    let manifest = json!({"name": name, "component": component, "config": config, "permissions": asks}).to_string();
    #[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
    std::fs::write(folder.path().join("plugin.json"), manifest).unwrap();
    let runtime = bare().build().await.unwrap();
    runtime.load_granted(Source::Plugin(name.into()), folder.path(), Reach::Everywhere, granted).await.unwrap();
    runtime
}

/// A service that gives this answer to whatever it is asked, and the questions.
async fn service(decision: &'static str) -> (u16, mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, (asked, asks)) = (listener.local_addr().unwrap().port(), mpsc::unbounded_channel());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut all = Vec::new();
            let question = loop {
                let text = String::from_utf8_lossy(&all);
                let body = text
                    .find('{')
                    .and_then(|start| serde_json::from_str(&text[start..].replace("\r\n0\r\n\r\n", "")).ok());
                if let Some(question) = body {
                    break question;
                }
                if stream.read_buf(&mut all).await.unwrap() == 0 {
                    break Value::Null;
                }
            };
            let _ = asked.send(question);
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{decision}", decision.len());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (port, asks)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_granted_service_is_asked_and_what_it_does_not_answer_is_blocked() {
    for (decision, blocked) in [
        (r#"{"decision": "deny", "reason": "not on my watch"}"#, Some("not on my watch")),
        (r#"{"decision": "allow"}"#, None),
        (r#"{"decision": "perhaps"}"#, Some("")),
        ("<html>", Some("")),
    ] {
        let (port, mut asks) = service(decision).await;
        let config = json!({"url": format!("http://127.0.0.1:{port}/decide")});
        let here = Host::parse(&format!("127.0.0.1:{port}")).unwrap();
        let runtime = granting("ask-policy", config.clone(), Permissions::default().sending(here)).await;
        match (verdict(&runtime, &bash("ls")).await, blocked) {
            (PreToolUse::Blocked { reason, .. }, Some(why)) => {
                assert!(format!("{reason:?}").contains(why), "{reason:?}")
            }
            (PreToolUse::Proceed { .. }, None) => {}
            other => panic!("{decision}: {other:?}"),
        }
        let question = asks.recv().await.unwrap();
        assert_eq!((&question["tool"], &question["input"]["command"]), (&json!("bash"), &json!("ls")));
        // Without a word it asks nobody, and that is said.
        let answer = with("ask-policy", config).await.pre_tool_use(&bash("ls"), &cx()).await;
        assert!(matches!(answer.verdict, PreToolUse::Blocked { .. }), "{:?}", answer.verdict);
        let said: Vec<_> = answer.report.warnings.iter().map(ToString::to_string).collect();
        assert!(said.iter().any(|line| line.contains("`ask-policy`") && line.contains("`http`")), "{said:?}");
        assert!(asks.try_recv().is_err());
    }
}

async fn verdict(runtime: &Runtime, call: &ToolCall) -> PreToolUse {
    runtime.pre_tool_use(call, &cx().cwd("/home/me/app")).await.verdict
}

async fn is_blocked(runtime: &Runtime, call: &ToolCall) -> bool {
    matches!(verdict(runtime, call).await, PreToolUse::Blocked { .. })
}

#[tokio::test(flavor = "multi_thread")]
async fn noisy_commands_run_as_compact_ones() {
    let runtime = with("rtk-rewrite", json!({"rules": ["make => make -s"]})).await;
    for (noisy, compact) in [
        ("git status", "git status --short --branch"),
        (" cargo build --release\n", "cargo build --quiet --release"),
        ("make $target", "make -s $target"),
    ] {
        let mut call = bash(noisy);
        call.input.insert("timeout".to_owned(), 5.into());
        let PreToolUse::Proceed { input: Some(input), .. } = verdict(&runtime, &call).await else { panic!("{noisy}") };
        assert_eq!((&input["command"], &input["timeout"]), (&json!(compact), &json!(5)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_more_than_plain_words_runs_as_it_was() {
    let runtime = with("rtk-rewrite", json!({})).await;
    for command in [
        "git status --short --branch",
        "git status | cat",
        "git status; ls",
        "git status > x",
        "git status 2>&1",
        "git status &",
        "git status # all",
        "X=1 git status",
        "git 'status'",
        "git \"status\"",
        "git st\\atus",
        "git  status",
        "git \\\nstatus",
        "git status $(ls)",
        "git status `ls`",
        "git status <(ls)",
        "(git status)",
        "{ git status; }",
        "! git status",
        "time git status",
        "if true; then git status; fi",
        "bash -c 'git status'",
        "git status 'unclosed",
        "git status <<E\nE",
        "git status\ngit status",
        "git status\r\n",
    ] {
        match verdict(&runtime, &bash(command)).await {
            PreToolUse::Proceed { input: None, context: None, .. } => {}
            other => panic!("{command:?}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_summed_over_the_turns_of_each_session() {
    let config = json!({"prices": {"input": 3, "output": 15}, "currency": "USD"});
    let runtime = with("token-ledger", config).await;
    for (session, input, output) in [("a", 1_000, Some(20)), ("b", 7, None), ("a", 100_000, Some(2_000))] {
        let turn = TurnEndInput { input_tokens: Some(input), output_tokens: output, ..TurnEndInput::default() };
        runtime.turn_end(&turn, &Context::new(session)).await;
    }
    runtime.turn_end(&TurnEndInput::default(), &Context::new("b")).await;
    let ends = async |session: &str| {
        let ended = runtime.session_end(&SessionEndInput::default(), &Context::new(session)).await;
        let log: Vec<_> =
            ended.report.hooks.iter().flat_map(|hook| &hook.log).map(|line| line.message.clone()).collect();
        log.join("\n")
    };
    let rest = "0 cache read, 0 cache creation";
    let expected = format!("2 turns: 101000 input, 2020 output, {rest}, 0 turns without counts; cost: 0.3333 USD");
    assert_eq!(ends("a").await, expected);
    let expected = format!("2 turns: 7 input, 0 output, {rest}, 1 turns without counts; cost: 0.0000 USD");
    assert_eq!(ends("b").await, expected);
    assert!(ends("a").await.starts_with("0 turns: 0 input"), "an ended session is forgotten");
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_stop_at_the_largest_number() {
    let runtime = with("token-ledger", json!({})).await;
    for _ in 0..2 {
        let turn = TurnEndInput { input_tokens: Some(u64::MAX), ..TurnEndInput::default() };
        let answer = runtime.turn_end(&turn, &cx()).await;
        assert!(answer.report.warnings.is_empty(), "{:?}", answer.report.warnings);
    }
    let ended = runtime.session_end(&SessionEndInput::default(), &cx()).await;
    assert!(ended.report.hooks[0].log[0].message.contains(&format!(" {} input,", i64::MAX)));
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_cannot_be_edited_by_path() {
    let runtime = with("protect-hooks", json!({"paths": ["scripts/guard.sh"]})).await;
    let call = |tool: &str, path: &str| {
        let input = [("file_path".to_owned(), path.into()), ("content".to_owned(), ".claude/x".into())];
        ToolCall::new(tool, Object::from_iter(input))
    };
    for path in [
        ".freecode/settings.json",
        "src/..//./.Claude/x",
        "/home/me/app/.claude/x",
        "a/plugin.json",
        "scripts/guard.sh",
    ] {
        assert!(is_blocked(&runtime, &call("write", path)).await, "{path}");
        assert!(!is_blocked(&runtime, &call("read", path)).await, "{path}");
    }
    assert!(!is_blocked(&runtime, &call("write", "src/main.rs")).await);
    let inside = cx().cwd("/home/me/app/.freecode");
    let answer = runtime.pre_tool_use(&call("write", "settings.json"), &inside).await;
    assert!(matches!(answer.verdict, PreToolUse::Blocked { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_cannot_be_edited_by_the_shell() {
    let runtime = with("protect-hooks", json!({"paths": ["scripts/guard.sh"]})).await;
    for command in [
        "cd .freecode && rm settings.json",
        "echo {} > .freecode/settings.json",
        "cat x >| .free\"code\"/settings.json",
        "rm .fr\\eecode/x",
        "rm $'\\x2efreecode'/x",
        "bash -c \"rm .free''code/x\"",
        "eval 'rm .f*/settings.json'",
        "r=.free; rm \"$r\"code/settings.json",
        "d=.freecode; rm $d/settings.json",
        "cat .freecode/$(rm x)",
        "ls() { rm \"$@\"; }; ls .freecode",
        "find .freecode -type f -delete",
        "git diff --output=.claude/settings.json",
        "PAGER='sh -c x' git log .claude",
        "cat .claude/x <<E | sh\nrm x\nE",
        "cat .claude/x 'unclosed",
        "cp x scripts/guard.sh",
        "(cd scripts; rm guard.sh)",
        "sudo tee .claude/x",
        "ln -s .freecode x",
    ] {
        assert!(is_blocked(&runtime, &bash(command)).await, "{command}");
    }
    for command in [
        "cat '.claude/settings.json' | grep -n \"hooks\"",
        "cat ../app/.freecode/x && ls .freecode",
        "if [[ -f .claude/x ]]; then cat .claude/x; fi",
        "git log --oneline -- .claude",
        "cargo test 2>&1 | sed 's/.*: //'",
        "rm -rf target > log",
        "echo 'unclosed",
    ] {
        assert!(!is_blocked(&runtime, &bash(command)).await, "{command}");
    }
    let mut call = ToolCall::new("bash", command_input("rm settings.json"));
    call.input.insert("workdir".to_owned(), ".freecode".into());
    assert!(is_blocked(&runtime, &call).await);
}
