//! Settings files: reading one never fails, and loses no guard in silence.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tacklebox::event::{CustomClass, CustomEvent, EventName, Events};
use tacklebox::hook::{HookKind, HookSpec};
use tacklebox::source::Scope;
use tacklebox::surroundings::Surroundings;
use tacklebox::wire::settings::{FileRef, Parsed, parse};

use crate::shown::all_printable;

const PROJECT: &str = "/p";
const LONGEST: Duration = Duration::from_secs(300);

/// Reads the bytes as the settings of a person and of a project.
pub fn check(bytes: &[u8]) {
    for scope in [Scope::User, Scope::Project] {
        let parsed = read(bytes, scope);
        all_printable(&parsed.diagnostics);
        assert!(parsed.readable || (parsed.hooks.is_empty() && !parsed.diagnostics.is_empty()), "{parsed:?}");
        parsed.hooks.iter().for_each(|hook| is_sound(hook, scope));
        parsed.plugins.iter().for_each(|plugin| stays_inside(&plugin.path, scope));
        no_guard_is_lost(bytes, &parsed);
        is_the_same(&parsed, &read(bytes, scope));
    }
}

fn read(bytes: &[u8], scope: Scope) -> Parsed {
    let file = FileRef { path: Path::new(PROJECT).join(".freecode/settings.json"), scope };
    let surroundings =
        Surroundings { home: Some("/h".into()), project: Some(PROJECT.into()), ..Surroundings::default() };
    parse(bytes, &file, &events(), &surroundings)
}

fn events() -> Events {
    Events::with([CustomEvent::new("Deploy", CustomClass { gate: true, ..CustomClass::default() })])
}

fn is_the_same(one: &Parsed, other: &Parsed) {
    assert_eq!(one.hooks, other.hooks);
    assert_eq!(one.diagnostics, other.diagnostics);
    assert_eq!(one.disabled, other.disabled);
}

fn is_sound(hook: &HookSpec, scope: Scope) {
    assert!(!hook.name.as_str().trim().is_empty(), "{hook:?} has no name");
    assert!(hook.timeout.is_none_or(|limit| !limit.is_zero() && limit <= LONGEST), "{hook:?}");
    assert!(!hook.is_final || scope == Scope::User, "{hook:?}: a project's word is not final");
    match &hook.kind {
        HookKind::Command(command) => assert!(!command.command.contains('\0'), "{hook:?}"),
        HookKind::Callback(callback) if scope == Scope::Project => {
            let plain = callback.plugin.components().all(|part| part != std::path::Component::ParentDir);
            assert!(plain && callback.plugin.starts_with(PROJECT), "{hook:?} is outside");
        }
        _ => {}
    }
}

/// What a project loads whole is its own.
fn stays_inside(path: &Path, scope: Scope) {
    let plain = path.components().all(|part| part != std::path::Component::ParentDir);
    assert!(scope == Scope::User || (plain && path.starts_with(PROJECT)), "{path:?} is outside");
}

/// As another reader has it: under each gate, every entry of the file is a hook, or something is said under that event.
fn no_guard_is_lost(bytes: &[u8], parsed: &Parsed) {
    let Ok(Value::Object(root)) = serde_json::from_slice(bytes) else { return };
    let Some(Value::Object(written)) = root.get("hooks") else { return };
    if parsed.diagnostics.iter().any(|said| said.message.ends_with("more warnings are left out")) {
        return;
    }
    for (name, entries) in written {
        let Some(event) = events().named(name).filter(|event| event.class().gate) else { continue };
        let (entries, read) = (count(entries), of_event(parsed, &event));
        assert!(read >= entries, "`{event}` holds {entries} entries, and {read} were read or spoken of: {parsed:?}");
    }
}

fn of_event(parsed: &Parsed, event: &EventName) -> usize {
    let hooks = parsed.hooks.iter().filter(|hook| hook.event == *event).count();
    hooks + parsed.diagnostics.iter().filter(|said| said.place.event.as_deref() == Some(event.as_str())).count()
}

/// A group counts for what it holds.
fn count(entries: &Value) -> usize {
    let Value::Array(entries) = entries else { return 1 };
    let inside = |entry: &Value| match entry.get("hooks") {
        Some(Value::Array(inner)) => inner.len().max(1),
        _ => 1,
    };
    entries.iter().map(inside).sum()
}
