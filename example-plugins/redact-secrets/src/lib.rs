//! Replaces secrets in prompts and in what tools print by `[redacted:kind]`, before the model sees them.

use serde::Deserialize;
use tacklebox_sdk::{Answer, Context, Error, Event, Failure, Hook, Info, Input, Plugin, config};

mod secret;
#[cfg(test)]
mod tests;

/// What tokens of the user's own begin with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default)]
    prefixes: Vec<String>,
}

struct RedactSecrets;
tacklebox_sdk::export!(RedactSecrets);

impl Plugin for RedactSecrets {
    fn info() -> Info {
        // It fails closed: a text that was not looked through is not shown.
        let hook = |event| Hook::on(event, "redact-secrets").on_error(Failure::Block);
        let info = Info::new("redact-secrets", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"));
        info.hook(hook(Event::PostToolUse)).hook(hook(Event::PostToolUseFailure)).hook(hook(Event::UserPromptSubmit))
    }

    fn run(input: &Input, _: &Context) -> Result<Answer, Error> {
        let text = match input.event {
            Event::UserPromptSubmit => input.str("prompt")?,
            _ => input.tool_output.as_deref().unwrap_or_default(),
        };
        let Config { prefixes } = config()?;
        if let Some(short) = prefixes.iter().find(|prefix| prefix.len() < 3) {
            return Err(Error::new(format!("config, at `prefixes`: `{short}` is too short to tell a token")));
        }
        let (mut clean, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(next) = rest.chars().next().map(char::len_utf8) {
            let (kind, start, end) = secret::at_start(rest, &prefixes, &clean).unwrap_or(("", next, next));
            clean.push_str(&rest[..start]);
            if start < end {
                clean.extend(["[redacted:", kind, "]"]);
            }
            rest = &rest[end..];
        }
        Ok(if clean == text { Answer::pass() } else { Answer::modify().output(clean).into() })
    }
}
