//! A package's `hooks/hooks.json`: the hooks that a folder of a skill or plugin brings beside its component.
//!
//! Owns its top level; entries are read as those of settings files are. Nothing of it is left out: a package is loaded
//! as a whole or not at all.

use std::path::Path;

use jsonc_parser::ast::{self, Value};

use super::document::{Document, NotJson, Notes, Quoted, did_you_mean, found, last, repeated};
use super::field::is_silent;
use super::hooks::value::default_on_error;
use super::hooks::{self, Origin, Site};
use super::path::Bases;
use crate::diagnostic::{Diagnostic, Place};
use crate::event::Events;
use crate::hook::HookSpec;

/// Why none of it is read: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotWhole(pub Box<Diagnostic>);

impl NotWhole {
    fn new(why: Diagnostic) -> Self {
        Self(Box::new(why.into_error()))
    }
}

const KEYS: [&str; 3] = ["hooks", "onError", "name"];

/// What only settings files say.
const OF_SETTINGS: [&str; 3] = ["disabled", "disableAllHooks", "plugins"];

/// Reads the bytes of the `hooks/hooks.json` at `path`, of the package in `folder`.
///
/// # Errors
///
/// Where it is not JSON, or any hook of it would be left out. What costs less is among the diagnostics.
pub fn parse(
    bytes: &[u8],
    path: &Path,
    folder: &Path,
    events: &Events,
) -> Result<(Vec<HookSpec>, Vec<Diagnostic>), NotWhole> {
    let document = Document::read(bytes).map_err(|NotJson { line, message }| {
        NotWhole::new(Diagnostic::error(Place { line, ..Place::file(path) }, message))
    })?;
    let beside = path.parent().unwrap_or(Path::new(""));
    let bases = Bases { folder: beside, home: None, project: None, package: Some(folder) };
    let site = Site { file: path, lines: &document.lines, origin: Origin::Bundled, events, bases };
    let Value::Object(root) = &document.root else {
        let message = format!("`hooks.json` must be an object, found {}", found(&document.root));
        return Err(NotWhole::new(Diagnostic::error(site.place_of(&document.root), message)));
    };
    read(root, &site)
}

fn read(root: &ast::Object<'_>, site: &Site<'_>) -> Result<(Vec<HookSpec>, Vec<Diagnostic>), NotWhole> {
    let mut notes = Notes::default();
    if last(root, "hooks").is_none() {
        notes.lose_with(|| Diagnostic::error(site.place_of(root), "`hooks` is missing"));
    }
    top_level(root, site, &mut notes);
    let written = root.properties.iter().filter(|p| p.name.as_str() == "hooks").map(|p| &p.value);
    let mut hooks = hooks::read(written, site, &mut notes);
    let on_error = default_on_error(root, site, &mut notes);
    for hook in &mut hooks {
        hook.on_error = hook.on_error.or(on_error);
    }
    match notes.lost() {
        Some(lost) => Err(NotWhole::new(lost.clone())),
        None => Ok((hooks, notes.finish(site.place()))),
    }
}

fn top_level(root: &ast::Object<'_>, site: &Site<'_>, notes: &mut Notes) {
    for again in repeated(root) {
        let name = again.name.as_str();
        let which = if name == "hooks" { "the hooks of both are read" } else { "the last one counts" };
        notes.say(Diagnostic::warning(site.place_of(again), format!("{} is written twice; {which}", Quoted(name))));
    }
    for property in &root.properties {
        let (name, place) = (property.name.as_str(), site.place_of(property));
        if KEYS.contains(&name) || is_silent(name) {
        } else if site.events.named(name).is_some() {
            notes.lose_with(|| Diagnostic::error(place, format!("the event `{name}` stands outside of `hooks`")));
        } else if OF_SETTINGS.contains(&name) {
            notes.say(Diagnostic::warning(place, format!("`{name}` means nothing in a package")));
        } else {
            let hint = did_you_mean(name, KEYS);
            notes.say_with(|| Diagnostic {
                hint,
                ..Diagnostic::warning(place, format!("unknown key {}", Quoted(name)))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::{HookKind, OnError};

    fn read(text: &str) -> Result<(Vec<HookSpec>, Vec<Diagnostic>), NotWhole> {
        let (path, folder) = (Path::new("/x/skill/hooks/hooks.json"), Path::new("/x/skill"));
        parse(text.as_bytes(), path, folder, &Events::default())
    }

    #[test]
    fn hooks_of_every_kind_are_read_and_know_their_package() {
        let (hooks, said) = read(
            r#"{"description": "d", "onError": "block", "hooks": {
                "PreToolUse": [{"matcher": "bash", "hooks": [{"command": "x"}]},
                    {"type": "callback", "plugin": "../guard.wasm"},
                    {"type": "callback", "plugin": "${CLAUDE_PLUGIN_ROOT}/b/c.wasm", "onError": "pass"}],
                "Stop": [{"type": "prompt", "prompt": "p"}], "SessionStart": [{"type": "inject", "text": "t"}]}}"#,
        )
        .unwrap();
        assert_eq!(said, []);
        assert_eq!(hooks[0].name.as_str(), "package/PreToolUse-0-0");
        let HookKind::Command(command) = &hooks[0].kind else { panic!("{hooks:?}") };
        assert_eq!(command.plugin_root.as_deref(), Some(Path::new("/x/skill")));
        let plugin = |hook: &HookSpec| match &hook.kind {
            HookKind::Callback(callback) => Some(callback.plugin.display().to_string()),
            _ => None,
        };
        let plugins: Vec<_> = hooks.iter().filter_map(plugin).collect();
        assert_eq!(plugins, ["/x/skill/guard.wasm", "/x/skill/b/c.wasm"]);
        let meanings: Vec<_> = hooks.iter().map(|hook| hook.on_error).collect();
        let (block, pass) = (Some(OnError::Block), Some(OnError::Pass));
        assert_eq!(meanings, [block, block, pass, block, block]);
    }

    #[test]
    fn what_costs_a_hook_costs_the_whole_and_names_its_place() {
        for (text, words) in [
            ("", "not JSON"),
            ("{\"hooks\": {", "not JSON"),
            ("[]", "must be an object, found a list"),
            ("{}", "`hooks` is missing"),
            (r#"{"hooks": []}"#, "`hooks` must map event names to lists"),
            (r#"{"hooks": {}, "PreToolUse": []}"#, "`PreToolUse` stands outside of `hooks`"),
            (r#"{"hooks": {"PreToolUs": [{"command": "x"}]}}"#, "unknown event `PreToolUs`"),
            (r#"{"hooks": {"Stop": {}}}"#, "Stop: must be a list of hooks"),
            (r#"{"hooks": {"Stop": [7]}}"#, "Stop[0]: a hook must be an object"),
            (r#"{"hooks": {"Stop": [{"hooks": 7}]}}"#, "`hooks` must be a list"),
            (r#"{"hooks": {"Stop": [{"command": "x"}, {"name": "n"}]}}"#, "Stop[1]: hook `n`: neither `command`"),
            (r#"{"hooks": {"Stop": [{"type": "callback"}]}}"#, "needs `plugin`"),
            (r#"{"hooks": {"Stop": [{"type": "callback", "plugin": "../../a.wasm"}]}}"#, "is outside: a package may"),
            (r#"{"hooks": {"Stop": [{"type": "callback", "plugin": "~/a.wasm"}]}}"#, "has no value here"),
            (r#"{"hooks": {"Stop": [{"command": "x", "dialect": "claude"}]}}"#, "cannot run a hook of the dialect"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with("/x/skill/hooks/hooks.json") && error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn what_costs_less_is_said() {
        for (rest, words) in [
            (r#""onErorr": "block""#, "unknown key `onErorr` (hint: did you mean `onError`?)"),
            (r#""disabled": []"#, "`disabled` means nothing in a package"),
            (r#""onError": 1"#, "`onError` must be"),
        ] {
            let said = read(&format!("{{\"hooks\": {{}}, {rest}}}")).unwrap().1;
            assert!(said.len() == 1 && said[0].to_string().contains(words), "{said:?}");
        }
        let said = read(r#"{"hooks": {"Stop": [{"type": "callback", "plugin": "../a", "grant": {"run": ["x"]}}]}}"#);
        assert!(said.unwrap().1[0].to_string().contains("`grant` in a package grants nothing"));
        let said = read(r#"{"hooks": {"Stop": [{"type": "callback", "plugin": "../a", "limits": {"memoryMiB": 1}}]}}"#);
        assert!(said.unwrap().1[0].to_string().contains("`limits` in a hook of a package limits nothing"));
    }
}
