//! Each field of a hook is in its line, and the line is what it was.

use std::path::PathBuf;
use std::time::Duration;

use super::super::ration::Ration;
use super::super::{Brought, BroughtPlugin, NamedFile};
use super::*;
use crate::diagnostic::Place;
use crate::event::{EventName, Object};
use crate::matching::{Condition, Matcher};
use crate::permission::{Folder, Host, Hosts, Permissions, Start};
use crate::plugin::Digest;
use crate::source::{Scope, Source};
use crate::surroundings::Surroundings;

fn root(project: &str) -> Root {
    Root::of(&Surroundings { project: Some(project.into()), ..Surroundings::default() }).unwrap()
}

fn hook(change: impl FnOnce(&mut HookSpec)) -> HookSpec {
    let mut spec = HookSpec::new(EventName::PreToolUse, "guard", CommandHook::new("exit 2").into());
    change(&mut spec);
    spec
}

fn command(change: impl FnOnce(&mut CommandHook)) -> HookSpec {
    let mut command = CommandHook::new("exit 2");
    change(&mut command);
    hook(|spec| spec.kind = command.into())
}

fn callback(change: impl FnOnce(&mut CallbackHook)) -> HookSpec {
    let mut callback = CallbackHook::new("/p/x.wasm");
    change(&mut callback);
    hook(|spec| spec.kind = callback.into())
}

fn granted(grant: impl FnOnce(Permissions) -> Permissions) -> HookSpec {
    callback(|c| c.grant = grant(Permissions::default()))
}

fn host(name: &str, port: Option<u16>) -> Host {
    Host { name: name.to_owned(), subdomains: false, port }
}

fn digest(specs: Vec<HookSpec>) -> Digest {
    brought(specs).digest()
}

fn brought(specs: Vec<HookSpec>) -> Brought {
    let hooks = specs.into_iter().map(|spec| (Source::Settings(Scope::Project), spec)).collect();
    Brought::new(root("/p"), hooks, |_| None, &Ration::unbounded())
}

#[test]
fn every_field_of_a_hook_changes_the_digest() {
    let keep = |name: &str| HookEnv::Keep(vec![name.to_owned()]);
    let set = |name: &str, value: &str| HookEnv::Set(vec![(name.to_owned(), value.to_owned())]);
    let variants = vec![
        hook(|_| {}),
        hook(|h| h.event = EventName::PostToolUse),
        hook(|h| h.name = "other".into()),
        hook(|h| h.named = false),
        hook(|h| h.matcher = Matcher::new("bash").unwrap()),
        hook(|h| h.condition = Some(Condition::new("bash(rm *)").0)),
        hook(|h| h.timeout = Some(Duration::from_secs(1))),
        hook(|h| h.timeout = Some(Duration::from_nanos(1))),
        hook(|h| h.once = true),
        hook(|h| h.on_error = Some(OnError::Block)),
        hook(|h| h.on_error = Some(OnError::Pass)),
        hook(|h| h.max_attempts = Some(1)),
        hook(|h| h.is_final = true),
        command(|c| c.command = "exit 0".to_owned()),
        command(|c| c.args = Some(Vec::new())),
        command(|c| c.args = Some(vec!["a".to_owned(), "b".to_owned()])),
        command(|c| c.args = Some(vec!["a b".to_owned()])),
        command(|c| c.shell = Shell::Powershell),
        command(|c| c.env = keep("A")),
        command(|c| c.env = keep("B")),
        command(|c| c.env = set("A", "b")),
        command(|c| c.env = set("A", "c")),
        command(|c| c.dialect = Dialect::Claude),
        command(|c| c.on_cut = OnCut::Block),
        command(|c| c.plugin_root = Some("/p/kit".into())),
        command(|c| c.plugin_root = Some("/p/other".into())),
        hook(|h| h.kind = InjectHook { text: "a".to_owned() }.into()),
        hook(|h| h.kind = InjectHook { text: "b".to_owned() }.into()),
        hook(|h| h.kind = PromptHook::new("a").into()),
        hook(|h| h.kind = PromptHook::new("b").into()),
        hook(|h| h.kind = PromptHook { model: Some("m".to_owned()), ..PromptHook::new("a") }.into()),
        callback(|_| {}),
        callback(|c| c.plugin = "/p/y.wasm".into()),
        callback(|c| c.function = Some("f".to_owned())),
        callback(|c| c.config = Object::from_iter([("a".to_owned(), 1.into())])),
        granted(|g| g.reading(Folder::project())),
        granted(|g| g.reading(Folder::project().below("a").unwrap())),
        granted(|g| g.reading(Folder::absolute("/p").unwrap())),
        granted(|g| g.reading(Folder::absolute("/p/~").unwrap())),
        granted(|g| g.reading(Folder::absolute("/~").unwrap())),
        granted(|g| g.reading(Folder::at(Start::Home))),
        granted(|g| g.reading(Folder::plugin())),
        granted(|g| g.reading(Folder::data())),
        granted(|g| g.writing(Folder::data())),
        granted(|g| g.reading(Folder::data()).writing(Folder::data())),
        granted(|g| g.seeing("A")),
        granted(|g| g.seeing("B")),
        granted(|g| g.seeing("A").seeing("B")),
        granted(|g| g.running("A")),
        granted(|g| g.running("B")),
        granted(|g| Permissions { http: Hosts(vec![host("a", None)]), ..g }),
        granted(|g| Permissions { http: Hosts(vec![host("a", Some(1))]), ..g }),
        granted(|g| g.approving()),
        callback(|c| c.limits.memory = Some(1 << 20)),
        callback(|c| c.limits.table_elements = Some(1 << 20)),
        callback(|c| c.limits.processor = Some(Duration::from_nanos(1 << 20))),
        callback(|c| c.limits.processor = Some(Duration::from_nanos(1 << 21))),
        callback(|c| c.instance = Some(Lifetime::Call)),
        callback(|c| c.instance = Some(Lifetime::Session)),
    ];
    let mut digests: Vec<_> = variants.into_iter().map(|spec| digest(vec![spec])).collect();
    let [a, b] = [hook(|_| {}), hook(|h| h.name = "b".into())];
    digests.extend([digest(vec![a.clone(), b.clone()]), digest(vec![b, a]), digest(Vec::new())]);
    let local = (Source::Settings(Scope::Local), hook(|_| {}));
    digests.push(Brought::new(root("/p"), vec![local], |_| None, &Ration::unbounded()).digest());
    let all = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), all, "two different hooks have one digest");
}

fn whole(change: impl FnOnce(&mut BroughtPlugin)) -> Digest {
    let plugin = WholePlugin {
        name: "kit".into(),
        path: "/p/kit".into(),
        given: Given::default(),
        config: Object::new(),
        place: Place::default(),
    };
    let mut brought = BroughtPlugin {
        source: Source::Settings(Scope::Project),
        plugin,
        on_error: None,
        disabled: Vec::new(),
        files: Vec::new(),
        hooks: Vec::new(),
    };
    change(&mut brought);
    Brought::new(root("/p"), Vec::new(), |_| None, &Ration::unbounded()).loading(vec![brought]).digest()
}

#[test]
fn every_field_of_a_plugin_that_is_loaded_whole_changes_the_digest() {
    let one = || Object::from_iter([("a".to_owned(), 1.into())]);
    let file = |digest: Option<&[u8]>| vec![NamedFile { path: "kit/p.wasm".into(), digest: digest.map(Digest::of) }];
    let listed = |spec: HookSpec| BroughtHook { source: Source::Settings(Scope::Project), spec, files: Vec::new() };
    let mut digests = vec![
        digest(Vec::new()),
        whole(|_| {}),
        whole(|b| b.source = Source::Settings(Scope::Local)),
        whole(|b| b.plugin.name = "other".into()),
        whole(|b| b.plugin.path = "/p/other".into()),
        whole(|b| b.plugin.given.permissions = Permissions::default().running("a")),
        whole(|b| b.plugin.given.limits.memory = Some(1 << 20)),
        whole(|b| b.plugin.given.limits.processor = Some(Duration::from_nanos(1 << 20))),
        whole(|b| b.plugin.given.instance = Some(Lifetime::Session)),
        whole(|b| b.plugin.config = one()),
        whole(|b| b.on_error = Some(OnError::Pass)),
        whole(|b| b.on_error = Some(OnError::Block)),
        whole(|b| b.disabled = vec!["a".to_owned()]),
        whole(|b| b.files = file(None)),
        whole(|b| b.files = file(Some(b"1"))),
        whole(|b| b.files = file(Some(b"2"))),
        whole(|b| b.hooks = vec![listed(hook(|_| {}))]),
        whole(|b| b.hooks = vec![listed(hook(|h| h.once = true))]),
    ];
    let all = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), all, "two different plugins have one digest");
    let elsewhere = whole(|b| b.plugin.place = Place::file("/p/x.json"));
    assert_eq!(elsewhere, whole(|_| {}), "where it is written has no part in it");
}

#[test]
fn a_plugins_bytes_and_plugin_json_change_the_digest() {
    let with = |files: Option<Vec<(&str, &[u8])>>| {
        let files = files
            .map(|files| files.into_iter().map(|(path, bytes)| (PathBuf::from(path), Digest::of(bytes))).collect());
        let files: Option<Vec<_>> = files;
        let hooks = vec![(Source::Settings(Scope::Project), callback(|_| {}))];
        Brought::new(root("/p"), hooks, |_| files.clone(), &Ration::unbounded()).digest()
    };
    let mut digests = vec![
        with(None),
        with(Some(vec![("/p/x.wasm", b"a")])),
        with(Some(vec![("/p/x.wasm", b"b")])),
        with(Some(vec![("/p/x.wasm", b"a"), ("/p/plugin.json", b"{}")])),
        with(Some(vec![("/p/x.wasm", b"a"), ("/p/plugin.json", b"{ }")])),
    ];
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 5);
}

#[test]
fn where_it_is_written_has_no_part_in_it() {
    let placed = hook(|h| h.place = Place { line: Some(7), ..Place::file("/q/settings.json") });
    assert_eq!(digest(vec![placed]), digest(vec![hook(|_| {})]));
    let moved = callback(|c| c.plugin = "/q/x.wasm".into());
    let elsewhere =
        Brought::new(root("/q"), vec![(Source::Settings(Scope::Project), moved)], |_| None, &Ration::unbounded());
    assert_eq!(elsewhere.digest(), digest(vec![callback(|_| {})]));
}

#[test]
fn the_form_is_what_it_was() {
    let spec = hook(|h| h.condition = Some(Condition::new("bash(rm *)").0));
    let file = NamedFile { path: "a.sh".into(), digest: Some(Digest::of(b"")) };
    let hook = BroughtHook { source: Source::Settings(Scope::Project), spec, files: vec![file] };
    let expected = concat!(
        r#"{"source":"project","event":"PreToolUse","name":"guard","named":true,"matcher":"","if":"bash(rm *)","#,
        r#""timeoutNanos":null,"once":false,"onError":null,"maxAttempts":null,"final":false,"type":"command","runs":{"command":"exit 2","#,
        r#""args":null,"shell":"bash","env":{"keep":[]},"dialect":"freecode","onCut":"run"},"files":[["a.sh","#,
        r#""e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]]}"#,
    );
    assert_eq!(line(&hook, &root("/p")), expected);
}
