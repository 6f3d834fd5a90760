//! `tacklebox plugin`: what is done with plugins before they are hooks.

mod bench;
mod build;
pub(super) mod inspect;
pub(super) mod inspected;
mod language;
mod loaded;
mod made;
mod new;
mod permission;
mod test;

use clap::Subcommand;

use super::exit::Exit;

/// What to do.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a project that builds, and passes its own cases
    New(new::Args),
    /// Build a project with its language's own tools
    Build(build::Args),
    /// Show what a plugin is and what it could use, without running it
    Inspect(inspect::Args),
    /// Ask a plugin what a file of cases says, and compare its answers
    Test(test::Args),
    /// Measure what loading and calling a plugin costs
    Bench(bench::Args),
}

/// Does it.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    match args.command {
        Command::New(args) => new::run(args),
        Command::Build(args) => build::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Test(args) => test::run(args),
        Command::Bench(args) => bench::run(args),
    }
}
