//! A package's `plugin.json`: what a plugin says of itself without being run.
//!
//! Owns its shape. What it asks for is granted elsewhere; the component is opened by `wasm`.

use std::path::{Path, PathBuf};

use jsonc_parser::ast::{self, Value};

use super::document::{Document, NotJson, Notes, Quoted, did_you_mean, found, last, plain_object, repeated};
use super::hooks::value::own_word;
use super::hooks::{self, Origin, Site};
use super::limits;
use super::path::{Bases, stays_inside};
use super::permissions::{self, Remark, Word};
use crate::diagnostic::{Diagnostic, Place};
use crate::event::{Events, Object};
use crate::hook::{Lifetime, OnError};
use crate::limits::{LimitsSaid, MOST_HOOKS};
use crate::permission::Permissions;
use crate::plugin::Manifest;

/// Why a package cannot be loaded. Each holds what is wrong and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// It is not JSON, or no object.
    #[error("{0}")]
    NotAnObject(Box<Diagnostic>),
    /// `component` is missing, or is no path inside the package.
    #[error("{0}")]
    Component(Box<Diagnostic>),
    /// `hooks` or `config` is of a wrong type: without it the plugin would do something else than its author wrote.
    #[error("{0}")]
    WrongType(Box<Diagnostic>),
    /// An entry of `hooks` cannot be read, or there are too many: a set without one of its hooks is not the set that its
    /// author wrote.
    #[error("{0}")]
    Hook(Box<Diagnostic>),
}

impl ManifestError {
    /// What is wrong, and where.
    pub fn diagnostic(&self) -> &Diagnostic {
        match self {
            Self::NotAnObject(what) | Self::Component(what) | Self::WrongType(what) | Self::Hook(what) => what,
        }
    }
}

const KEYS: [&str; 10] =
    ["name", "version", "description", "component", "hooks", "permissions", "limits", "instance", "config", "onError"];

/// Reads the bytes of the `plugin.json` at `path`. Its hooks are callbacks of the package, which is the folder it
/// stands in; they carry no `onError` and no `config` of the manifest's: that is for who loads it.
///
/// # Errors
///
/// Where nothing can be loaded: see [`ManifestError`]. What costs less is among the diagnostics.
pub fn parse(bytes: &[u8], path: &Path, events: &Events) -> Result<(Manifest, Vec<Diagnostic>), ManifestError> {
    let document = Document::read(bytes).map_err(|NotJson { line, message }| {
        ManifestError::NotAnObject(Box::new(Diagnostic::error(Place { line, ..Place::file(path) }, message)))
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let bases = Bases { folder, home: None, project: None, package: Some(folder) };
    let site = Site { file: path, lines: &document.lines, origin: Origin::Package, events, bases };
    let Value::Object(root) = &document.root else {
        let message = format!("`plugin.json` must be an object, found {}", found(&document.root));
        return Err(ManifestError::NotAnObject(Box::new(Diagnostic::error(site.place_of(&document.root), message))));
    };
    Reader { root, site: &site, notes: Notes::default() }.read()
}

struct Reader<'r, 'd> {
    root: &'r ast::Object<'d>,
    site: &'r Site<'r>,
    notes: Notes,
}

impl<'r, 'd> Reader<'r, 'd> {
    fn read(mut self) -> Result<(Manifest, Vec<Diagnostic>), ManifestError> {
        self.check_keys();
        let manifest = Manifest {
            name: self.text("name").map(Into::into),
            version: self.text("version"),
            description: self.text("description"),
            component: self.component()?,
            hooks: self.hooks()?,
            config: self.config()?,
            on_error: self.on_error(),
            permissions: Some(self.permissions()),
            limits: self.limits(),
            instance: self.instance(),
        };
        Ok((manifest, self.notes.finish(self.site.place())))
    }

    fn get(&self, key: &str) -> Option<&'r Value<'d>> {
        last(self.root, key).map(|property| &property.value)
    }

    fn warn(&mut self, node: &impl jsonc_parser::common::Ranged, message: impl Into<String>, hint: Option<String>) {
        self.notes.say(Diagnostic { hint, ..Diagnostic::warning(self.site.place_of(node), message) });
    }

    fn error(&self, node: &impl jsonc_parser::common::Ranged, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(self.site.place_of(node), message))
    }

    fn check_keys(&mut self) {
        for again in repeated(self.root) {
            self.warn(again, format!("{} is written twice; the last one counts", Quoted(again.name.as_str())), None);
        }
        for property in &self.root.properties {
            let name = property.name.as_str();
            if !KEYS.contains(&name) && name != "$schema" {
                let site = self.site;
                self.notes.say_with(|| {
                    let (place, hint) = (site.place_of(property), did_you_mean(name, KEYS));
                    Diagnostic { hint, ..Diagnostic::warning(place, format!("unknown key {}", Quoted(name))) }
                });
            }
        }
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.get(key)? {
            Value::StringLit(text) if !text.value.trim().is_empty() => Some(text.value.clone().into_owned()),
            other => {
                let what = if matches!(other, Value::StringLit(_)) { "an empty one" } else { found(other) };
                self.warn(other, format!("`{key}` must be a string, found {what}; it is left out"), None);
                None
            }
        }
    }

    fn component(&self) -> Result<PathBuf, ManifestError> {
        let Some(value) = self.get("component") else {
            let message = "`component` is missing: a package names its component's file";
            return Err(ManifestError::Component(self.error(self.root, message)));
        };
        let message = match value {
            Value::StringLit(text) if stays_inside(&text.value) => return Ok(PathBuf::from(text.value.as_ref())),
            Value::StringLit(text) => {
                format!("`component` must be a relative path inside the package, found {}", Quoted(&text.value))
            }
            other => format!("`component` must be a string, found {}", found(other)),
        };
        Err(ManifestError::Component(self.error(value, message)))
    }

    fn hooks(&mut self) -> Result<Option<Vec<crate::hook::HookSpec>>, ManifestError> {
        match self.get("hooks") {
            None => Ok(None),
            Some(value @ Value::Object(_)) => {
                let hooks = hooks::read([value], self.site, &mut self.notes);
                match self.notes.lost() {
                    None if hooks.len() > MOST_HOOKS => {
                        let message = format!("`hooks` lists {} hooks; a plugin may have {MOST_HOOKS}", hooks.len());
                        Err(ManifestError::Hook(self.error(value, message)))
                    }
                    None => Ok(Some(hooks)),
                    Some(lost) => Err(ManifestError::Hook(Box::new(lost.clone().into_error()))),
                }
            }
            Some(other) => {
                let message = format!("`hooks` must map event names to lists, found {}", found(other));
                Err(ManifestError::WrongType(self.error(other, message)))
            }
        }
    }

    fn config(&self) -> Result<Object, ManifestError> {
        match self.get("config") {
            None => Ok(Object::new()),
            Some(Value::Object(object)) => Ok(plain_object(object)),
            Some(other) => {
                let message = format!("`config` must be an object, found {}", found(other));
                Err(ManifestError::WrongType(self.error(other, message)))
            }
        }
    }

    fn on_error(&mut self) -> Option<OnError> {
        let value = self.get("onError")?;
        match own_word(value) {
            Ok(meaning) => Some(meaning),
            Err(why) => {
                self.warn(value, format!("`onError` must be {why}; the default is taken"), None);
                None
            }
        }
    }

    fn limits(&mut self) -> LimitsSaid {
        let Some(value) = self.get("limits") else { return LimitsSaid::default() };
        let (asked, remarks) = limits::read(value, self.site);
        self.remark(remarks);
        asked
    }

    fn instance(&mut self) -> Option<Lifetime> {
        let value = self.get("instance")?;
        let word = match value {
            Value::StringLit(text) => Lifetime::parse(&text.value),
            _ => None,
        };
        if word.is_none() {
            self.warn(value, "`instance` must be `call` or `session`; `call` is taken", None);
        }
        word
    }

    fn permissions(&mut self) -> Permissions {
        let Some(value) = self.get("permissions") else { return Permissions::default() };
        let (requested, remarks) = permissions::read("permissions", value, Word::Requested, self.site);
        self.remark(remarks);
        requested
    }

    fn remark(&mut self, remarks: Vec<Remark>) {
        for Remark { line, message, hint } in remarks {
            let place = Place { line: Some(line), ..self.site.place() };
            self.notes.say(Diagnostic { hint, ..Diagnostic::warning(place, message) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventName;
    use crate::hook::HookKind;
    use crate::permission::Folder;

    fn read(text: &str) -> Result<(Manifest, Vec<Diagnostic>), ManifestError> {
        parse(text.as_bytes(), Path::new("/x/guard/plugin.json"), &Events::default())
    }

    #[track_caller]
    fn says(diagnostics: &[Diagnostic], expected: &[&str]) {
        let said: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), expected.len(), "{said:#?}");
        for (line, words) in said.iter().zip(expected) {
            assert!(line.contains(words), "{line:?} does not say {words:?}");
            assert!(line.starts_with("/x/guard/plugin.json:"), "{line}");
        }
    }

    #[test]
    fn a_whole_manifest_is_read() {
        let (manifest, diagnostics) = read(
            r#"{"name": "guard", "version": "1.0", "description": "d", "component": "./guard.wasm", // built
            "permissions": {"read": ["${project}"]}, "limits": {"memoryMiB": 16, "processorMs": 100, "tableElements": 9},
            "instance": "session", "config": {"a": [1]}, "onError": "pass",
            "hooks": {"PreToolUse": [{"name": "g", "matcher": "bash", "config": {"b": 2}},
                {"matcher": "edit", "hooks": [{"function": "f"}]}], "Stop": [{"type": "callback"}]}}"#,
        )
        .unwrap();
        says(&diagnostics, &[]);
        assert_eq!(manifest.name, Some("guard".into()));
        assert_eq!(manifest.component, Path::new("./guard.wasm"));
        assert_eq!(manifest.on_error, Some(OnError::Pass));
        let (processor, table_elements) = (Some(std::time::Duration::from_millis(100)), Some(9));
        assert_eq!(manifest.limits, LimitsSaid { memory: Some(16 << 20), processor, table_elements });
        assert_eq!(manifest.instance, Some(Lifetime::Session));
        assert_eq!(manifest.permissions, Some(Permissions::default().reading(Folder::project())));
        let hooks = manifest.hooks.unwrap();
        let names: Vec<_> = hooks.iter().map(|hook| hook.name.as_str()).collect();
        assert_eq!(names, ["g", "plugin/PreToolUse-1-0", "plugin/Stop-0"]);
        assert!(
            hooks.iter().all(|hook| matches!(&hook.kind, HookKind::Callback(c) if c.plugin == Path::new("/x/guard")))
        );
        assert_eq!(hooks.last().map(|hook| hook.event.clone()), Some(EventName::Stop));
    }

    #[test]
    fn hooks_that_are_not_there_are_left_to_the_plugin() {
        assert_eq!(read(r#"{"component": "a.wasm"}"#).unwrap().0.hooks, None);
        assert_eq!(read(r#"{"component": "a.wasm", "hooks": {}}"#).unwrap().0.hooks, Some(vec![]));
    }

    #[test]
    fn what_costs_the_whole_package_names_its_line() {
        for (text, words) in [
            ("", "not JSON"),
            ("[]", "must be an object, found a list"),
            ("{}", "plugin.json:1: `component` is missing"),
            ("{\n\"component\": 7}", "plugin.json:2: `component` must be a string"),
            (r#"{"component": ""}"#, "inside the package"),
            (r#"{"component": "."}"#, "inside the package"),
            (r#"{"component": "../a.wasm"}"#, "inside the package, found `../a.wasm`"),
            (r#"{"component": "a/../../a.wasm"}"#, "inside the package"),
            (r#"{"component": "/a.wasm"}"#, "inside the package"),
            (r#"{"component": "a.wasm", "hooks": []}"#, "`hooks` must map event names"),
            (r#"{"component": "a.wasm", "config": 1}"#, "`config` must be an object"),
            (
                r#"{"component": "a.wasm", "hooks": {"Stop": [{}, {"command": "true", "type": "command"}]}}"#,
                "a package's hooks are callbacks",
            ),
            (
                r#"{"component": "a.wasm", "hooks": {"Stop": [{"type": "inject", "text": "x"}]}}"#,
                "a package's hooks are callbacks",
            ),
            (
                r#"{"component": "a.wasm", "hooks": {"Stop": [{"plugin": "../other"}]}}"#,
                "a package may name only what it brings itself",
            ),
            (r#"{"component": "a.wasm", "hooks": {"Stopp": [{}]}}"#, "unknown event `Stopp`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(error.diagnostic().severity, crate::diagnostic::Severity::Error);
        }
    }

    #[test]
    fn of_a_limit_that_is_written_twice_the_last_counts_also_where_it_is_wrong() {
        for (limits, memory) in [
            (r#"{"memoryMiB": 64, "memoryMiB": 16}"#, Some(16 << 20)),
            (r#"{"memoryMiB": 1024, "memoryMiB": "16"}"#, None),
            (r#"{"memoryMiB": 1024, "memoryMiB": -1}"#, None),
        ] {
            let (manifest, said) = read(&format!("{{\"component\": \"a.wasm\", \"limits\": {limits}}}")).unwrap();
            assert_eq!(manifest.limits.memory, memory, "{limits}");
            assert!(said[0].to_string().contains("`memoryMiB` is written twice"), "{said:?}");
        }
    }

    #[test]
    fn as_many_hooks_are_listed_as_a_plugin_may_have_and_no_more() {
        let listing = |hooks: usize| {
            let stop = vec!["{}"; hooks - 1].join(",");
            read(&format!(r#"{{"component": "a.wasm", "hooks": {{"TurnEnd": [{{}}], "Stop": [{stop}]}}}}"#))
        };
        assert_eq!(listing(MOST_HOOKS).unwrap().0.hooks.unwrap().len(), 256);
        let error = listing(MOST_HOOKS + 1).unwrap_err().to_string();
        assert!(error.contains("`hooks` lists 257 hooks; a plugin may have 256"), "{error}");
    }

    #[test]
    fn what_costs_less_is_said() {
        for (rest, words) in [
            (r#""limits": {}"#, &[][..]),
            (r#""limits": []"#, &["`limits` must be an object, found a list; the defaults hold"]),
            (
                r#""limits": {"memoryMib": 5}"#,
                &["`limits` has no `memoryMib`; it is left out (hint: did you mean `memoryMiB`?)"],
            ),
            (r#""limits": {"memoryMiB": 5000}"#, &["`limits`: `memoryMiB` is at most 1024, and that is taken"]),
            (r#""limits": {"processorMs": 0}"#, &["`processorMs` must be a whole number above 0; it is left out"]),
            (r#""limits": {"tableElements": 1.5}"#, &["`tableElements` must be a whole number above 0"]),
            (r#""limits": {"memoryMiB": "64"}"#, &["`memoryMiB` must be a whole number above 0"]),
            (r#""instance": "turn""#, &["`instance` must be `call` or `session`; `call` is taken"]),
            (
                r#""hooks": {"Stop": [{"limits": {"memoryMiB": 64}}]}"#,
                &["`limits` in a hook of a package limits nothing"],
            ),
            (r#""permission": {}"#, &["unknown key `permission` (hint: did you mean `permissions`?)"]),
            (r#""permissions": ["http"]"#, &["`permissions` must be an object, found a list; nothing is asked for"]),
            (
                r#""name": 7, "version": 1.0, "description": """#,
                &["`name` must", "`version` must", "`description` must"],
            ),
            (r#""onError": "never""#, &["`onError` must be `pass` or `block`, found `never`"]),
            (r#""name": "a", "name": "b""#, &["`name` is written twice"]),
            (r#""hooks": {"Stop": [{"command": "true"}]}"#, &["`command` means nothing on a hook of type `callback`"]),
            (r#""hooks": {"Stop": [{"grant": {"run": ["sh"]}}]}"#, &["`grant` in a package grants nothing"]),
            (r#""permissions": {"run": "sh"}"#, &["`permissions`: `run` must be a list of strings"]),
            (r#""$schema": "x""#, &[]),
        ] {
            let (_, diagnostics) = read(&format!("{{\"component\": \"a.wasm\", {rest}}}")).unwrap();
            says(&diagnostics, words);
        }
    }
}
