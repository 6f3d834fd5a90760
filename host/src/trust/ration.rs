//! How much is read of a project before anybody trusts it: all that its settings name shares one ration. What is beyond it
//! counts as what cannot be read, and what needs it does not run.
//!
//! Counts; who reads is for others.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::diagnostic::printable_path;
use crate::plugin::Digest;

/// How large all files that a project names may be together, in bytes: 256 MiB. They are read before anybody trusts it, and a
/// link or a file of zeros costs the repository nothing.
const LARGEST_TOGETHER: u64 = 256 << 20;

/// How much each file counts at least, in bytes: to open a small one costs about as much. So there are at most 65 536.
const LEAST: u64 = 4 << 10;

/// In how many places the words of its commands are looked up together: a few seconds on a slow disk.
const MOST_LOOK_UPS: u32 = 250_000;

/// What may still be read.
#[derive(Debug)]
pub struct Ration(Mutex<State>);

#[derive(Debug)]
struct State {
    bytes: Limit<u64>,
    look_ups: Limit<u32>,
    /// The first file that was beyond it, and how many were.
    refused: Option<(PathBuf, usize)>,
    /// The files of commands that were read: many commands name the same one.
    known: HashMap<PathBuf, Option<Digest>>,
}

#[derive(Clone, Copy, Debug)]
enum Limit<T> {
    None,
    Left(T),
    Spent,
}

/// The ration is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

impl Ration {
    /// That of one reading of a project.
    pub fn of_a_project() -> Self {
        Self::of(LARGEST_TOGETHER)
    }

    /// So many bytes.
    pub fn of(bytes: u64) -> Self {
        Self::with(Limit::Left(bytes), Limit::Left(MOST_LOOK_UPS))
    }

    /// For what a person or the embedder names.
    pub fn unbounded() -> Self {
        Self::with(Limit::None, Limit::None)
    }

    fn with(bytes: Limit<u64>, look_ups: Limit<u32>) -> Self {
        Self(Mutex::new(State { bytes, look_ups, refused: None, known: HashMap::new() }))
    }

    /// How many bytes of the file at `path` may be read, of `most` that are wanted: where that is less than there are, it is to
    /// be given to [`Ration::took`] with one more.
    ///
    /// # Errors
    ///
    /// Where nothing may be read any more.
    pub fn at_most(&self, path: &Path, most: u64) -> Result<u64, Spent> {
        let mut state = self.state();
        match state.bytes {
            Limit::None => Ok(most),
            Limit::Left(left) => Ok(most.min(left.saturating_add(1))),
            Limit::Spent => Err(state.refuse(path)),
        }
    }

    /// So much was read of the file at `path`.
    ///
    /// # Errors
    ///
    /// Where that was more than there was: it counts as not read, and from then on nothing is.
    pub fn took(&self, path: &Path, bytes: u64) -> Result<(), Spent> {
        let mut state = self.state();
        let Limit::Left(left) = state.bytes else { return Ok(()) };
        state.bytes = left.checked_sub(bytes.max(LEAST)).map_or(Limit::Spent, Limit::Left);
        if matches!(state.bytes, Limit::Spent) { Err(state.refuse(path)) } else { Ok(()) }
    }

    /// One more word is about to be looked up.
    ///
    /// # Errors
    ///
    /// Where there were too many.
    pub fn look_up(&self, path: &Path) -> Result<(), Spent> {
        let mut state = self.state();
        match state.look_ups {
            Limit::None => Ok(()),
            Limit::Left(left @ 1..) => {
                state.look_ups = Limit::Left(left - 1);
                Ok(())
            }
            Limit::Left(0) => {
                state.look_ups = Limit::Spent;
                Err(state.refuse(path))
            }
            Limit::Spent => Err(Spent),
        }
    }

    /// What the file of a command holds, read once by `read`.
    pub(super) fn digest(&self, path: &Path, read: impl FnOnce() -> Option<Digest>) -> Option<Digest> {
        if let Some(known) = self.state().known.get(path) {
            return *known;
        }
        let digest = read();
        self.state().known.insert(path.to_owned(), digest);
        digest
    }

    /// What is to be said where it did not suffice.
    pub fn complaint(&self) -> Option<String> {
        let state = self.state();
        let (first, count) = state.refused.as_ref()?;
        let others = match count {
            1 => String::new(),
            _ => format!(", and of {} others", count - 1),
        };
        let first = printable_path(first);
        Some(format!(
            "the files that the project names are larger than {} MiB together, or are too many: nothing is known of `{first}`{others}, \
             so what needs them does not run",
            LARGEST_TOGETHER >> 20
        ))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Ration {
    fn default() -> Self {
        Self::of_a_project()
    }
}

impl State {
    fn refuse(&mut self, path: &Path) -> Spent {
        self.refused.get_or_insert_with(|| (path.to_owned(), 0)).1 += 1;
        Spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_it_is_refused_and_nothing_is_read_from_then_on() {
        let (ration, a, b) = (Ration::of(10_000), Path::new("a"), Path::new("b"));
        assert_eq!((ration.at_most(a, 6_000), ration.took(a, 6_000), ration.complaint()), (Ok(6_000), Ok(()), None));
        assert_eq!((ration.at_most(b, 6_000), ration.took(b, 4_001)), (Ok(4_001), Err(Spent)));
        assert_eq!(ration.at_most(a, 1), Err(Spent));
        let said = ration.complaint().unwrap();
        assert!(said.contains("`b`, and of 1 others") && said.contains("256 MiB"), "{said}");
    }

    #[test]
    fn small_files_and_look_ups_count_too() {
        let (ration, path) = (Ration::of_a_project(), Path::new("a"));
        assert_eq!((0..100_000).take_while(|_| ration.took(path, 1).is_ok()).count(), 65_536);
        let ration = Ration::of_a_project();
        assert_eq!((0..1_000_000).take_while(|_| ration.look_up(path).is_ok()).count(), MOST_LOOK_UPS as usize);
        assert!(ration.complaint().is_some());
        let ration = Ration::unbounded();
        assert!((0..1_000_000).all(|_| ration.look_up(path).is_ok() && ration.took(path, u64::MAX).is_ok()));
    }
}
