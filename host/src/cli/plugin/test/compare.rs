//! Puts an answer beside what was expected, and says what is other, key by key.

use serde_json::{Number, Value, json};

use crate::ask::{Asked, LogLine};
use crate::event::Object;
use crate::hook::OnError;
use crate::outcome::{Cause, Change, Outcome};
use crate::plugin::{PluginInfo, WantedHook};

use super::expected::{Described, Expected, LimitName, LogPattern, Parts, Text, permission};
use super::generated::{DOUBLE, expanded, word};

/// Something that is not as it was expected.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// Where in the answer: `modify.input.command`.
    pub(super) at: String,
    pub(super) expected: Side,
    pub(super) got: Side,
}

/// What stands on one side of a difference.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Side {
    /// Nothing.
    Nothing,
    /// A value; a text is a string.
    Value(Value),
    /// A text with this in it.
    Containing(String),
    /// Said in words.
    Words(String),
}

/// The answer and the log of a call.
pub(super) fn asked(expected: &Expected, log: Option<&[LogPattern]>, asked: &Asked) -> Vec<Difference> {
    let mut found = Vec::new();
    answer(expected, &asked.outcome, &mut found);
    if let Some(patterns) = log {
        lines(patterns, &asked.log, &mut found);
    }
    found
}

/// What a plugin says of itself.
pub(super) fn described(expected: &Described, info: &PluginInfo) -> Vec<Difference> {
    let mut found = Vec::new();
    let texts = [
        ("name", &expected.name, info.name.as_str()),
        ("version", &expected.version, info.version.as_str()),
        ("description", &expected.description, info.description.as_str()),
    ];
    for (key, text, got) in texts {
        optional_text(&format!("describe.{key}"), text.as_ref(), text.as_ref().map(|_| got), &mut found);
    }
    if let Some(hooks) = &expected.hooks {
        let got: Vec<_> = info.hooks.iter().map(wanted).collect();
        values("describe.hooks", &hooks.clone().into(), &got.into(), &mut found);
    }
    found
}

/// A hook in the words of a file of cases; what it leaves to the host is left out.
fn wanted(hook: &WantedHook) -> Value {
    let mut object = Object::new();
    object.insert("event".into(), hook.event.as_str().into());
    object.insert("name".into(), hook.name.as_str().into());
    let texts = [("matcher", &hook.matcher), ("if", &hook.condition)];
    object.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.as_deref()?.into()))));
    if let Some(timeout) = hook.timeout {
        object.insert("timeoutMs".into(), u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).into());
    }
    if hook.once {
        object.insert("once".into(), true.into());
    }
    if let Some(on_error) = hook.on_error {
        let word = match on_error {
            OnError::Pass => "pass",
            OnError::Block => "block",
        };
        object.insert("onError".into(), word.into());
    }
    object.into()
}

fn answer(expected: &Expected, got: &Outcome, found: &mut Vec<Difference>) {
    match (expected, got) {
        (Expected::Continue, Outcome::Continue(change)) if *change == Change::default() => {}
        (Expected::Modify(parts), Outcome::Continue(change)) if *change != Change::default() => {
            modification(parts, change, found);
        }
        (Expected::Block(reason), Outcome::Block(block)) => text("block", reason, &block.reason, found),
        (Expected::Error(why), Outcome::NoAnswer(Cause::Failed(got))) => text("error", why, got, found),
        (Expected::Malformed(why), Outcome::NoAnswer(Cause::NotAnAnswer(got))) => text("malformed", why, got, found),
        (Expected::Trap(None), Outcome::NoAnswer(Cause::Trapped { .. })) => {}
        (Expected::Trap(Some(why)), Outcome::NoAnswer(Cause::Trapped { message, .. })) => {
            text("trap", why, message, found);
        }
        (Expected::Limit(name), Outcome::NoAnswer(cause)) if limit(cause) == Some(*name) => {}
        (Expected::NoAnswer, Outcome::NoAnswer(_)) => {}
        _ => found.push(Difference { at: "answer".into(), expected: wished(expected), got: given(got) }),
    }
}

fn modification(parts: &Parts, change: &Change, found: &mut Vec<Difference>) {
    match (&parts.input, &change.input) {
        (Some(expected), Some(got)) => values("modify.input", expected, &got.clone().into(), found),
        (Some(expected), None) => found.push(Difference {
            at: "modify.input".into(),
            expected: Side::Value(expected.clone()),
            got: Side::Nothing,
        }),
        (None, Some(got)) => found.push(Difference {
            at: "modify.input".into(),
            expected: Side::Nothing,
            got: Side::Value(got.clone().into()),
        }),
        (None, None) => {}
    }
    optional_text("modify.output", parts.output.as_ref(), change.output.as_deref(), found);
    optional_text("modify.context", parts.context.as_ref(), change.context.as_deref(), found);
    if parts.permission != change.permission {
        let side =
            |opinion: Option<_>| opinion.map_or(Side::Nothing, |opinion| Side::Value(permission(opinion).into()));
        found.push(Difference {
            at: "modify.permission".into(),
            expected: side(parts.permission),
            got: side(change.permission),
        });
    }
}

fn limit(cause: &Cause) -> Option<LimitName> {
    match cause {
        Cause::TimedOut(_) => Some(LimitName::Time),
        Cause::Limit(limit) => Some((*limit).into()),
        _ => None,
    }
}

fn wished(expected: &Expected) -> Side {
    Side::Value(match expected {
        Expected::Continue => "continue".into(),
        Expected::Block(reason) => json!({"block": pattern(reason)}),
        Expected::Modify(parts) => {
            let texts = [("output", &parts.output), ("context", &parts.context)];
            let texts = texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), pattern(text.as_ref()?))));
            let input = parts.input.clone().map(|input| ("input".to_owned(), input));
            let opinion = parts.permission.map(|opinion| ("permission".to_owned(), permission(opinion).into()));
            json!({"modify": input.into_iter().chain(texts).chain(opinion).collect::<Object>()})
        }
        Expected::Error(why) => json!({"error": pattern(why)}),
        Expected::Trap(None) => "trap".into(),
        Expected::Trap(Some(why)) => json!({"trap": pattern(why)}),
        Expected::Limit(name) => json!({"limit": name.as_str()}),
        Expected::Malformed(why) => json!({"malformed": pattern(why)}),
        Expected::NoAnswer => "noAnswer".into(),
    })
}

fn pattern(text: &Text) -> Value {
    match text {
        Text::Whole(whole) => whole.as_str().into(),
        Text::Contains(part) => json!({"contains": part}),
    }
}

/// The answer in the words of a file of cases.
fn given(got: &Outcome) -> Side {
    Side::Value(match got {
        Outcome::Continue(change) if *change == Change::default() => "continue".into(),
        Outcome::Continue(change) => {
            let texts = [("output", &change.output), ("context", &change.context)];
            let texts = texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.as_deref()?.into())));
            let input = change.input.clone().map(|input| ("input".to_owned(), input.into()));
            let opinion = change.permission.map(|opinion| ("permission".to_owned(), permission(opinion).into()));
            json!({"modify": input.into_iter().chain(texts).chain(opinion).collect::<Object>()})
        }
        Outcome::Block(block) => json!({"block": block.reason}),
        Outcome::NoAnswer(cause) => match (cause, limit(cause)) {
            (Cause::Failed(why), _) => json!({"error": why}),
            (Cause::Trapped { message, .. }, _) => json!({"trap": message}),
            (Cause::NotAnAnswer(why), _) => json!({"malformed": why}),
            (_, Some(name)) => json!({"limit": name.as_str()}),
            (other, None) => return Side::Words(other.to_string()),
        },
    })
}

fn lines(patterns: &[LogPattern], got: &[LogLine], found: &mut Vec<Difference>) {
    for n in 0..patterns.len().max(got.len()) {
        let at = format!("log[{n}]");
        let line = |line: &LogLine| Side::Value(json!({"level": line.level.as_str(), "message": line.message}));
        let wish =
            |line: &LogPattern| Side::Value(json!({"level": line.level.as_str(), "message": pattern(&line.message)}));
        match (patterns.get(n), got.get(n)) {
            (Some(expected), Some(said)) if expected.level == said.level => {
                text(&format!("{at}.message"), &expected.message, &said.message, found);
            }
            (Some(expected), said) => {
                found.push(Difference { at, expected: wish(expected), got: said.map_or(Side::Nothing, line) });
            }
            (None, Some(said)) => found.push(Difference { at, expected: Side::Nothing, got: line(said) }),
            (None, None) => {}
        }
    }
}

fn optional_text(at: &str, expected: Option<&Text>, got: Option<&str>, found: &mut Vec<Difference>) {
    match (expected, got) {
        (Some(expected), Some(got)) => text(at, expected, got, found),
        (None, None) => {}
        (expected, got) => found.push(Difference {
            at: at.to_owned(),
            expected: expected.map_or(Side::Nothing, side),
            got: got.map_or(Side::Nothing, |got| Side::Value(got.into())),
        }),
    }
}

fn text(at: &str, expected: &Text, got: &str, found: &mut Vec<Difference>) {
    if !expected.fits(got) {
        found.push(Difference { at: at.to_owned(), expected: side(expected), got: Side::Value(got.into()) });
    }
}

fn side(text: &Text) -> Side {
    match text {
        Text::Whole(whole) => Side::Value(whole.as_str().into()),
        Text::Contains(part) => Side::Containing(part.clone()),
    }
}

/// JSON by its meaning: keys in any order, numbers by their value however they are written.
fn values(at: &str, expected: &Value, got: &Value, found: &mut Vec<Difference>) {
    if let Value::Object(object) = expected
        && let Some((key, inner)) = word(object)
    {
        if key == DOUBLE {
            if nearest_double(inner) != nearest_double(got) || nearest_double(got).is_none() {
                push(at, inner, got, found);
            }
            return;
        }
        match expanded(expected) {
            // What was written out as it stands holds no word of ours.
            Ok(written) if key == "$literal" && written == *got => {}
            Ok(written) if key != "$literal" => values(at, &written, got, found),
            Ok(written) => push(at, &written, got, found),
            Err(error) => found.push(Difference {
                at: at.to_owned(),
                expected: Side::Words(format!("{error:#}")),
                got: Side::Value(got.clone()),
            }),
        }
        return;
    }
    match (expected, got) {
        (Value::Object(wishes), Value::Object(members)) => objects(at, wishes, members, found),
        (Value::Array(wishes), Value::Array(members)) if wishes.len() == members.len() => {
            for (n, (wish, member)) in wishes.iter().zip(members).enumerate() {
                values(&format!("{at}[{n}]"), wish, member, found);
            }
        }
        (Value::Number(wish), Value::Number(number)) if same_number(wish, number) => {}
        _ if expected == got => {}
        _ => push(at, expected, got, found),
    }
}

fn objects(at: &str, wishes: &Object, members: &Object, found: &mut Vec<Difference>) {
    for (key, wish) in wishes {
        let at = format!("{at}.{key}");
        match members.get(key) {
            Some(member) => values(&at, wish, member, found),
            None => found.push(Difference { at, expected: Side::Value(wish.clone()), got: Side::Nothing }),
        }
    }
    for (key, member) in members.iter().filter(|(key, _)| !wishes.contains_key(*key)) {
        found.push(Difference { at: format!("{at}.{key}"), expected: Side::Nothing, got: Side::Value(member.clone()) });
    }
}

fn push(at: &str, expected: &Value, got: &Value, found: &mut Vec<Difference>) {
    let (expected, got) = (Side::Value(expected.clone()), Side::Value(got.clone()));
    found.push(Difference { at: at.to_owned(), expected, got });
}

/// Whole numbers digit by digit, others as the doubles they are: 2 is 2.0 is 2e0, and -0 is 0.
fn same_number(a: &Number, b: &Number) -> bool {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.as_f64() == b.as_f64(),
    }
}

fn whole(number: &Number) -> Option<i128> {
    let integer = number.as_u64().map(i128::from).or_else(|| number.as_i64().map(i128::from));
    // Below 2^96 every double without a fraction is such a number.
    let double = number.as_f64().filter(|double| double.fract() == 0.0 && double.abs() < 2_f64.powi(96));
    integer.or_else(|| double.map(|double| double as i128))
}

fn nearest_double(value: &Value) -> Option<f64> {
    value.as_number()?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Limit;

    fn between(expected: Value, got: Value) -> Vec<String> {
        let mut found = Vec::new();
        values("input", &expected, &got, &mut found);
        found.into_iter().map(|difference| difference.at).collect()
    }

    #[test]
    fn json_is_compared_by_its_meaning() {
        for (expected, got) in [
            (r#"{"a": 1, "b": [1e2]}"#, r#"{"b": [100], "a": 1.0}"#),
            (r#"[1e308, -0, 0.1]"#, r#"[1E+308, 0, 1e-1]"#),
            (r#"{"$double": 9007199254740993}"#, "9007199254740992"),
            (r#"{"$double": 5e-324}"#, "4.9406564584124654e-324"),
            (r#"{"$repeat": ["x", 3]}"#, r#""xxx""#),
            (r#"{"$literal": {"$repeat": 1}}"#, r#"{"$repeat": 1}"#),
        ] {
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert!(between(read(expected), read(got)).is_empty(), "{expected} {got}");
        }
    }

    #[test]
    fn what_differs_is_named_by_its_keys() {
        let expected = json!({"a": {"b": [1, 2]}, "gone": 1, "n": 9_007_199_254_740_993_u64, "d": {"$double": 0.1}});
        let got = json!({"a": {"b": [1, 3]}, "more": null, "n": 9_007_199_254_740_992_u64, "d": 0.2});
        assert_eq!(between(expected, got), ["input.a.b[1]", "input.gone", "input.n", "input.d", "input.more"]);
        assert_eq!(between(json!([1]), json!([1, 2])), ["input"]);
        assert_eq!(between(json!({"$double": 0}), json!("0")), ["input"]);
    }

    #[test]
    fn every_answer_is_told_from_every_other() {
        let change = |output: &str| Outcome::Continue(Change { output: Some(output.into()), ..Change::default() });
        let trapped = Cause::Trapped { message: "unreachable".into(), backtrace: vec![] };
        let text = |text: &str| Text::Whole(text.into());
        let pairs = [
            (Expected::Continue, Outcome::pass()),
            (Expected::Block(text("no")), Outcome::block("no")),
            (Expected::Modify(Box::new(Parts { output: Some(text("x")), ..Parts::default() })), change("x")),
            (Expected::Error(text("e")), Outcome::NoAnswer(Cause::Failed("e".into()))),
            (Expected::Trap(None), Outcome::NoAnswer(trapped)),
            (Expected::Limit(LimitName::Memory), Outcome::NoAnswer(Cause::Limit(Limit::Memory(1)))),
            (Expected::Malformed(text("m")), Outcome::NoAnswer(Cause::NotAnAnswer("m".into()))),
        ];
        for (n, (expected, _)) in pairs.iter().enumerate() {
            for (m, (_, got)) in pairs.iter().enumerate() {
                let differences = asked(expected, None, &got.clone().into());
                assert_eq!(differences.is_empty(), n == m, "{expected:?} {got:?}");
            }
        }
    }

    #[test]
    fn a_part_that_is_not_expected_is_a_difference() {
        let permission = Some(crate::outcome::Permission::Allow);
        let got = Outcome::Continue(Change { output: Some("x".into()), permission, ..Change::default() });
        let parts = Parts { output: Some(Text::Contains("y".into())), ..Parts::default() };
        let found = asked(&Expected::Modify(Box::new(parts)), Some(&[]), &got.into());
        let at: Vec<_> = found.iter().map(|difference| difference.at.as_str()).collect();
        assert_eq!(at, ["modify.output", "modify.permission"]);
    }
}
