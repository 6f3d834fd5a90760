//! Rewrites noisy commands to compact ones, so that less of what nobody reads fills the model's context.
//!
//! The user's rules come first, then the program `rtk` where it was granted and is there, then a table of its own.

use serde::Deserialize;
use tacklebox_sdk::{
    Answer, Context, Error, Event, Failure, Hook, Info, Input, Modification, Plugin, config, serde_json,
};

mod rtk;
#[cfg(test)]
mod tests;

/// What a command begins with, and what it begins with instead.
const RULES: [&str; 14] = [
    "cargo build => cargo build --quiet",
    "cargo check => cargo check --quiet",
    "cargo run => cargo run --quiet",
    "cargo test => cargo test --quiet",
    "curl => curl --silent --show-error",
    "docker pull => docker pull --quiet",
    "git clone => git clone --quiet",
    "git fetch => git fetch --quiet",
    "git status => git status --short --branch",
    "ls -la => ls -oAh",
    "npm ci => npm ci --loglevel=error --no-progress --no-fund",
    "npm install => npm install --loglevel=error --no-progress --no-fund",
    "pip install => pip install --quiet --disable-pip-version-check",
    "wget => wget --no-verbose",
];
/// Who writes one of these has chosen how much to see.
const LEAVE: &str = "-h --help -v -vv -vvv --verbose -q --quiet -s --silent --json --porcelain --long --message-format";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// Before rtk and those above; one without an arrow leaves alone what begins so.
    rules: Option<Vec<String>>,
}

struct RtkRewrite;
tacklebox_sdk::export!(RtkRewrite);

impl Plugin for RtkRewrite {
    fn info() -> Info {
        // No guard: where it fails, the command runs as it was. And nobody waits half a minute for a shorter output.
        let hook = Hook::on(Event::PreToolUse, "rtk-rewrite").matcher("bash").on_error(Failure::Pass).timeout_ms(5_000);
        Info::new("rtk-rewrite", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION")).hook(hook)
    }

    fn pre_tool_use(input: &Input, cx: &Context) -> Result<Answer, Error> {
        let (Config { rules }, commands) = (config()?, cx.commands());
        let text = input.str("command")?.trim_ascii();
        // Quotes, redirections, assignments, pipes and all else that a shell knows would make a difference here.
        let is_plain = commands.parsed && matches!(commands.list.as_slice(), [only] if only.iter().eq(text.split(' ')));
        // What another hook wrote is shown for a block alone.
        let rewritten = (is_plain && !cx.recheck).then(|| {
            let own = rewrite(text, rules.iter().flatten().map(String::as_str));
            own.or_else(|| rtk::ask(text)).or_else(|| rewrite(text, RULES.into_iter()))
        });
        Ok(match rewritten.flatten().filter(|rewritten| rewritten != text) {
            // Not by `json!`, since the code that writes any value is larger than all of this.
            Some(command) => {
                let input = Some(format!(r#"{{"command":{}}}"#, serde_json::to_string(&command)?));
                Modification { input, ..Answer::modify() }.into()
            }
            None => Answer::pass(),
        })
    }
}

/// By the longest rule that fits, the last of equals. What follows its words stays as it is written, and all of it where
/// the rule says so or the user has chosen. None where no rule fits.
fn rewrite<'a>(text: &str, rules: impl Iterator<Item = &'a str>) -> Option<String> {
    let (mut longest, mut rest, mut compact) = (0, "", "");
    for rule in rules {
        let (from, to) = rule.split_once('>').unwrap_or((rule, ""));
        let from = from.strip_suffix(" =").unwrap_or(from);
        let behind = text.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with(' '));
        if from.len() >= longest.max(1) && behind.is_some() {
            (longest, rest, compact) = (from.len(), behind.unwrap_or_default(), to.strip_prefix(' ').unwrap_or(to));
        }
    }
    let is_in = |list: &str, word: &str| list.split(' ').any(|other| other == word.split('=').next().unwrap_or(word));
    let chosen = rest.split(' ').skip(1).any(|word| is_in(LEAVE, word) || word != "--" && is_in(compact, word));
    let stays = compact.is_empty() || chosen;
    (longest > 0).then(|| if stays { text.to_owned() } else { format!("{compact}{rest}") })
}
