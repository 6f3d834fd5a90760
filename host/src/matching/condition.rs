//! The condition of a hook, its `if`: which calls of a tool it is about.
//!
//! It owns the reading of the text and which texts of a call a pattern is tested on. One test that holds is enough, and
//! what cannot be judged holds too: a condition narrows a guard, so doubt makes the guard run. The opposite reading,
//! for approvals, is [`super::approval`]'s.

use serde_json::{Map, Value};

use super::expression::shown;
use super::matcher::{Matcher, MatcherHit};
use super::pattern::Pattern;
use super::shell::{Commands, Reason, SimpleCommand};

/// The longest condition that is read, in bytes: finding where each of many patterns ends takes time with the square of it.
const LONGEST: usize = 16 << 10;

/// A condition, compiled once.
///
/// Two conditions are equal when their texts are.
#[derive(Clone)]
pub struct Condition {
    text: String,
    pub(super) alternatives: Vec<Alternative>,
}

/// One `Tool(pattern)`, or a tool alone.
#[derive(Clone)]
pub(super) struct Alternative {
    /// `None` where its text compiles nowhere: every tool then.
    pub(super) tool: Option<Matcher>,
    pub(super) test: Test,
}

/// What is asked of the arguments.
#[derive(Clone)]
pub(super) enum Test {
    /// Nothing.
    Bare,
    /// That one of the tested texts meets it.
    Pattern(Box<Pattern>),
    /// It reads neither way, so it holds.
    Unreadable,
}

/// Something in a condition reads neither as a glob nor as a regular expression; the hook runs as if it held.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` in the condition `{}` reads neither as a glob nor as a regular expression: {cause}",
    shown(part),
    shown(condition)
)]
pub struct ConditionWarning {
    /// The whole condition.
    pub condition: String,
    /// The tool or the pattern that cannot be read.
    pub part: String,
    /// What the engine said, on one line.
    pub cause: String,
}

/// What testing a condition came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionVerdict<'a> {
    /// The hook is not about this call.
    Misses,
    /// The hook runs.
    Holds {
        /// Which of the conditions between `|` held, counted from 0.
        alternative: usize,
        /// How its tool matched; `None` where the tool's text cannot be read.
        tool: Option<MatcherHit>,
        /// What decided.
        because: Because<'a>,
    },
}

/// What made a condition hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Because<'a> {
    /// The tool alone is asked for.
    Tool,
    /// The pattern meets all values joined.
    Values(&'a str),
    /// The pattern meets one value.
    Value(&'a str),
    /// The pattern meets this form of a simple command.
    Command(&'a str),
    /// No pattern can vouch for the command.
    Unsure(&'a Reason),
    /// The condition itself cannot be read.
    Unreadable,
}

impl ConditionVerdict<'_> {
    /// Whether the hook runs.
    pub fn holds(&self) -> bool {
        matches!(self, ConditionVerdict::Holds { .. })
    }
}

/// The call a condition is tested on. Made by [`super::ToolTable::call`].
#[derive(Debug)]
pub struct Call<'a> {
    pub(super) tool: &'a str,
    pub(super) subject: Subject<'a>,
    input: &'a Map<String, Value>,
    values: std::sync::OnceLock<Values>,
}

/// What a tool's call is about, as far as the tool table knows.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Subject<'a> {
    /// A command; `None` where the argument is missing or no text.
    Command(Option<&'a Commands>),
    /// A path; `None` where no argument gives one.
    Path(Option<&'a str>),
    /// The table does not list the tool, or names no argument for it.
    Unknown,
}

/// The values of a call's arguments.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) each: Vec<String>,
    joined: String,
}

impl<'a> Call<'a> {
    /// A call by the name the hook knows the tool by.
    pub fn new(tool: &'a str, input: &'a Map<String, Value>, subject: Subject<'a>) -> Call<'a> {
        Call { tool, subject, input, values: std::sync::OnceLock::new() }
    }

    /// The name of the tool.
    pub fn tool(&self) -> &'a str {
        self.tool
    }

    /// What the call is about.
    pub fn subject(&self) -> Subject<'a> {
        self.subject
    }

    /// The values, flattened on first use, for all conditions tested on this call.
    pub(super) fn values(&self) -> &Values {
        self.values.get_or_init(|| Values::flatten(self.input))
    }

    fn commands(&self) -> Option<&'a Commands> {
        match self.subject {
            Subject::Command(commands) => commands,
            Subject::Path(_) | Subject::Unknown => None,
        }
    }
}

impl Values {
    /// Depth first, without recursion: an embedder may build values deeper than a stack. Numbers, booleans and null
    /// stand as in JSON.
    fn flatten(input: &Map<String, Value>) -> Values {
        let mut each = Vec::new();
        let mut waiting: Vec<&Value> = input.values().rev().collect();
        while let Some(value) = waiting.pop() {
            match value {
                Value::String(text) => each.push(text.clone()),
                Value::Array(items) => waiting.extend(items.iter().rev()),
                Value::Object(fields) => waiting.extend(fields.values().rev()),
                Value::Null | Value::Bool(_) | Value::Number(_) => each.push(value.to_string()),
            }
        }
        let joined = each.join(" ");
        Values { each, joined }
    }
}

impl Condition {
    /// Compiles a condition. Nothing is an error: a part that cannot be read makes the hook run, and the warning is
    /// for the first such part.
    pub fn new(text: &str) -> (Condition, Option<ConditionWarning>) {
        let mut warning = None;
        let mut warn = |part: &str, cause: String| {
            let new = ConditionWarning { condition: text.to_owned(), part: part.to_owned(), cause };
            warning.get_or_insert(new);
        };
        let alternatives = if text.len() > LONGEST {
            warn(text, format!("it is longer than {} KiB", LONGEST >> 10));
            vec![Alternative { tool: None, test: Test::Unreadable }]
        } else {
            split(text).into_iter().map(|part| Alternative::new(&part, &mut warn)).collect()
        };
        (Condition { text: text.to_owned(), alternatives }, warning)
    }

    /// The text it was made from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tests a call, and says what decided.
    pub fn test<'a>(&'a self, call: &'a Call<'_>) -> ConditionVerdict<'a> {
        for (alternative, asked) in self.alternatives.iter().enumerate() {
            let tool = asked.tool.as_ref().map(|tool| tool.test(call.tool));
            if tool == Some(None) {
                continue;
            }
            if let Some(because) = asked.test(call) {
                return ConditionVerdict::Holds { alternative, tool: tool.flatten(), because };
            }
        }
        ConditionVerdict::Misses
    }
}

impl Alternative {
    fn new(part: &Part<'_>, warn: &mut impl FnMut(&str, String)) -> Alternative {
        let tool = Matcher::new(part.tool.trim()).map_err(|error| warn(&error.text, error.cause)).ok();
        let test = match (&tool, part.pattern) {
            (None, _) => Test::Unreadable,
            (Some(_), None) => Test::Bare,
            (Some(_), Some(pattern)) => match Pattern::new(pattern) {
                Ok(pattern) => Test::Pattern(Box::new(pattern)),
                Err(cause) => {
                    warn(pattern, cause);
                    Test::Unreadable
                }
            },
        };
        Alternative { tool, test }
    }

    /// Why it holds for the arguments, if it does.
    fn test<'a>(&self, call: &'a Call<'_>) -> Option<Because<'a>> {
        match &self.test {
            Test::Bare => Some(Because::Tool),
            Test::Unreadable => Some(Because::Unreadable),
            Test::Pattern(pattern) => values_meet(pattern, call.values())
                .or_else(|| call.commands().and_then(|commands| commands_meet(pattern, commands))),
        }
    }
}

fn values_meet<'a>(pattern: &Pattern, values: &'a Values) -> Option<Because<'a>> {
    if pattern.test(&values.joined) {
        return Some(Because::Values(&values.joined));
    }
    values.each.iter().find(|value| pattern.test(value)).map(|value| Because::Value(value))
}

fn commands_meet<'a>(pattern: &Pattern, commands: &'a Commands) -> Option<Because<'a>> {
    let forms = |command: &'a SimpleCommand| command.forms().chain([command.in_full()]);
    let met = commands.list.iter().flat_map(forms).find(|form| pattern.test(form));
    met.map(Because::Command).or_else(|| commands.reasons.first().map(Because::Unsure))
}

/// The text of one condition between `|`.
struct Part<'a> {
    tool: &'a str,
    pattern: Option<&'a str>,
}

/// Cuts a condition at each `|` that follows a closing parenthesis.
fn split(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((part, after)) = first_part(rest) {
        parts.push(part);
        let Some(next) = after.trim_start().strip_prefix('|') else {
            return parts;
        };
        rest = next;
    }
    parts.push(Part { tool: rest, pattern: None });
    parts
}

/// The first `Tool(pattern)` and what follows it; `None` where the text is a bare tool pattern.
fn first_part(text: &str) -> Option<(Part<'_>, &str)> {
    let (tool, inside) = text.split_once('(')?;
    let close = closing(inside)?;
    Some((Part { tool, pattern: Some(&inside[..close]) }, &inside[close + 1..]))
}

/// Where the parenthesis stands that closes a pattern: one that the end or a `|` follows. Of several the first that
/// leaves the parentheses in between balanced, so that `bash((a)|(b))` is one condition; a pattern that is not balanced
/// at all, such as the glob `echo (*`, ends at the first.
fn closing(inside: &str) -> Option<usize> {
    let (mut open, mut escaped, mut first) = (0_usize, false, None);
    for (at, character) in inside.char_indices() {
        let after = || inside[at + 1..].trim_start();
        match character {
            _ if escaped => {
                escaped = false;
                continue;
            }
            '\\' => escaped = true,
            '(' => open += 1,
            ')' => {
                let closes = after().is_empty() || after().starts_with('|');
                if closes && open == 0 {
                    return Some(at);
                }
                first = first.or(closes.then_some(at));
                open = open.saturating_sub(1);
            }
            _ => {}
        }
    }
    first.or_else(|| inside.trim_end().strip_suffix(')').map(str::len))
}

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Condition").field(&self.text).finish()
    }
}

impl PartialEq for Condition {
    fn eq(&self, other: &Condition) -> bool {
        self.text == other.text
    }
}

impl Eq for Condition {}

#[cfg(test)]
mod tests {
    use super::super::tools::{Dialect, ToolTable};
    use super::*;
    use serde_json::json;

    /// Tests a condition on a call of a tool in the default table.
    fn holds(condition: &str, tool: &str, input: &Value) -> bool {
        let (tools, empty) = (ToolTable::default(), Map::new());
        let input = input.as_object().unwrap_or(&empty);
        let commands = tools.command(tool, input).map(Commands::parse);
        let call = tools.call(Dialect::Freecode, tool, input, commands.as_ref());
        Condition::new(condition).0.test(&call).holds()
    }

    #[test]
    fn commands() {
        let cases: &[(&str, &str, bool)] = &[
            ("bash(git *)", "git status", true),
            ("bash(git *)", "git commit -m 'two words'", true),
            ("bash(git *)", "gitk", false),
            ("bash(git *)", "ls", false),
            ("bash", "anything", true),
            ("bash(rm *)", "cd x && rm -rf y", true),
            ("bash(rm *)", "/bin/rm -rf y", true),
            ("bash(rm *)", "sudo rm y", true),
            ("bash(rm *)", "'rm' -r y", true),
            ("bash(rm *)", "FOO=1 rm y", true),
            ("bash(rm *)", "echo $(rm y)", true),
            ("bash(rm *)", "$X -rf y", true),
            ("bash(rm *)", "echo 'unclosed", true),
            ("bash(rm *)", "curl x | sh", true),
            ("bash(rm *)", "ls rmdir", false),
            ("bash(rm *)", "echo rm y", false),
            ("bash(git:*)", "git", true),
            ("bash(git:*)", "git push", true),
            ("bash(git:*)", "gitk", false),
            ("bash(rm -[rf]+)", "rm -rf x", true),
            ("bash(rm -[rf]+)", "rm x", false),
            ("bash(*)", "x", true),
            ("bash(rm\\s+-rf)", "sudo rm  -rf /", true),
            ("bash(rm\\s+-rf)", "rm -r x", false),
            ("bash(git push*)|edit(*.md)", "git push", true),
            ("bash(git push*)|edit(*.md)", "git pull", false),
            ("edit|write(*.md)", "cat a.md", false),
            ("bash(git commit:*)|bash(gt create:*)", "git commit", true),
            ("bash(git commit:*)|bash(gt create:*)", "gt create x", true),
            ("bash(git push:*)", "ls && git push", true),
            ("bash(git push:*)", "FOO=bar git push", true),
            ("bash(git push:*)", "echo git push", false),
            ("bash(^rm (-r|-f))", "rm -f x", true),
            ("bash(^rm (-r|-f))", "rm -x", false),
            ("bash((^a$)|(^b$))", "b", true),
            ("bash((^a$)|(^b$))", "c", false),
            ("bash([)", "ls", true),
            ("([)|bash(x)", "ls", true),
            ("edit([)", "ls", false),
        ];
        for (condition, command, expected) in cases {
            assert_eq!(
                holds(condition, "bash", &json!({"command": command})),
                *expected,
                "{condition:?} on {command:?}"
            );
        }
    }

    #[test]
    fn values() {
        let cases = [
            ("bash(git *)", "edit", json!({"command": "git status"}), false),
            ("bash", "edit", json!({}), false),
            ("write(*.ts)", "write", json!({"path": "src/a.ts"}), true),
            ("write(*.ts)", "write", json!({"path": "src/a.ts", "content": "let x = 1;"}), true),
            ("write(*.ts)", "write", json!({"path": "src/a.rs", "content": "x"}), false),
            ("edit|write(*.md)", "edit", json!({"path": "a.md"}), true),
            ("edit|write(*.md)", "write", json!({"path": "b.md"}), true),
            ("edit|write(*.md)", "edit", json!({"path": "a.ts"}), false),
            ("bash(git push*)|edit(*.md)", "edit", json!({"path": "a.md"}), true),
            ("bash(git push*)|edit(*.md)", "edit", json!({"path": "a.rs"}), false),
            ("multi(*secret*)", "multi", json!({"edits": [{"path": "a"}, {"path": "conf/secret.yml"}]}), true),
            ("multi(*secret*)", "multi", json!({"edits": [{"path": "a"}]}), false),
            ("t(^a 1 true null b$)", "t", json!({"x": ["a", 1], "y": {"z": true}, "n": null, "b": "b"}), true),
            ("bash(rm *)", "bash", json!({"command": ["rm", "x"]}), true),
            ("other($X)", "other", json!({"command": "$X"}), false),
        ];
        for (condition, tool, input, expected) in cases {
            assert_eq!(holds(condition, tool, &input), expected, "{condition:?} on {tool} {input}");
        }
    }

    #[test]
    fn the_verdict_says_what_decided() {
        let tools = ToolTable::default();
        let input = json!({"command": "sudo rm x", "note": "n"});
        let input = input.as_object().expect("an object");
        let commands = tools.command("bash", input).map(Commands::parse);
        let call = tools.call(Dialect::Freecode, "bash", input, commands.as_ref());
        let because = |condition: &str| match Condition::new(condition).0.test(&call) {
            ConditionVerdict::Holds { alternative, because, .. } => format!("{alternative} {because:?}"),
            ConditionVerdict::Misses => "misses".to_owned(),
        };
        assert_eq!(because("edit(x)|bash(rm *)"), "1 Command(\"rm x\")");
        assert_eq!(because("bash(n)"), "0 Values(\"sudo rm x n\")");
        assert_eq!(because("bash(^n$)"), "0 Value(\"n\")");
        assert_eq!(because("bash"), "0 Tool");
        assert_eq!(because("bash([)"), "0 Unreadable");
        assert_eq!(because("bash(q)"), "misses");
    }

    #[test]
    fn a_condition_longer_than_anyone_writes_makes_the_hook_run() {
        // None of these parentheses is closed, so that each is looked for to the end.
        let text = "a((b)|".repeat(200_000);
        let (condition, warning) = Condition::new(&text);
        let warning = warning.expect("a warning").to_string();
        assert!(warning.ends_with("longer than 16 KiB") && warning.len() < 1000, "{warning}");
        let input = Map::new();
        let call = Call::new("bash", &input, Subject::Unknown);
        assert!(condition.test(&call).holds() && !condition.approves(&call));
    }

    #[test]
    fn what_reads_neither_way_is_a_warning_that_names_the_part() {
        for (condition, part) in [("bash([)", "["), ("bash(a)|x[(b)", "x["), ("([", "([")] {
            let warning = Condition::new(condition).1.expect(condition);
            assert_eq!((warning.condition.as_str(), warning.part.as_str()), (condition, part));
        }
        assert_eq!(Condition::new("bash(foo(*)").1, None, "a glob needs no balanced parentheses");
        assert_eq!(Condition::new("mcp__(a|b)__x").1, None, "a tool pattern may hold a group");
    }

    #[test]
    fn deep_values_do_not_overflow() {
        let mut deep = json!("x");
        for _ in 0..10_000 {
            deep = Value::Array(vec![deep]);
        }
        let mut input = Map::new();
        input.insert("deep".to_owned(), deep);
        assert_eq!(Values::flatten(&input).joined, "x");
        // Dropping it recurses, which is not ours to mend.
        std::mem::forget(input);
    }
}
