//! The languages that a plugin can be written in: the closed table of what each brings to `new` and `build`.
//!
//! A language is a variant, a file here, and `guest-sdk/<language>`. A WASI command in it is a row of its own, and a file below
//! `command`.

/// A text of a template, from where it lies below `guest-sdk`.
macro_rules! text {
    ($path:literal, $source:literal) => {
        super::Template {
            path: $path,
            content: super::Content::Text(include_str!(concat!("../../../../../guest-sdk/", $source))),
        }
    };
}

mod assemblyscript;
mod c;
mod command;
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
use crate::diagnostic::{nearest, printable, printable_path};

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
    AssemblyScript,
}

/// How a plugin speaks with the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A component with the interface of `wit/`, and an SDK that makes it pleasant.
    Typed,
    /// A WASI command: environment in, exit code out, and no SDK.
    Command,
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

/// A language, as it is called in `--lang`; the first is its name.
const NAMES: [(Language, &[&str]); 9] = [
    (Language::Rust, &["rust", "rs"]),
    (Language::C, &["c"]),
    (Language::Cpp, &["cpp", "c++"]),
    (Language::Zig, &["zig"]),
    (Language::Go, &["go", "golang"]),
    (Language::JavaScript, &["javascript", "js"]),
    (Language::TypeScript, &["typescript", "ts"]),
    (Language::Python, &["python", "py"]),
    (Language::AssemblyScript, &["assemblyscript", "as"]),
];

/// What a language brings for plugins of one shape.
#[derive(Clone, Copy)]
pub(super) struct Project {
    pub(super) language: Language,
    pub(super) shape: Shape,
    /// The files that every project of this kind has, the author's own first; none of another kind has all of them.
    marks: &'static [&'static str],
    template: &'static [Template],
    /// Makes [`COMPONENT`] of the project.
    build: fn(&Workshop) -> anyhow::Result<()>,
}

impl Project {
    const fn typed(
        language: Language,
        marks: &'static [&'static str],
        template: &'static [Template],
        build: fn(&Workshop) -> anyhow::Result<()>,
    ) -> Self {
        Self { language, shape: Shape::Typed, marks, template, build }
    }
}

const TYPED: [Project; 9] = [
    Project::typed(Language::Rust, &["src/lib.rs"], rust::TEMPLATE, rust::build),
    Project::typed(Language::C, &["hook.c"], c::TEMPLATE, c::build),
    Project::typed(Language::Cpp, &["hook.cpp"], cpp::TEMPLATE, cpp::build),
    Project::typed(Language::Zig, &["hook.zig"], zig::TEMPLATE, zig::build),
    Project::typed(Language::Go, &["hook.go"], go::TEMPLATE, go::build),
    Project::typed(Language::JavaScript, &["hook.js"], javascript::TEMPLATE, javascript::build),
    Project::typed(Language::TypeScript, &["hook.ts", "sdk/tacklebox.js"], typescript::TEMPLATE, typescript::build),
    Project::typed(Language::Python, &["hook.py"], python::TEMPLATE, python::build),
    Project::typed(
        Language::AssemblyScript,
        &["hook.ts", "sdk/exports.ts"],
        assemblyscript::TEMPLATE,
        assemblyscript::build,
    ),
];

/// Every kind of project, the typed ones first.
fn projects() -> impl Iterator<Item = &'static Project> {
    TYPED.iter().chain(&command::PROJECTS)
}

impl Language {
    /// The language of this name, in any case.
    pub(super) fn named(name: &str) -> anyhow::Result<Self> {
        let lower = name.to_lowercase();
        if let Some((language, _)) = NAMES.iter().find(|(_, names)| names.contains(&lower.as_str())) {
            return Ok(*language);
        }
        let hint = match nearest(&lower, NAMES.iter().flat_map(|(_, names)| names.iter().copied())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "the languages are {}; any other that makes a component does as well, from `wit/`, and so does any that \
                 compiles to WASI",
                listed()
            ),
        };
        Err(Fault::new(format!("there is no template for `{}`", printable(name)), hint).into())
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|(language, _)| *language == self).map_or("", |(_, names)| names[0])
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
            Self::AssemblyScript => "AssemblyScript",
        }
    }

    fn has(self, shape: Shape) -> bool {
        projects().any(|project| (project.language, project.shape) == (self, shape))
    }
}

impl Project {
    /// What a new project of this language and shape is made of.
    ///
    /// # Errors
    ///
    /// Where the language has no WASI command; the hint says what there is instead, since it has a typed kind.
    pub(super) fn new(language: Language, shape: Shape) -> anyhow::Result<Self> {
        if let Some(project) = projects().find(|project| (project.language, project.shape) == (language, shape)) {
            return Ok(*project);
        }
        let message = format!("there is no template of a WASI command for `{}`", language.name());
        let hint = format!("without `--command` it has a typed one; commands are written in {}", listed_with(shape));
        Err(Fault::new(message, hint).into())
    }

    /// What the project in this folder is, by its files; in a language that is given, its typed kind where they do not tell.
    pub(super) fn of_folder(folder: &Path, language: Option<Language>) -> anyhow::Result<Self> {
        let asked = |project: &&Project| language.is_none_or(|language| project.language == language);
        let marked = |project: &&Project| project.marks.iter().all(|mark| folder.join(mark).is_file());
        let found: Vec<_> = projects().filter(asked).filter(marked).collect();
        let place = printable_path(folder);
        let otherwise = projects().find(|project| language == Some(project.language));
        match (found.as_slice(), otherwise) {
            ([project], _) => Ok(**project),
            (_, Some(project)) => Ok(*project),
            ([], None) => {
                let marks: Vec<_> = projects()
                    .map(|project| format!("{} ({})", project.marks.join(" and "), project.title()))
                    .collect();
                let hint = format!("it would have one of {}", marks.join(", "));
                Err(Fault::new(format!("{place}: not a project that this program can build"), hint).into())
            }
            (several, None) => {
                let titles: Vec<_> = several.iter().map(|project| project.title()).collect();
                let message = format!("{place}: could be a project in {}", titles.join(" or "));
                Err(Fault::new(message, "say which by `--lang`").into())
            }
        }
    }

    /// The files of a new one.
    pub(super) fn files(&self) -> impl Iterator<Item = &'static Template> {
        let common: &[Template] = match self.shape {
            Shape::Typed => &[CASES],
            Shape::Command => &command::COMMON,
        };
        common.iter().chain(self.template)
    }

    /// Makes [`COMPONENT`] of one, or says what is missing and how to get it.
    pub(super) fn build(&self, workshop: &Workshop) -> anyhow::Result<()> {
        (self.build)(workshop)
    }

    /// What it is in words.
    pub(super) fn title(&self) -> String {
        let name = self.language.name();
        match self.shape {
            Shape::Typed => name.to_owned(),
            Shape::Command => format!("{name}, a WASI command"),
        }
    }
}

/// All names.
pub(super) fn listed() -> String {
    NAMES.map(|(_, names)| names[0]).join(", ")
}

/// The names of the languages that have templates of this shape.
pub(super) fn listed_with(shape: Shape) -> String {
    let names = NAMES.iter().filter(|(language, _)| language.has(shape)).map(|(_, names)| names[0]);
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said<T>(result: anyhow::Result<T>) -> String {
        Fault::line(&result.err().unwrap())
    }

    #[expect(clippy::disallowed_methods, reason = "a project, as a test needs one")]
    fn touch(folder: &Path, file: &str) {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn every_language_has_a_typed_template_and_no_name_means_two() {
        let names: Vec<_> = NAMES.iter().flat_map(|(_, names)| *names).collect();
        for (language, own) in NAMES {
            assert!(language.has(Shape::Typed), "{own:?}");
            assert_eq!(language.name(), own[0]);
            for name in own {
                assert_eq!(Language::named(&name.to_uppercase()).unwrap(), language);
                assert_eq!(names.iter().filter(|other| *other == &name).count(), 1, "{name}");
            }
        }
    }

    #[test]
    fn every_template_has_its_mark_its_cases_and_a_readme_and_names_the_plugin() {
        for project in projects() {
            let files: Vec<_> = project.files().collect();
            for path in project.marks.iter().chain(&["cases.json", "README.md", ".gitignore"]) {
                assert_eq!(files.iter().filter(|file| file.path == *path).count(), 1, "{}: {path}", project.title());
            }
            let names = |file: &&&Template| match file.content {
                Content::Text(text) => text.contains(PLACEHOLDER),
                Content::Bytes(_) => false,
            };
            let naming: Vec<_> = files.iter().filter(names).map(|file| file.path).collect();
            match project.shape {
                Shape::Typed => assert!(naming.len() >= 3, "{}: {naming:?}", project.title()),
                Shape::Command => {
                    for file in ["plugin.json", "README.md"] {
                        assert!(naming.contains(&file), "{}: {naming:?}", project.title());
                    }
                }
            }
        }
    }

    #[test]
    fn a_new_project_is_known_by_its_files_in_every_language_and_shape() {
        for project in projects() {
            let folder = tempfile::tempdir().unwrap();
            for file in project.files() {
                touch(folder.path(), file.path);
            }
            for language in [None, Some(project.language)] {
                let found = Project::of_folder(folder.path(), language).unwrap();
                assert_eq!(found.title(), project.title());
            }
        }
    }

    #[test]
    fn where_files_tell_of_two_the_language_decides_and_then_the_typed_kind() {
        let folder = tempfile::tempdir().unwrap();
        let of = |language| Project::of_folder(folder.path(), language);
        assert!(said(of(None)).contains("src/lib.rs (rust), hook.c (c)"));
        assert_eq!(of(Some(Language::AssemblyScript)).unwrap().title(), "assemblyscript");
        for file in ["hook.c", "command.c"] {
            touch(folder.path(), file);
        }
        assert!(said(of(None)).contains("could be a project in c or c, a WASI command"));
        assert_eq!(of(Some(Language::C)).unwrap().title(), "c");
        std::fs::remove_file(folder.path().join("hook.c")).unwrap();
        assert_eq!(of(Some(Language::C)).unwrap().title(), "c, a WASI command");
        assert_eq!(of(Some(Language::Go)).unwrap().title(), "go");
    }

    #[test]
    fn two_languages_with_one_name_for_the_authors_file_are_told_apart_by_their_helpers() {
        let folder = tempfile::tempdir().unwrap();
        let title = || Project::of_folder(folder.path(), None).map(|project| project.title());
        touch(folder.path(), "hook.ts");
        let both = said(title());
        for part in ["hook.ts and sdk/tacklebox.js (typescript)", "hook.ts and sdk/exports.ts (assemblyscript)"] {
            assert!(both.contains(part), "{both}");
        }
        touch(folder.path(), "sdk/exports.ts");
        assert_eq!(title().unwrap(), "assemblyscript");
        touch(folder.path(), "sdk/tacklebox.js");
        assert!(said(title()).contains("could be a project in typescript or assemblyscript"));
    }

    #[test]
    fn a_language_without_commands_says_what_there_is_instead() {
        for language in [Language::Cpp, Language::JavaScript, Language::TypeScript, Language::Python] {
            let command = said(Project::new(language, Shape::Command));
            assert!(command.contains("without `--command` it has a typed one"), "{command}");
            assert!(command.contains("rust, c, zig, go, assemblyscript"), "{command}");
        }
    }

    #[test]
    fn a_name_that_is_none_gets_the_nearest_or_all() {
        let said = |name: &str| said(Language::named(name));
        assert!(said("rsut").contains("did you mean `rust`?"));
        assert!(said("cobol").contains("the languages are rust"));
    }
}
