//! The end of a host.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tacklebox::event::{
    Context, CustomClass, CustomEvent, CustomInput, EventName, PermissionRequest, PostToolUse, PostToolUseFailure,
    PreCompact, PreCompactInput, PreToolUse, PromptInput, SessionEndInput, Stop, StopInput, ToolFailure, ToolOutcome,
    TurnStart, TurnStartInput, UserPromptSubmit, Verdict,
};
use tacklebox::hook::{CommandHook, FunctionHook, HookSpec, OnError};
use tacklebox::outcome::Outcome;
use tacklebox::policy::Trust;
use tacklebox::report::Answer;
use tacklebox::runtime::LoadError;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime, Runtime};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::agent::{Seen, bare, bash, cx, host, spy};

/// A SessionEnd hook that notes session and reason, and takes so long.
fn farewell(noted: &Arc<Mutex<Vec<String>>>, takes: Duration) -> HookSpec {
    let noted = noted.clone();
    let note = FunctionHook::new(move |event: tacklebox::event::Event, cx: Context| {
        let noted = noted.clone();
        async move {
            noted.lock().unwrap().push(format!("{} {}", cx.session, event.input["reason"].as_str().unwrap()));
            tokio::time::sleep(takes).await;
            Outcome::pass()
        }
    });
    HookSpec::new(EventName::SessionEnd, "farewell", note.into())
}

fn strings(sessions: &[tacklebox::id::SessionId]) -> Vec<&str> {
    sessions.iter().map(tacklebox::id::SessionId::as_str).collect()
}

#[tokio::test(start_paused = true)]
async fn every_open_session_is_told_at_the_same_time_and_no_other() {
    let noted = Arc::default();
    let host = host(vec![farewell(&noted, Duration::from_secs(1))]).await;
    let [a, b, over] = ["a", "b", "over"].map(Context::new);
    host.session_start(&a).await;
    host.session_start(&over).await;
    host.pre_tool_use(&bash("ls"), &b).await;
    host.turn_start(&TurnStartInput::default(), &a.sub_agent("child", "a1", "worker")).await;
    host.session_end(&SessionEndInput { reason: "done".into() }, &over).await;
    noted.lock().unwrap().clear();
    let began = Instant::now();
    let ended = host.shutdown().await;
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    assert_eq!(strings(&ended.told), ["a", "b", "child"]);
    assert_eq!((ended.late.len(), ended.hooks, ended.cancelled, ended.ended), (0, 1, 0, true));
    assert_eq!(*noted.lock().unwrap(), ["a shutdown", "b shutdown", "child shutdown"]);
    assert_eq!(host.shutdown().await, ended, "whoever asks again gets the same answer");
    assert_eq!(noted.lock().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn who_takes_longer_is_not_waited_for() {
    let noted = Arc::default();
    let host = Arc::new(host(vec![farewell(&noted, Duration::from_secs(4))]).await);
    host.session_start(&cx()).await;
    let began = Instant::now();
    let (first, second) = tokio::join!(host.shutdown(), host.shutdown());
    assert_eq!(began.elapsed(), Duration::from_millis(1500));
    assert_eq!((strings(&first.late), first.told.len()), (vec!["s1"], 0));
    assert_eq!((first.clone(), noted.lock().unwrap().len()), (second, 1));
}

fn says_so<V: Verdict>(answer: &Answer<V>) {
    let summary = answer.verdict.summary();
    let reason = summary.reason.or(summary.modified_output).unwrap_or_default();
    assert!(reason.contains("shut down"), "{:?}", answer.verdict);
    assert!(answer.report.hooks.is_empty() && answer.report.decided_by.is_none());
}

#[tokio::test]
async fn afterwards_no_gate_lets_anything_past() {
    for trust in [Trust::Trusted, Trust::Untrusted] {
        let deploy = CustomEvent::new("Deploy", CustomClass { gate: true, ..CustomClass::default() });
        let built = Runtime::builder(trust, Surroundings::default()).without_settings().event(deploy.clone()).build();
        let host = built.await.unwrap();
        let seen = Seen::default();
        let hooks: Vec<_> = EventName::BUILT_IN.into_iter().map(|event| spy(event, "spy", &seen)).collect();
        host.register(Source::Sdk, Reach::Everywhere, hooks).unwrap();
        host.shutdown().await;
        let (call, cx) = (bash("ls"), cx());
        let answer = host.pre_tool_use(&call, &cx).await;
        says_so(&answer);
        assert!(matches!(answer.verdict, PreToolUse::Blocked { .. }));
        let answer = host.recheck_tool_use(&call, &cx).await;
        assert!(matches!(answer.verdict, PreToolUse::Blocked { .. }));
        let answer = host.permission_request(&call, &cx).await;
        says_so(&answer);
        assert!(matches!(answer.verdict, PermissionRequest::Deny { .. }));
        let ran = ToolOutcome { call: call.clone(), output: "hunter2".into(), original: None };
        let answer = host.post_tool_use(&ran, &cx).await;
        says_so(&answer);
        assert!(matches!(answer.verdict, PostToolUse::Withheld { .. }));
        let failure = ToolFailure { call, error: "hunter2".into(), original: None };
        let answer = host.post_tool_use_failure(&failure, &cx).await;
        says_so(&answer);
        assert!(matches!(answer.verdict, PostToolUseFailure::Shown { error: Some(_), .. }));
        let answer = host.user_prompt_submit(&PromptInput { prompt: "hello".into() }, &cx).await;
        says_so(&answer);
        assert!(matches!(answer.verdict, UserPromptSubmit::Blocked { .. }));
        let answer = host.pre_compact(&PreCompactInput { history_length: 1, token_count: None }, &cx).await;
        says_so(&answer);
        assert!(matches!(answer.verdict, PreCompact::Blocked { .. }));
        says_so(&host.custom(&deploy, &CustomInput::default(), &cx).await);
        for (attempt, goes_on) in [(1, true), (9, false)] {
            let verdict = host.stop(&StopInput { reason: "done".into(), attempt }, &cx).await.verdict;
            assert_eq!(matches!(verdict, Stop::GoesOn { .. }), goes_on, "an agent must be able to stop: {verdict:?}");
        }
        let verdict = host.turn_start(&TurnStartInput::default(), &cx).await.verdict;
        assert_eq!(verdict, TurnStart::Told { context: None });
        assert!(seen.all().is_empty());
    }
}

#[tokio::test]
async fn afterwards_nothing_is_registered() {
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir(project.path().join(".freecode")).unwrap();
    let settings = br#"{"hooks": {"Stop": [{"name": "h", "command": "true"}]}}"#;
    let mut file = std::fs::File::create(project.path().join(".freecode/settings.json")).unwrap();
    std::io::Write::write_all(&mut file, settings).unwrap();
    let surroundings = Surroundings { project: Some(project.path().to_owned()), ..Surroundings::default() };
    let host = Runtime::builder(Trust::Trusted, surroundings).build().await.unwrap();
    assert_eq!(host.hooks().len(), 1);
    host.shutdown().await;
    assert!(host.is_shut_down() && host.hooks().is_empty());
    let revision = host.revision();
    let hooks = [spy(EventName::PreToolUse, "h", &Seen::default())];
    let registered = host.register(Source::Sdk, Reach::Everywhere, hooks);
    assert!(matches!(registered, Err(LoadError::ShutDown)));
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins/no-rm-rf/no-rm-rf.wasm");
    assert!(matches!(host.load(Source::Sdk, plugin, Reach::Everywhere).await, Err(LoadError::ShutDown)));
    let loaded = host.reload().await;
    assert!(loaded.hooks == 0 && loaded.diagnostics[0].to_string().contains("shut down"), "{loaded:?}");
    assert_eq!((host.hooks().len(), host.revision()), (0, revision));
}

#[tokio::test]
async fn a_dispatch_on_a_gate_that_still_runs_blocks() {
    let asked = Arc::new(Notify::new());
    let hang = FunctionHook::new({
        let asked = asked.clone();
        move |_, _| {
            asked.notify_one();
            std::future::pending::<Outcome>()
        }
    });
    let guard = HookSpec { on_error: Some(OnError::Pass), ..HookSpec::new(EventName::PreToolUse, "h", hang.into()) };
    let host = Arc::new(host(vec![guard]).await);
    let asking = tokio::spawn({
        let host = host.clone();
        async move { host.pre_tool_use(&bash("ls"), &cx()).await.verdict }
    });
    asked.notified().await;
    let ended = host.shutdown().await;
    assert_eq!((ended.cancelled, ended.ended), (1, true));
    let verdict = asking.await.unwrap();
    assert!(matches!(&verdict, PreToolUse::Blocked { reason, .. } if reason.contains("cancelled")), "{verdict:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_dispatch_that_begins_after_the_end_proceeds() {
    for _ in 0..20 {
        let host = Arc::new(host(vec![spy(EventName::PreToolUse, "h", &Seen::default())]).await);
        let dispatches: Vec<_> = (0..8)
            .map(|_| {
                let host = host.clone();
                tokio::spawn(async move {
                    let mut blocked = 0;
                    while blocked < 10 {
                        let over = host.is_shut_down();
                        let verdict = host.pre_tool_use(&bash("ls"), &cx()).await.verdict;
                        let blocks = matches!(verdict, PreToolUse::Blocked { .. });
                        assert!(blocks || !over, "{verdict:?}");
                        blocked += usize::from(blocks);
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(host.shutdown().await.ended);
        for dispatch in dispatches {
            dispatch.await.unwrap();
        }
    }
}

fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

async fn pid_in(file: &Path) -> i32 {
    for _ in 0..6000 {
        match std::fs::read_to_string(file).ok().and_then(|pid| pid.trim().parse().ok()) {
            Some(pid) => return pid,
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("the command wrote no number");
}

/// A host whose one hook sleeps, with a child that does not listen to SIGTERM and writes its number.
async fn sleeping(folder: &Path) -> Arc<Runtime> {
    let path = folder.join("pid");
    let text = format!("(trap '' TERM; echo $BASHPID > {}; sleep 300; sleep 300) & sleep 300", path.display());
    let surroundings = Surroundings {
        project: Some(folder.to_owned()),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        ..Surroundings::default()
    };
    let host = Runtime::builder(Trust::Trusted, surroundings).without_settings().build().await.unwrap();
    let hook = HookSpec::new(EventName::PreToolUse, "sleeps", CommandHook::new(text).into());
    host.register(Source::Sdk, Reach::Everywhere, [hook]).unwrap();
    Arc::new(host)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_process_of_a_hook_outlives_the_host() {
    for dropped_before in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let host = sleeping(folder.path()).await;
        let asking = tokio::spawn({
            let host = host.clone();
            async move { host.pre_tool_use(&bash("ls"), &cx()).await.verdict }
        });
        let pid = pid_in(&folder.path().join("pid")).await;
        if dropped_before {
            asking.abort();
            assert!(asking.await.unwrap_err().is_cancelled());
            // The child does not listen, and has two seconds; nobody waits for that but the host.
            assert!(host.shutdown().await.ended);
        } else {
            let ended = host.shutdown().await;
            assert_eq!((ended.cancelled, ended.ended), (1, true));
            assert!(matches!(asking.await.unwrap(), PreToolUse::Blocked { .. }));
        }
        assert!(!lives(pid));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn whoever_waits_for_dropped_hooks_waits_for_their_processes() {
    let folder = tempfile::tempdir().unwrap();
    let host = sleeping(folder.path()).await;
    let asking = tokio::spawn({
        let host = host.clone();
        async move { host.pre_tool_use(&bash("ls"), &cx()).await.verdict }
    });
    let pid = pid_in(&folder.path().join("pid")).await;
    host.unregister_all_now(Source::Sdk).ended().await;
    assert!(!lives(pid));
    assert!(matches!(asking.await.unwrap(), PreToolUse::Blocked { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_is_gone_with_the_host() {
    let host = bare().build().await.unwrap();
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins/no-rm-rf/no-rm-rf.wasm");
    host.load(Source::Sdk, plugin, Reach::Everywhere).await.unwrap();
    let code = Arc::downgrade(host.hooks()[0].code.as_ref().unwrap());
    assert!(host.shutdown().await.ended);
    assert!(code.upgrade().is_none());
}
