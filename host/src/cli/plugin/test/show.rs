//! What came of a file of cases: for a person what is other at a glance, for a program one JSON value.

use serde::Serialize;
use serde_json::Value;

use crate::diagnostic::printable;

use super::super::super::style::{DIM, ERROR, HEAD, WARNING};
use super::super::loaded::{About, LoadedPlugin};
use super::compare::{Difference, Side};
use super::play::Played;

/// As much of a text is shown before and after the first place where it is other.
const BEFORE: usize = 40;
const AFTER: usize = 60;
/// At most so many differences of a case, and lines of a value.
const MOST: usize = 12;
const MOST_LINES: usize = 24;

/// The whole run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    #[serde(flatten)]
    about: About,
    imports: Vec<String>,
    load_millis: f64,
    passed: usize,
    pub(super) failed: usize,
    cases: Vec<ShownCase>,
}

#[derive(Debug, Serialize)]
struct ShownCase {
    name: String,
    passed: bool,
    micros: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<ShownDifference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    log: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    backtrace: Vec<String>,
}

/// A side that is not there has no key.
#[derive(Debug, Serialize)]
struct ShownDifference {
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    got: Option<Value>,
    #[serde(skip)]
    lines: String,
}

impl Shown {
    /// With no case yet.
    pub(super) fn of(plugin: &LoadedPlugin) -> Self {
        Self {
            about: plugin.about(),
            imports: plugin.imports.clone(),
            load_millis: plugin.loading.as_secs_f64() * 1000.0,
            passed: 0,
            failed: 0,
            cases: Vec::new(),
        }
    }

    /// Adds a case that was played.
    pub(super) fn add(&mut self, played: Played) {
        let passed = played.differences.is_empty();
        *(if passed { &mut self.passed } else { &mut self.failed }) += 1;
        let log = played.log.iter().map(|line| format!("{}: {}", line.level.as_str(), line.message));
        self.cases.push(ShownCase {
            name: played.name,
            passed,
            micros: u64::try_from(played.took.as_micros()).unwrap_or(u64::MAX),
            differences: played.differences.iter().map(ShownDifference::of).collect(),
            log: log.collect(),
            warnings: played.warnings,
            backtrace: played.backtrace,
        });
    }

    /// For a person.
    pub(super) fn page(&self) -> String {
        let mut page = self.about.line(format!("loaded in {:.0} ms", self.load_millis));
        for case in &self.cases {
            case.write(&mut page);
        }
        let all = self.cases.len();
        page.push_str(&match self.failed {
            0 => format!("{HEAD}{all} passed{HEAD:#}\n"),
            failed => format!("{ERROR}{failed} of {all} failed{ERROR:#}\n"),
        });
        page
    }
}

impl ShownCase {
    fn write(&self, page: &mut String) {
        let millis = self.micros as f64 / 1000.0;
        let name = printable(&self.name);
        if self.passed {
            page.push_str(&format!("  ok    {name}  {DIM}{millis:.2} ms{DIM:#}\n"));
            return;
        }
        page.push_str(&format!("  {ERROR}FAIL{ERROR:#}  {HEAD}{name}{HEAD:#}  {DIM}{millis:.2} ms{DIM:#}\n"));
        for difference in self.differences.iter().take(MOST) {
            page.push_str(&difference.lines);
        }
        if let Some(more @ 1..) = self.differences.len().checked_sub(MOST) {
            page.push_str(&format!("          {DIM}and {more} more{DIM:#}\n"));
        }
        let beside = [("log", &self.log), ("warning", &self.warnings), ("at", &self.backtrace)];
        for (label, lines) in beside {
            for line in lines.iter().take(MOST) {
                page.push_str(&format!("          {DIM}{label:<8}  {}{DIM:#}\n", cut(&visible(line), 0).0));
            }
        }
    }
}

impl ShownDifference {
    fn of(difference: &Difference) -> Self {
        Self {
            at: difference.at.clone(),
            expected: difference.expected.value(),
            got: difference.got.value(),
            lines: lines(difference),
        }
    }
}

impl Side {
    fn value(&self) -> Option<Value> {
        match self {
            Self::Nothing => None,
            Self::Value(value) => Some(value.clone()),
            Self::Containing(part) => Some(serde_json::json!({"contains": part})),
            Self::Words(words) => Some(words.as_str().into()),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Value(value) => pretty(value),
            Self::Containing(part) => format!("something with {}", quoted(part)),
            Self::Words(words) => visible(words),
        }
    }
}

fn lines(difference: &Difference) -> String {
    let at = printable(&difference.at);
    if let (Side::Value(Value::String(expected)), Side::Value(Value::String(got))) =
        (&difference.expected, &difference.got)
    {
        return texts(&at, expected, got);
    }
    let block = |label: &str, words: &str| {
        let mut lines = words.lines();
        let first = format!("          {label:<8}  {}\n", lines.next().unwrap_or_default());
        lines.take(MOST_LINES).fold(first, |out, line| format!("{out}                    {line}\n"))
    };
    format!(
        "        {HEAD}{at}{HEAD:#}\n{}{}",
        block("expected", &difference.expected.words()),
        block("got", &difference.got.words())
    )
}

/// Two texts below each other, cut around the first character that is other, with a mark under it.
fn texts(at: &str, expected: &str, got: &str) -> String {
    let same = expected.chars().zip(got.chars()).take_while(|(a, b)| a == b).count();
    let ((expected, _), (got, column)) = (around(expected, same), around(got, same));
    format!(
        "        {HEAD}{at}{HEAD:#}\n          expected  {expected}\n          got       {got}\n                    {}{WARNING}^{WARNING:#}\n",
        " ".repeat(column)
    )
}

/// The text around its `nth` character, and the column in which that stands.
fn around(text: &str, nth: usize) -> (String, usize) {
    let skipped = nth.saturating_sub(BEFORE);
    let head: String = text.chars().skip(skipped).take(nth - skipped).collect();
    let tail: String = text.chars().skip(nth).take(AFTER).collect();
    let left = text.chars().skip(nth).count() - tail.chars().count();
    let open = if skipped > 0 { "…".to_owned() } else { "\"".to_owned() };
    let close = if left > 0 { format!("… ({left} more)") } else { "\"".to_owned() };
    let before = format!("{open}{}", visible(&head));
    (format!("{before}{}{close}", visible(&tail)), before.chars().count())
}

/// A value as JSON on as many lines as it needs, its strings cut.
fn pretty(value: &Value) -> String {
    let short = shortened(value);
    let compact = short.to_string();
    let text = if compact.len() <= BEFORE + AFTER { compact } else { format!("{short:#}") };
    let mut lines: Vec<_> = text.lines().map(visible_json).collect();
    if lines.len() > MOST_LINES {
        let more = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push(format!("… ({more} more lines)"));
    }
    lines.join("\n")
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => cut(text, 0).0.into(),
        Value::Array(list) => list.iter().map(shortened).collect(),
        Value::Object(object) => object.iter().map(|(key, value)| (cut(key, 0).0, shortened(value))).collect(),
        other => other.clone(),
    }
}

fn cut(text: &str, from: usize) -> (String, bool) {
    let most = BEFORE + AFTER;
    let count = text.chars().count();
    match count.saturating_sub(from) > most {
        true => (format!("{}… ({} more)", text.chars().skip(from).take(most).collect::<String>(), count - most), true),
        false => (text.chars().skip(from).collect(), false),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(&cut(text, 0).0))
}

/// With every character that a terminal does not show, or takes as an order, as an escape.
fn visible(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c => out.push_str(&shown(c)),
        }
    }
    out
}

/// JSON has its own escapes already.
fn visible_json(line: &str) -> String {
    line.chars().map(shown).collect()
}

fn shown(c: char) -> String {
    let unseen = c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{300}'..='\u{36f}');
    if unseen { c.escape_unicode().to_string() } else { c.to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(expected: Side, got: Side) -> String {
        let difference = Difference { at: "modify.output".into(), expected, got };
        anstream::adapter::strip_str(&lines(&difference)).to_string()
    }

    #[test]
    fn a_long_text_is_cut_around_its_first_difference_which_is_marked() {
        let (expected, got) = (format!("{}A{}", "x".repeat(1000), "y".repeat(1000)), format!("{}B", "x".repeat(1000)));
        let told = told(Side::Value(expected.into()), Side::Value(got.into()));
        let lines: Vec<_> = told.lines().collect();
        let column = |line: &str, mark: char| line.chars().position(|c| c == mark);
        assert!(lines[1].contains("…x") && lines[1].contains("Ayyy") && lines[1].ends_with("more)"), "{told}");
        assert_eq!(column(lines[2], 'B'), column(lines[3], '^'), "{told}");
        assert!(lines.iter().all(|line| line.chars().count() < 150), "{told}");
    }

    #[test]
    fn what_cannot_be_seen_is_written_as_an_escape() {
        let told = told(Side::Value("a\u{feff}b\u{202e}".into()), Side::Value("a\n\u{0}e\u{301}\"".into()));
        for part in ["a\\u{feff}b\\u{202e}", "a\\n\\u{0}e\\u{301}\\\""] {
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn a_value_is_pretty_and_what_is_not_there_is_nothing() {
        let object = json!({"command": "ls", "list": vec!["x".repeat(500); 200]});
        let told = told(Side::Nothing, Side::Value(object));
        assert!(
            told.contains("expected  nothing") && told.contains("\"command\": \"ls\"") && told.contains("more lines")
        );
        assert!(told.lines().count() < 40);
    }
}
