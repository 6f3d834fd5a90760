//! The `hooks` of a settings file or a package: event names to entries, flat and nested shapes mixed.
//!
//! Owns the walk and the made-up names. One hook's fields are read in `entry`, what its kind needs in `kind`, single
//! values in `value`. One bad entry never costs another.

mod entry;
mod kind;
pub(crate) mod value;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use jsonc_parser::ast::{self, Value};

use super::document::{Lines, Notes, Quoted, did_you_mean, found, last, repeated};
use super::field;
use super::path::Bases;
use crate::diagnostic::{Diagnostic, Place};
use crate::event::{EventName, Events};
use crate::hook::HookSpec;
use crate::source::Scope;
use entry::Entry;

/// A longer name of an event is cut where it is kept.
const LONGEST_EVENT: usize = 200;

/// What entries are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A settings file of this scope.
    Settings(Scope),
    /// A package's `plugin.json`: its hooks are the package's own callbacks.
    Package,
    /// A package's `hooks/hooks.json`: hooks of every kind that settings may make.
    Bundled,
}

impl Origin {
    /// Whether they belong to a package, which may name only what it brings itself and grants nothing.
    pub(crate) fn is_packed(self) -> bool {
        matches!(self, Self::Package | Self::Bundled)
    }
}

/// Where entries stand, and what they may refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    /// The file.
    pub(crate) file: &'a Path,
    /// Its lines.
    pub(crate) lines: &'a Lines,
    /// What it is.
    pub(crate) origin: Origin,
    /// The events it may name.
    pub(crate) events: &'a Events,
    /// Where its paths may start.
    pub(crate) bases: Bases<'a>,
}

impl Site<'_> {
    /// The file itself.
    pub(crate) fn place(&self) -> Place {
        Place::file(self.file)
    }

    /// A value in the file.
    pub(crate) fn place_of(&self, node: &impl jsonc_parser::common::Ranged) -> Place {
        Place { line: Some(self.lines.of_node(node)), ..self.place() }
    }

    /// A value in the entry at `spot`.
    fn place_in(&self, spot: Spot<'_>, node: &impl jsonc_parser::common::Ranged) -> Place {
        Place { event: Some(spot.event.to_string()), index: Some(spot.index()), ..self.place_of(node) }
    }
}

/// Reads all that stands under these values of `hooks` (more than one where the key is written twice).
pub(crate) fn read<'v, 'a: 'v>(
    values: impl IntoIterator<Item = &'v Value<'a>>,
    site: &Site<'_>,
    notes: &mut Notes,
) -> Vec<HookSpec> {
    let mut walk = Walk { site, notes, hooks: Vec::new(), next: HashMap::new() };
    for value in values {
        match value {
            Value::Object(events) => walk.events(events),
            other => {
                let message =
                    format!("`hooks` must map event names to lists, found {}; no hook of it is read", found(other));
                walk.notes.lose_with(|| Diagnostic::warning(site.place_of(other), message));
            }
        }
    }
    let mut hooks = walk.hooks;
    keep_names_apart(&mut hooks);
    hooks
}

/// The walk over one file.
struct Walk<'w> {
    site: &'w Site<'w>,
    notes: &'w mut Notes,
    hooks: Vec<HookSpec>,
    /// The index of the next entry, by event: goes on where an event is written twice.
    next: HashMap<EventName, usize>,
}

impl Walk<'_> {
    fn events(&mut self, events: &ast::Object<'_>) {
        for again in repeated(events).filter(|p| !field::is_silent(p.name.as_str())) {
            let message = format!("{} is written twice; the hooks of both are read", Quoted(again.name.as_str()));
            self.notes.say(Diagnostic::warning(self.site.place_of(again), message));
        }
        for property in &events.properties {
            let name = property.name.as_str();
            match self.site.events.named(name) {
                Some(event) => self.entries(&event, &property.value),
                None if field::is_silent(name) => {}
                None => self.unknown_event(property),
            }
        }
    }

    fn unknown_event(&mut self, property: &ast::ObjectProp<'_>) {
        let site = self.site;
        self.notes.lose_with(|| {
            let name = property.name.as_str();
            let event = Some(name.chars().take(LONGEST_EVENT).collect());
            let place = Place { event, ..site.place_of(property) };
            let valid = format!("valid events are {}", site.events.names().collect::<Vec<_>>().join(", "));
            let hint = match did_you_mean(name, site.events.names()) {
                Some(near) => format!("{near} {valid}"),
                None => valid,
            };
            Diagnostic::warning(place, format!("unknown event {}{}", Quoted(name), lost(&property.value))).hint(hint)
        });
    }

    fn entries(&mut self, event: &EventName, value: &Value<'_>) {
        let Value::Array(list) = value else {
            let place = Place { event: Some(event.to_string()), ..self.site.place_of(value) };
            let message = format!("must be a list of hooks, found {}; it is skipped", found(value));
            self.notes.lose_with(|| Diagnostic::warning(place, message));
            return;
        };
        for element in &list.elements {
            let next = self.next.entry(event.clone()).or_default();
            let index = *next;
            *next += 1;
            let spot = Spot { event, index, inner: None };
            match element {
                Value::Object(object) if last(object, "hooks").is_some() => self.group(spot, object),
                Value::Object(object) => self.hook(spot, object, None),
                other => self.no_object(spot, other),
            }
        }
    }

    fn group(&mut self, spot: Spot<'_>, group: &ast::Object<'_>) {
        self.check_group(spot, group);
        let mut inner = 0;
        for property in group.properties.iter().filter(|p| p.name.as_str() == "hooks") {
            let Value::Array(list) = &property.value else {
                let message = format!("`hooks` must be a list, found {}; the group is skipped", found(&property.value));
                let place = self.site.place_in(spot, &property.value);
                self.notes.lose_with(|| Diagnostic::warning(place, message));
                continue;
            };
            if list.elements.is_empty() {
                self.warn(spot, &property.value, "`hooks` is empty: the group runs nothing");
            }
            for element in &list.elements {
                let spot = Spot { inner: Some(inner), ..spot };
                inner += 1;
                match element {
                    Value::Object(object) => self.hook(spot, object, Some(group)),
                    other => self.no_object(spot, other),
                }
            }
        }
    }

    /// Says what of a group is not read.
    fn check_group(&mut self, spot: Spot<'_>, group: &ast::Object<'_>) {
        for again in repeated(group) {
            self.warn(spot, again, format!("{} is written twice; the last one counts", Quoted(again.name.as_str())));
        }
        for property in &group.properties {
            let name = property.name.as_str();
            match field::named(name) {
                Some(field) if field.group => {}
                None if name == "hooks" => {}
                Some(_) => {
                    let message = format!("`{name}` beside `hooks` is not read");
                    let said = Diagnostic::warning(self.site.place_in(spot, property), message);
                    self.notes.say(said.hint("put it on a hook inside `hooks`"));
                }
                None => {
                    let site = self.site;
                    self.notes.say_with(|| {
                        let hint = did_you_mean(name, field::group_names());
                        let message = format!("unknown field {}", Quoted(name));
                        Diagnostic { hint, ..Diagnostic::warning(site.place_in(spot, property), message) }
                    });
                }
            }
        }
    }

    fn hook(&mut self, spot: Spot<'_>, own: &ast::Object<'_>, group: Option<&ast::Object<'_>>) {
        let place = self.site.place_in(spot, own);
        let mut entry = Entry::new(own, group, spot, place, self.site, self.notes);
        match entry.read() {
            Ok(hook) => self.hooks.push(hook),
            Err(refusal) => entry.refuse(refusal),
        }
    }

    fn no_object(&mut self, spot: Spot<'_>, value: &Value<'_>) {
        let site = self.site;
        self.notes.lose_with(|| {
            let message = format!("a hook must be an object, found {}; it is skipped", found(value));
            Diagnostic::warning(site.place_in(spot, value), message)
        });
    }

    fn warn(&mut self, spot: Spot<'_>, node: &impl jsonc_parser::common::Ranged, message: impl Into<String>) {
        self.notes.say(Diagnostic::warning(self.site.place_in(spot, node), message));
    }
}

/// What is lost with an event that nobody knows.
fn lost(value: &Value<'_>) -> String {
    match value {
        Value::Array(list) if !list.elements.is_empty() => {
            format!("; its entries ({}) are skipped", list.elements.len())
        }
        _ => String::new(),
    }
}

/// Where one hook stands.
#[derive(Clone, Copy, Debug)]
struct Spot<'a> {
    event: &'a EventName,
    index: usize,
    /// Its place in the nested shape.
    inner: Option<usize>,
}

impl Spot<'_> {
    /// As a diagnostic gives it.
    fn index(&self) -> String {
        match self.inner {
            Some(inner) => format!("{}.hooks[{inner}]", self.index),
            None => self.index.to_string(),
        }
    }

    /// The name of a hook that has none of its own.
    fn made_up_name(&self, origin: Origin) -> String {
        let from = match origin {
            Origin::Settings(Scope::User) => "user",
            Origin::Settings(Scope::Project) => "project",
            Origin::Settings(Scope::Local) => "local",
            Origin::Package => "plugin",
            Origin::Bundled => "package",
        };
        let inner = self.inner.map(|inner| format!("-{inner}")).unwrap_or_default();
        format!("{from}/{}-{}{inner}", self.event, self.index)
    }
}

/// A made-up name gives way where somebody wrote just that name.
fn keep_names_apart(hooks: &mut [HookSpec]) {
    let written: HashSet<_> = hooks.iter().filter(|h| h.named).map(|h| (h.event.clone(), h.name.clone())).collect();
    for hook in hooks.iter_mut().filter(|hook| !hook.named) {
        while written.contains(&(hook.event.clone(), hook.name.clone())) {
            hook.name = format!("{}'", hook.name).into();
            hook.place.hook = Some(hook.name.clone());
        }
    }
}
