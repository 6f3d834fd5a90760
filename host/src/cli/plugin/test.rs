//! `tacklebox plugin test`: asks a plugin what a file of cases says, and compares its answers.
//!
//! What is compared is the plugin's own answer, as [`Code::call`](crate::plugin::Code::call) gives it to any embedder: its
//! `allow` is seen although no host counts it, and no other hook, rule or fold stands in between.
//!
//! - `file`, `case`, `expected`, `generated`: what a file of cases may say; `keys`: how it is read
//! - `play`: one case, through the sandbox; `compare`: the answer beside what was expected
//! - `show`: how it is told

mod case;
mod compare;
mod expected;
mod file;
mod generated;
mod keys;
mod play;
mod show;

use std::path::PathBuf;

use anyhow::Context as _;

use self::file::CaseFile;
use self::play::Player;
use self::show::Shown;
use super::super::exit::Exit;
use super::super::{conduct, out};

const EXAMPLES: &str = "\
Examples:
  Does this plugin answer as its cases say?
    tacklebox plugin test guard.wasm cases.json
  The same for a package, one JSON value for a program:
    tacklebox plugin test ./guard cases.json --json

A case: {\"name\", \"event\", \"tool\", \"input\", \"output\", \"config\", \"session\", .., \"expect\"}, where `expect` is `continue`,
{\"block\": reason}, {\"modify\": {\"input\", \"output\", \"context\", \"permission\"}}, {\"error\": text}, `trap` or
{\"limit\": name}. HOOKS.md, 11, has all keys.
Exit codes: 0 every case passed, 1 otherwise";

/// Which plugin, and which cases.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// A component, or a folder with a plugin.json; of a WASI command the one beside it counts
    file: PathBuf,
    /// What it is asked, and what it has to answer
    cases: PathBuf,
    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

/// Tests.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let bytes = std::fs::read(&args.cases).with_context(|| args.cases.display().to_string())?;
    let cases = CaseFile::read(&bytes).with_context(|| args.cases.display().to_string())?;
    conduct::run(test(args, cases))
}

async fn test(args: Args, cases: CaseFile) -> anyhow::Result<Exit> {
    let player = Player::load(&args.file).await?;
    let mut shown = Shown::of(&player.plugin);
    for case in cases.cases {
        shown.add(player.play(case).await?);
    }
    match args.json {
        true => out::json(&shown)?,
        false => out::person(&shown.page())?,
    }
    Ok(if shown.failed == 0 { Exit::Fine } else { Exit::Fault })
}
