//! What a model's reply says. Every `"decision":` in it counts, fenced or not, whole or cut: a block anywhere blocks.
//!
//! Decisions are found in the text, not in parsed objects: a reply that was cut, or in which the model forgot to escape a
//! quote, must not lose its block. Takes time in proportion to the reply: no more than [`MOST_DECISIONS`] are looked at
//! closely.

use crate::event::Object;
use crate::outcome::{Cause, Change, Outcome};
use crate::text::capped;

/// A reply with more allowing decisions than this is no proper answer.
const MOST_DECISIONS: usize = 16;

/// How many opening braces before a decision are tried as the beginning of its object.
const MOST_TRIES: usize = 8;

/// What is said where the model gives no reason.
const NO_REASON: &str = "the model blocked this without a reason";

/// A reply that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What it comes to.
    pub outcome: Outcome,
    /// What is to be said about it.
    pub warning: Option<&'static str>,
}

impl From<Outcome> for Reply {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, warning: None }
    }
}

/// Reads a reply. Where it holds no decision at all it passes, without becoming context, since it may be an attacker's
/// text; with `strict` (`onError` is `block`) it is no answer.
pub fn read(reply: &str, strict: bool) -> Reply {
    // Some models answer with a JSON string that holds the object.
    match serde_json::from_str::<String>(reply) {
        Ok(inner) => read_text(&inner, strict),
        Err(_) => read_text(reply, strict),
    }
}

fn read_text(reply: &str, strict: bool) -> Reply {
    let mut allows = Vec::new();
    let mut wrong = None;
    for decision in Decisions::of(reply) {
        match decision.word() {
            Some(Word::Block) => return Outcome::block(reason_of_block(reply, &decision)).into(),
            Some(Word::Allow) if allows.len() <= MOST_DECISIONS => allows.push(decision),
            Some(Word::Allow) => {}
            None => wrong = Some("its `decision` is neither `allow` nor `block`"),
        }
    }
    match (wrong, allows.as_slice()) {
        (Some(why), _) => not_an_answer(why).into(),
        (None, []) if reply.trim().is_empty() => not_an_answer("the model's reply is empty").into(),
        (None, []) if reply.trim_start().starts_with('{') => not_an_answer("its JSON holds no `decision`").into(),
        (None, []) => without_decision(strict),
        (None, allows) => allowed(reply, allows).into(),
    }
}

fn without_decision(strict: bool) -> Reply {
    const WHY: &str = "the model's reply holds no decision";
    match strict {
        true => not_an_answer(WHY).into(),
        false => Reply { outcome: Outcome::pass(), warning: Some(WHY) },
    }
}

fn not_an_answer(why: &str) -> Outcome {
    Outcome::NoAnswer(Cause::NotAnAnswer(why.to_owned()))
}

/// One whole object gives its reason as context. Of several, nobody knows which is the model's own and which is quoted.
fn allowed(reply: &str, allows: &[Decision<'_>]) -> Outcome {
    if allows.len() > MOST_DECISIONS {
        return not_an_answer("it decides more often than anyone reads");
    }
    let objects: Vec<_> = allows.iter().filter_map(|decision| object_around(reply, decision)).collect();
    match (objects.as_slice(), allows) {
        ([], _) => not_an_answer("its JSON is cut off or broken"),
        ([object], [_]) => Outcome::Continue(Change { context: text_of(object, "reason"), ..Change::default() }),
        _ => Outcome::pass(),
    }
}

fn reason_of_block(reply: &str, decision: &Decision<'_>) -> String {
    let reason = object_around(reply, decision).and_then(|object| text_of(&object, "reason"));
    let reason = reason.or_else(|| reason_behind(decision.value));
    capped(reason.as_deref().unwrap_or(NO_REASON)).into_owned()
}

/// The reason of an object that was cut or is broken, as far as it goes.
fn reason_behind(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("\"reason\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let raw = &rest[..end_of_string(rest).unwrap_or(rest.len())];
    let text: String = serde_json::from_str(&format!("\"{raw}\"")).unwrap_or_else(|_| raw.to_owned());
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn text_of(object: &Object, key: &str) -> Option<String> {
    let text = object.get(key)?.as_str()?.trim();
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// The whole object to which a decision belongs.
fn object_around(reply: &str, decision: &Decision<'_>) -> Option<Object> {
    let before = &reply[..decision.at];
    let nearest = before.rmatch_indices('{').map(|(at, _)| at).take(MOST_TRIES);
    // The first brace too: a reason that stands before the decision may be full of braces.
    let tries = nearest.chain(before.find('{'));
    tries.filter_map(|at| object_at(reply, at)).find_map(|(object, end)| {
        let is_it = end > decision.at && object.get("decision").is_some_and(|value| value.is_string());
        is_it.then_some(object)
    })
}

/// The object that begins here, and where it ends.
fn object_at(reply: &str, at: usize) -> Option<(Object, usize)> {
    let mut stream = serde_json::Deserializer::from_str(&reply[at..]).into_iter::<Object>();
    let object = stream.next()?.ok()?;
    Some((object, at + stream.byte_offset()))
}

enum Word {
    Allow,
    Block,
}

/// A `"decision":` in a reply.
struct Decision<'a> {
    /// Where its key begins.
    at: usize,
    /// What stands behind the colon.
    value: &'a str,
}

impl Decision<'_> {
    /// The word, however it is capitalised.
    fn word(&self) -> Option<Word> {
        let rest = self.value.strip_prefix('"')?;
        let word = rest[..end_of_string(rest)?].trim();
        match word {
            _ if word.eq_ignore_ascii_case("block") => Some(Word::Block),
            _ if word.eq_ignore_ascii_case("allow") => Some(Word::Allow),
            _ => None,
        }
    }
}

/// Where a string ends whose opening quote is gone already.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

/// Every decision of a reply, in order.
struct Decisions<'a> {
    reply: &'a str,
    from: usize,
}

impl<'a> Decisions<'a> {
    const KEY: &'static str = "\"decision\"";

    fn of(reply: &'a str) -> Self {
        Self { reply, from: 0 }
    }
}

impl<'a> Iterator for Decisions<'a> {
    type Item = Decision<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let at = self.from + self.reply[self.from..].find(Self::KEY)?;
            self.from = at + Self::KEY.len();
            let behind = self.reply[self.from..].trim_start();
            if let Some(value) = behind.strip_prefix(':') {
                return Some(Decision { at, value: value.trim_start() });
            }
        }
    }
}
