//! Keeps files that a tool generates from being written by hand.

use serde::Deserialize;
use tacklebox_sdk::{Answer, Context, Error, Event, Hook, Info, Input, Plugin, config};

/// What settings may say in `config`. A key that is not here is an error, and an error on a gate blocks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    endings: Option<Vec<String>>,
}

struct Guard;
tacklebox_sdk::export!(Guard);

impl Plugin for Guard {
    fn info() -> Info {
        Info::new("plugin-name", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"))
            .hook(Hook::on(Event::PreToolUse, "plugin-name").matcher("write|edit"))
    }

    fn pre_tool_use(input: &Input, _cx: &Context) -> Result<Answer, Error> {
        let Config { endings } = config()?;
        let endings = endings.unwrap_or_else(|| vec![".lock".to_owned()]);
        Ok(match input.path() {
            Some(path) if endings.iter().any(|ending| path.ends_with(ending)) => {
                Answer::block(format!("`{path}` is written by its tool alone"))
            }
            _ => Answer::pass(),
        })
    }
}
