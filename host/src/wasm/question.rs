//! What a plugin is asked: the records of the interface, filled from an [`Ask`]. Nothing is cut.

use std::path::Path;

use serde_json::{Value, json};

use super::bindings::{HookContext, HookInput};
use crate::ask::Ask;
use crate::event::Object;
use crate::matching::Commands;

/// What happens.
pub(super) fn input(ask: &Ask<'_>) -> HookInput {
    HookInput {
        event: ask.event.name.as_str().to_owned(),
        hook: ask.hook.told_name().to_owned(),
        tool_name: ask.event.tool.as_str().to_owned(),
        tool_input: json(&ask.event.input),
        tool_output: ask.event.output.as_deref().map(str::to_owned),
    }
}

/// Where it happens.
pub(super) fn context(ask: &Ask<'_>) -> HookContext {
    let (cx, event) = (ask.cx, ask.event);
    let project = ask.surroundings.project.as_deref();
    HookContext {
        dispatch_id: ask.dispatch.as_str().to_owned(),
        session_id: cx.session.as_str().to_owned(),
        root_session_id: cx.root_session.as_str().to_owned(),
        turn: cx.turn,
        cwd: ask.surroundings.folder(cx.cwd.as_deref()).as_deref().map(text),
        project_dir: project.map(text),
        agent_id: cx.agent.id.as_ref().map(ToString::to_string),
        agent_type: cx.agent.kind.clone(),
        parent_agent_id: cx.agent.parent.as_ref().map(ToString::to_string),
        agent_depth: cx.agent.depth,
        tool_use_id: event.tool_use_id.clone(),
        attempt: event.attempt,
        recheck: ask.recheck,
        original_input: event.original.as_ref().map(|original| json(&original.input)),
        changed_by: event.original.iter().flat_map(|original| &original.changed_by).map(ToString::to_string).collect(),
        extra: extra(ask.commands),
    }
}

fn extra(commands: Option<&Commands>) -> String {
    let extra = commands.map(|commands| json!({"commands": commands.words(), "parsed": commands.parsed}));
    extra.unwrap_or_else(|| Value::Object(Object::new())).to_string()
}

/// A JSON object as text.
pub(super) fn json(object: &Object) -> String {
    // A map of values with keys of text cannot fail.
    serde_json::to_string(object).unwrap_or_default()
}

/// A path that is no UTF-8 is told as near as can be.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
