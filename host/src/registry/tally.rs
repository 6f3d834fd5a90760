//! How often a hook was asked and how that ended; kept with the hook, and counted only where somebody keeps a record.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::port::Words;
use crate::report::Word;

/// The count of one hook, in all its sessions together.
#[derive(Debug, Default)]
pub struct Tally {
    asked: AtomicU64,
    continued: AtomicU64,
    blocked: AtomicU64,
    modified: AtomicU64,
    failed: AtomicU64,
    skipped: AtomicU64,
    set_aside: AtomicBool,
}

impl Tally {
    /// It is asked.
    pub fn begin(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Its asking has ended so, or it was kept from being asked.
    pub fn end(&self, word: Word) {
        let count = match word {
            Word::Continued => &self.continued,
            Word::Blocked => &self.blocked,
            Word::Modified => &self.modified,
            Word::Failed => &self.failed,
            Word::Skipped => &self.skipped,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// It is set aside.
    pub fn set_aside(&self) {
        self.set_aside.store(true, Ordering::Relaxed);
    }

    /// How often it was asked so far.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// How its askings ended so far.
    pub fn words(&self) -> Words {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Words {
            continued: read(&self.continued),
            blocked: read(&self.blocked),
            modified: read(&self.modified),
            failed: read(&self.failed),
            skipped: read(&self.skipped),
        }
    }

    /// Whether it was set aside in any session.
    pub fn was_set_aside(&self) -> bool {
        self.set_aside.load(Ordering::Relaxed)
    }
}
