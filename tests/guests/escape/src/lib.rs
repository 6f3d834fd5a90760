//! A plugin that tries each thing that its config lists, and gives what came of them as context, a line for each:
//! `{"try": [["available", "git"], ["run", "git", "--version"]]}`. For tests of the host.

use std::fmt::Display;

use tacklebox_sdk::{Answer, Context, Error, Event, Hook, Info, Input, Plugin};
use tacklebox_sdk::{config, process, serde_json, state};

struct Escape;

tacklebox_sdk::export!(Escape);

impl Plugin for Escape {
    fn info() -> Info {
        Info::new("escape", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"))
            .hook(Hook::on(Event::PreToolUse, "escape"))
    }

    fn run(_: &Input, _: &Context) -> Result<Answer, Error> {
        let config: serde_json::Value = config()?;
        if config["allow"] == true {
            return Ok(Answer::modify().allow().into());
        }
        let wanted = config["try"].as_array().into_iter().flatten();
        let told: Vec<_> = wanted.map(|words| attempt(&texts(words))).collect();
        Ok(Answer::modify().context(told.join("\n")).into())
    }
}

fn texts(words: &serde_json::Value) -> Vec<&str> {
    words.as_array().into_iter().flatten().filter_map(|word| word.as_str()).collect()
}

fn attempt(words: &[&str]) -> String {
    match words {
        ["available", program] => process::available(program).to_string(),
        ["run", program, args @ ..] => run(program, args, b""),
        ["pipe", text, program, args @ ..] => run(program, args, text.as_bytes()),
        ["flood", program, args @ ..] => run(program, args, &vec![b'x'; 3 << 20]),
        ["keep", key, value] => done(state::set(key, value.as_bytes()).map_err(|error| format!("{error:?}"))),
        ["kept", key] => state::get(key).map_or("none".into(), |value| String::from_utf8_lossy(&value).into_owned()),
        _ => "escape cannot do that".into(),
    }
}

fn run(program: &str, args: &[&str], stdin: &[u8]) -> String {
    match process::run(program, args, stdin) {
        Ok(output) => {
            let code = output.exit_code.map_or("signal".into(), |code| code.to_string());
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
            format!("{code} {}|{}", text(&output.stdout), text(&output.stderr))
        }
        Err(process::Error::Denied) => "denied".into(),
        Err(process::Error::NotFound) => "not-found".into(),
        Err(process::Error::TimedOut) => "timed-out".into(),
        Err(process::Error::Failed(why)) => format!("failed: {why}"),
    }
}

fn done<T, E: Display>(result: Result<T, E>) -> String {
    result.map_or_else(|error| format!("error: {error}"), |_| "ok".into())
}
