//! A settings file's hook part: `hooks`, `disabled`, `disableAllHooks`, `onError`.
//!
//! Owns what one file says. The rest of the file belongs to the agent and is not looked at, but for keys that stand
//! where a typo would have put ours. What several files come to together is for `settings::merge`.

use std::path::{Path, PathBuf};

use jsonc_parser::ast::{self, Value};

use super::document::{Document, NotJson, Notes, Quoted, did_you_mean, found, last, repeated};
use super::field::TOP_LEVEL;
use super::hooks::value::default_on_error;
use super::hooks::{self, Origin, Site};
use super::path::Bases;
use super::plugins;
use crate::diagnostic::{Diagnostic, Place};
use crate::event::Events;
use crate::hook::{HookSpec, OnError};
use crate::plugin::WholePlugin;
use crate::source::Scope;
use crate::surroundings::Surroundings;

/// Which settings file, and in which scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRef {
    /// The file.
    pub path: PathBuf,
    /// Whose it is.
    pub scope: Scope,
}

/// What one settings file says.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The file.
    pub file: FileRef,
    /// Its hooks, in the order in which they stand there; the file's own `onError` is in them.
    pub hooks: Vec<HookSpec>,
    /// The hooks that its plugins bring, which stand behind those; none before the plugins are looked at.
    pub brought: Vec<HookSpec>,
    /// The plugins that it loads whole, in the order in which they stand there.
    pub plugins: Vec<WholePlugin>,
    /// The names it disables, and where it says so.
    pub disabled: Vec<(String, Place)>,
    /// Whether it disables all hooks of its scope.
    pub disable_all: bool,
    /// What a missing answer of its hooks means where they do not say.
    pub default_on_error: Option<OnError>,
    /// False where the file was there and could not be read: on a reload its last good hooks stay.
    pub readable: bool,
    /// What is to be said about it.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// A file that says nothing.
    pub fn empty(file: FileRef) -> Self {
        Self {
            file,
            hooks: Vec::new(),
            brought: Vec::new(),
            plugins: Vec::new(),
            disabled: Vec::new(),
            disable_all: false,
            default_on_error: None,
            readable: true,
            diagnostics: Vec::new(),
        }
    }

    /// A file that is there and cannot be read, and why.
    pub fn unreadable(file: FileRef, why: Diagnostic) -> Self {
        Self { readable: false, diagnostics: vec![why], ..Self::empty(file) }
    }
}

/// Reads the bytes of a settings file. Never fails: what is wrong is in the diagnostics, and costs as little as it can.
pub fn parse(bytes: &[u8], file: &FileRef, events: &Events, surroundings: &Surroundings) -> Parsed {
    let document = match Document::read(bytes) {
        Ok(document) => document,
        Err(NotJson { line, message }) => {
            let place = Place { line, ..Place::file(&file.path) };
            let why = Diagnostic::warning(place, format!("{message}; no hook of this file is read"));
            return Parsed::unreadable(file.clone(), why);
        }
    };
    let site = Site {
        file: &file.path,
        lines: &document.lines,
        origin: Origin::Settings(file.scope),
        events,
        bases: Bases {
            folder: file.path.parent().unwrap_or(Path::new("")),
            home: surroundings.home.as_deref(),
            project: surroundings.project.as_deref(),
            package: None,
        },
    };
    match &document.root {
        Value::Object(root) => read(root, &site, file),
        other => {
            let message = format!("settings must be an object, found {}; no hook of this file is read", found(other));
            Parsed::unreadable(file.clone(), Diagnostic::warning(site.place_of(other), message))
        }
    }
}

fn read(root: &ast::Object<'_>, site: &Site<'_>, file: &FileRef) -> Parsed {
    let mut notes = Notes::default();
    top_level(root, site, &mut notes);
    let written = root.properties.iter().filter(|p| p.name.as_str() == "hooks").map(|p| &p.value);
    let default_on_error = default_on_error(root, site, &mut notes);
    let mut hooks = hooks::read(written, site, &mut notes);
    for hook in &mut hooks {
        hook.on_error = hook.on_error.or(default_on_error);
    }
    Parsed {
        hooks,
        plugins: plugins::read(last(root, "plugins").map(|property| &property.value), site, &mut notes),
        disabled: disabled(root, site, &mut notes),
        disable_all: disable_all(root, site, &mut notes),
        default_on_error,
        diagnostics: notes.finish(site.place()),
        ..Parsed::empty(file.clone())
    }
}

/// Says what stands at the top level and was most likely meant for us.
fn top_level(root: &ast::Object<'_>, site: &Site<'_>, notes: &mut Notes) {
    for again in repeated(root).filter(|p| TOP_LEVEL.contains(&p.name.as_str())) {
        let name = again.name.as_str();
        let which = if name == "hooks" { "the hooks of both are read" } else { "the last one counts" };
        notes.say(Diagnostic::warning(site.place_of(again), format!("`{name}` is written twice; {which}")));
    }
    for property in &root.properties {
        let name = property.name.as_str();
        let (message, hint) = if TOP_LEVEL.contains(&name) {
            continue;
        } else if site.events.named(name).is_some() {
            (format!("the event `{name}` stands outside of `hooks`; its hooks are skipped"), None)
        } else if let Some(meant) = near_miss(name) {
            (format!("{} is not read", Quoted(name)), Some(meant))
        } else {
            continue;
        };
        notes.say(Diagnostic { hint, ..Diagnostic::warning(site.place_of(property), message) });
    }
}

/// One of our keys, misspelt. Short ones are near too much that an agent's settings hold (`tools` and `hooks`), so they
/// must be off by a single slip.
fn near_miss(name: &str) -> Option<String> {
    const LONG: usize = 10;
    const MOST_SLIPS: usize = 3;
    let near = |known: &&str| {
        // Most keys of a file are ruled out by their length.
        if name.len().abs_diff(known.len()) > MOST_SLIPS {
            return false;
        }
        let slips = strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
        slips <= if known.len() < LONG { 1 } else { MOST_SLIPS }
    };
    did_you_mean(name, TOP_LEVEL.iter().copied().filter(near))
}

fn disabled(root: &ast::Object<'_>, site: &Site<'_>, notes: &mut Notes) -> Vec<(String, Place)> {
    let list = match last(root, "disabled").map(|property| &property.value) {
        None => return Vec::new(),
        Some(Value::Array(list)) => list,
        Some(other) => {
            let message =
                format!("`disabled` must be a list of hook names, found {}; nothing is disabled", found(other));
            notes.say(Diagnostic::warning(site.place_of(other), message));
            return Vec::new();
        }
    };
    let mut names = Vec::new();
    for element in &list.elements {
        match element {
            Value::StringLit(name) => names.push((name.value.clone().into_owned(), site.place_of(element))),
            other => {
                let message = format!("`disabled` holds {}, not a hook's name; it is skipped", found(other));
                notes.say(Diagnostic::warning(site.place_of(other), message));
            }
        }
    }
    names
}

fn disable_all(root: &ast::Object<'_>, site: &Site<'_>, notes: &mut Notes) -> bool {
    match last(root, "disableAllHooks").map(|property| &property.value) {
        None => false,
        Some(Value::BooleanLit(flag)) => flag.value,
        Some(other) => {
            let message =
                format!("`disableAllHooks` must be true or false, found {}; nothing is disabled", found(other));
            notes.say(Diagnostic::warning(site.place_of(other), message));
            false
        }
    }
}

#[cfg(test)]
mod tests;
