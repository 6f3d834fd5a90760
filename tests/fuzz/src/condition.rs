//! Conditions, and the reading of shell commands under them: the first line is the condition, the rest the command, the
//! path, or the only value of a call.

use std::sync::LazyLock;

use serde_json::{Map, Value};
use tacklebox::matching::{Commands, Condition, Dialect, Reason, ToolTable, Within};

use crate::line_and_rest;
use crate::shown::is_printable;

/// What nobody writes in a command.
const FOREIGN: char = '\u{1f9f0}';

/// A condition on a command that nobody writes: it holds where the command cannot be judged, and only there.
static ABOUT_NOTHING: LazyLock<Condition> = LazyLock::new(|| Condition::new(&format!("bash({FOREIGN}*)")).0);
static TOOLS: LazyLock<ToolTable> = LazyLock::new(ToolTable::default);

/// Reads the first line as a condition and tests it on the rest.
pub fn check(bytes: &[u8]) {
    let Some((text, subject)) = line_and_rest(bytes) else { return };
    let (condition, doubt) = Condition::new(text);
    if let Some(doubt) = doubt {
        is_printable(&doubt.to_string());
    }
    let commands = Commands::parse(subject);
    are_sound(&commands, subject);
    for (tool, argument) in [("bash", "command"), ("edit", "path"), ("other", "value")] {
        approves_no_more_than_it_holds(&condition, tool, argument, subject, &commands);
    }
    foreign(subject, &commands);
    glob(text, subject);
}

fn are_sound(commands: &Commands, text: &str) {
    assert_eq!(*commands, Commands::parse(text), "{text:?} is read in two ways");
    assert_eq!(!commands.parsed, commands.reasons.contains(&Reason::Unparsed), "{text:?}: {commands:?}");
    for command in &commands.list {
        assert_eq!(command.joined(), command.words.join(" "), "{text:?}");
        assert!(command.forms().all(|form| command.joined().ends_with(form)), "{text:?}: {command:?}");
        assert!(command.words.is_empty() || command.forms().next() == Some(command.joined()), "{text:?}: {command:?}");
    }
}

fn input(argument: &str, value: &str) -> Map<String, Value> {
    Map::from_iter([(argument.to_owned(), value.into())])
}

fn approves_no_more_than_it_holds(
    condition: &Condition,
    tool: &str,
    argument: &str,
    subject: &str,
    commands: &Commands,
) {
    let input = input(argument, subject);
    let call = TOOLS.call(Dialect::Freecode, tool, &input, Some(commands));
    let (holds, approves) = (condition.test(&call).holds(), condition.approves(&call));
    assert!(holds || !approves, "{condition:?} approves {tool} {subject:?} and is not about it");
    if tool == "bash" && approves {
        assert!(commands.parsed && !commands.side_effects, "{condition:?} approves {subject:?}");
        let ours = commands.list.iter().filter(|command| command.within == Within::Text);
        assert!(ours.clone().count() > 0 && ours.clone().all(|command| command.literal), "{condition:?}: {subject:?}");
    }
}

/// What cannot be judged makes every guard of the tool run.
fn foreign(subject: &str, commands: &Commands) {
    if subject.contains(FOREIGN) {
        return;
    }
    let input = input("command", subject);
    let call = TOOLS.call(Dialect::Freecode, "bash", &input, Some(commands));
    assert_eq!(ABOUT_NOTHING.test(&call).holds(), !commands.reasons.is_empty(), "{subject:?}: {commands:?}");
    assert!(!ABOUT_NOTHING.approves(&call), "{subject:?}");
}

/// A glob of literals and stars covers a value as the same thing said in an expression does; one without any star is
/// made one by two of them, and then means that the value holds it.
fn glob(text: &str, value: &str) {
    let literal = |character: char| character.is_alphanumeric() || " _-/:,=*".contains(character);
    if !text.chars().all(literal) {
        return;
    }
    let glob = if text.contains('*') { text.to_owned() } else { format!("*{text}*") };
    let (condition, doubt) = Condition::new(&format!("other({glob})"));
    let input = input("value", value);
    let call = TOOLS.call(Dialect::Freecode, "other", &input, None);
    let expected = covers(&glob, value);
    assert!(doubt.is_none(), "{glob:?}: {doubt:?}");
    assert_eq!(condition.test(&call).holds(), expected, "{glob:?} on {value:?}");
    let climbs = value.split(['/', '\\']).any(|part| part == "..");
    assert_eq!(condition.approves(&call), expected && !climbs, "{glob:?} on {value:?}");
}

fn covers(glob: &str, value: &str) -> bool {
    let colon = glob.strip_suffix(":*");
    let head = glob.strip_suffix(" *").or(colon);
    let spaced = colon.map(|head| format!("{head} *"));
    [Some(glob), head, spaced.as_deref()].into_iter().flatten().any(|glob| spans(glob.as_bytes(), value.as_bytes()))
}

/// The two-row table of a textbook: whether each prefix of the glob spans each prefix of the value.
fn spans(glob: &[u8], value: &[u8]) -> bool {
    let mut row = vec![false; value.len() + 1];
    row[0] = true;
    for byte in glob {
        let mut next = vec![false; value.len() + 1];
        next[0] = *byte == b'*' && row[0];
        for at in 1..row.len() {
            next[at] = if *byte == b'*' { row[at] || next[at - 1] } else { *byte == value[at - 1] && row[at - 1] };
        }
        row = next;
    }
    row[value.len()]
}
