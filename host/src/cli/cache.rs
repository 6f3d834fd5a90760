//! `tacklebox cache`: where the compiled code of plugins is kept, how much it is, and how to be rid of it.

use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;

use crate::diagnostic::{printable, printable_path};
use crate::wasm::{CacheError, CompileCache, Stock};

use super::exit::Exit;
use super::fault::Fault;
use super::style::HEAD;
use super::{host, out};

const EXAMPLES: &str = "\
Examples:
  Where is it, and how large?
    tacklebox cache
  Throw it away; what is loaded goes on, and what is loaded next is compiled once more:
    tacklebox cache clear";

/// What to do.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print one JSON value
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Empty it
    Clear,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
    entries: usize,
    bytes: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cleared: bool,
}

/// Does it.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let cache = host::surroundings(None)?.compile_cache().map(CompileCache::at);
    let cleared = matches!(args.command, Some(Command::Clear));
    let stock = match &cache {
        Some(cache) if cleared => cache.clear().map_err(fault)?,
        Some(cache) => cache.stock().map_err(fault)?,
        None => Stock::default(),
    };
    let folder = cache.map(|cache| cache.folder().to_owned());
    let shown = Shown { folder, entries: stock.entries, bytes: stock.bytes, cleared };
    match args.json {
        true => out::json(&shown)?,
        false => out::person(&shown.page())?,
    }
    Ok(Exit::Fine)
}

fn fault(error: CacheError) -> Fault {
    Fault::new(printable(&error.to_string()), "plugins are compiled each time; remove the folder, and it is made anew")
}

impl Shown {
    fn page(&self) -> String {
        let Some(folder) = &self.folder else {
            return "no home and no cache folder, so nothing is kept\n".to_owned();
        };
        let folder = printable_path(folder);
        let entries = if self.entries == 1 { "entry" } else { "entries" };
        let what = format!("{} {entries}, {}", self.entries, size(self.bytes));
        match self.cleared {
            true => format!("removed {what} from {folder}\n"),
            false => format!("{HEAD}{folder}{HEAD:#}\n  {what}\n"),
        }
    }
}

/// A size for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_at_a_glance() {
        assert_eq!(
            [0, 1023, 1536, 5 << 20].map(size),
            ["0 bytes", "1023 bytes", "1.5 KiB", "5.0 MiB"].map(str::to_owned)
        );
    }
}
