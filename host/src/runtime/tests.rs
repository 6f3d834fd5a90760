//! A host in which a hundred sub-agents come and go: what is bound to one is nobody else's, and nothing of it stays.
#![cfg(feature = "wasm")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Barrier;

use super::*;
use crate::event::{ToolCall, TurnStartInput};
use crate::hook::{FunctionHook, HookSpec};
use crate::outcome::Outcome;
use crate::policy::Trust;
use crate::port::HookRuntime as _;
use crate::report::Report;

const AGENTS: usize = 100;

/// Whose hook was asked, and in which session and tree that was.
type Book = Arc<Mutex<Vec<(Source, SessionId, SessionId)>>>;

fn noting(event: EventName, name: &str, of: &Source, book: &Book) -> HookSpec {
    let (of, book) = (of.clone(), book.clone());
    let note = FunctionHook::new(move |_, cx: Context| {
        book.lock().unwrap().push((of.clone(), cx.session, cx.root_session));
        async { Outcome::pass() }
    });
    HookSpec::new(event, name, note.into())
}

fn failing() -> HookSpec {
    let fail = FunctionHook::new(|_, _| async { panic!("as ever") });
    HookSpec::new(EventName::TurnStart, "failing", fail.into())
}

fn bash() -> ToolCall {
    ToolCall::new("bash", crate::event::Object::from_iter([("command".to_owned(), "ls".into())]))
}

/// A package that counts in its state how often it was asked.
fn counting() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("tests/guests/misbehave/misbehave.wasm");
    std::fs::copy(guest, folder.path().join("misbehave.wasm")).unwrap();
    let manifest = json!({
        "name": "count", "component": "misbehave.wasm", "config": {"do": "state"},
        "hooks": {"PreToolUse": [{"name": "count", "timeout": 120}]},
    });
    let mut file = std::fs::File::create(folder.path().join("plugin.json")).unwrap();
    std::io::Write::write_all(&mut file, manifest.to_string().as_bytes()).unwrap();
    folder
}

/// Only hooks of everybody, of the session itself, and of those whose tree it is in, were asked or even considered.
fn is_about_its_own(report: &Report, cx: &Context) {
    for hook in &report.hooks {
        if let Source::Session(owner) = &hook.source {
            assert!(owner == &cx.session || owner == &cx.root_session, "{owner} in {}: {report:?}", cx.session);
        }
    }
}

async fn tool(host: &Runtime, cx: &Context) {
    is_about_its_own(&host.pre_tool_use(&bash(), cx).await.report, cx);
}

async fn turn(host: &Runtime, cx: &Context) {
    is_about_its_own(&host.turn_start(&TurnStartInput::default(), cx).await.report, cx);
}

/// One sub-agent's whole life.
async fn live(host: Arc<Runtime>, nth: usize, book: Book, package: Arc<tempfile::TempDir>, together: Arc<Barrier>) {
    let cx = Context::new("root").sub_agent(format!("child-{nth}"), format!("a{nth}"), "worker");
    let source = Source::Session(cx.session.clone());
    let reach =
        if nth.is_multiple_of(3) { Reach::Tree(cx.session.clone()) } else { Reach::Session(cx.session.clone()) };
    let once = HookSpec { once: true, ..noting(EventName::TurnStart, "once", &source, &book) };
    let hooks = [noting(EventName::PreToolUse, "own", &source, &book), once, failing()];
    host.register(source.clone(), reach.clone(), hooks).unwrap();
    if nth.is_multiple_of(5) {
        host.load(source.clone(), package.path(), reach).await.unwrap();
    }
    together.wait().await;
    for _ in 0..3 {
        tool(&host, &cx).await;
        // Often enough that one that fails is set aside.
        turn(&host, &cx).await;
        turn(&host, &cx).await;
    }
    if nth.is_multiple_of(3) {
        // A tree of its own under it.
        let below = Context { root_session: cx.session.clone(), ..cx.sub_agent(format!("below-{nth}"), "b", "worker") };
        let asked = host.pre_tool_use(&bash(), &below).await.report;
        assert!(asked.hooks.iter().any(|hook| hook.source == source), "{asked:?}");
        host.session_end(&Default::default(), &below).await;
    }
    together.wait().await;
    match nth % 2 {
        0 => drop(host.session_end(&Default::default(), &cx).await),
        // Dropped first, ended then.
        _ => {
            host.unregister_all(source.clone()).ended().await;
            host.session_end(&Default::default(), &cx).await;
        }
    }
    assert!(host.pre_tool_use(&bash(), &cx).await.report.hooks.iter().all(|hook| hook.source != source));
    host.session_end(&Default::default(), &cx).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_sub_agents_share_no_hook_and_leave_nothing_behind() {
    let host = Runtime::builder(Trust::Trusted, Surroundings::default()).without_settings().build().await.unwrap();
    let (host, book) = (Arc::new(host), Book::default());
    let root = Source::Session("root".into());
    let own = noting(EventName::PreToolUse, "own", &root, &book);
    host.register(root.clone(), Reach::Session("root".into()), [own]).unwrap();
    let tree = noting(EventName::PreToolUse, "tree", &root, &book);
    host.register(root.clone(), Reach::Tree("root".into()), [tree]).unwrap();
    let (package, together) = (Arc::new(counting()), Arc::new(Barrier::new(AGENTS)));
    let agents: Vec<_> = (0..AGENTS)
        .map(|nth| tokio::spawn(live(host.clone(), nth, book.clone(), package.clone(), together.clone())))
        .collect();
    let over = Arc::new(AtomicBool::new(false));
    let parent = tokio::spawn({
        let (host, over) = (host.clone(), over.clone());
        async move {
            while !over.load(Ordering::SeqCst) {
                tool(&host, &Context::new("root")).await;
                turn(&host, &Context::new("root")).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    });
    for agent in agents {
        agent.await.unwrap();
    }
    over.store(true, Ordering::SeqCst);
    parent.await.unwrap();

    let asked = std::mem::take(&mut *book.lock().unwrap());
    for (owner, session, tree) in &asked {
        let Source::Session(owner) = owner else { panic!("{owner}") };
        assert!(owner == session || owner == tree, "a hook of {owner} was asked in {session}");
    }
    for nth in 0..AGENTS {
        let child = SessionId::from(format!("child-{nth}"));
        let of = |hook: &Source, in_child: bool| {
            asked.iter().filter(|(owner, session, _)| owner == hook && (*session == child) == in_child).count()
        };
        // Three times at the tool, once at the turn; a tree once more below it; and the parent's tree reaches it.
        assert_eq!(of(&Source::Session(child.clone()), true), 4);
        assert_eq!(of(&Source::Session(child.clone()), false), usize::from(nth.is_multiple_of(3)));
        assert_eq!(of(&root, true), 4);
    }
    let left: Vec<_> = host.hooks().iter().map(|hook| hook.source.clone()).collect();
    assert_eq!(left, [root.clone(), root]);
    assert!(host.dispatcher.once.is_empty() && host.dispatcher.aside.is_empty());
    assert!(host.loading.keeps_no_state());
    let open: Vec<_> = host.dispatcher.sessions.all_end().into_iter().map(|cx| cx.session).collect();
    assert_eq!(open, ["root".into()]);
}
