//! The command line: the host as a program, to try, to test, to script.
//!
//! Owns the arguments, what is printed, and the exit codes; it sees only what any embedder sees. Answers go to stdout,
//! everything else to stderr.
//!
//! - `demo`: a session to look at; `run`, `batch`, `list`, `explain`, `check`, `trust`, `plugin`, `cache`, `completions`: one
//!   command each
//! - `announcement`, `moment`: from what was said to a typed event; `host`: the host it is told to
//! - `records`: the file to which `run` appends a line a dispatch
//! - `verdict`: the answer as JSON; `view`: the same for a person; `out`, `style`, `log`: how it is written
//! - `exit`, `fault`: how the program ends; `conduct`: where futures run, and what a signal does

mod announcement;
mod batch;
mod cache;
mod check;
mod completions;
mod conduct;
mod demo;
mod exit;
mod explain;
mod fault;
mod host;
mod list;
mod log;
mod moment;
mod out;
mod permissions;
mod plugin;
mod records;
mod run;
mod style;
mod trust;
mod verdict;
mod view;

use std::ffi::OsString;

use clap::{ArgAction, Parser, Subcommand};

pub use exit::Exit;

const EXAMPLES: &str = "\
Examples:
  What is this for?
    tacklebox demo
  What would the hooks of this project run, and what would they say to a call?
    tacklebox trust
    tacklebox run PreToolUse --tool bash --input '{\"command\": \"rm -rf /\"}'
  Try a plugin without any settings:
    tacklebox run PreToolUse --tool bash --input '{\"command\": \"ls\"}' --plugin guard.wasm
  Which hooks are there, and is anything wrong with them?
    tacklebox list
    tacklebox check

Exit codes: 0 fine or allowed, 2 blocked or denied, 3 ask, 1 a fault or wrong usage";

/// The hook engine for coding agents.
#[derive(Debug, Parser)]
#[command(name = "tacklebox", version, after_long_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Say on stderr what happens inside; twice says more
    #[arg(short, long, action = ArgAction::Count, global = true)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play an agent's session through real hooks, and show call by call what each of them did
    Demo(demo::Args),
    /// Announce one event, or a batch of them, and print the verdict
    Run(run::Args),
    /// Show every registered hook, and those that settings dropped
    List(list::Args),
    /// Show for each hook of an event whether it would be asked, and why; runs nothing
    Explain(explain::Args),
    /// Say what is wrong with settings files and plugins
    Check(check::Args),
    /// Show what the project's hooks would run, and trust it
    Trust(trust::Args),
    /// Trust the project no longer
    Untrust(trust::UntrustArgs),
    /// Begin, build, test, measure and look at plugins
    Plugin(plugin::Args),
    /// Show where the compiled code of plugins is kept, and how much it is
    Cache(cache::Args),
    /// Print completions for a shell
    Completions(completions::Args),
}

/// Reads the arguments, the first of which is the program's name.
///
/// # Errors
///
/// The exit code, where there is nothing to do: help was asked for and printed, or the usage is wrong and that was
/// said.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, Exit> {
    Cli::try_parse_from(args).map_err(|error| {
        // Where stdout or stderr is closed nobody reads it.
        let _ = error.print();
        if error.use_stderr() { Exit::Fault } else { Exit::Fine }
    })
}

/// Does what they say.
pub fn run(cli: Cli) -> Exit {
    log::start(cli.verbose);
    let done = match cli.command {
        Command::Demo(args) => demo::run(args),
        Command::Run(args) => run::run(args),
        Command::List(args) => list::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Check(args) => check::run(args),
        Command::Trust(args) => trust::run(args),
        Command::Untrust(args) => trust::forget(args),
        Command::Plugin(args) => plugin::run(args),
        Command::Cache(args) => cache::run(args),
        Command::Completions(args) => completions::run(args),
    };
    done.unwrap_or_else(|error| fault::report(&error))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_agree_with_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_example_of_every_help_can_be_read() {
        let mut seen = 0;
        for help in helps(Cli::command()) {
            for line in help.lines().filter_map(|line| line.trim().strip_prefix("tacklebox ")) {
                let line = line.split(" < ").next().unwrap_or(line);
                Cli::try_parse_from(words(&format!("tacklebox {line}"))).unwrap_or_else(|e| panic!("{line}: {e}"));
                seen += 1;
            }
        }
        assert!(seen >= 10, "{seen}");
    }

    fn helps(command: clap::Command) -> Vec<String> {
        let own = command.get_after_long_help().map(ToString::to_string);
        let of_subcommands: Vec<_> = command.get_subcommands().cloned().flat_map(helps).collect();
        own.into_iter().chain(of_subcommands).collect()
    }

    /// Words as a shell takes them apart, single quotes and all.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        for (n, part) in line.split('\'').enumerate() {
            let last = words.len() - 1;
            if n % 2 == 1 {
                words[last].push_str(part);
                continue;
            }
            let mut pieces = part.split(' ');
            words[last].push_str(pieces.next().unwrap_or_default());
            words.extend(pieces.map(str::to_owned));
        }
        words.retain(|word| !word.is_empty());
        words
    }
}
