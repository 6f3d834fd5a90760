//! The versions of tools: which one is there, and whether it will do. One that will not would fail in the middle of a build,
//! with errors in its own or in the helpers' sources, of which an author can make nothing.

use std::path::Path;

use super::super::super::fault::Fault;
use super::super::build::{Step, Workshop};
use crate::diagnostic::printable;

/// Major and minor.
type Version = (u32, u32);

/// What is asked of a tool.
pub(super) struct Needed {
    /// Its name in a sentence.
    pub(super) tool: &'static str,
    /// What has it print its version.
    pub(super) asked: &'static str,
    /// Which of them will do, and the same in words.
    pub(super) fits: fn(Version) -> bool,
    pub(super) words: &'static str,
    /// How to get one that does.
    pub(super) install: &'static str,
}

impl Needed {
    /// Refuses a version that will not do. A tool that says nothing which looks like one is believed to.
    pub(super) fn check(&self, workshop: &Workshop, program: &Path) -> anyhow::Result<()> {
        let said = workshop.ask(Step::new(program).args([self.asked])).unwrap_or_default();
        let Some((version, numbers)) = said.split_whitespace().find_map(|word| Some((word, numbers(word)?))) else {
            return Ok(());
        };
        if (self.fits)(numbers) {
            return Ok(());
        }
        let [program, version] = [&*program.to_string_lossy(), version].map(printable);
        let message = format!("`{program}` is {} `{version}`, and plugins need {}", self.tool, self.words);
        Err(Fault::new(message, self.install).into())
    }
}

/// `v20.19.0` and `0.17.1-dev.3` are versions.
fn numbers(word: &str) -> Option<Version> {
    let mut numbers = word.strip_prefix('v').unwrap_or(word).split(['.', '-', '+']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_two_numbers_whatever_stands_around_them() {
        for (word, version) in [
            ("v20.19.0", Some((20, 19))),
            ("0.17.0-dev.12+a0b1", Some((0, 17))),
            ("1.2", Some((1, 2))),
            ("componentize-py", None),
            ("v1", None),
            ("", None),
            ("99999999999.1", None),
        ] {
            assert_eq!(numbers(word), version, "{word}");
        }
    }
}
