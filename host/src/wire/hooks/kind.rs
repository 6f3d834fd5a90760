//! Which kind an entry is, and what that kind needs.

use std::path::PathBuf;

use jsonc_parser::ast::Value;

use super::super::document::{Quoted, did_you_mean, found, plain_object};
use super::super::path::{normal, resolve};
use super::super::permissions::{self, Remark, Word};
use super::super::{field, limits};
use super::entry::{Entry, Refusal};
use super::{Origin, value};
use crate::event::{EventName, Object};
use crate::hook::{
    CallbackHook, CommandHook, Dialect, HookKind, InjectHook, KindName, Lifetime, OnCut, PromptHook, Shell,
};
use crate::limits::LimitsSaid;
use crate::permission::Permissions;
use crate::source::Scope;

/// Where a fixed text has somebody to go to.
const INJECT_EVENTS: [EventName; 3] = [EventName::UserPromptSubmit, EventName::SessionStart, EventName::SubagentStart];

/// The kind of an entry: its `type`, or what follows from a `command`.
pub(super) fn which(entry: &Entry<'_, '_>) -> Result<KindName, Refusal> {
    let Some(value) = entry.get("type") else { return without_type(entry) };
    let kind = match entry.text("type")?.unwrap_or_default() {
        "command" => KindName::Command,
        "callback" => KindName::Callback,
        "inject" => KindName::Inject,
        "prompt" => KindName::Prompt,
        "function" => return Err(entry.refusal(value, "a `function` is registered from code, not from a file")),
        word if field::TYPES.contains(&word) => {
            return Err(entry.refusal(value, format!("this version does not run hooks of type `{word}`")));
        }
        other => {
            let refusal = entry.refusal(value, format!("unknown type {}", Quoted(other)));
            let list = format!("valid types are {}", field::TYPES.join(", "));
            return Err(refusal.hint(Some(did_you_mean(other, field::TYPES.iter().copied()).unwrap_or(list))));
        }
    };
    if entry.site.origin == Origin::Package && kind != KindName::Callback {
        return Err(entry.refusal(value, format!("a package's hooks are callbacks, not of type `{kind}`")));
    }
    Ok(kind)
}

fn without_type(entry: &Entry<'_, '_>) -> Result<KindName, Refusal> {
    if entry.site.origin == Origin::Package {
        return Ok(KindName::Callback);
    }
    if entry.get("command").is_some() {
        return Ok(KindName::Command);
    }
    if entry.get("hooks").is_some() {
        return Err(Refusal::new("a group inside a group is not read"));
    }
    let meant = [("text", "inject"), ("plugin", "callback"), ("url", "http"), ("task", "agent"), ("prompt", "prompt")]
        .into_iter()
        .find(|(field, _)| entry.get(field).is_some())
        .map(|(_, word)| format!("add `\"type\": \"{word}\"`"));
    Err(Refusal::new("neither `command` nor `type` is there: nothing to run").hint(meant))
}

/// What `kind` needs of the entry.
pub(super) fn read(kind: KindName, entry: &mut Entry<'_, '_>) -> Result<HookKind, Refusal> {
    match kind {
        KindName::Command => command(entry).map(HookKind::Command),
        KindName::Callback => callback(entry).map(HookKind::Callback),
        KindName::Inject => inject(entry).map(HookKind::Inject),
        KindName::Prompt => prompt(entry).map(HookKind::Prompt),
        KindName::Function => Err(Refusal::new("a `function` is registered from code, not from a file")),
    }
}

/// The text that a kind cannot do without. An empty one counts as missing: an empty command succeeds, and a success can
/// be an approval.
fn needed<'e>(entry: &Entry<'e, '_>, name: &str, kind: KindName) -> Result<&'e str, Refusal> {
    match entry.text(name)? {
        Some(text) if text.trim().is_empty() => Err(Refusal::new(format!("`{name}` is empty"))),
        Some(text) if text.contains('\0') => Err(Refusal::new(format!("`{name}` holds a NUL character"))),
        Some(text) => Ok(text),
        None => Err(Refusal::new(format!("a hook of type `{kind}` needs `{name}`"))),
    }
}

fn command(entry: &mut Entry<'_, '_>) -> Result<CommandHook, Refusal> {
    let command = needed(entry, "command", KindName::Command)?.to_owned();
    let args = args(entry)?;
    let shell = if value::is_powershell(entry) { Shell::Powershell } else { Shell::Bash };
    if let (Some(_), Some(value)) = (&args, entry.get("shell")) {
        entry.warn(value, "`shell` is ignored: with `args` no shell is started");
    }
    let on_cut = match value::word(entry, "onCut", field::ON_CUT, "`block`") {
        Some("block") => OnCut::Block,
        // Whoever wrote something else wanted something else than the default: the stricter is taken.
        None if entry.get("onCut").is_some() => OnCut::Block,
        _ => OnCut::Run,
    };
    let plugin_root = entry.site.bases.package.map(normal);
    let (env, dialect) = (value::env(entry), Dialect::Freecode);
    Ok(CommandHook { command, args, shell, env, dialect, on_cut, plugin_root })
}

fn args(entry: &Entry<'_, '_>) -> Result<Option<Vec<String>>, Refusal> {
    let Some(value) = entry.get("args") else { return Ok(None) };
    let Value::Array(list) = value else {
        return Err(entry.refusal(value, format!("`args` must be a list of strings, found {}", found(value))));
    };
    let one = |element: &Value<'_>| match element {
        Value::StringLit(text) if !text.value.contains('\0') => Ok(text.value.clone().into_owned()),
        Value::StringLit(_) => Err(entry.refusal(element, "`args` holds a NUL character")),
        other => Err(entry.refusal(other, format!("`args` must be a list of strings, found {} in it", found(other)))),
    };
    list.elements.iter().map(one).collect::<Result<_, _>>().map(Some)
}

fn callback(entry: &mut Entry<'_, '_>) -> Result<CallbackHook, Refusal> {
    let plugin = plugin(entry)?;
    let function = entry.text("function")?.map(str::to_owned);
    let config = match entry.get("config") {
        None => Object::new(),
        Some(Value::Object(object)) => plain_object(object),
        Some(other) => return Err(entry.refusal(other, format!("`config` must be an object, found {}", found(other)))),
    };
    let (grant, limits, instance) = (grant(entry), limits_of(entry), instance(entry));
    Ok(CallbackHook { plugin, function, config, grant, limits, instance })
}

/// What the entry grants. Whatever is wrong in it grants nothing.
fn grant(entry: &mut Entry<'_, '_>) -> Permissions {
    let Some(value) = entry.get("grant") else { return Permissions::default() };
    if entry.site.origin.is_packed() {
        entry.warn_with(value, "`grant` in a package grants nothing", Some("ask for it in `permissions`".to_owned()));
        return Permissions::default();
    }
    let (granted, remarks) = permissions::read("grant", value, Word::Granted, entry.site);
    for Remark { line, message, hint } in remarks {
        entry.warn_at(line, message, hint);
    }
    granted
}

/// What the entry says of the plugin's limits. Whatever is wrong in it changes nothing.
fn limits_of(entry: &mut Entry<'_, '_>) -> LimitsSaid {
    let Some(value) = entry.get("limits") else { return LimitsSaid::default() };
    if entry.site.origin.is_packed() {
        let hint = "say it at the top level of `plugin.json`".to_owned();
        entry.warn_with(value, "`limits` in a hook of a package limits nothing", Some(hint));
        return LimitsSaid::default();
    }
    let (said, remarks) = limits::read(value, entry.site);
    for Remark { line, message, hint } in remarks {
        entry.warn_at(line, message, hint);
    }
    said
}

fn instance(entry: &mut Entry<'_, '_>) -> Option<Lifetime> {
    let word = value::word(entry, "instance", field::INSTANCES, "`call`")?;
    Lifetime::parse(word)
}

fn plugin(entry: &Entry<'_, '_>) -> Result<PathBuf, Refusal> {
    let bases = &entry.site.bases;
    if entry.site.origin == Origin::Package && entry.get("plugin").is_none() {
        return Ok(normal(bases.folder));
    }
    let text = needed(entry, "plugin", KindName::Callback)?;
    let path = resolve(text, bases).map_err(|why| Refusal::new(format!("`plugin` {} {why}", Quoted(text))))?;
    let allowed = match entry.site.origin {
        Origin::Settings(Scope::User) => return Ok(path),
        Origin::Settings(Scope::Project | Scope::Local) => bases.project,
        Origin::Package | Origin::Bundled => bases.package,
    };
    if allowed.is_some_and(|root| path.starts_with(normal(root))) {
        return Ok(path);
    }
    let who = if entry.site.origin.is_packed() { "a package" } else { "a project" };
    let message = format!("`plugin` {} is outside: {who} may name only what it brings itself", Quoted(text));
    Err(Refusal::new(message))
}

fn prompt(entry: &Entry<'_, '_>) -> Result<PromptHook, Refusal> {
    let prompt = needed(entry, "prompt", KindName::Prompt)?.to_owned();
    let model = match entry.get("model") {
        Some(_) => Some(needed(entry, "model", KindName::Prompt)?.to_owned()),
        None => None,
    };
    Ok(PromptHook { prompt, model })
}

fn inject(entry: &Entry<'_, '_>) -> Result<InjectHook, Refusal> {
    if !INJECT_EVENTS.contains(entry.event()) {
        let list = INJECT_EVENTS.map(|event| format!("`{event}`")).join(", ");
        let refusal = Refusal::new(format!("`{}` takes no hook of type `inject`", entry.event()));
        return Err(refusal.hint(Some(format!("it goes with {list}"))));
    }
    Ok(InjectHook { text: needed(entry, "text", KindName::Inject)?.to_owned() })
}
