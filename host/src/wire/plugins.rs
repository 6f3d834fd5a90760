//! `plugins` of a settings file: what is loaded whole, by name.
//!
//! Owns its shape. What lies at a path, and which hooks it brings, is found out by those who load it.

use std::path::PathBuf;

use jsonc_parser::ast::{self, Value};

use super::document::{Notes, Quoted, did_you_mean, found, last, plain_object, repeated};
use super::hooks::{Origin, Site};
use super::limits;
use super::path::{normal, resolve};
use super::permissions::{self, Remark, Word};
use crate::diagnostic::{Diagnostic, Place};
use crate::event::Object;
use crate::plugin::{Given, WholePlugin};
use crate::source::Scope;

/// What may be said of one.
const KEYS: [&str; 4] = ["path", "grant", "limits", "config"];

/// Reads the value of `plugins`. What is wrong costs the one that it is wrong with, and is said.
pub(super) fn read(value: Option<&Value<'_>>, site: &Site<'_>, notes: &mut Notes) -> Vec<WholePlugin> {
    let object = match value {
        None => return Vec::new(),
        Some(Value::Object(object)) => object,
        Some(other) => {
            let message = format!("`plugins` must map names to objects, found {}; no plugin is loaded", found(other));
            notes.say(Diagnostic::warning(site.place_of(other), message));
            return Vec::new();
        }
    };
    for again in repeated(object) {
        let message = format!("the plugin {} is written twice; the last one counts", Quoted(again.name.as_str()));
        notes.say(Diagnostic::warning(site.place_of(again), message));
    }
    let counts = |property: &&ast::ObjectProp<'_>| {
        last(object, property.name.as_str()).is_some_and(|last| std::ptr::eq(last, *property))
    };
    object.properties.iter().filter(counts).filter_map(|property| one(property, site, notes)).collect()
}

fn one(property: &ast::ObjectProp<'_>, site: &Site<'_>, notes: &mut Notes) -> Option<WholePlugin> {
    let name = property.name.as_str();
    let place = site.place_of(property);
    let read = match &property.value {
        Value::Object(object) if !name.trim().is_empty() => Reader { name, object, site, notes }.read(place.clone()),
        Value::Object(_) => Err("it has no name".to_owned()),
        other => Err(format!("it must be an object, found {}", found(other))),
    };
    match read {
        Ok(plugin) => Some(plugin),
        Err(why) => {
            let message = format!("the plugin {} is not loaded: {why}", Quoted(name));
            notes.say(Diagnostic::warning(place, message));
            None
        }
    }
}

struct Reader<'r, 'd> {
    name: &'r str,
    object: &'r ast::Object<'d>,
    site: &'r Site<'r>,
    notes: &'r mut Notes,
}

impl Reader<'_, '_> {
    fn read(mut self, place: Place) -> Result<WholePlugin, String> {
        self.check_keys();
        Ok(WholePlugin {
            name: self.name.into(),
            path: self.path()?,
            config: self.config()?,
            given: self.given(),
            place,
        })
    }

    fn check_keys(&mut self) {
        for again in repeated(self.object) {
            let message = format!("{} is written twice; the last one counts", Quoted(again.name.as_str()));
            self.warn(again, message, None);
        }
        for property in &self.object.properties {
            let name = property.name.as_str();
            if !KEYS.contains(&name) {
                self.warn(property, format!("unknown key {}", Quoted(name)), did_you_mean(name, KEYS));
            }
        }
    }

    fn warn(&mut self, node: &impl jsonc_parser::common::Ranged, message: String, hint: Option<String>) {
        let message = format!("the plugin {}: {message}", Quoted(self.name));
        self.notes.say(Diagnostic { hint, ..Diagnostic::warning(self.site.place_of(node), message) });
    }

    fn path(&self) -> Result<PathBuf, String> {
        let text = match last(self.object, "path").map(|property| &property.value) {
            None => return Err("`path` is missing".to_owned()),
            Some(Value::StringLit(text)) => &text.value,
            Some(other) => return Err(format!("`path` must be a string, found {}", found(other))),
        };
        let bases = &self.site.bases;
        let path = resolve(text, bases).map_err(|why| format!("`path` {} {why}", Quoted(text)))?;
        let of_user = self.site.origin == Origin::Settings(Scope::User);
        if of_user || bases.project.is_some_and(|root| path.starts_with(normal(root))) {
            return Ok(path);
        }
        Err(format!("`path` {} is outside: a project may name only what it brings itself", Quoted(text)))
    }

    fn config(&self) -> Result<Object, String> {
        match last(self.object, "config").map(|property| &property.value) {
            None => Ok(Object::new()),
            Some(Value::Object(object)) => Ok(plain_object(object)),
            Some(other) => Err(format!("`config` must be an object, found {}", found(other))),
        }
    }

    /// Whatever is wrong in it grants nothing, and limits nothing but by the defaults.
    fn given(&mut self) -> Given {
        let mut given = Given::default();
        if let Some(property) = last(self.object, "grant") {
            let (granted, remarks) = permissions::read("grant", &property.value, Word::Granted, self.site);
            given.permissions = granted;
            self.remark(remarks);
        }
        if let Some(property) = last(self.object, "limits") {
            let (said, remarks) = limits::read(&property.value, self.site);
            given.limits = said;
            self.remark(remarks);
        }
        given
    }

    fn remark(&mut self, remarks: Vec<Remark>) {
        for Remark { line, message, hint } in remarks {
            let message = format!("the plugin {}: {message}", Quoted(self.name));
            let place = Place { line: Some(line), ..self.site.place() };
            self.notes.say(Diagnostic { hint, ..Diagnostic::warning(place, message) });
        }
    }
}
