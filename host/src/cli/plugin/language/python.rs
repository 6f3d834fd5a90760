//! Python: componentize-py makes a component of the project, with CPython and what it imports inside.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::super::build::{Step, Workshop};
use super::version::Needed;
use super::world::{self, Interface};
use super::{COMPONENT, Template};
use crate::diagnostic::printable_path;

/// The helpers come along; the bindings are made anew by every build.
pub(super) const TEMPLATE: &[Template] = &[
    text!("hook.py", "python/template/hook.py"),
    text!("README.md", "python/template/README.md"),
    text!(".gitignore", "python/template/.gitignore"),
    text!("sdk/tacklebox.py", "python/sdk/tacklebox.py"),
];

const INSTALL: &str =
    "`python3 -m venv .venv && .venv/bin/pip install componentize-py==0.25.1` in the project's folder";

/// The bindings are made anew by it, and their names change; the helpers are tested with this one.
const COMPONENTIZE: Needed = Needed {
    tool: "componentize-py",
    asked: "--version",
    fits: |version| version >= (0, 25),
    words: "componentize-py 0.25 or newer",
    install: INSTALL,
};

/// Folders that hold no source of the project's; what begins with a dot is none either.
const FOREIGN: [&str; 4] = ["build", "node_modules", "venv", "__pycache__"];

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let componentize = workshop.find(&["componentize-py"], INSTALL)?;
    COMPONENTIZE.check(workshop, &componentize)?;
    let mut imports = BTreeSet::new();
    for source in sources(workshop.folder())? {
        let text = std::fs::read_to_string(&source).with_context(|| printable_path(&source))?;
        imports.extend(named(&text));
    }
    world::lay(workshop, &imports)?;
    let world = ["--wit-path", world::FOLDER, "--world", world::NAME];
    let made = ["componentize", "hook", "--output", COMPONENT];
    workshop.run(Step::new(&componentize).args(world).args(made))?;
    Ok(())
}

/// The project's Python files.
fn sources(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| printable_path(folder))? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if entry.file_type()?.is_dir() {
            if !name.starts_with('.') && !FOREIGN.contains(&name.as_str()) {
                found.extend(sources(&path)?);
            }
        } else if name.ends_with(".py") {
            found.push(path);
        }
    }
    Ok(found)
}

/// The interfaces that a file's import statements name. What names one too many shows an import that is not used; what is missed,
/// as where a name is put together at run time, is an `ImportError`.
fn named(source: &str) -> BTreeSet<Interface> {
    statements(source).iter().flat_map(|statement| of_statement(statement)).collect()
}

/// The import statements that name the bindings, each in one line.
fn statements(source: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = false;
    for line in source.lines() {
        let code = line.split('#').next().unwrap_or_default().trim();
        let begins = ["from ", "import "].iter().any(|word| code.starts_with(word)) && code.contains("wit_world");
        match found.last_mut() {
            Some(last) if open => *last = format!("{} {code}", last.trim_end_matches('\\')),
            _ if begins => found.push(code.to_owned()),
            _ => continue,
        }
        let last = found.last().map(String::as_str).unwrap_or_default();
        open = last.ends_with('\\') || last.matches('(').count() > last.matches(')').count();
    }
    found
}

fn of_statement(statement: &str) -> Vec<Interface> {
    let words: Vec<_> = statement.split(|char: char| !char.is_alphanumeric() && char != '_').collect();
    let found: Vec<_> = Interface::ALL.into_iter().filter(|one| words.contains(&one.name())).collect();
    let is_of_types = words.iter().any(|word| ["types", "exports"].contains(word));
    // A module as a whole could be asked for anything.
    if found.is_empty() && !is_of_types { Interface::ALL.to_vec() } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> String {
        named(source).into_iter().map(Interface::name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_a_file_imports_is_what_it_can_ask_for() {
        for (source, expected) in [
            ("import json\n\ndef log(state):\n    pass\n", ""),
            ("from wit_world.imports import config  # and state\n", "config"),
            (
                "from wit_world.imports import (\n    log,  # not state\n    process as run,\n)\nstate = 1\n",
                "log process",
            ),
            ("from wit_world.imports import log, \\\n    state\nprocess = 1\n", "log state"),
            ("from wit_world.imports.log import Level, write\n", "log"),
            ("def f():\n    import wit_world.imports.state as kept\n", "state"),
            ("import json, wit_world.imports.log\n", "log"),
            ("from wit_world.imports import types\nfrom wit_world import exports\n", ""),
            ("# from wit_world.imports import log\n", ""),
        ] {
            assert_eq!(names(source), expected, "{source}");
        }
    }

    #[test]
    fn a_module_as_a_whole_is_all_of_them() {
        for source in ["import wit_world", "from wit_world import imports", "from wit_world.imports import *"] {
            assert_eq!(names(source), "config log process state", "{source}");
        }
    }
}
