//! Why a file is not loaded, in words that a person can act on.

use std::fmt;
use std::time::Duration;

use super::imports::MissingImport;
use super::limits::{LARGEST_FILE, MOST_CORE_INSTANCES, MOST_HOOKS, MOST_INSTANCES, MOST_MEMORIES, MOST_TABLES};
use super::weight::TooMuch;
use crate::diagnostic::printable;
use crate::outcome::Cause;
use crate::text::cut;
use crate::wire::document::Quoted;

/// What makes a component a plugin.
const OURS: &str = "`tacklebox:hooks/callback@0.1.x`";
/// What makes a file a WASI command.
const COMMANDS: &str = "a core module with the function `_start`, or a component that exports `wasi:cli/run@0.2.x`";
/// How many names are listed, and how many characters of a message are shown.
const MOST_NAMES: usize = 20;
const LONGEST_LINE: usize = 2_000;
const REBUILD: &str = "rebuild the plugin, or take another version of tacklebox";

/// Why a file is not loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It is larger than 64 MiB.
    #[error("the file is {} MiB large; a plugin may have {} MiB", bytes >> 20, LARGEST_FILE >> 20)]
    TooLarge {
        /// How large it is.
        bytes: usize,
    },
    /// It is something else.
    #[error("this is no WASM file: it does not begin as one")]
    NotWasm,
    /// It ends too early; perhaps it is still being written.
    #[error("the file is cut short: it ends in the midst of a section")]
    CutShort,
    /// It begins as WASM and is none.
    #[error("the file is damaged, or uses what this host does not run: {}", one_line(.0))]
    Malformed(String),
    /// It is a core module that is no WASI command.
    #[error(
        "this is a core module that exports {}; expected a component that exports {OURS} (`wasm-tools component new` \
        makes components), or a WASI command: {COMMANDS}",
        listed(exports)
    )]
    CoreModule {
        /// What it exports.
        exports: Vec<String>,
    },
    /// It is a component of another world.
    #[error("this component exports {}; expected {OURS}, or a WASI command: {COMMANDS}", listed(exports))]
    OtherWorld {
        /// What it exports.
        exports: Vec<String>,
    },
    /// It was built for another version of the interface.
    #[error(
        "the plugin was built for `tacklebox:hooks/callback@{}`, and this host runs {OURS}: {REBUILD}",
        printable(found)
    )]
    OtherVersion {
        /// The version.
        found: String,
    },
    /// It imports what this host lacks.
    #[error("the plugin needs what this host lacks: {}", joined(.0))]
    MissingImports(Vec<MissingImport>),
    /// Its types are not those of the interface.
    #[error("the plugin does not fit the interface: {}", one_line(.0))]
    WrongTypes(String),
    /// It is made of too many core instances.
    #[error("the component is made of {0} core instances; a plugin may have {MOST_CORE_INSTANCES}")]
    TooManyInstances(usize),
    /// Its components instantiate each other too often.
    #[error("the component could be made of {0} instances, nested in each other; a plugin may have {MOST_INSTANCES}")]
    TooNested(usize),
    /// The compiler would take too long over it.
    #[error("it would keep the compiler busy for too long: {0}; split it, or build it with optimisations")]
    TooMuchWork(TooMuch),
    /// Other plugins are compiled, and have been for so long that no more were begun.
    #[error("too many plugins are compiled at this moment, and none was done within {0:?}; load it again later")]
    CompilerBusy(Duration),
    /// It was not compiled in time.
    #[error("it was not compiled within {0:?}; split it, or load it on a machine that does less")]
    CompilingTookTooLong(Duration),
    /// It is made of too many memories.
    #[error("the component has {0} memories; a plugin may have {MOST_MEMORIES}")]
    TooManyMemories(u32),
    /// It is made of too many tables.
    #[error("the component has {0} tables; a plugin may have {MOST_TABLES}")]
    TooManyTables(u32),
    /// It wants too many hooks.
    #[error("the plugin wants {0} hooks; a plugin may have {MOST_HOOKS}")]
    TooManyHooks(usize),
    /// It gives itself no name, and was given none.
    #[error("it has no name")]
    NoName,
    /// It could not describe itself.
    #[error("`describe`: {}", one_line(&.0.to_string()))]
    Describe(Cause),
    /// No instance of it can be made, or what it starts by itself does not end well.
    #[error("no instance of it can be made: {}", one_line(&.0.to_string()))]
    Start(Cause),
    /// The engine panicked over it.
    #[error("the engine panicked over it: {}", one_line(.0))]
    Panicked(String),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".into();
    }
    some(names.iter().map(|name| Quoted(name)), ", ")
}

fn joined(missing: &[MissingImport]) -> String {
    some(missing.iter(), "; ")
}

/// The first of these, and how many more there are: a file can hold as many as it likes.
fn some(all: impl ExactSizeIterator<Item = impl fmt::Display>, between: &str) -> String {
    let more = all.len().saturating_sub(MOST_NAMES);
    let mut first: Vec<_> = all.take(MOST_NAMES).map(|one| one.to_string()).collect();
    if more > 0 {
        first.push(format!("{more} more"));
    }
    first.join(between)
}

/// What the engine or a guest says, on one line, cut, and safe to print: a file chooses the names in it.
fn one_line(text: &str) -> String {
    printable(&cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_LINE))
}
