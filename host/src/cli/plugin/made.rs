//! What made a plugin, as its file says itself: the line for a person, the value for a program.

use serde::Serialize;

use crate::diagnostic::printable;
use crate::wasm::{Producer, Producers};

/// Languages and tools.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Made {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    languages: Vec<Named>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    languages_inside: Vec<Named>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Named>,
}

#[derive(Debug, Serialize)]
struct Named {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    version: String,
}

impl Made {
    /// Nothing where the file says nothing.
    pub(super) fn by(producers: &Producers) -> Option<Self> {
        let all = |some: &[Producer]| some.iter().map(Named::from).collect::<Vec<_>>();
        let Producers { languages, languages_inside, tools } = producers;
        let made = Self { languages: all(languages), languages_inside: all(languages_inside), tools: all(tools) };
        (*producers != Producers::default()).then_some(made)
    }

    /// `JavaScript with C11 inside, by clang 19.1.5, wit-component 0.245.1`.
    pub(super) fn words(&self) -> String {
        let mut words = match self.languages.as_slice() {
            [] => "a language that it does not tell".to_owned(),
            some => listed(some),
        };
        if !self.languages_inside.is_empty() {
            words.push_str(&format!(" with {} inside", listed(&self.languages_inside)));
        }
        if !self.tools.is_empty() {
            words.push_str(&format!(", by {}", listed(&self.tools)));
        }
        words
    }
}

impl Named {
    /// Compilers put commit and date behind their version, and some their name before it; that is left to whoever reads the JSON.
    fn words(&self) -> String {
        let version = self.version.split(" (").next().unwrap_or_default();
        let version = version.strip_prefix(&self.name.to_lowercase()).unwrap_or(version);
        printable(format!("{} {version}", self.name).trim())
    }
}

impl From<&Producer> for Named {
    fn from(producer: &Producer) -> Self {
        Self { name: producer.name.clone(), version: producer.version.clone() }
    }
}

fn listed(some: &[Named]) -> String {
    some.iter().map(Named::words).collect::<Vec<_>>().join(", ")
}
