//! JSON as people write it: comments, trailing commas and a byte-order mark are fine, and every value knows its line.
//!
//! Owns the text, its lines, the words for what was found there, and the bound on what is said of one file. What the
//! values mean is for the readers of each shape.

use std::collections::HashSet;
use std::fmt;

use jsonc_parser::ast::{self, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::diagnostic::{Diagnostic, Place, nearest, printable};
use crate::event::Object;

/// At most so much is said of one file: a repository must not be able to fill the memory with complaints.
const MOST_SAID: usize = 100;

/// A longer name is cut where it is shown.
const LONGEST_SHOWN: usize = 80;

/// A text that was read.
pub(crate) struct Document<'a> {
    /// Where its lines begin.
    pub(crate) lines: Lines,
    /// The value that it is.
    pub(crate) root: Value<'a>,
}

/// Why a text could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotJson {
    /// The line, where it is known.
    pub(crate) line: Option<usize>,
    /// What is wrong.
    pub(crate) message: String,
}

impl NotJson {
    fn new(line: Option<usize>, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl<'a> Document<'a> {
    /// Reads `bytes`. Nesting is bounded by the parser (512 levels), so no text can overflow the stack.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, NotJson> {
        let text = utf8(bytes)?;
        let parsed = parse_to_ast(text, &CollectOptions::default(), &strict_but_for_comments()).map_err(|error| {
            let line = Some(error.line_display());
            NotJson::new(line, format!("not JSON: {}", lower_first(&error.kind().to_string())))
        })?;
        // An empty file is most often one that is just being written, so it is not the same as an empty object.
        let root = parsed.value.ok_or_else(|| NotJson::new(None, "not JSON: the file is empty"))?;
        Ok(Self { lines: Lines::of(text), root })
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, NotJson> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(NotJson::new(None, "not UTF-8: this looks like UTF-16"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = good.iter().filter(|b| **b == b'\n').count() + 1;
        NotJson::new(Some(line), "not UTF-8")
    })
}

fn strict_but_for_comments() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Where the lines of a text begin.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i).collect())
    }

    /// The line, from 1, on which `node` begins.
    pub(crate) fn of_node(&self, node: &impl Ranged) -> usize {
        self.0.partition_point(|end| *end < node.start()) + 1
    }
}

/// What a value is, in words: `an object`.
pub(crate) fn found(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}

/// The last property of this name, as every JSON reader has it.
pub(crate) fn last<'v, 'a>(object: &'v ast::Object<'a>, name: &str) -> Option<&'v ast::ObjectProp<'a>> {
    object.properties.iter().rev().find(|property| property.name.as_str() == name)
}

/// The properties whose name was there before.
pub(crate) fn repeated<'v, 'a>(object: &'v ast::Object<'a>) -> impl Iterator<Item = &'v ast::ObjectProp<'a>> {
    let mut seen = HashSet::new();
    object.properties.iter().filter(move |property| !seen.insert(property.name.as_str()))
}

/// The same value for those who want no lines. A number beyond all bounds becomes `null`, as JavaScript writes it.
pub(crate) fn plain(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::StringLit(text) => text.value.as_ref().into(),
        Value::NumberLit(number) => serde_json::from_str(number.value).unwrap_or_default(),
        Value::BooleanLit(flag) => flag.value.into(),
        Value::Object(object) => serde_json::Value::Object(plain_object(object)),
        Value::Array(list) => list.elements.iter().map(plain).collect(),
        Value::NullKeyword(_) => serde_json::Value::Null,
    }
}

/// The same object for those who want no lines.
pub(crate) fn plain_object(object: &ast::Object<'_>) -> Object {
    object.properties.iter().map(|p| (p.name.as_str().to_owned(), plain(&p.value))).collect()
}

/// A name from outside between backticks: on one line, and cut where it is very long.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(LONGEST_SHOWN) {
            Some((end, _)) => write!(f, "`{}…`", printable(self.0.get(..end).unwrap_or_default())),
            None => write!(f, "`{}`", printable(self.0)),
        }
    }
}

/// `did you mean ..`, where a known word is near.
pub(crate) fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    // The distance of two long texts takes long, and nobody meant a known word by one.
    let short = |text: &str| text.len() <= LONGEST_SHOWN;
    let near = if short(word) { nearest(word, known.into_iter().filter(|known| short(known))) } else { None };
    near.map(|near| format!("did you mean {}?", Quoted(near)))
}

/// What is said about one file, up to a bound.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    said: Vec<Diagnostic>,
    unsaid: usize,
    lost: Option<Box<Diagnostic>>,
}

impl Notes {
    /// Says it.
    pub(crate) fn say(&mut self, diagnostic: Diagnostic) {
        self.say_with(|| diagnostic);
    }

    /// Says what `make` makes, which is not asked where nobody would hear it.
    pub(crate) fn say_with(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.is_full() {
            self.unsaid += 1;
        } else {
            self.said.push(make());
        }
    }

    /// Says what costs a hook.
    pub(crate) fn lose_with(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.lost.is_some() {
            return self.say_with(make);
        }
        let why = make();
        self.lost = Some(Box::new(why.clone()));
        self.say(why);
    }

    /// The first thing that cost a hook, where any did.
    pub(crate) fn lost(&self) -> Option<&Diagnostic> {
        self.lost.as_deref()
    }

    /// Whether what is said now is only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.said.len() >= MOST_SAID
    }

    /// All that was said; that some is left out is said of `place`.
    pub(crate) fn finish(mut self, place: Place) -> Vec<Diagnostic> {
        if self.unsaid > 0 {
            let message = format!("{} more warnings are left out", self.unsaid);
            self.said.push(Diagnostic::warning(place, message));
        }
        self.said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> NotJson {
        match Document::read(bytes) {
            Ok(_) => panic!("read: {:?}", String::from_utf8_lossy(bytes.get(..40).unwrap_or(bytes))),
            Err(error) => error,
        }
    }

    #[test]
    fn what_people_write_is_read_and_what_is_not_json_is_not() {
        for good in ["{}", "\u{feff}{}", "// a\r\n{/* b */ \"a\": [1,],\r\n}", "[1e400]", " null "] {
            assert!(Document::read(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in
            ["", " \n", "// only this", "{", "{a:1}", "{'a':1}", "{} {}", "[1 2]", "0x10", "NaN", "\"\\ud800\"", "[,]"]
        {
            assert!(refused(bad.as_bytes()).message.starts_with("not JSON: "), "{bad}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_line() {
        assert_eq!(refused(b"{\n\n\"a\": \"\xe9\"}"), NotJson::new(Some(3), "not UTF-8"));
        assert!(refused(b"\xff\xfe{\0}\0").message.contains("UTF-16"));
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        for open in ["[", "{\"a\":", "[{\"a\":"] {
            let text = open.repeat(100_000);
            assert!(refused(text.as_bytes()).message.contains("depth"), "{open}");
        }
    }

    #[test]
    fn a_node_knows_its_line_whatever_ends_the_lines() {
        for text in ["[\n1,\n2]", "[\r\n1,\r\n2]", "\u{feff}[\n1,\n2]"] {
            let document = Document::read(text.as_bytes()).unwrap();
            let Value::Array(list) = &document.root else { panic!("a list") };
            let lines: Vec<_> = list.elements.iter().map(|e| document.lines.of_node(e)).collect();
            assert_eq!(lines, [2, 3], "{text:?}");
        }
    }

    #[test]
    fn plain_keeps_order_and_the_last_of_two() {
        let document = Document::read(br#"{"b": 1, "a": [true, null, 1e400, "x"], "b": 2.5}"#).unwrap();
        assert_eq!(plain(&document.root).to_string(), r#"{"b":2.5,"a":[true,null,null,"x"]}"#);
    }

    #[test]
    fn complaints_are_bounded() {
        let mut notes = Notes::default();
        for _ in 0..MOST_SAID + 7 {
            notes.say(Diagnostic::warning(Place::default(), "x"));
        }
        let said = notes.finish(Place::default());
        assert_eq!(said.len(), MOST_SAID + 1);
        assert!(said.last().unwrap().message.starts_with("7 more"));
    }

    #[test]
    fn a_long_name_is_cut_and_a_forged_line_is_escaped() {
        assert_eq!(Quoted("a\nb").to_string(), "`a\\u{a}b`");
        assert!(Quoted(&"é".repeat(1000)).to_string().chars().count() < 100);
        assert_eq!(did_you_mean(&"x".repeat(1_000_000), ["xx"]), None);
    }
}
