//! The trust store's file: which projects are trusted, and as what.
//!
//! Owns its shape. Where it lies, and whether it may be believed at all, is for `trust`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plugin::Digest;

/// The shape that is written, and the only one that is read.
const VERSION: u32 = 1;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    projects: BTreeMap<String, String>,
}

/// Reads the file's bytes: the digest of each project, by its canonical path.
///
/// # Errors
///
/// What is wrong with it. There is no half of a store: one bad entry makes all of it unbelievable.
pub fn parse(bytes: &[u8]) -> Result<BTreeMap<String, Digest>, String> {
    let file: File = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if file.version != VERSION {
        return Err(format!("its version is {}, and this program reads {VERSION}", file.version));
    }
    let entry = |(project, text): (String, String)| match Digest::parse(&text) {
        Some(digest) => Ok((project, digest)),
        None => Err("a digest in it is no SHA-256 in lower case".to_owned()),
    };
    file.projects.into_iter().map(entry).collect()
}

/// The file for these projects.
pub fn render(projects: &BTreeMap<String, Digest>) -> String {
    let projects = projects.iter().map(|(project, digest)| (project.clone(), digest.to_string())).collect();
    // A map of texts is always JSON.
    let text = serde_json::to_string_pretty(&File { version: VERSION, projects });
    text.unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let projects = BTreeMap::from([("/p".to_owned(), Digest::of(b"a")), ("/q \"x\"".to_owned(), Digest::of(b"b"))]);
        assert_eq!(parse(render(&projects).as_bytes()).unwrap(), projects);
    }

    #[test]
    fn one_bad_entry_makes_all_of_it_unbelievable() {
        let good = Digest::of(b"a");
        for text in [
            String::new(),
            "{}".to_owned(),
            "[]".to_owned(),
            r#"{"version": 2, "projects": {}}"#.to_owned(),
            r#"{"version": 1, "projects": {}, "more": 1}"#.to_owned(),
            format!(r#"{{"version": 1, "projects": {{"/p": "{good}", "/q": "x"}}}}"#),
            format!(r#"{{"version": 1, "projects": {{"/p": "{}"}}}}"#, good.to_string().to_uppercase()),
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
