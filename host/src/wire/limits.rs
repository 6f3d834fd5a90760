//! `limits`: what a plugin may use up, as written in an entry of settings and in `plugin.json`.
//!
//! Owns the words. Whose word counts is said in `limits`; what is wrong is left out with a remark.

use std::time::Duration;

use jsonc_parser::ast::{self, Value};

use super::document::{Quoted, did_you_mean, found, repeated};
use super::hooks::Site;
use super::permissions::Remark;
use crate::limits::names;
use crate::limits::{LimitsSaid, MOST_MEMORY, MOST_PROCESSOR, MOST_TABLE_ELEMENTS};

/// Each limit's name, and the most that it can be.
pub(crate) const MOST: [(&str, u64); 3] = [
    (names::MEMORY, (MOST_MEMORY >> 20) as u64),
    (names::PROCESSOR, MOST_PROCESSOR.as_secs() * 1000),
    (names::TABLES, MOST_TABLE_ELEMENTS as u64),
];

/// Reads what stands under `limits`.
pub(crate) fn read(value: &Value<'_>, site: &Site<'_>) -> (LimitsSaid, Vec<Remark>) {
    let mut reader = Reader { site, said: LimitsSaid::default(), remarks: Vec::new() };
    match value {
        Value::Object(object) => {
            for again in repeated(object) {
                let message =
                    format!("`limits`: {} is written twice; the last one counts", Quoted(again.name.as_str()));
                reader.say(again, message, None);
            }
            object.properties.iter().for_each(|property| reader.property(property));
        }
        other => {
            let message = format!("`limits` must be an object, found {}; the defaults hold", found(other));
            reader.say(other, message, None);
        }
    }
    (reader.said, reader.remarks)
}

struct Reader<'r> {
    site: &'r Site<'r>,
    said: LimitsSaid,
    remarks: Vec<Remark>,
}

impl Reader<'_> {
    fn property(&mut self, property: &ast::ObjectProp<'_>) {
        let name = property.name.as_str();
        let Some(most) = MOST.iter().find(|(known, _)| *known == name).map(|(_, most)| *most) else {
            let hint = did_you_mean(name, names::ALL);
            return self.say(property, format!("`limits` has no {}; it is left out", Quoted(name)), hint);
        };
        // In their order, so that the last of a name counts, one that is wrong too.
        let number = self.number(name, &property.value, most);
        match name {
            names::MEMORY => self.said.memory = number.and_then(|number| usize::try_from(number << 20).ok()),
            names::PROCESSOR => self.said.processor = number.map(Duration::from_millis),
            _ => self.said.table_elements = number.and_then(|number| usize::try_from(number).ok()),
        }
    }

    fn number(&mut self, name: &str, value: &Value<'_>, most: u64) -> Option<u64> {
        let written = match value {
            Value::NumberLit(number) => number.value.parse::<u64>().ok().filter(|number| *number > 0),
            _ => None,
        };
        match written {
            Some(number) if number <= most => Some(number),
            Some(_) => {
                self.say(value, format!("`limits`: `{name}` is at most {most}, and that is taken"), None);
                Some(most)
            }
            None => {
                self.say(value, format!("`limits`: `{name}` must be a whole number above 0; it is left out"), None);
                None
            }
        }
    }

    fn say(&mut self, node: &impl jsonc_parser::common::Ranged, message: String, hint: Option<String>) {
        self.remarks.push(Remark { line: self.site.lines.of_node(node), message, hint });
    }
}
