//! The languages that a plugin can be written in: the closed table of what each brings to `new` and `build`.
//!
//! A language is a variant, a file here, and `guest-sdk/<language>`. Templates of WASI commands will be rows of their own,
//! beside these.

mod c;
mod cpp;
mod go;
mod javascript;
mod python;
mod rust;
mod typescript;
mod version;
mod world;
mod zig;

use std::path::Path;

use super::super::fault::Fault;
use super::build::{Step, Workshop};
use crate::diagnostic::{nearest, printable};

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    C,
    Cpp,
    Zig,
    Go,
    JavaScript,
    TypeScript,
    Python,
}

/// A file of a new project.
#[derive(Clone, Copy)]
pub(super) struct Template {
    /// Where it lies in the project.
    pub(super) path: &'static str,
    pub(super) content: Content,
}

/// What is in it.
#[derive(Clone, Copy)]
pub(super) enum Content {
    /// A text in which [`PLACEHOLDER`] stands for the plugin's name.
    Text(&'static str),
    /// Bytes that are taken as they are.
    Bytes(&'static [u8]),
}

/// What a template calls its plugin.
pub(super) const PLACEHOLDER: &str = "plugin-name";

/// What a build writes, in the project's folder.
pub(super) const COMPONENT: &str = "plugin.wasm";

/// What every language's template answers; all do the same.
const CASES: Template =
    Template { path: "cases.json", content: Content::Text(include_str!("../../../../guest-sdk/template/cases.json")) };

/// The interface, for tools that want to see it.
const INTERFACE: Template =
    Template { path: "sdk/hooks.wit", content: Content::Text(include_str!("../../../../wit/v0.1/hooks.wit")) };

/// An adapter for languages whose runtime imports WASI's preview 1 and can do without: it refuses everything.
const DENY: Template =
    Template { path: "sdk/deny.wat", content: Content::Text(include_str!("../../../../guest-sdk/wasi/deny.wat")) };

/// Makes [`COMPONENT`] of what a compiler for WASI wrote, with [`DENY`] in the place of all WASI.
fn componentize(workshop: &Workshop, wasm_tools: &Path, core: &str) -> anyhow::Result<()> {
    let adapt = format!("wasi_snapshot_preview1={}", DENY.path);
    workshop.run(Step::new(wasm_tools).args(["component", "new", core, "--adapt", &adapt, "-o", COMPONENT]))?;
    Ok(())
}

/// What a language brings.
struct Row {
    language: Language,
    /// How it is called in `--lang`; the first is its name.
    names: &'static [&'static str],
    /// The file that every project of this language has.
    mark: &'static str,
    template: &'static [Template],
    /// Makes [`COMPONENT`] of the project.
    build: fn(&Workshop) -> anyhow::Result<()>,
}

const ROWS: [Row; 8] = [
    Row {
        language: Language::Rust,
        names: &["rust", "rs"],
        mark: "Cargo.toml",
        template: rust::TEMPLATE,
        build: rust::build,
    },
    Row { language: Language::C, names: &["c"], mark: "hook.c", template: c::TEMPLATE, build: c::build },
    Row {
        language: Language::Cpp,
        names: &["cpp", "c++"],
        mark: "hook.cpp",
        template: cpp::TEMPLATE,
        build: cpp::build,
    },
    Row { language: Language::Zig, names: &["zig"], mark: "hook.zig", template: zig::TEMPLATE, build: zig::build },
    Row { language: Language::Go, names: &["go", "golang"], mark: "go.mod", template: go::TEMPLATE, build: go::build },
    Row {
        language: Language::JavaScript,
        names: &["javascript", "js"],
        mark: "hook.js",
        template: javascript::TEMPLATE,
        build: javascript::build,
    },
    Row {
        language: Language::TypeScript,
        names: &["typescript", "ts"],
        mark: "hook.ts",
        template: typescript::TEMPLATE,
        build: typescript::build,
    },
    Row {
        language: Language::Python,
        names: &["python", "py"],
        mark: "hook.py",
        template: python::TEMPLATE,
        build: python::build,
    },
];

impl Language {
    /// The language of this name, in any case.
    pub(super) fn named(name: &str) -> anyhow::Result<Self> {
        let lower = name.to_lowercase();
        if let Some(row) = ROWS.iter().find(|row| row.names.contains(&lower.as_str())) {
            return Ok(row.language);
        }
        let hint = match nearest(&lower, ROWS.iter().flat_map(|row| row.names.iter().copied())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("the languages are {}; any other that makes a component does as well, from `wit/`", listed())
            }
        };
        Err(Fault::new(format!("there is no template for `{}`", printable(name)), hint).into())
    }

    /// The language of the project in this folder, by its files.
    pub(super) fn of_folder(folder: &Path) -> anyhow::Result<Self> {
        let found: Vec<_> = ROWS.iter().filter(|row| folder.join(row.mark).is_file()).collect();
        let place = printable(&folder.display().to_string());
        match found.as_slice() {
            [row] => Ok(row.language),
            [] => {
                let marks: Vec<_> = ROWS.iter().map(|row| format!("{} ({})", row.mark, row.names[0])).collect();
                let hint = format!("it would have one of {}", marks.join(", "));
                Err(Fault::new(format!("{place}: not a project that this program can build"), hint).into())
            }
            several => {
                let names: Vec<_> = several.iter().map(|row| row.names[0]).collect();
                let message = format!("{place}: could be a project in {}", names.join(" or "));
                Err(Fault::new(message, "say which by `--lang`").into())
            }
        }
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        self.row().names[0]
    }

    /// As people write it, and as its components say it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::C => "C",
            Self::Cpp => "C++",
            Self::Zig => "Zig",
            Self::Go => "Go",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Python => "Python",
        }
    }

    /// The files of a new project.
    pub(super) fn template(self) -> impl Iterator<Item = &'static Template> {
        [&CASES].into_iter().chain(self.row().template)
    }

    /// Makes [`COMPONENT`] of a project, or says what is missing and how to get it.
    pub(super) fn build(self, workshop: &Workshop) -> anyhow::Result<()> {
        (self.row().build)(workshop)
    }

    fn row(self) -> &'static Row {
        const TABLE: &[Row] = &ROWS;
        // A language without a row would not pass the test below.
        TABLE.iter().find(|row| row.language == self).unwrap_or(&TABLE[0])
    }
}

/// All names.
pub(super) fn listed() -> String {
    ROWS.map(|row| row.names[0]).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_row_and_no_name_means_two() {
        let names: Vec<_> = ROWS.iter().flat_map(|row| row.names).collect();
        for row in &ROWS {
            assert_eq!(row.language.row().names, row.names);
            for name in row.names {
                assert_eq!(Language::named(&name.to_uppercase()).unwrap(), row.language);
                assert_eq!(names.iter().filter(|other| *other == &name).count(), 1, "{name}");
            }
        }
    }

    #[test]
    fn every_template_has_its_mark_its_cases_and_a_readme_and_names_the_plugin() {
        for row in &ROWS {
            let files: Vec<_> = row.language.template().collect();
            for path in [row.mark, "cases.json", "README.md", ".gitignore"] {
                assert!(files.iter().any(|file| file.path == path), "{}: {path}", row.names[0]);
            }
            let text = |file: &&Template| match file.content {
                Content::Text(text) => text.contains(PLACEHOLDER),
                Content::Bytes(_) => false,
            };
            assert!(files.iter().filter(|file| text(file)).count() >= 3, "{}", row.names[0]);
        }
    }

    #[test]
    fn a_name_that_is_none_gets_the_nearest_or_all() {
        let said = |name: &str| Fault::line(&Language::named(name).unwrap_err());
        assert!(said("rsut").contains("did you mean `rust`?"));
        assert!(said("cobol").contains("the languages are rust"));
    }
}
