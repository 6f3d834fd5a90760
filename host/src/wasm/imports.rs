//! Which imports this host has, and what is to be said of the others.

use std::fmt;

use super::bindings::{IMPORTS, PACKAGE, VERSION};
use super::command::preview1::MODULE;
use super::name::InterfaceName;
use super::wasi::LINKED;
use crate::wire::document::Quoted;

/// An import that this host lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingImport {
    /// Its full name.
    pub name: String,
    /// Why it is not there, and what has it, where that is known.
    pub why: String,
}

impl fmt::Display for MissingImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", Quoted(&self.name), self.why)
    }
}

/// Those of `imports` that this host lacks.
pub(super) fn missing(imports: &[String]) -> Vec<MissingImport> {
    let missing = |name: &String| Some(MissingImport { name: name.clone(), why: why_missing(name)? });
    imports.iter().filter_map(missing).collect()
}

/// Those of a core module's imports, `module::name`, that this host lacks. Whether WASI has that function shows when it is
/// linked.
pub(super) fn missing_of_module(imports: &[String]) -> Vec<MissingImport> {
    let missing = |name: &String| Some(MissingImport { name: name.clone(), why: why_missing_of_module(name)? });
    imports.iter().filter_map(missing).collect()
}

fn why_missing_of_module(name: &str) -> Option<String> {
    match name.split("::").next() {
        Some(MODULE) => None,
        Some("wasi_unstable" | "wasi_snapshot_preview0") => {
            Some(format!("this host links `{MODULE}`, which came after it"))
        }
        _ => Some(format!("a core module may import nothing but `{MODULE}`")),
    }
}

fn why_missing(name: &str) -> Option<String> {
    let Some(import) = InterfaceName::parse(name) else { return Some("no interface with a version".into()) };
    if import.package == PACKAGE {
        return ours(&import);
    }
    match import.package.strip_prefix("wasi:") {
        Some(_) => wasi(&import),
        None => Some("an interface that no version of tacklebox has".into()),
    }
}

fn ours(import: &InterfaceName<'_>) -> Option<String> {
    let [major, minor, patch] = VERSION;
    if !import.is_ours() {
        return Some(format!("this host has interface version {major}.{minor}"));
    }
    let known = IMPORTS.contains(&import.interface);
    (!known).then(|| format!("not in interface version {major}.{minor}.{patch}, which is this host's newest"))
}

fn wasi(import: &InterfaceName<'_>) -> Option<String> {
    if !import.is_of(0, 2) {
        return Some("this host links WASI 0.2".into());
    }
    let linked = LINKED.iter().any(|(package, names)| *package == import.package && names.contains(&import.interface));
    (!linked).then(|| "not among the WASI 0.2 interfaces that this host links".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_has_is_not_missing() {
        let imports = ["tacklebox:hooks/log@0.1.3", "wasi:io/poll@0.2.0", "wasi:http/types@0.2.12"];
        assert_eq!(missing(&imports.map(str::to_owned)), []);
    }

    #[test]
    fn each_missing_import_says_why() {
        for (name, why) in [
            ("tacklebox:hooks/model@0.1.0", "not in interface version 0.1.0"),
            ("tacklebox:hooks/log@0.2.0", "this host has interface version 0.1"),
            ("wasi:http/incoming-handler@0.2.0", "not among"),
            ("wasi:io/poll@0.3.0", "links WASI 0.2"),
            ("wasi:keyvalue/store@0.2.0", "not among"),
            ("acme:disk/format@1.0.0", "no version of tacklebox"),
            ("host", "no interface"),
        ] {
            assert!(why_missing(name).unwrap().contains(why), "{name}");
        }
    }
}
