//! Keeps an agent from commands that cannot be taken back, such as `rm -rf`: a guard on its shell.

use command::Command;
use serde::Deserialize;
use tacklebox_sdk::{Answer, Context, Error, Event, Hook, Info, Input, Plugin, config};

mod command;
#[cfg(test)]
mod tests;

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
            Some(format!("`{}` is denied by the rule `{rule}`: remove by name what has to go, or ask", words.join(" ")))
        };
        Ok(match commands.list.iter().find_map(why_not) {
            Some(reason) => Answer::block(reason),
            None if commands.parsed => Answer::pass(),
            None => Answer::block("nothing shows what this command would run: write it more plainly"),
        })
    }
}
