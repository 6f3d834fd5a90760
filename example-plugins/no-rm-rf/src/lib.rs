//! Keeps an agent from commands that cannot be taken back, such as `rm -rf`: a guard on its shell.

use serde::Deserialize;
use tacklebox_sdk::{Answer, Context, Error, Event, Hook, Info, Input, Plugin, config};

#[cfg(test)]
mod tests;

/// Programs that run the rest of their words.
const WRAPPERS: &str = "sudo doas env command exec nohup setsid time timeout nice busybox xargs find parallel";
/// The rules without a config.
const DENY: &str = "rm -rf|shred|mkfs";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    deny: Option<Vec<String>>,
    allow: Option<Vec<String>>,
}

struct NoRmRf;
tacklebox_sdk::export!(NoRmRf);

impl Plugin for NoRmRf {
    fn info() -> Info {
        Info::new("no-rm-rf", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"))
            .hook(Hook::on(Event::PreToolUse, "no-rm-rf").matcher("bash"))
    }

    fn pre_tool_use(_: &Input, cx: &Context) -> Result<Answer, Error> {
        let (Config { deny, allow }, commands) = (config()?, cx.commands());
        let split = |text: &str| text.split_ascii_whitespace().map(String::from).collect::<Vec<_>>();
        let deny = deny.unwrap_or_else(|| DENY.split('|').map(String::from).collect());
        let allow: Vec<_> = allow.iter().flatten().map(|entry| split(entry)).collect();
        let allow: Vec<_> = allow.iter().flat_map(|words| Command::tails(words)).collect();
        let rule_for = |tail: Command| deny.iter().find(|rule| tail.falls_under(&Command::of(&split(rule))));
        let why_not = |words: &Vec<String>| {
            let allowed = allow.contains(&Command::of(words));
            let rule = Command::tails(words).find_map(rule_for).filter(|_| !allowed)?;
            Some(format!("`{}` is denied by the rule `{rule}`: find a safer way, or ask the person", words.join(" ")))
        };
        Ok(match commands.list.iter().find_map(why_not) {
            Some(reason) => Answer::block(reason),
            None if commands.parsed => Answer::pass(),
            None => Answer::block("nothing shows what this command would run: write it more plainly"),
        })
    }
}

/// A command, or a rule about one: its program, its flags less their order and spelling, its operands.
#[derive(PartialEq)]
struct Command(String, Vec<String>, Vec<String>);

impl Command {
    fn of(words: &[String]) -> Self {
        let mut command = Self(program(words), Vec::new(), Vec::new());
        for word in words.iter().skip(1) {
            let known =
                ["--recursive", "--force"].iter().find(|known| word.len() > 2 && known.starts_with(word.as_str()));
            let flags = match word.strip_prefix('-') {
                None => {
                    command.2.push(word.trim_end_matches('/').to_owned());
                    continue;
                }
                Some(long) if long.starts_with('-') => vec![known.map_or(long, |known| &known[2..3]).to_owned()],
                Some(short) => short.to_ascii_lowercase().chars().map(String::from).collect(),
            };
            for flag in flags {
                if let Err(place) = command.1.binary_search(&flag) {
                    command.1.insert(place, flag);
                }
            }
        }
        command
    }

    /// The command; of a wrapper every tail of its words too, since its own flags may have values.
    fn tails(words: &[String]) -> impl Iterator<Item = Self> {
        let wraps = WRAPPERS.split(' ').any(|wrapper| wrapper == program(words));
        (0..if wraps { words.len() } else { 1 }).map(|at| Self::of(&words[at..]))
    }

    /// Whether the rule is about this command: its program, all its flags, its words in their order.
    fn falls_under(&self, Self(program, flags, operands): &Self) -> bool {
        let unknown = self.0.contains(['$', '`']) && !flags.is_empty();
        let named = self.0.split('.').next() == Some(program) || self.0 == *program || unknown;
        let mut rest = self.2.iter();
        let in_order = operands.iter().all(|word| rest.any(|other| other == word));
        named && in_order && flags.iter().all(|flag| self.1.contains(flag))
    }
}

fn program(words: &[String]) -> String {
    words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default().to_ascii_lowercase()
}
