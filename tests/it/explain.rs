//! Why each hook was asked, or was not, as the report of a dispatch tells it afterwards.

use std::path::Path;

use tacklebox::event::{Context, Event, EventName, StopInput};
use tacklebox::hook::{FunctionHook, HookSpec};
use tacklebox::matching::{Condition, Matcher};
use tacklebox::outcome::{Change, Outcome};
use tacklebox::report::{Explained, Report};
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};

use crate::agent::{bare, bash, cx, hook, host, is_about, rewrite};

fn pass(name: &str) -> HookSpec {
    hook(EventName::PreToolUse, name, |_| Outcome::pass())
}

fn on_edit(spec: HookSpec) -> HookSpec {
    HookSpec { matcher: Matcher::new("edit").unwrap(), ..spec }
}

fn with_if(spec: HookSpec, text: &str) -> HookSpec {
    HookSpec { condition: Some(Condition::new(text).0), ..spec }
}

fn said(explained: &[Explained]) -> Vec<String> {
    explained.iter().map(ToString::to_string).collect()
}

async fn asked_about(host: &Runtime, command: &str) -> Report {
    host.pre_tool_use(&bash(command), &cx()).await.report
}

#[tokio::test]
async fn a_report_says_of_every_hook_whether_it_was_asked_and_why() {
    let first = pass("first");
    let twin = HookSpec { name: "twin".into(), ..first.clone() };
    let guard = with_if(hook(EventName::PreToolUse, "guard", |_| Outcome::block("no")), "bash(rm *)");
    let once = HookSpec { once: true, ..pass("once") };
    let hooks = vec![once, first, twin, on_edit(pass("edits")), guard, pass("behind"), on_edit(pass("last"))];
    let host = host(hooks).await;
    host.register(Source::Skill("s".into()), Reach::Session("other".into()), [pass("elsewhere")]).unwrap();
    asked_about(&host, "ls").await;
    let report = asked_about(&host, "rm -rf /").await;
    assert_eq!(
        said(&report.explain()),
        [
            "`once` (sdk) not asked: has run once in this session",
            "`first` (sdk) asked: its matcher takes every tool",
            "`twin` (sdk) not asked: equals a hook that is asked before it",
            "`edits` (sdk) not asked: matcher `edit` does not fit `bash`",
            "`guard` (sdk) asked: its matcher takes every tool; `if` bash(rm *) holds on all values `rm -rf /`",
            "`behind` (sdk) not asked: `guard` had blocked",
            "`last` (sdk) not asked: matcher `edit` does not fit `bash`",
            "`elsewhere` (skill:s) not asked: it belongs to another session",
        ]
    );
    // What was registered since makes no difference, and what it says is what it did.
    host.unregister_all(Source::Sdk);
    assert_eq!(report.explain().len(), 8);
    assert!(asked_about(&host, "ls").await.explain().iter().all(|explained| !explained.asked));
}

#[tokio::test]
async fn what_would_be_asked_and_what_was_asked_are_told_in_the_same_words() {
    let host = host(vec![pass("first"), with_if(pass("git"), "bash(git *)"), on_edit(pass("edits"))]).await;
    let call = bash("git status && sudo ls");
    let before = host.explain(&Event::tool(EventName::PreToolUse, &call), &cx());
    assert_eq!(before, host.pre_tool_use(&call, &cx()).await.report.explain());
}

#[tokio::test]
async fn a_hook_that_was_asked_about_a_rewrite_alone_says_so() {
    let rewrites = hook(EventName::PreToolUse, "rewrites", |_| rewrite("rm x"));
    let late = with_if(hook(EventName::PreToolUse, "late", |_| Outcome::block("no")), "bash(rm *)");
    let looks_on = HookSpec::new(EventName::PreToolUse, "looks-on", FunctionHook::observer(|_, _| async {}).into());
    let host = host(vec![late, pass("first"), rewrites, looks_on]).await;
    let explained = asked_about(&host, "ls").await.explain();
    assert!(explained[0].asked && explained[0].because.contains("what another hook wrote matches"), "{explained:?}");
    let again = host.recheck_tool_use(&bash("rm x"), &cx()).await.report.explain();
    let because: Vec<_> = again.iter().map(|explained| (explained.asked, explained.because.as_str())).collect();
    assert!(because[0].0 && because[0].1.contains("holds on all values `rm x`"), "{because:?}");
    assert_eq!(because[1], (false, "`late` had blocked"));
    let again = host.recheck_tool_use(&bash("ls"), &cx()).await.report.explain();
    assert_eq!(again[3].because, "it only looks on, and is not asked about a rewrite");
}

#[tokio::test]
async fn without_trust_no_hook_was_asked_and_each_says_why() {
    let world = crate::program::World::with(r#"{"hooks": {"Stop": [{"name": "g", "command": "exit 0"}]}}"#);
    let surroundings = tacklebox::surroundings::Surroundings {
        project: Some(world.path("project")),
        ..tacklebox::surroundings::Surroundings::default()
    };
    let host = Runtime::builder(tacklebox::policy::Trust::Untrusted, surroundings).build().await.unwrap();
    let stop = StopInput { reason: "done".into(), attempt: 1 };
    let report = host.stop(&stop, &cx()).await.report;
    assert_eq!(said(&report.explain()), ["`g` (project) not asked: the project brings hooks and is not trusted"]);
}

#[tokio::test]
async fn an_event_that_nobody_blocks_goes_to_the_end_and_a_host_free_report_explains_nothing() {
    let no = hook(EventName::TurnStart, "no", |_| Outcome::block("no"));
    let next = hook(EventName::TurnStart, "next", |_| Outcome::Continue(Change::default()));
    let host = host(vec![no, next]).await;
    let report = host.turn_start(&tacklebox::event::TurnStartInput::default(), &cx()).await.report;
    assert!(report.explain().iter().all(|explained| explained.asked), "{:?}", report.explain());
    assert_eq!(report.clone(), report);
    let fake = tacklebox::FakeRuntime::new();
    assert!(fake.turn_start(&tacklebox::event::TurnStartInput::default(), &cx()).await.report.explain().is_empty());
}

/// A report may be kept for as long as a session is shown.
#[tokio::test]
async fn a_report_that_is_kept_does_not_hold_up_the_end_of_what_was_dropped() {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins/no-rm-rf/no-rm-rf.wasm");
    let host = bare().build().await.unwrap();
    host.load(Source::Skill("s".into()), &plugin, Reach::Everywhere).await.unwrap();
    let code = std::sync::Arc::downgrade(host.hooks()[0].code.as_ref().unwrap());
    let report = asked_about(&host, "rm -rf /").await;
    let ended = host.unregister_all(Source::Skill("s".into())).ended();
    tokio::time::timeout(std::time::Duration::from_secs(60), ended).await.expect("the report does not hold it up");
    assert!(code.upgrade().is_none(), "the plugin is gone");
    let explained = report.explain();
    assert!(explained[0].asked, "{explained:?}");
}

#[tokio::test]
async fn a_report_shows_no_payload_where_it_is_printed() {
    let host = host(vec![hook(EventName::PreToolUse, "g", |event| {
        assert!(is_about(event, "echo hunter2"));
        Outcome::pass()
    })])
    .await;
    let report = host.pre_tool_use(&bash("echo hunter2"), &Context::new("s")).await.report;
    assert!(!format!("{report:?}").contains("hunter2"), "{report:?}");
}
