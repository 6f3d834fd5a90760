//! What a plugin may use up: the defaults, the most that can be given, and what a package asks for and others give.
//!
//! Owns whose word counts; `wasm` holds a guest to it, `wire` reads the words.

use std::time::Duration;

/// The most memory that a plugin can be given, in bytes.
pub const MOST_MEMORY: usize = 1 << 30;
/// The most elements that a plugin's tables can have together.
pub const MOST_TABLE_ELEMENTS: usize = 20_000;
/// How many hooks a plugin may register, by `describe` or by its `plugin.json`.
pub const MOST_HOOKS: usize = 256;
/// The most processor time that a call can be given: as long as the longest timeout.
pub const MOST_PROCESSOR: Duration = Duration::from_secs(300);

/// The limits of a plugin that can be set; what is set too high counts as the most there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory, in bytes, of all memories together. 64 MiB; at most [`MOST_MEMORY`].
    pub memory: usize,
    /// Elements of all tables together. 20,000, which is also the most.
    pub table_elements: usize,
    /// Processor time of a call. 5 s; at most [`MOST_PROCESSOR`].
    pub processor: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 64 << 20, table_elements: MOST_TABLE_ELEMENTS, processor: Duration::from_secs(5) }
    }
}

impl Limits {
    /// The same, where more was asked for than can be given.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self {
            memory: self.memory.min(MOST_MEMORY),
            table_elements: self.table_elements.min(MOST_TABLE_ELEMENTS),
            processor: self.processor.min(MOST_PROCESSOR),
        }
    }
}

impl From<LimitsSaid> for Limits {
    /// What is not said is the default.
    fn from(said: LimitsSaid) -> Self {
        let Self { memory, table_elements, processor } = Self::default();
        let given = Self {
            memory: said.memory.unwrap_or(memory),
            table_elements: said.table_elements.unwrap_or(table_elements),
            processor: said.processor.unwrap_or(processor),
        };
        given.bounded()
    }
}

/// What somebody says of a plugin's limits; what is not said is left as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LimitsSaid {
    /// Linear memory, in bytes.
    pub memory: Option<usize>,
    /// Elements of all tables.
    pub table_elements: Option<usize>,
    /// Processor time of a call.
    pub processor: Option<Duration>,
}

impl LimitsSaid {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What counts where `asked` is the package's own word: what was given, else what is asked for, and that can only
    /// lower the default.
    #[must_use]
    pub fn over(self, asked: Self) -> Self {
        let Limits { memory, table_elements, processor } = Limits::default();
        Self {
            memory: self.memory.or(asked.memory.map(|wanted| wanted.min(memory))),
            table_elements: self.table_elements.or(asked.table_elements.map(|wanted| wanted.min(table_elements))),
            processor: self.processor.or(asked.processor.map(|wanted| wanted.min(processor))),
        }
    }

    /// What of `asked` is not given, in words: more than the default that nobody gave.
    pub fn missing(self, asked: Self) -> Vec<String> {
        let counts = Limits::from(self.over(asked));
        let memory = asked.memory.filter(|wanted| *wanted > counts.memory).map(|wanted| {
            format!("{} MiB of memory are asked for in `limits`, and {} are given", wanted >> 20, counts.memory >> 20)
        });
        let processor = asked.processor.filter(|wanted| *wanted > counts.processor).map(|wanted| {
            format!("{wanted:?} of processor time are asked for in `limits`, and {:?} are given", counts.processor)
        });
        memory.into_iter().chain(processor).collect()
    }

    /// Each that is said, in the words of settings, with its unit.
    pub fn rows(&self) -> Vec<(&'static str, u64)> {
        let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        [
            (names::MEMORY, self.memory.map(|bytes| number(bytes >> 20))),
            (names::PROCESSOR, self.processor.map(milliseconds)),
            (names::TABLES, self.table_elements.map(number)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

/// What the limits are called in settings and in `plugin.json`.
pub(crate) mod names {
    /// Linear memory, in MiB.
    pub(crate) const MEMORY: &str = "memoryMiB";
    /// Processor time of a call, in milliseconds.
    pub(crate) const PROCESSOR: &str = "processorMs";
    /// Table elements.
    pub(crate) const TABLES: &str = "tableElements";
    /// All of them.
    pub(crate) const ALL: [&str; 3] = [MEMORY, PROCESSOR, TABLES];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(mib: usize) -> LimitsSaid {
        LimitsSaid { memory: Some(mib << 20), ..LimitsSaid::default() }
    }

    #[test]
    fn a_package_alone_can_only_lower_and_what_is_given_counts() {
        let nothing = LimitsSaid::default();
        assert_eq!(Limits::from(nothing.over(nothing)), Limits::default());
        assert_eq!(Limits::from(nothing.over(memory(16))).memory, 16 << 20);
        assert_eq!(Limits::from(nothing.over(memory(128))).memory, 64 << 20);
        assert_eq!(Limits::from(memory(128).over(memory(16))).memory, 128 << 20);
        assert_eq!(Limits::from(memory(32).over(memory(128))).memory, 32 << 20);
        assert_eq!(Limits::from(memory(4096)).memory, MOST_MEMORY);
    }

    #[test]
    fn what_is_asked_for_and_not_given_is_said() {
        let nothing = LimitsSaid::default();
        let said = nothing.missing(memory(128));
        assert_eq!(said, ["128 MiB of memory are asked for in `limits`, and 64 are given"]);
        assert!(memory(128).missing(memory(128)).is_empty() && nothing.missing(memory(64)).is_empty());
    }
}
