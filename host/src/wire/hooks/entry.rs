//! One hook's entry: the fields that every kind shares.
//! A field that makes a hook run where it should not, or not at all, refuses the entry; any other falls back, aloud.

use jsonc_parser::ast::{self, Value};
use jsonc_parser::common::Ranged;

use super::super::document::{Notes, Quoted, did_you_mean, found, last, repeated};
use super::super::field::{self, On};
use super::{Site, Spot, kind, value};
use crate::diagnostic::{Diagnostic, Place};
use crate::hook::{HookSpec, KindName};
use crate::id::HookName;
use crate::matching::{Condition, Matcher};
use crate::source::Scope;

/// Why an entry is skipped.
#[derive(Debug)]
pub(crate) struct Refusal {
    message: String,
    hint: Option<String>,
    /// The line, where it is another than that on which the entry begins.
    line: Option<usize>,
}

impl Refusal {
    /// The whole entry is at fault.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, line: None }
    }

    /// The same, with what to do about it.
    pub(crate) fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}

/// An entry while it is read.
pub(crate) struct Entry<'e, 'd> {
    own: &'e ast::Object<'d>,
    group: Option<&'e ast::Object<'d>>,
    pub(crate) site: &'e Site<'e>,
    spot: Spot<'e>,
    place: Place,
    notes: &'e mut Notes,
}

impl<'e, 'd> Entry<'e, 'd> {
    pub(super) fn new(
        own: &'e ast::Object<'d>,
        group: Option<&'e ast::Object<'d>>,
        spot: Spot<'e>,
        place: Place,
        site: &'e Site<'e>,
        notes: &'e mut Notes,
    ) -> Self {
        Self { own, group, site, spot, place, notes }
    }

    /// The hook that it is.
    pub(super) fn read(&mut self) -> Result<HookSpec, Refusal> {
        let (name, named) = self.name();
        self.place.hook = Some(name.clone());
        let which = kind::which(self)?;
        self.check_fields(which);
        let kind = kind::read(which, self)?;
        self.check_dialect()?;
        let matcher = self.matcher()?;
        let condition = self.condition()?;
        let once = self.once()?;
        Ok(HookSpec {
            event: self.spot.event.clone(),
            name,
            named,
            matcher,
            condition,
            timeout: value::timeout(self),
            once,
            on_error: value::on_error(self),
            max_attempts: value::max_attempts(self),
            is_final: self.is_final(),
            kind,
            place: self.place.clone(),
        })
    }

    /// Says that the entry is skipped, and why.
    pub(super) fn refuse(&mut self, refusal: Refusal) {
        let place = Place { line: refusal.line.or(self.place.line), ..self.place.clone() };
        let message = format!("{}; this hook is skipped", refusal.message);
        self.notes.lose_with(|| Diagnostic { hint: refusal.hint, ..Diagnostic::warning(place, message) });
    }

    /// Says something about the value `node`.
    pub(crate) fn warn(&mut self, node: &impl Ranged, message: impl Into<String>) {
        self.warn_with(node, message, None);
    }

    /// Says something about the value `node`, with what to do about it.
    pub(crate) fn warn_with(&mut self, node: &impl Ranged, message: impl Into<String>, hint: Option<String>) {
        self.warn_at(self.site.lines.of_node(node), message, hint);
    }

    /// Says something about what stands on this line.
    pub(crate) fn warn_at(&mut self, line: usize, message: impl Into<String>, hint: Option<String>) {
        let place = Place { line: Some(line), ..self.place.clone() };
        self.notes.say(Diagnostic { hint, ..Diagnostic::warning(place, message) });
    }

    /// A refusal for the value `node`.
    pub(crate) fn refusal(&self, node: &impl Ranged, message: impl Into<String>) -> Refusal {
        Refusal { line: Some(self.site.lines.of_node(node)), ..Refusal::new(message) }
    }

    /// The event it stands under.
    pub(crate) fn event(&self) -> &'e crate::event::EventName {
        self.spot.event
    }

    /// The value of a field: the hook's own, else its group's.
    pub(crate) fn get(&self, name: &str) -> Option<&'e Value<'d>> {
        self.its_own(name).or_else(|| self.of_its_group(name))
    }

    /// The value of a field that the hook has itself.
    pub(crate) fn its_own(&self, name: &str) -> Option<&'e Value<'d>> {
        last(self.own, name).map(|property| &property.value)
    }

    /// The value of a field that its group has for all.
    pub(crate) fn of_its_group(&self, name: &str) -> Option<&'e Value<'d>> {
        let group = self.group.filter(|_| field::named(name).is_some_and(|field| field.group))?;
        last(group, name).map(|property| &property.value)
    }

    /// The text of a field; another type refuses the entry.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'e str>, Refusal> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::StringLit(text)) => Ok(Some(&text.value)),
            Some(other) => Err(self.refusal(other, format!("`{name}` must be a string, found {}", found(other)))),
        }
    }

    fn name(&mut self) -> (HookName, bool) {
        let made_up = HookName::from(self.spot.made_up_name(self.site.origin));
        match last(self.own, "name").map(|property| &property.value) {
            Some(Value::StringLit(text)) if !text.value.trim().is_empty() => (text.value.as_ref().into(), true),
            None => (made_up, false),
            Some(other) => {
                let what = if matches!(other, Value::StringLit(_)) { "an empty one" } else { found(other) };
                self.place.hook = Some(made_up.clone());
                self.warn(other, format!("`name` must be a string, found {what}; the hook counts as nameless"));
                (made_up, false)
            }
        }
    }

    /// Says what of the entry is not read, and what is written twice.
    fn check_fields(&mut self, kind: KindName) {
        for again in repeated(self.own) {
            self.warn(again, format!("{} is written twice; the last one counts", Quoted(again.name.as_str())));
        }
        let own = self.own;
        for property in &own.properties {
            self.check_field(property, kind);
        }
        for property in self.group.into_iter().flat_map(|group| &group.properties) {
            let name = property.name.as_str();
            if field::named(name).is_some_and(|f| f.on == On::NotYet) && last(own, name).is_none() {
                self.check_field(property, kind);
            }
        }
    }

    fn check_field(&mut self, property: &ast::ObjectProp<'_>, kind: KindName) {
        let name = property.name.as_str();
        let Some(field) = field::named(name) else {
            return self.unknown_field(property);
        };
        match field.on {
            On::Every | On::Nowhere => {}
            On::Kind(of) if of == kind => {}
            On::Kind(_) | On::OtherKind => {
                self.warn(property, format!("`{name}` means nothing on a hook of type `{kind}`"));
            }
            On::NotYet if matches!(&property.value, Value::BooleanLit(flag) if !flag.value) => {}
            On::NotYet => self.warn(property, format!("`{name}` is not supported yet{}", without(name))),
        }
    }

    fn unknown_field(&mut self, property: &ast::ObjectProp<'_>) {
        let (place, site) = (&self.place, self.site);
        self.notes.say_with(|| {
            let name = property.name.as_str();
            let place = Place { line: Some(site.lines.of_node(property)), ..place.clone() };
            let hint = did_you_mean(name, field::names());
            Diagnostic { hint, ..Diagnostic::warning(place, format!("unknown field {}", Quoted(name))) }
        });
    }

    /// A guard must not be run in a dialect that it was not written for.
    fn check_dialect(&self) -> Result<(), Refusal> {
        let Some(value) = self.get("dialect") else { return Ok(()) };
        match self.text("dialect")? {
            None | Some("freecode") => Ok(()),
            Some(known) if field::DIALECTS.contains(&known) => {
                Err(self.refusal(value, format!("this version cannot run a hook of the dialect `{known}`")))
            }
            Some(other) => {
                let refusal = self.refusal(value, format!("unknown dialect {}", Quoted(other)));
                Err(refusal.hint(did_you_mean(other, field::DIALECTS.iter().copied())))
            }
        }
    }

    fn matcher(&mut self) -> Result<Matcher, Refusal> {
        let Some(value) = self.get("matcher") else { return Ok(Matcher::everything()) };
        if !self.event().class().matcher {
            // Every hook of such an event has an empty one in many a file: it says nothing that is not so.
            if !matches!(value, Value::StringLit(text) if matches!(text.value.trim(), "" | "*")) {
                let message = format!("`matcher` is ignored: `{}` has none, and the hook always runs", self.event());
                self.warn(value, message);
            }
            return Ok(Matcher::everything());
        }
        let text = self.text("matcher")?.unwrap_or_default();
        Matcher::new(text)
            .map_err(|why| self.refusal(value, format!("the matcher {} compiles nowhere: {why}", Quoted(text))))
    }

    fn condition(&mut self) -> Result<Option<Condition>, Refusal> {
        let Some(value) = self.get("if") else { return Ok(None) };
        if !self.event().class().tool {
            self.warn(
                value,
                format!("`if` is ignored: `{}` is not about a tool, and the hook always runs", self.event()),
            );
            return Ok(None);
        }
        let text = self.text("if")?.unwrap_or_default();
        let (condition, doubt) = Condition::new(text);
        if let Some(doubt) = doubt {
            self.warn(value, format!("`if`: {doubt}"));
        }
        Ok(Some(condition))
    }

    fn once(&mut self) -> Result<bool, Refusal> {
        match self.get("once") {
            None => Ok(false),
            Some(Value::BooleanLit(flag)) => {
                if flag.value && self.event().class().gate {
                    let message =
                        format!("`once` on the gate `{}`: after its first answer it guards nothing", self.event());
                    self.warn(flag, message);
                }
                Ok(flag.value)
            }
            Some(other) => Err(self.refusal(other, format!("`once` must be true or false, found {}", found(other)))),
        }
    }

    /// Only the user's own word counts: a project has nobody to be final against.
    fn is_final(&mut self) -> bool {
        match self.get("final") {
            None => false,
            Some(Value::BooleanLit(flag)) => flag.value && self.site.origin == super::Origin::Settings(Scope::User),
            Some(other) => {
                self.warn(other, format!("`final` must be true or false, found {}; false is taken", found(other)));
                false
            }
        }
    }
}

/// What becomes of a hook without a field that is not supported yet.
fn without(name: &str) -> &'static str {
    match name {
        "async" | "asyncRewake" => ": the hook runs in the foreground",
        _ => "",
    }
}
