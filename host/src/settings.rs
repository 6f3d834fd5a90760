//! Settings files: which there are, what they say, and what they come to together.
//!
//! Owns finding, reading and merging. The shape of a file is for `wire`; the registry, trust and plugins are for those
//! who take the [`Merged`] set from here.

mod locate;
mod merge;
mod programs;

pub use crate::wire::settings::{FileRef, Parsed};
pub(crate) use locate::open_regular;
pub use locate::{candidates, locate, read};
pub use merge::{Dropped, Merged, Why, merge};
pub(crate) use programs::is_runner;
pub use programs::missing_programs;

use crate::diagnostic::Place;
use crate::event::Events;
use crate::surroundings::Surroundings;
use crate::wire::document::Notes;

/// Everything at once: the files of these surroundings, read and merged.
pub fn load(surroundings: &Surroundings, events: &Events) -> Merged {
    let files = locate(surroundings);
    let mut merged = merge(files.iter().filter_map(|file| read(file, events, surroundings)).collect());
    let mut notes = Notes::default();
    for diagnostic in merged.hooks.iter().filter_map(|(_, hook)| missing_programs(hook, surroundings)) {
        notes.say(diagnostic);
    }
    merged.diagnostics.extend(notes.finish(Place::default()));
    merged
}
