//! Keeps an agent from its own hooks: their settings, plugins and scripts. In doubt it says no.

use serde::Deserialize;
use tacklebox_sdk::{Answer, Context, Error, Event, Hook, Info, Input, Plugin, Value, config, serde_json};

#[cfg(test)]
mod tests;

/// Protected wherever they stand.
const NAMES: [&str; 3] = [".freecode", ".claude", "plugin.json"];
/// Arguments that say what is written, and nothing of where.
const CONTENTS: &str = "content contents body title description prompt query pattern old_string new_string new_source";
/// Commands that only read, each with what the words begin with that make it do more.
const READERS: &str = "cat|ls|grep|head|tail|stat|wc|diff|less - +|file -|find -delete -exec -ok -fprint -fls|\
    git+status --ou|git+diff --ou --ext|git+log --ou --ext|git+show --ou --ext";
/// Where the shell puts something in, or leaves something out.
const EXPANSIONS: &[u8] = b"$`*?[]{}()'\"\\";
const NO: &str = "this names what watches over the agent, or hides what it names: only a plain read may do that";

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    paths: Vec<String>,
    readers: Vec<String>,
}

struct ProtectHooks;
tacklebox_sdk::export!(ProtectHooks);

impl Plugin for ProtectHooks {
    fn info() -> Info {
        Info::new("protect-hooks", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"))
            .hook(Hook::on(Event::PreToolUse, "protect-hooks"))
    }

    fn pre_tool_use(input: &Input, cx: &Context) -> Result<Answer, Error> {
        let (Config { paths, readers }, commands) = (config()?, cx.commands());
        let last = |path: &str| lower(path).rsplit('/').find(|part| !part.is_empty()).map(String::from);
        let names: Vec<_> = paths.iter().map(String::as_str).chain(NAMES).filter_map(last).collect();
        let text = lower(&strings(&serde_json::from_str(&input.tool_input)?));
        let doubt = is_named(&text, &names) || is_named(&lower(cx.cwd.as_deref().unwrap_or_default()), &names);
        let mut tools = readers.iter().map(String::as_str).chain(["read", "glob", "grep", "ls"]);
        let plain = || commands.parsed && is_plain(&text) && commands.list.iter().all(|words| is_read(words));
        let reads = tools.any(|tool| tool.eq_ignore_ascii_case(&input.tool_name)) || plain();
        Ok(if doubt && !reads { Answer::block(NO) } else { Answer::pass() })
    }
}

/// In lower case, and without what some file systems do not see.
fn lower(text: &str) -> String {
    let unseen = |c: &char| ('\u{200b}'..='\u{206f}').contains(c) || "\u{feff}\r".contains(*c);
    text.chars().filter(|c| !unseen(c)).map(|c| c.to_ascii_lowercase()).collect()
}

/// All texts and keys in it, but for contents.
fn strings(value: &Value) -> String {
    let is_content = |key: &str| CONTENTS.split(' ').any(|content| content == key);
    let of = |(key, value): (&String, &Value)| (!is_content(key)).then(|| format!("{key} \n{}", strings(value)));
    match value {
        Value::String(text) => format!("{text} \n"),
        Value::Array(list) => list.iter().map(strings).collect(),
        Value::Object(map) => map.iter().filter_map(of).collect(),
        _ => String::new(),
    }
}

/// Whether one of the names is there, can be there once the shell has read it, or may be spelled by numbers.
fn is_named(text: &str, names: &[String]) -> bool {
    // A backslash divides folders, or it quotes; a line that ends in one goes on.
    let pieces = text.split('\\').map(|rest| rest.strip_prefix('\n').unwrap_or(rest).bytes());
    let bare: Vec<u8> = pieces.flatten().filter(|byte| !b"'\"".contains(byte)).collect();
    let is_more = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || !byte.is_ascii();
    let ends = |rest: &[u8]| !rest.iter().find(|byte| **byte != b'.').is_some_and(is_more);
    let begins = |rest: &[u8]| names.iter().any(|name| rest.strip_prefix(name.as_bytes()).is_some_and(ends));
    let mut parts = text.as_bytes().split(|byte| b" \n\t;|&<>=:/".contains(byte));
    let pair = |first, next: &[u8]| text.as_bytes().windows(2).any(|two| two[0] == first && next.contains(&two[1]));
    [text.as_bytes(), &bare].iter().any(|bytes| (0..bytes.len()).any(|at| begins(&bytes[at..])))
        || parts.any(|part| names.iter().any(|name| can_become(part, name.as_bytes()).is_some()))
        || pair(b'$', b"'") && pair(b'\\', b"xuc015")
}

/// Whether a word that the shell expands begins and ends as the name does.
fn can_become(part: &[u8], name: &[u8]) -> Option<()> {
    let is_sign = |byte: &u8| EXPANSIONS.contains(byte);
    let (first, last) = (part.iter().position(is_sign)?, part.iter().rposition(is_sign)?);
    let tail = if b"$`({[".contains(&part[last]) { &[] } else { &part[last + 1..] };
    (2 * first + tail.len() > 2 && name.starts_with(&part[..first]) && name.ends_with(tail)).then_some(())
}

/// Whether the words are all that a command text does: it redirects, expands and assigns nothing.
fn is_plain(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_ascii_whitespace() || ";&|(".contains(c));
    !text.contains(['<', '>', '$', '`', '{', '}']) && !words.any(|word| word.contains('=') && !word.starts_with('-'))
}

fn is_read(words: &[String]) -> bool {
    READERS.split('|').any(|reader| {
        let (name, more) = reader.split_once(' ').unwrap_or((reader, ""));
        let mut words = words.iter().map(String::as_str);
        let more = |word: &str| word.contains(['*', '?', '[']) || more.split(' ').any(|begin| word.starts_with(begin));
        name.split('+').all(|part| words.next() == Some(part)) && (name == reader || !words.any(more))
    })
}
