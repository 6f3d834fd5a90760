//! What a plugin may use (HOOKS.md, 5), and the ledger that holds one instance to it.
//!
//! Time is counted by `ticker`, the log by `log`, the state by `session`.

use std::time::Duration;

use wasmtime::ResourceLimiter;

use crate::limits::Limits;
use crate::outcome::Limit;

/// The largest component file, in bytes.
pub(super) const LARGEST_FILE: usize = 64 << 20;
pub(super) use crate::limits::MOST_HOOKS;
/// How long `describe` may take.
pub(super) const DESCRIBE_TIME: Duration = Duration::from_secs(1);
/// How long a compilation is waited for, and how long for its turn. Python's interpreter takes half a minute on one slow core.
pub(super) const COMPILE_TIME: Duration = Duration::from_secs(300);
/// How many compilations there are at a time, those included that nobody waits for any more: each has all cores.
pub(super) const MOST_COMPILATIONS: usize = 2;
/// How many core instances a component may be made of.
pub(super) const MOST_CORE_INSTANCES: usize = 100;
/// How many instances a component could be made of, where its parts instantiate each other: a few hundred bytes can stand
/// for billions, and the compiler writes each of them out.
pub(super) const MOST_INSTANCES: usize = 10_000;
/// How many linear memories a component may be made of.
pub(super) const MOST_MEMORIES: u32 = 8;
/// How many tables a component may be made of.
pub(super) const MOST_TABLES: u32 = 40;
/// The stack of a guest, in bytes.
pub(super) const STACK: usize = 512 << 10;
/// How large each string of an answer may always be, in bytes.
pub(super) const ANSWER: usize = 1 << 20;
/// How much a guest may hand to the host at once, in bytes, where an answer may not be larger.
pub(super) const HANDED_OVER: usize = 16 << 20;
/// How large each string of an answer may be, for an input of so many bytes.
pub(super) fn largest_answer(input: usize) -> usize {
    ANSWER.max(input.saturating_mul(2))
}

/// What one instance has taken of its limits.
#[derive(Debug)]
pub(super) struct Ledger {
    limits: Limits,
    memory: usize,
    table_elements: usize,
    denied: Option<Limit>,
}

impl Ledger {
    /// With nothing taken.
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, memory: 0, table_elements: 0, denied: None }
    }

    /// The same for another call of the same instance: what is taken stays taken, and what was denied is over.
    pub(super) fn for_another_call(self) -> Self {
        Self { denied: None, ..self }
    }

    /// Whether more than half of its memory is taken. What is never given back adds up from call to call, and the call
    /// that reached the limit would be without an answer.
    pub(super) fn is_running_out(&self) -> bool {
        self.memory > self.limits.memory / 2
    }

    /// The limit that was reached, where one was: the guest sees no more than a growth that failed, and mostly traps.
    pub(super) fn denied(&self) -> Option<Limit> {
        self.denied
    }
}

/// Takes `more` of what is left under `most`. A growth past the thing's own maximum fails too, and is no limit of ours.
fn take(taken: &mut usize, more: usize, most: usize, past_own_maximum: bool) -> Result<bool, ()> {
    match taken.checked_add(more).filter(|sum| *sum <= most) {
        None => Err(()),
        Some(_) if past_own_maximum => Ok(false),
        Some(sum) => {
            *taken = sum;
            Ok(true)
        }
    }
}

impl ResourceLimiter for Ledger {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let past = maximum.is_some_and(|maximum| desired > maximum);
        let taken = take(&mut self.memory, desired - current, self.limits.memory, past);
        Ok(taken.unwrap_or_else(|()| {
            self.denied = Some(Limit::Memory(self.limits.memory));
            false
        }))
    }

    // What could not be served stays counted: the engine also calls this for growths that it never asked us about.
    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.denied = Some(Limit::Memory(self.limits.memory));
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let past = maximum.is_some_and(|maximum| desired > maximum);
        let taken = take(&mut self.table_elements, desired - current, self.limits.table_elements, past);
        Ok(taken.unwrap_or_else(|()| {
            self.denied = Some(Limit::Table(self.limits.table_elements));
            false
        }))
    }

    fn instances(&self) -> usize {
        MOST_CORE_INSTANCES
    }

    fn memories(&self) -> usize {
        MOST_MEMORIES as usize
    }

    fn tables(&self) -> usize {
        MOST_TABLES as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_memories_count_together() {
        let mut ledger = Ledger::new(Limits { memory: 100, ..Limits::default() });
        assert!(ledger.memory_growing(0, 60, None).unwrap());
        assert!(!ledger.memory_growing(0, 60, None).unwrap());
        assert_eq!(ledger.denied(), Some(Limit::Memory(100)));
        assert!(ledger.memory_growing(60, 100, None).unwrap());
    }

    #[test]
    fn a_memory_that_reaches_its_own_maximum_reached_no_limit_of_ours() {
        let mut ledger = Ledger::new(Limits::default());
        assert!(!ledger.memory_growing(0, 60, Some(50)).unwrap());
        assert!(!ledger.table_growing(0, 60, Some(50)).unwrap());
        assert_eq!(ledger.denied(), None);
    }

    #[test]
    fn all_tables_count_together() {
        let mut ledger = Ledger::new(Limits::default());
        assert!(ledger.table_growing(0, 19_000, None).unwrap());
        assert!(!ledger.table_growing(0, 1_001, None).unwrap());
        assert_eq!(ledger.denied(), Some(Limit::Table(20_000)));
    }
}
