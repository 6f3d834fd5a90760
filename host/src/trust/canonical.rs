//! The form in which a hook goes into the digest: a line of JSON with every field that has an effect, in fixed order.
//!
//! A field that is new in a hook does not compile until it stands here, too.

use std::path::Path;

use serde_json::{Value, json};

use super::brought::{BroughtHook, BroughtPlugin};
use super::named::{NamedFile, Root};
use crate::hook::{
    CallbackHook, CommandHook, HookEnv, HookKind, HookSpec, InjectHook, Lifetime, OnCut, OnError, PromptHook, Shell,
};
use crate::limits::LimitsSaid;
use crate::matching::Dialect;
use crate::permission::{Folder, Folders, Permissions, Start};
use crate::plugin::{Given, WholePlugin};

/// The first line: a change of the form is a change of every digest.
pub(super) const HEAD: &str = "tacklebox trust 1\n";

/// The line of one hook, without its end.
pub(super) fn line(hook: &BroughtHook, root: &Root) -> String {
    let HookSpec {
        event,
        name,
        named,
        matcher,
        condition,
        kind,
        timeout,
        once,
        on_error,
        max_attempts,
        is_final,
        place: _,
    } = &hook.spec;
    json!({
        "source": hook.source.to_string(),
        "event": event.as_str(),
        "name": name.as_str(),
        "named": named,
        "matcher": matcher.text(),
        "if": condition.as_ref().map(|condition| condition.text()),
        "timeoutNanos": timeout.map(|timeout| timeout.as_nanos().to_string()),
        "once": once,
        "onError": on_error.map(silence),
        "maxAttempts": max_attempts,
        "final": is_final,
        "type": kind.name().as_str(),
        "runs": runs(kind, root),
        "files": files(&hook.files),
    })
    .to_string()
}

/// The line of a plugin that is loaded whole, without its end.
pub(super) fn plugin_line(brought: &BroughtPlugin, root: &Root) -> String {
    let BroughtPlugin { source, plugin, on_error, disabled, files: found, hooks } = brought;
    let WholePlugin { name, path, given, config, place: _ } = plugin;
    let Given { permissions, limits, instance } = given;
    json!({
        "source": source.to_string(),
        "plugin": name.as_str(),
        "path": root.seen(path).to_string_lossy(),
        "grant": granted(permissions, root),
        "limits": limited(limits),
        "instance": instance.map(Lifetime::as_str),
        "config": config,
        "onError": on_error.map(silence),
        "disabled": disabled,
        "files": files(found),
        "hooks": hooks.iter().map(|hook| line(hook, root)).collect::<Vec<_>>(),
    })
    .to_string()
}

fn files(files: &[NamedFile]) -> Vec<Value> {
    let file = |file: &NamedFile| json!([file.path.to_string_lossy(), file.digest.map(|digest| digest.to_string())]);
    files.iter().map(file).collect()
}

fn silence(meaning: OnError) -> &'static str {
    match meaning {
        OnError::Pass => "pass",
        OnError::Block => "block",
    }
}

fn runs(kind: &HookKind, root: &Root) -> Value {
    match kind {
        HookKind::Command(command) => command_line(command, root),
        HookKind::Callback(CallbackHook { plugin, function, config, grant, limits, instance }) => {
            let mut line = json!({
                "plugin": root.seen(plugin).to_string_lossy(),
                "function": function,
                "config": config,
            });
            // What grants nothing is what it was before there were grants.
            if !grant.is_empty() {
                line["grant"] = granted(grant, root);
            }
            if !limits.is_empty() {
                line["limits"] = limited(limits);
            }
            if let Some(instance) = instance {
                line["instance"] = instance.as_str().into();
            }
            line
        }
        HookKind::Inject(InjectHook { text }) => json!({ "text": text }),
        HookKind::Prompt(PromptHook { prompt, model }) => json!({ "prompt": prompt, "model": model }),
        // Code of the embedder's own does not come from a project.
        HookKind::Function(_) => Value::Null,
    }
}

fn limited(limits: &LimitsSaid) -> Value {
    let LimitsSaid { memory, table_elements, processor } = limits;
    let nanos = processor.map(|processor| processor.as_nanos().to_string());
    json!({ "memory": memory, "tableElements": table_elements, "processorNanos": nanos })
}

fn granted(grant: &Permissions, root: &Root) -> Value {
    let Permissions { read, write, env, http, run, approve } = grant;
    let folder = |folder: &Folder| match folder.start {
        Start::Root => json!(["/", root.seen(&folder.from(Path::new("/"))).to_string_lossy()]),
        start => json!([start.as_str(), folder.below.to_string_lossy()]),
    };
    let folders = |folders: &Folders| folders.0.iter().map(folder).collect::<Vec<_>>();
    json!({
        "read": folders(read),
        "write": folders(write),
        "env": env.0,
        "http": http.0.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "run": run.0,
        "approve": approve.0,
    })
}

fn command_line(hook: &CommandHook, root: &Root) -> Value {
    let CommandHook { command, args, shell, env, dialect, on_cut, plugin_root } = hook;
    let mut line = json!({
        "command": command,
        "args": args,
        "shell": match shell {
            Shell::Bash => "bash",
            Shell::Powershell => "powershell",
        },
        "env": match env {
            HookEnv::Keep(names) => json!({ "keep": names }),
            HookEnv::Set(values) => json!({ "set": values }),
        },
        "dialect": match dialect {
            Dialect::Freecode => "freecode",
            Dialect::Claude => "claude",
            Dialect::Deepseek => "deepseek",
        },
        "onCut": match on_cut {
            OnCut::Run => "run",
            OnCut::Block => "block",
        },
    });
    if let Some(folder) = plugin_root {
        line["pluginRoot"] = root.seen(folder).to_string_lossy().into();
    }
    line
}

#[cfg(test)]
mod tests;
