//! Sets of hooks that come and go while dispatches run.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tacklebox::event::{EventName, PreToolUse, TurnStart, TurnStartInput};
use tacklebox::hook::{FunctionHook, HookSpec, OnError};
use tacklebox::outcome::{Change, Outcome};
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::agent::{bare, bash, cx, hook, host};

/// A hook that says which generation it is of.
fn says(name: &str, generation: usize) -> HookSpec {
    hook(EventName::TurnStart, name, move |_| {
        Outcome::Continue(Change { context: Some(generation.to_string()), ..Change::default() })
    })
}

/// 10,000 dispatches from 16 tasks while a set is replaced 500 times and another comes and goes 500 times.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_dispatch_sees_a_mixed_or_an_empty_set_and_none_runs_what_was_dropped() {
    let host = Arc::new(host(vec![says("a", 0), says("b", 0)]).await);
    let dropped_up_to = Arc::new(AtomicUsize::new(0));
    let asking: Vec<_> = (0..16)
        .map(|_| {
            let (host, dropped) = (host.clone(), dropped_up_to.clone());
            tokio::spawn(async move {
                for _ in 0..625 {
                    let before = dropped.load(Ordering::SeqCst);
                    let answer = host.turn_start(&TurnStartInput::default(), &cx()).await;
                    let TurnStart::Told { context: Some(context) } = answer.verdict else { panic!("an empty set") };
                    let said: Vec<usize> = context.lines().map(|line| line.parse().unwrap()).collect();
                    assert!(said.len() == 2 || said.len() == 4, "half a set: {said:?}");
                    assert_eq!(said.iter().collect::<HashSet<_>>().len(), said.len() / 2, "a mixed set: {said:?}");
                    assert!(said[0] >= before, "dropped before this dispatch began: {said:?} after {before}");
                }
            })
        })
        .collect();
    for generation in 1..=500 {
        host.register(Source::Sdk, Reach::Everywhere, [says("a", generation), says("b", generation)]).unwrap();
        dropped_up_to.store(generation, Ordering::SeqCst);
        let skill = Source::Skill("s".into());
        let marked = generation + 1_000_000;
        host.register(skill.clone(), Reach::Everywhere, [says("c", marked), says("d", marked)]).unwrap();
        tokio::task::yield_now().await;
        assert_eq!(host.unregister_all(skill).hooks, 2);
    }
    for task in asking {
        task.await.unwrap();
    }
}

/// A guard that waits until it is told to answer, and says when it was asked.
fn waiting(asked: &Arc<Notify>, answer: &Arc<Notify>) -> HookSpec {
    let (asked, answer) = (asked.clone(), answer.clone());
    let wait = FunctionHook::new(move |_, _| {
        let (asked, answer) = (asked.clone(), answer.clone());
        async move {
            asked.notify_one();
            answer.notified().await;
            Outcome::block("no")
        }
    });
    HookSpec { on_error: Some(OnError::Pass), ..HookSpec::new(EventName::PreToolUse, "guard", wait.into()) }
}

/// A dispatch that has come as far as asking the guard.
async fn asking(host: &Arc<Runtime>, asked: &Notify) -> JoinHandle<PreToolUse> {
    let host = host.clone();
    let dispatch = tokio::spawn(async move { host.pre_tool_use(&bash("ls"), &cx()).await.verdict });
    asked.notified().await;
    dispatch
}

#[tokio::test]
async fn the_answer_of_a_guard_that_runs_while_it_is_dropped_counts() {
    let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let host = Arc::new(host(vec![waiting(&asked, &answer)]).await);
    let asking = asking(&host, &asked).await;
    let dropped = host.unregister_all(Source::Sdk);
    assert_eq!((dropped.hooks, dropped.running), (1, 1));
    let ended = Arc::new(AtomicBool::new(false));
    let waiting = tokio::spawn({
        let ended = ended.clone();
        async move {
            dropped.ended().await;
            ended.store(true, Ordering::SeqCst);
        }
    });
    tokio::task::yield_now().await;
    assert!(!ended.load(Ordering::SeqCst));
    answer.notify_one();
    assert!(matches!(asking.await.unwrap(), PreToolUse::Blocked { reason, .. } if reason == "no"));
    waiting.await.unwrap();
}

#[tokio::test]
async fn a_guard_that_is_cancelled_blocks_whatever_its_silence_means() {
    let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let host = Arc::new(host(vec![waiting(&asked, &answer)]).await);
    let asking = asking(&host, &asked).await;
    let dropped = host.unregister_all_now(Source::Sdk);
    let PreToolUse::Blocked { reason, .. } = asking.await.unwrap() else { panic!("it did not block") };
    assert!(reason.contains("cancelled"), "{reason}");
    dropped.ended().await;
    let again = host.pre_tool_use(&bash("ls"), &cx()).await.verdict;
    assert!(matches!(again, PreToolUse::Proceed { .. }), "the agent asks again and meets the new set: {again:?}");
    let none = bare().build().await.unwrap().unregister_all_now(Source::Sdk);
    assert_eq!(none.hooks, 0);
}
