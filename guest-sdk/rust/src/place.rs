//! Reads JSON into a type, and says where it does not fit: at which key.
//!
//! Text becomes a [`Value`] first, by the one parser that a plugin holds, and the value becomes the type here: serde_json's own
//! way would cost every plugin some 20 KB, and its errors name no key.

use crate::Error;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Expected, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::{Map, Value, map};
use std::{fmt, slice};

/// Reads the text as an object; `what` names it in the error.
pub(crate) fn object(what: &str, text: &str) -> Result<Map<String, Value>, Error> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Error::new(format!("{what} is not a JSON object"))),
        Err(error) => Err(Error::new(format!("{what} is not JSON: {error}"))),
    }
}

/// Reads the text, an object, as a type.
pub(crate) fn parse<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Error> {
    let object = Value::Object(object(what, text)?);
    T::deserialize(Reader(&object)).map_err(|fault| match fault.keys.as_slice() {
        [] => Error::new(format!("{what}: {}", fault.text)),
        keys => Error::new(format!("{what}, at `{}`: {}", keys.join("."), fault.text)),
    })
}

/// Why a value does not fit, and the keys that lead to it.
#[derive(Debug)]
struct Fault {
    keys: Vec<String>,
    text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(text: T) -> Self {
        let (keys, text) = (Vec::new(), text.to_string());
        Self { keys, text }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("expected {expected}, found {}", name(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("expected {expected}, found another {}", name(found)))
    }
}

/// Without the value itself: it may be a secret.
fn name(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "number",
        Unexpected::Str(_) => "string",
        Unexpected::Unit => "null",
        Unexpected::Seq => "list",
        Unexpected::Map => "object",
        _ => "value",
    }
}

struct Reader<'de>(&'de Value);

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => visitor.visit_u64(value),
                (None, Some(value)) => visitor.visit_i64(value),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(value) => visitor.visit_borrowed_str(value),
            Value::Array(values) => visitor.visit_seq(Elements(values.iter())),
            Value::Object(object) => visitor.visit_map(Entries::of(object)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(BorrowedStrDeserializer::new(name)),
            Value::Object(object) => visitor.visit_enum(MapAccessDeserializer::new(Entries::of(object))),
            _ => self.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

struct Elements<'de>(slice::Iter<'de, Value>);

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        self.0.next().map(|value| seed.deserialize(Reader(value))).transpose()
    }
}

struct Entries<'de> {
    left: map::Iter<'de>,
    /// The entry whose key was read last.
    entry: Option<(&'de String, &'de Value)>,
}

impl<'de> Entries<'de> {
    fn of(object: &'de Map<String, Value>) -> Self {
        Self { left: object.iter(), entry: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        self.entry = self.left.next();
        self.entry.map(|(key, _)| seed.deserialize(BorrowedStrDeserializer::new(key))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((key, value)) = self.entry.take() else {
            return Err(de::Error::custom("a value was read without its key"));
        };
        seed.deserialize(Reader(value)).map_err(|mut fault| {
            fault.keys.insert(0, key.clone());
            fault
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    struct Config {
        deny: Vec<String>,
        limit: u8,
        delta: Option<i64>,
        share: f64,
        mode: Mode,
        nested: BTreeMap<String, Vec<bool>>,
        name: Name,
        pair: (u8, char),
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Mode {
        #[default]
        Off,
        Only(Vec<u8>),
        Between {
            low: u8,
            high: u8,
        },
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Name(String);

    #[derive(Debug, Deserialize)]
    struct Strict {
        #[serde(rename = "must")]
        _must: u8,
    }

    fn read(text: &str) -> Result<Config, Error> {
        parse("config", text)
    }

    fn error(text: &str) -> String {
        read(text).expect_err("it does not fit").to_string()
    }

    #[test]
    fn every_shape_of_type_is_read() {
        let text = r#"{"deny": ["a", "é"], "limit": 255, "delta": -3, "share": 0.5, "mode": {"only": [1]},
            "nested": {"x": [true]}, "name": "n", "pair": [1, "ü"]}"#;
        let config = Config {
            deny: vec!["a".into(), "é".into()],
            limit: 255,
            delta: Some(-3),
            share: 0.5,
            mode: Mode::Only(vec![1]),
            nested: BTreeMap::from([("x".into(), vec![true])]),
            name: Name("n".into()),
            pair: (1, 'ü'),
        };
        assert_eq!(read(text), Ok(config));
        assert_eq!(read(r#"{"delta": null}"#), Ok(Config::default()));
        assert_eq!(read(r#"{"mode": "off"}"#), Ok(Config::default()));
        let between = Mode::Between { low: 1, high: 2 };
        assert_eq!(read(r#"{"mode": {"between": {"low": 1, "high": 2}}}"#).map(|config| config.mode), Ok(between));
    }

    #[test]
    fn a_wrong_value_is_named_by_its_keys() {
        assert_eq!(error(r#"{"limit": 1, "deny": "rm"}"#), "config, at `deny`: expected a sequence, found string");
        assert_eq!(error(r#"{"deny": ["a", {}]}"#), "config, at `deny`: expected a string, found object");
        assert_eq!(error(r#"{"nested": {"x": [1]}}"#), "config, at `nested.x`: expected a boolean, found number");
        assert_eq!(error(r#"{"limit": 300}"#), "config, at `limit`: expected u8, found another number");
        assert_eq!(
            error(r#"{"mode": "on"}"#),
            "config, at `mode`: unknown variant `on`, expected one of `off`, `only`, `between`"
        );
    }

    #[test]
    fn a_missing_or_unknown_key_is_named_too() {
        assert!(
            error(r#"{"limit": 1, "denyy": []}"#).starts_with("config: unknown field `denyy`, expected one of `deny`")
        );
        let missing = parse::<Strict>("config", "{}").expect_err("it does not fit");
        assert_eq!(missing.to_string(), "config: missing field `must`");
    }

    #[test]
    fn what_is_no_json_object_is_named_by_its_place_in_the_text() {
        assert_eq!(error(r#"{"deny": ["#), "config is not JSON: EOF while parsing a list at line 1 column 10");
        assert_eq!(error("[1]"), "config is not a JSON object");
    }
}
