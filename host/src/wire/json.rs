//! Compact JSON of a payload, whole or cut to a size. Owns the writing alone.
//!
//! Nothing here recurses: how deep a payload is nested is up to a model, and a stack is not to be overflowed by it.

use std::fmt::Write;

use serde_json::{Value, map};

use crate::event::Object;
use crate::text::MARKER;

/// An object to be written, some of whose top-level strings may stand in for others.
#[derive(Clone, Debug)]
pub struct View<'a>(Vec<(&'a str, Node<'a>)>);

#[derive(Clone, Copy, Debug)]
enum Node<'a> {
    Value(&'a Value),
    Text(&'a str),
}

/// All of an object's JSON, and what is needed to make less of it.
#[derive(Clone, Debug)]
pub struct Whole<'a> {
    view: View<'a>,
    json: String,
    lengths: Vec<usize>,
}

/// JSON that fits, and whether it was cut for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// Valid JSON.
    pub json: String,
    /// It is not the whole.
    pub cut: bool,
}

impl<'a> View<'a> {
    /// The object as it is.
    pub fn of(object: &'a Object) -> Self {
        Self(object.iter().map(|(key, value)| (key.as_str(), Node::Value(value))).collect())
    }

    /// The same, with `text` as the value of `key`, where there is such a key.
    #[must_use]
    pub fn with_text(mut self, key: &str, text: &'a str) -> Self {
        for (_, node) in self.0.iter_mut().filter(|(k, _)| *k == key) {
            *node = Node::Text(text);
        }
        self
    }

    /// All of it: no white space, keys in their order.
    pub fn whole(self) -> Whole<'a> {
        let (json, lengths) = self.written(usize::MAX);
        Whole { view: self, json, lengths }
    }

    /// The JSON with every string in no more than `cap` bytes as written, and how many bytes each took.
    fn written(&self, cap: usize) -> (String, Vec<usize>) {
        let mut pen = Pen { out: "{".to_owned(), lengths: Vec::new(), cap };
        let mut open = vec![Frame::new(Members::Top(self.0.iter()))];
        while let Some(frame) = open.last_mut() {
            match frame.next() {
                Some((key, node)) => {
                    pen.separate(frame, key);
                    open.extend(pen.node(node));
                }
                None => {
                    pen.out.push(frame.members.closing());
                    open.pop();
                }
            }
        }
        (pen.out, pen.lengths)
    }
}

impl Whole<'_> {
    /// The JSON.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The same in no more than `bytes` bytes: the longest strings are cut to one length and end in the marker; if
    /// that is not enough, `{}`. Takes time in proportion to the payload, but for sorting the strings' lengths.
    pub fn within(&self, bytes: usize) -> Fitted {
        if self.json.len() <= bytes {
            return Fitted { json: self.json.clone(), cut: false };
        }
        let rest = self.json.len() - self.lengths.iter().sum::<usize>();
        let cap = bytes.checked_sub(rest).and_then(|room| common_cap(self.lengths.clone(), room));
        let json = cap.map_or_else(|| "{}".to_owned(), |cap| self.view.written(cap).0);
        Fitted { json, cut: true }
    }
}

/// The greatest length to which strings of these lengths can be cut so that they fit in `room` together; none where
/// the marker alone would not fit.
fn common_cap(mut lengths: Vec<usize>, room: usize) -> Option<usize> {
    lengths.sort_unstable();
    let (mut left, mut count) = (room, lengths.len());
    for shortest in lengths {
        if shortest.saturating_mul(count) > left {
            return Some(left / count).filter(|cap| *cap >= MARKER.len() + 2);
        }
        left -= shortest;
        count -= 1;
    }
    Some(usize::MAX)
}

enum Members<'a> {
    Top(std::slice::Iter<'a, (&'a str, Node<'a>)>),
    Object(map::Iter<'a>),
    Array(std::slice::Iter<'a, Value>),
}

impl Members<'_> {
    fn closing(&self) -> char {
        match self {
            Self::Top(_) | Self::Object(_) => '}',
            Self::Array(_) => ']',
        }
    }
}

struct Frame<'a> {
    members: Members<'a>,
    first: bool,
}

impl<'a> Frame<'a> {
    fn new(members: Members<'a>) -> Self {
        Self { members, first: true }
    }

    fn next(&mut self) -> Option<(Option<&'a str>, Node<'a>)> {
        match &mut self.members {
            Members::Top(entries) => entries.next().map(|(key, node)| (Some(*key), *node)),
            Members::Object(entries) => entries.next().map(|(key, value)| (Some(key.as_str()), Node::Value(value))),
            Members::Array(values) => values.next().map(|value| (None, Node::Value(value))),
        }
    }
}

struct Pen {
    out: String,
    lengths: Vec<usize>,
    cap: usize,
}

impl Pen {
    fn separate(&mut self, frame: &mut Frame<'_>, key: Option<&str>) {
        if !std::mem::replace(&mut frame.first, false) {
            self.out.push(',');
        }
        if let Some(key) = key {
            self.quote(key);
            self.out.push(':');
        }
    }

    /// Writes a scalar, or opens what has members.
    fn node<'a>(&mut self, node: Node<'a>) -> Option<Frame<'a>> {
        match node {
            Node::Text(text) => self.string(text, None),
            Node::Value(value @ Value::String(text)) => self.string(text, Some(value)),
            Node::Value(Value::Object(object)) => {
                self.out.push('{');
                return Some(Frame::new(Members::Object(object.iter())));
            }
            Node::Value(Value::Array(values)) => {
                self.out.push('[');
                return Some(Frame::new(Members::Array(values.iter())));
            }
            Node::Value(scalar) => self.print(scalar),
        }
        None
    }

    /// Writes a string in as many bytes as it may take, and notes how many it took.
    fn string(&mut self, text: &str, value: Option<&Value>) {
        let start = self.out.len();
        let fits = self.cap == usize::MAX || prefix(text, self.cap - 2).len() == text.len();
        match value {
            _ if !fits => self.quote(&format!("{}{MARKER}", prefix(text, self.cap - 2 - MARKER.len()))),
            Some(value) => self.print(value),
            None => self.quote(text),
        }
        self.lengths.push(self.out.len() - start);
    }

    fn quote(&mut self, text: &str) {
        self.print(&Value::from(text));
    }

    /// Writes what has no members, as it is.
    fn print(&mut self, value: &Value) {
        let written = write!(self.out, "{value}");
        debug_assert!(written.is_ok(), "writing to memory does not fail");
    }
}

/// As much of the text's beginning as takes no more than `room` bytes between the quotes.
fn prefix(text: &str, room: usize) -> &str {
    let mut left = room;
    for (at, c) in text.char_indices() {
        match left.checked_sub(escaped(c)) {
            Some(rest) => left = rest,
            None => return &text[..at],
        }
    }
    text
}

/// How many bytes a character takes in a JSON string.
fn escaped(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        match value {
            Value::Object(object) => object,
            other => panic!("{other} is no object"),
        }
    }

    #[test]
    fn it_writes_as_serde_json_does() {
        let value =
            json!({"b": [1, -2.5, null, true, [], {}], "a": {"x\n\"": "\u{0}\u{1f}é\\"}, "e": [[[]], {"k": [{}]}]});
        assert_eq!(View::of(&object(value.clone())).whole().json(), value.to_string());
    }

    #[test]
    fn the_longest_strings_are_cut_and_the_rest_is_left() {
        let input = object(json!({"path": "a.txt", "content": "x".repeat(5000), "old": "\n".repeat(5000), "n": [1]}));
        let fitted = View::of(&input).whole().within(1000);
        assert!(fitted.cut && fitted.json.len() <= 1000 && fitted.json.len() > 990, "{}", fitted.json.len());
        let back: Value = serde_json::from_str(&fitted.json).unwrap();
        assert_eq!(back["path"], "a.txt");
        assert_eq!(back["n"], json!([1]));
        assert!(back["content"].as_str().unwrap().ends_with(MARKER));
        assert!(back["old"].as_str().unwrap().ends_with(MARKER));
    }

    #[test]
    fn what_no_cut_can_save_is_an_empty_object() {
        let keys = object(Value::Object((0..1000).map(|i| (format!("key{i}"), json!(i))).collect()));
        assert_eq!(View::of(&keys).whole().within(1000), Fitted { json: "{}".into(), cut: true });
        let crumbs = object(json!({"all": vec!["crumb"; 1000]}));
        assert_eq!(View::of(&crumbs).whole().within(4000).json, "{}");
        assert!(!View::of(&crumbs).whole().within(9000).cut);
    }

    #[test]
    fn every_size_is_kept_whatever_the_characters() {
        for text in ["\u{1}", "é", "😀", "\"", "a"] {
            let input = object(json!({"a": text.repeat(300), "b": text.repeat(40), "c": "short"}));
            for bytes in 2..400 {
                let fitted = View::of(&input).whole().within(bytes);
                assert!(fitted.json.len() <= bytes);
                serde_json::from_str::<Value>(&fitted.json).unwrap();
            }
        }
    }

    #[test]
    fn ten_thousand_levels_do_not_overflow_the_stack() {
        let mut value = json!("deep");
        for _ in 0..10_000 {
            value = Value::Array(vec![value]);
        }
        let mut input = Object::new();
        input.insert("a".into(), value);
        assert_eq!(View::of(&input).whole().json().len(), 20_000 + r#"{"a":"deep"}"#.len());
        assert_eq!(View::of(&input).whole().within(9_000).json, "{}");
        // Dropping such a value recurses, in whoever made it.
        std::mem::forget(input);
    }
}
