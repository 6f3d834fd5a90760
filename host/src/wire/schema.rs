//! The JSON Schema of a settings file's hook part, made from the table that validation reads.

use serde_json::{Map, Value, json};

use super::field::{FIELDS, Field, ON_ERROR, On, Shape};
use super::{limits, permissions};
use crate::event::Events;

/// The schema, for the events that a host knows.
pub fn settings(events: &Events) -> Value {
    let by_event: Map<String, Value> =
        events.names().map(|name| (name.to_owned(), json!({"$ref": "#/$defs/entries"}))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tacklebox: hooks in settings",
        "type": "object",
        "properties": {
            "hooks": {"type": "object", "properties": by_event},
            "disabled": described(Shape::Texts, "names of hooks of this scope that are not to run"),
            "disableAllHooks": described(Shape::Flag, "whether no hook of this scope is to run"),
            "onError": described(Shape::Word(ON_ERROR), "what a missing answer of this file's hooks means"),
            "plugins": {
                "type": "object",
                "additionalProperties": plugin(),
                "description": "plugins that are loaded whole, by name",
            },
        },
        "$defs": {
            "entries": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/group"}, {"$ref": "#/$defs/hook"}]}},
            "group": group(),
            "hook": {"type": "object", "properties": properties(|_| true), "additionalProperties": false},
        },
    })
}

fn plugin() -> Value {
    let properties = json!({
        "path": described(Shape::Text, "the component's file, or the folder"),
        "grant": described(Shape::Grant, "what it may do, of what it asks for"),
        "limits": described(Shape::Object, "what it may use up (not supported yet)"),
        "config": described(Shape::Object, "what its hooks read as their configuration"),
    });
    json!({"type": "object", "required": ["path"], "properties": properties, "additionalProperties": false})
}

fn group() -> Value {
    let mut properties = properties(|field| field.group);
    properties.insert("hooks".to_owned(), json!({"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/hook"}}));
    json!({"type": "object", "required": ["hooks"], "properties": properties, "additionalProperties": false})
}

fn properties(wanted: impl Fn(&Field) -> bool) -> Map<String, Value> {
    FIELDS.iter().filter(|field| wanted(field)).map(|field| (field.name.to_owned(), property(field))).collect()
}

fn property(field: &Field) -> Value {
    let where_it_counts = match field.on {
        On::Every | On::Nowhere => String::new(),
        On::Kind(kind) => format!(" (type `{kind}`)"),
        On::OtherKind => " (of a type that this version does not run)".to_owned(),
        On::NotYet => " (not supported yet)".to_owned(),
    };
    described(field.shape, &format!("{}{where_it_counts}", field.says))
}

fn described(shape: Shape, says: &str) -> Value {
    let mut value = match shape {
        Shape::Text => json!({"type": "string"}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Seconds => json!({"type": "number", "exclusiveMinimum": 0, "maximum": 300}),
        Shape::Count => json!({"type": "integer", "minimum": 1}),
        Shape::Word(words) => json!({"enum": words}),
        Shape::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Shape::Env => json!({"anyOf": [
            {"type": "array", "items": {"type": "string"}},
            {"type": "object", "additionalProperties": {"type": "string"}},
        ]}),
        Shape::Grant => grant(),
        Shape::Limits => most(),
        Shape::Object => json!({"type": "object"}),
        Shape::Any => json!({}),
    };
    if let Some(object) = value.as_object_mut() {
        object.insert("description".to_owned(), says.into());
    }
    value
}

/// Each permission of its own shape.
fn grant() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let shape = |name: &str| if name == "approve" { json!({"type": "boolean"}) } else { texts.clone() };
    let properties: Map<_, _> = permissions::NAMES.iter().map(|name| ((*name).to_owned(), shape(name))).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// Each limit with the most that it can be.
fn most() -> Value {
    let number = |most: u64| json!({"type": "integer", "minimum": 1, "maximum": most});
    let properties: Map<_, _> = limits::MOST.iter().map(|(name, most)| ((*name).to_owned(), number(*most))).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use super::super::field;
    use super::*;

    #[test]
    fn every_known_field_and_event_is_in_the_schema() {
        let schema = settings(&Events::default());
        for field in FIELDS {
            assert!(schema["$defs"]["hook"]["properties"].get(field.name).is_some(), "{}", field.name);
            assert_eq!(schema["$defs"]["group"]["properties"].get(field.name).is_some(), field.group, "{}", field.name);
        }
        for name in field::TOP_LEVEL {
            assert!(schema["properties"].get(*name).is_some(), "{name}");
        }
        for event in Events::default().names() {
            assert!(schema["properties"]["hooks"]["properties"].get(event).is_some(), "{event}");
        }
    }
}
