//! What is said about a configuration or a dispatch: how bad, what, where, and what to do.
//! Owns the shape and its text; who hears it is for the caller.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::id::HookName;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Something was skipped or read in another way than its author may think.
    Warning,
    /// What was asked for cannot be done.
    Error,
}

/// Where it was seen; what is not known is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file.
    pub file: Option<PathBuf>,
    /// The line in the file, from 1.
    pub line: Option<usize>,
    /// The event's name as written.
    pub event: Option<String>,
    /// The entry among those of its event, from 0: `0`, or `0.hooks[1]` in the nested shape.
    pub index: Option<String>,
    /// The hook's name.
    pub hook: Option<HookName>,
}

impl Place {
    /// A place that is known only by the hook's name.
    pub fn hook(name: HookName) -> Self {
        Self { hook: Some(name), ..Self::default() }
    }

    /// A place that is a whole file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { file: Some(path.into()), ..Self::default() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        if let Some(file) = &self.file {
            f.write_str(&printable_path(file))?;
            gap = ": ";
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            gap = ": ";
        }
        if let Some(event) = &self.event {
            write!(f, "{gap}{}", printable(event))?;
            if let Some(index) = &self.index {
                write!(f, "[{index}]")?;
            }
            gap = ": ";
        }
        if let Some(hook) = &self.hook {
            write!(f, "{gap}hook `{}`", printable(hook.as_str()))?;
        }
        Ok(())
    }
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where.
    pub place: Place,
}

impl Diagnostic {
    /// A warning at `place`.
    pub fn warning(place: Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, message: message.into(), hint: None, place }
    }

    /// An error at `place`.
    pub fn error(place: Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), hint: None, place }
    }

    /// The same, as what costs the whole.
    #[must_use]
    pub fn into_error(mut self) -> Self {
        self.severity = Severity::Error;
        self
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.to_string();
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        // What a plugin or a file said may be in it.
        f.write_str(&printable(&self.message))?;
        if let Some(hint) = &self.hint {
            write!(f, " (hint: {})", printable(hint))?;
        }
        Ok(())
    }
}

/// A name from outside, safe to print on one line: control characters, and those that end a line or turn its direction, are
/// written as escapes.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let orders =
            matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if orders || c.is_control() {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// A path, safe to print on one line as [`printable`] makes a name; what is no text in it shows as U+FFFD.
pub fn printable_path(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// The word among `known` that `word` was probably meant to be; `None` where nothing is near.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(&lower, &k.to_lowercase()), k))
        .filter(|(distance, k)| *distance <= 1 + k.len().min(word.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, k)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_names_all_it_knows() {
        let place = Place {
            file: Some("a/settings.json".into()),
            line: Some(7),
            event: Some("PreToolUse".into()),
            index: Some("0".into()),
            hook: Some("guard".into()),
        };
        assert_eq!(place.to_string(), "a/settings.json:7: PreToolUse[0]: hook `guard`");
    }

    #[test]
    fn a_name_cannot_forge_a_line() {
        assert_eq!(printable("a\nwarning: b\u{202e}"), "a\\u{a}warning: b\\u{202e}");
        assert_eq!(printable("a\u{2028}b\u{61c}c\u{9b}"), "a\\u{2028}b\\u{61c}c\\u{9b}");
        let place = Place::file("a\nb\u{1b}[2J");
        assert_eq!(place.to_string(), "a\\u{a}b\\u{1b}[2J");
    }

    #[test]
    fn what_is_said_is_one_line_whoever_said_it() {
        let said = Diagnostic::warning(Place::default(), "failed: \u{1b}[2Jfine\nwarning: none").hint("a\rb");
        assert_eq!(said.to_string(), "failed: \\u{1b}[2Jfine\\u{a}warning: none (hint: a\\u{d}b)");
    }

    #[test]
    fn nearest_finds_a_typo_and_not_a_stranger() {
        let known = ["matcher", "timeout", "command"];
        assert_eq!(nearest("mather", known), Some("matcher"));
        assert_eq!(nearest("Matcher", known), Some("matcher"));
        assert_eq!(nearest("colour", known), None);
    }
}
