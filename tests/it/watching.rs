//! Settings and plugins that change on a real file system while a host watches them.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tacklebox::Runtime;
use tacklebox::bus::{Heard, Record, Records};
use tacklebox::runtime::{WatchError, Watching};
use tacklebox::source::{Reach, Source};

use crate::place::{Place, blocked, component, guard, pre_tool_use, said, write};

/// A busy machine may take so long for what takes a second on an idle one.
const PATIENCE: Duration = Duration::from_secs(30);

const USER: &str = "home/.freecode/settings.json";

async fn watched(place: &Place) -> (Arc<Runtime>, Watching) {
    watching(place.host().await)
}

fn watching(host: Runtime) -> (Arc<Runtime>, Watching) {
    let host = Arc::new(host);
    let watching = host.watch().unwrap();
    (host, watching)
}

/// Waits until `is` is so.
async fn until(what: &str, mut is: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !is().await {
        assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until a call is blocked by `name`.
async fn until_blocked(host: &Runtime, command: &str, name: &str) {
    until(name, async || blocked(host, command).await.as_deref() == Some(name)).await;
}

/// Waits until all that was done to files so far has been seen. A change that is made last is heard last.
async fn until_all_is_seen(place: &Place, host: &Runtime) {
    let mark = format!("mark-{}", host.revision());
    let text = pre_tool_use([guard(&mark, &mark)]).to_string();
    replace(&place.path("project/.freecode/settings.json"), text.as_bytes());
    until_blocked(host, &mark, &mark).await;
}

fn reloads(records: &mut Records) -> usize {
    let mut count = 0;
    while let Some(heard) = records.try_next() {
        count += usize::from(matches!(heard, Heard::Record(record) if matches!(*record, Record::Reloaded { .. })));
    }
    count
}

fn replace(path: &Path, content: &[u8]) {
    let beside = path.with_extension("new");
    write(&beside, content);
    fs::rename(beside, path).unwrap();
}

#[tokio::test]
async fn a_burst_of_edits_is_few_reloads_and_ends_with_the_last_content() {
    let place = Place::new();
    place.user(pre_tool_use([guard("first", "x")]));
    let (host, _watching) = watched(&place).await;
    let mut records = host.listen();
    for burst in ["a", "b"] {
        for n in 0..100 {
            place.user(pre_tool_use([guard(&format!("{burst}-{n}"), "x")]));
        }
        until_blocked(&host, "x", &format!("{burst}-99")).await;
        let count = reloads(&mut records);
        assert!(count <= 2, "{count} reloads for 100 edits");
    }
}

#[tokio::test]
async fn a_file_is_seen_however_it_is_replaced() {
    let place = Place::new();
    place.user(pre_tool_use([guard("written", "x")]));
    let (host, _watching) = watched(&place).await;
    let file = place.path(USER);
    let text = |name: &str| pre_tool_use([guard(name, "x")]).to_string();

    replace(&file, text("renamed").as_bytes());
    until_blocked(&host, "x", "renamed").await;
    fs::remove_file(&file).unwrap();
    write(&file, text("made-anew"));
    until_blocked(&host, "x", "made-anew").await;
    // The folder, and all that is in it.
    let folder = place.path("home/.freecode");
    fs::rename(&folder, place.path("home/moved")).unwrap();
    fs::create_dir(&folder).unwrap();
    write(&file, text("in-a-new-folder"));
    until_blocked(&host, "x", "in-a-new-folder").await;
    write(&file, text("once-more"));
    until_blocked(&host, "x", "once-more").await;
}

#[tokio::test]
async fn a_link_is_seen_where_it_lies_and_where_it_leads() {
    let place = Place::new();
    let text = |name: &str| pre_tool_use([guard(name, "x")]).to_string();
    place.lay("one.json", text("one"));
    place.lay("two.json", text("two"));
    symlink("../../one.json", place.path(USER)).unwrap();
    let (host, _watching) = watched(&place).await;
    until_blocked(&host, "x", "one").await;
    place.lay("one.json", text("one-changed"));
    until_blocked(&host, "x", "one-changed").await;
    symlink("../../two.json", place.path("home/.freecode/link")).unwrap();
    fs::rename(place.path("home/.freecode/link"), place.path(USER)).unwrap();
    until_blocked(&host, "x", "two").await;
}

#[tokio::test]
async fn a_folder_that_appears_later_is_seen() {
    let place = Place::bare();
    let (host, _watching) = watched(&place).await;
    // Made beside and moved there, so that nothing is heard of the file itself.
    fs::create_dir(place.path("made")).unwrap();
    place.lay("made/settings.json", pre_tool_use([guard("moved", "x")]).to_string());
    fs::rename(place.path("made"), place.path("home/.freecode")).unwrap();
    until_blocked(&host, "x", "moved").await;
    fs::create_dir(place.path("project/.freecode")).unwrap();
    place.project_says(pre_tool_use([guard("projects", "y")]));
    until_blocked(&host, "y", "projects").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_vanishes_for_a_second_loses_no_dispatch_its_guard() {
    let place = Place::new();
    let text = pre_tool_use([guard("it", "x")]).to_string();
    place.user(&text);
    let (host, _watching) = watched(&place).await;
    let done = Arc::new(AtomicBool::new(false));
    let asking = tokio::spawn({
        let (host, done) = (host.clone(), done.clone());
        async move {
            while !done.load(Ordering::SeqCst) {
                assert_eq!(blocked(&host, "x").await.as_deref(), Some("it"));
            }
        }
    });
    fs::remove_file(place.path(USER)).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    place.user(&text);
    until_all_is_seen(&place, &host).await;
    done.store(true, Ordering::SeqCst);
    asking.await.unwrap();
    // One that stays away is gone.
    fs::remove_file(place.path(USER)).unwrap();
    until("gone", async || blocked(&host, "x").await.is_none()).await;
    assert!(said(&host).contains("the file is gone"), "{}", said(&host));
}

#[tokio::test]
async fn a_broken_save_keeps_the_last_good_hooks_and_the_next_good_one_is_taken() {
    let place = Place::new();
    place.user(pre_tool_use([guard("it", "x")]));
    let (host, _watching) = watched(&place).await;
    let revision = host.revision();
    place.user("{\"hooks\": {");
    until("read", async || host.revision() > revision).await;
    assert_eq!(blocked(&host, "x").await.as_deref(), Some("it"));
    assert!(said(&host).contains("settings.json"), "{}", said(&host));
    place.user(pre_tool_use([guard("good", "x")]));
    until_blocked(&host, "x", "good").await;
}

#[tokio::test]
async fn a_touched_file_is_not_loaded_anew() {
    let place = Place::new();
    place.user(pre_tool_use([guard("it", "x")]));
    let (host, _watching) = watched(&place).await;
    let mut records = host.listen();
    let file = || File::options().append(true).open(place.path(USER)).unwrap();
    file().set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    replace(&place.path(USER), &fs::read(place.path(USER)).unwrap());
    // Long enough that what was done is looked at by itself.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(reloads(&mut records), 0);
    until_all_is_seen(&place, &host).await;
    assert_eq!(reloads(&mut records), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugins_bytes_count_and_not_its_time_stamp() {
    let place = Place::new();
    let [first, second] = ["no-rm-rf", "protect-hooks"].map(component);
    place.lay("home/.freecode/guard.wasm", &first);
    place.user(pre_tool_use([json!({"name": "guard", "type": "callback", "plugin": "guard.wasm"})]));
    let (host, _watching) = watched(&place).await;
    let plugin = place.path("home/.freecode/guard.wasm");
    let stamp = fs::metadata(&plugin).unwrap().modified().unwrap();
    let digest = || host.hooks()[0].code.as_ref().unwrap().digest();
    let before = digest();
    write(&plugin, &second);
    File::options().append(true).open(&plugin).unwrap().set_modified(stamp).unwrap();
    until("other code", async || digest() != before).await;
    // Half of it is none: what was loaded before goes on.
    let (now, revision) = (digest(), host.revision());
    write(&plugin, &first[..first.len() / 2]);
    until("looked at", async || host.revision() > revision).await;
    assert_eq!(digest(), now);
    write(&plugin, &first);
    until("whole again", async || digest() == before).await;
}

/// A package with one guard, which denies what `config` says.
fn lay_package(place: &Place, deny: &str) {
    let said = json!({"name": "p", "component": "p.wasm", "config": {"deny": [deny]},
        "hooks": {"PreToolUse": [{"name": "guard", "type": "callback"}]}});
    replace(&place.path("package/plugin.json"), said.to_string().as_bytes());
}

async fn with_package(place: &Place, builder: tacklebox::RuntimeBuilder) -> (Arc<Runtime>, Watching) {
    fs::create_dir(place.path("package")).unwrap();
    place.lay("package/p.wasm", component("no-rm-rf"));
    lay_package(place, "one");
    let host = builder.build().await.unwrap();
    host.load(Source::Plugin("p".into()), place.path("package"), Reach::Everywhere).await.unwrap();
    watching(host)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_is_loaded_anew_as_a_whole_or_not_at_all() {
    let place = Place::new();
    let (host, _watching) = with_package(&place, place.builder()).await;
    assert!(blocked(&host, "one").await.is_some(), "{}", said(&host));
    lay_package(&place, "two");
    until("two", async || blocked(&host, "two").await.is_some()).await;
    assert!(blocked(&host, "one").await.is_none());
    write(&place.path("package/plugin.json"), "{");
    until("said", async || said(&host).contains("has changed and is not loaded")).await;
    assert!(blocked(&host, "two").await.is_some());
    fs::remove_file(place.path("package/p.wasm")).unwrap();
    lay_package(&place, "three");
    until("said", async || said(&host).contains("p.wasm")).await;
    assert!(blocked(&host, "two").await.is_some());
    place.lay("package/p.wasm", component("no-rm-rf"));
    until("three", async || blocked(&host, "three").await.is_some()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_embedder_dropped_is_not_brought_back() {
    let place = Place::new();
    let (host, _watching) = with_package(&place, place.builder()).await;
    host.unregister_all(Source::Plugin("p".into()));
    lay_package(&place, "two");
    until_all_is_seen(&place, &host).await;
    assert_eq!(host.hooks().len(), 1);
    assert!(blocked(&host, "two").await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_guarded_host_sees_change_waits() {
    let place = Place::new();
    place.user(pre_tool_use([guard("it", "x")]));
    let (host, _watching) = with_package(&place, place.builder().guarded_reload()).await;
    let names = || -> Vec<String> {
        let waiting = host.waiting();
        waiting.iter().flat_map(|waiting| &waiting.hooks).map(|held| held.hook.to_string()).collect()
    };
    place.user(json!({}));
    until("it waits", async || names() == ["it"]).await;
    lay_package(&place, "two");
    until("the plugin waits", async || names() == ["it", "guard"]).await;
    for command in ["x", "one", "two"] {
        assert!(blocked(&host, command).await.is_some(), "{command}");
    }
    host.accept(host.waiting().unwrap().reading).unwrap();
    for (command, blocks) in [("x", false), ("one", false), ("two", true)] {
        assert_eq!(blocked(&host, command).await.is_some(), blocks, "{command}");
    }
}

#[tokio::test]
async fn dropping_the_watching_ends_it() {
    let place = Place::new();
    place.user(pre_tool_use([guard("it", "x")]));
    let (host, watching) = watched(&place).await;
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    until("it watches", async || alive() == 1).await;
    drop(watching);
    until("it ended", async || alive() == 0).await;
    place.user(json!({}));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(blocked(&host, "x").await.as_deref(), Some("it"));
}

#[tokio::test]
async fn dropping_the_host_ends_it_and_it_keeps_no_host_alive() {
    let place = Place::new();
    let (host, _watching) = watched(&place).await;
    until_all_is_seen(&place, &host).await;
    let weak = Arc::downgrade(&host);
    drop(host);
    until("the host is gone", async || weak.upgrade().is_none()).await;
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    until("it ended", async || alive() == 0).await;
}

#[tokio::test]
async fn a_shutdown_ends_it() {
    let place = Place::new();
    let (host, _watching) = watched(&place).await;
    until_all_is_seen(&place, &host).await;
    host.shutdown().await;
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    until("it ended", async || alive() == 0).await;
}

#[test]
fn without_a_runtime_nothing_is_watched() {
    let place = Place::new();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let host = Arc::new(tokio.block_on(place.builder().build()).unwrap());
    assert!(matches!(host.watch(), Err(WatchError::NoRuntime)));
}

/// The program, told of one call after the other while its user's settings change.
#[test]
fn a_batch_that_watches_takes_what_is_new_and_keeps_its_guards() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;

    let world = crate::program::World::new();
    world.lay(USER, pre_tool_use([guard("old", "rm")]).to_string().as_bytes());
    let log = File::create(world.path("log")).unwrap();
    let mut command = world.command(&["run", "--batch", "-", "--watch", "-v"]);
    let mut program = command.stdin(Stdio::piped()).stderr(log).spawn().unwrap();
    let (mut to, from) = (program.stdin.take().unwrap(), program.stdout.take().unwrap());
    let mut lines = BufReader::new(from).lines();
    let mut ask = |command: &str| -> Value {
        let line = json!({"event": "PreToolUse", "tool": "bash", "input": {"command": command}});
        writeln!(to, "{line}").unwrap();
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    };
    assert_eq!(ask("rm")["decision"], "block");
    world.lay(USER, pre_tool_use([guard("new", "curl")]).to_string().as_bytes());
    let mut warnings = String::new();
    let began = Instant::now();
    loop {
        let verdict = ask("curl");
        warnings += &verdict["warnings"].to_string();
        if verdict["decision"] == "block" {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{verdict}");
    }
    assert_eq!(ask("rm")["decision"], "block");
    warnings += &ask("ls")["warnings"].to_string();
    assert!(warnings.contains("hook `old`") && warnings.contains("stays in force"), "{warnings}");
    drop(to);
    program.wait().unwrap();
    assert!(fs::read_to_string(world.path("log")).unwrap().contains("stays in force"));
}
