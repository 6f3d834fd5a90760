//! `tacklebox completions SHELL`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::exit::Exit;
use super::{Cli, out};

const EXAMPLES: &str = "\
Examples:
    tacklebox completions bash
    tacklebox completions zsh";

/// Which shell.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script that the shell is to read.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tacklebox", &mut script);
    out::person(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}
