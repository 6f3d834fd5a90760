//! Keeps files that a tool generates from being written by hand.
//!
//! What happens stands in the environment. To exit with 0 lets it pass, with 2 blocks it for the reason on stderr. Every other
//! exit code blocks as well, and so does a panic: what goes wrong here lets nothing through.

use std::env;
use std::process::ExitCode;

use serde::Deserialize;

/// What settings may say in `config`. A key that is not here is a mistake, and a guard does not overlook it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    endings: Option<Vec<String>>,
}

fn main() -> ExitCode {
    let config = env::var("HOOK_CONFIG").unwrap_or_else(|_| "{}".to_owned());
    let Config { endings } = match serde_json::from_str(&config) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("the config is not as expected: {error}");
            return ExitCode::FAILURE;
        }
    };
    let endings = endings.unwrap_or_else(|| vec![".lock".to_owned()]);
    match env::var("HOOK_FILE_PATH") {
        Ok(path) if endings.iter().any(|ending| path.ends_with(ending)) => {
            eprintln!("`{path}` is written by its tool alone");
            ExitCode::from(2)
        }
        _ => ExitCode::SUCCESS,
    }
}
