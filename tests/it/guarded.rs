//! Reloads of a guarded host: they add at once, and what they would take from a gate waits.

use std::sync::Arc;

use serde_json::{Value, json};
use tacklebox::Runtime;
use tacklebox::bus::{Heard, Record};
use tacklebox::event::EventName;
use tacklebox::registry::{Hook, Loss, Waiting};
use tacklebox::source::{Reach, Source};

use crate::agent::{Seen, bash, cx, spy};
use crate::place::{Place, blocked, guard, pre_tool_use, said};
use tacklebox::HookRuntime as _;

async fn guarded(place: &Place) -> Runtime {
    place.builder().guarded_reload().build().await.unwrap()
}

/// `name: loss` of each hook that waits.
fn waits(host: &Runtime) -> Vec<String> {
    let words =
        |waiting: Waiting| waiting.hooks.iter().map(|held| format!("{}: {}", held.hook, word(&held.loss))).collect();
    host.waiting().map_or_else(Vec::new, words)
}

fn word(loss: &Loss) -> &'static str {
    match loss {
        Loss::Gone => "gone",
        Loss::Changed { .. } => "changed",
        Loss::Replaced { .. } => "replaced",
        Loss::Disabled => "disabled",
    }
}

fn accept(host: &Runtime) {
    host.accept(host.waiting().unwrap().reading).unwrap();
}

/// The names of the hooks, in the order in which they are asked.
fn names(host: &Runtime) -> Vec<String> {
    host.hooks().iter().map(|hook| hook.spec.name.to_string()).collect()
}

fn the(host: &Runtime, name: &str) -> Arc<Hook> {
    host.hooks().into_iter().find(|hook| hook.spec.name.as_str() == name).unwrap()
}

#[tokio::test]
async fn what_a_reload_takes_from_a_gate_stays_until_it_is_accepted() {
    let ours = || [guard("before", "aaa"), guard("it", "rm"), guard("after", "zzz")];
    let loosened = json!({"name": "it", "command": "exit 0"});
    let narrowed = {
        let mut it = guard("it", "rm");
        it["matcher"] = "write".into();
        it
    };
    let keep = |it: Option<Value>| {
        let [before, _, after] = ours();
        pre_tool_use([Some(before), it, Some(after)].into_iter().flatten())
    };
    let mut disabled = pre_tool_use(ours());
    disabled["disabled"] = json!(["it"]);
    let mut all = pre_tool_use(ours());
    all["disableAllHooks"] = true.into();
    let changes: [(&str, Value, Value); 6] = [
        ("gone", keep(None), json!({})),
        ("changed", keep(Some(loosened.clone())), json!({})),
        ("changed", keep(Some(narrowed)), json!({})),
        ("replaced", pre_tool_use(ours()), pre_tool_use([loosened])),
        ("disabled", disabled, json!({})),
        ("disabled", all, json!({})),
    ];
    for (loss, user, project) in changes {
        let place = Place::new();
        place.user(pre_tool_use(ours()));
        let host = guarded(&place).await;
        let (it, revision) = (the(&host, "it"), host.revision());
        place.user(&user);
        place.project_says(&project);
        let loaded = host.reload().await;
        assert_eq!(blocked(&host, "rm x").await.as_deref(), Some("it"), "{user} {project}");
        assert!(Arc::ptr_eq(&it, &the(&host, "it")), "it is the same object");
        assert!(waits(&host).contains(&format!("it: {loss}")), "{:?}", waits(&host));
        assert_eq!(loaded.waiting, host.waiting());
        assert!(said(&host).contains("stays in force"), "{}", said(&host));
        assert_eq!(names(&host).iter().position(|name| name == "it"), Some(1), "in its place");

        let waiting = host.waiting().unwrap();
        let accepted = host.accept(waiting.reading).unwrap();
        assert!(accepted.revision > revision && accepted.dropped.hooks >= 1);
        drop(it);
        accepted.dropped.ended().await;
        assert_eq!(blocked(&host, "rm x").await, None, "{user} {project}");
        assert_eq!(host.waiting(), None);
        assert_eq!(host.accept(waiting.reading).unwrap_err().waiting, None);
    }
}

#[tokio::test]
async fn without_the_guard_a_reload_is_whole() {
    let place = Place::new();
    place.user(pre_tool_use([guard("it", "rm")]));
    let host = place.builder().build().await.unwrap();
    place.user(json!({}));
    assert_eq!(host.reload().await.waiting, None);
    assert_eq!(blocked(&host, "rm x").await, None);
}

#[tokio::test]
async fn what_is_new_counts_at_once_and_what_gates_nothing_goes_at_once() {
    let place = Place::new();
    let log = json!({"name": "log", "command": "true"});
    place.user(json!({"hooks": {"PreToolUse": [guard("old", "rm")], "TurnEnd": [log]}}));
    let host = guarded(&place).await;
    place.user(pre_tool_use([guard("new", "curl")]));
    host.reload().await;
    assert_eq!(blocked(&host, "curl").await.as_deref(), Some("new"));
    assert_eq!(blocked(&host, "rm").await.as_deref(), Some("old"));
    assert_eq!(waits(&host), ["old: gone"]);
    assert!(!names(&host).contains(&"log".to_owned()));
}

#[tokio::test]
async fn nobody_accepts_what_they_have_not_seen() {
    let place = Place::new();
    place.user(pre_tool_use([guard("a", "aaa"), guard("b", "bbb")]));
    let host = guarded(&place).await;
    place.user(pre_tool_use([guard("a", "aax"), guard("b", "bbb")]));
    host.reload().await;
    let shown = host.waiting().unwrap();
    // Once more the same is the same.
    host.reload().await;
    assert_eq!(host.waiting().unwrap(), shown);
    // What stands in for the one that waits is another now, although the same hook waits.
    place.user(pre_tool_use([json!({"name": "a", "command": "true"}), guard("b", "bbb")]));
    host.reload().await;
    let refused = host.accept(shown.reading).unwrap_err();
    assert_eq!(refused.waiting, host.waiting());
    assert_ne!(refused.waiting.unwrap().reading, shown.reading);
    let shown = host.waiting().unwrap();
    place.user(json!({}));
    host.reload().await;
    assert!(host.accept(shown.reading).unwrap_err().to_string().contains("another reading"));
    assert_eq!(waits(&host), ["a: gone", "b: gone"]);
    for command in ["aaa", "bbb"] {
        assert!(blocked(&host, command).await.is_some(), "{command}");
    }
    accept(&host);
    assert!(host.hooks().is_empty());
}

#[tokio::test]
async fn reloads_do_not_pile_up_and_a_hook_that_comes_back_needs_nobody() {
    let place = Place::new();
    place.user(pre_tool_use([guard("it", "rm"), guard("other", "zzz")]));
    let host = guarded(&place).await;
    for word in ["aaa", "bbb", "ccc", "ccc"] {
        place.user(pre_tool_use([guard("it", word), guard("other", "zzz")]));
        host.reload().await;
        assert_eq!(names(&host), ["it", "it", "other"], "{word}");
        assert_eq!(blocked(&host, word).await.as_deref(), Some("it"), "what is new counts");
        assert_eq!(blocked(&host, "rm").await.as_deref(), Some("it"));
    }
    place.user(pre_tool_use([guard("it", "rm"), guard("other", "zzz")]));
    host.reload().await;
    assert_eq!((names(&host), host.waiting()), (vec!["it".to_owned(), "other".to_owned()], None));
    let asked = host.pre_tool_use(&bash("ls"), &cx()).await.report.hooks.len();
    assert_eq!(asked, 2);
}

#[tokio::test]
async fn a_guard_that_came_while_another_waits_is_kept_like_any_other() {
    let place = Place::new();
    // Nameless hooks are called by their place: the second one takes the name of the first.
    let nameless = |word: &str| {
        let mut guard = guard("x", word);
        guard.as_object_mut().unwrap().remove("name");
        guard
    };
    place.user(pre_tool_use([nameless("aaa"), nameless("bbb")]));
    let host = guarded(&place).await;
    place.user(pre_tool_use([nameless("bbb"), guard("new", "ccc")]));
    host.reload().await;
    assert_eq!(host.waiting().unwrap().hooks.len(), 1);
    place.user(json!({}));
    host.reload().await;
    for command in ["aaa", "bbb", "ccc"] {
        assert!(blocked(&host, command).await.is_some(), "{command}: {:?}", names(&host));
    }
    assert_eq!(host.waiting().unwrap().hooks.len(), 3);
}

#[tokio::test]
async fn what_users_newly_disable_among_plugins_waits_too() {
    let place = Place::new();
    place.user(json!({"disabled": ["never"]}));
    let host = guarded(&place).await;
    let seen = Seen::default();
    let source = Source::Plugin("p".into());
    let hooks = ["h", "never"].map(|name| spy(EventName::PreToolUse, name, &seen));
    host.register(source.clone(), Reach::Everywhere, hooks).unwrap();
    place.user(json!({"disabled": ["never", "h"]}));
    host.reload().await;
    blocked(&host, "one").await;
    assert_eq!((seen.all(), waits(&host)), (vec!["one".to_owned()], vec!["h: disabled".to_owned()]));
    assert!(!host.is_disabled(&the(&host, "h")) && host.is_disabled(&the(&host, "never")));
    host.reload().await;
    assert_eq!(waits(&host), ["h: disabled"]);
    place.user(json!({"disabled": ["never"]}));
    host.reload().await;
    assert_eq!(host.waiting(), None);
    place.user(json!({"disableAllHooks": true}));
    host.reload().await;
    accept(&host);
    blocked(&host, "two").await;
    assert_eq!(seen.all(), ["one"]);
    assert!(host.is_disabled(&the(&host, "h")));
    // What is disabled once more, or before its plugin comes, is accepted once more.
    place.user(json!({}));
    host.reload().await;
    place.user(json!({"disabled": ["h"]}));
    host.reload().await;
    assert_eq!(waits(&host), ["h: disabled"]);
    // What the embedder drops is its own word.
    host.unregister_all(source);
    assert_eq!(host.waiting(), None);
    let late = Source::Skill("late".into());
    host.register(late, Reach::Everywhere, [spy(EventName::PreToolUse, "h", &seen)]).unwrap();
    blocked(&host, "three").await;
    assert_eq!((seen.all().last().unwrap().as_str(), waits(&host)), ("three", vec!["h: disabled".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_bytes_in_a_plugin_wait_and_a_broken_one_changes_nothing() {
    let place = Place::new();
    let [deny, other] = ["no-rm-rf", "protect-hooks"].map(crate::place::component);
    place.lay("home/.freecode/guard.wasm", &deny);
    place.user(pre_tool_use([json!({"name": "guard", "type": "callback", "plugin": "guard.wasm"})]));
    let host = guarded(&place).await;
    place.lay("home/.freecode/guard.wasm", &other);
    host.reload().await;
    assert!(blocked(&host, "rm -rf x").await.is_some());
    assert_eq!(waits(&host), ["guard: changed"]);
    place.lay("home/.freecode/guard.wasm", "half");
    host.reload().await;
    assert_eq!(names(&host), ["guard", "guard"], "{}", said(&host));
    let digests: Vec<_> = host.hooks().iter().map(|hook| hook.code.as_ref().unwrap().digest()).collect();
    assert_ne!(digests[0], digests[1], "each goes on with its own plugin");
    place.lay("home/.freecode/guard.wasm", &deny);
    host.reload().await;
    assert_eq!((names(&host).len(), host.waiting()), (1, None));
}

#[tokio::test]
async fn a_hook_that_is_kept_runs_once_in_a_session_beside_the_one_with_its_name() {
    let place = Place::new();
    let log = place.path("log");
    let once =
        |word: &str| json!({"name": "it", "once": true, "command": format!("echo {word} >> '{}'", log.display())});
    place.user(pre_tool_use([once("old")]));
    let host = guarded(&place).await;
    blocked(&host, "ls").await;
    place.user(pre_tool_use([once("new")]));
    for _ in 0..3 {
        host.reload().await;
        blocked(&host, "ls").await;
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "old\nnew\n");
}

#[tokio::test]
async fn a_closed_gate_is_not_opened_by_a_reload() {
    let place = Place::new();
    place.user(pre_tool_use([json!({"name": "guard", "type": "callback", "plugin": "gone.wasm"})]));
    let host = guarded(&place).await;
    assert!(blocked(&host, "ls").await.is_some());
    place.lay("home/.freecode/gone.wasm", crate::place::component("no-rm-rf"));
    host.reload().await;
    assert!(blocked(&host, "ls").await.is_some());
    accept(&host);
    assert_eq!(blocked(&host, "ls").await, None);
}

#[tokio::test]
async fn who_listens_hears_that_something_waits() {
    let place = Place::new();
    place.user(pre_tool_use([guard("it", "rm")]));
    let host = guarded(&place).await;
    place.user(json!({}));
    let mut records = host.listen();
    host.reload().await;
    let reading = host.waiting().unwrap().reading;
    let mut heard = Vec::new();
    while let Some(Heard::Record(record)) = records.try_next() {
        heard.push(record);
    }
    assert!(heard.iter().any(|record| **record == Record::Waiting { reading, hooks: 1 }), "{heard:?}");
    assert!(heard.iter().any(|record| record.name() == "hook.warning"));
    // Told once.
    host.reload().await;
    while let Some(Heard::Record(record)) = records.try_next() {
        assert_ne!(record.name(), "hook.waiting");
    }
}
