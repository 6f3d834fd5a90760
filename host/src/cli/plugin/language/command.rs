//! WASI commands: programs that read their environment and exit with 2, by the same compilers, without SDK and bindings.
//!
//! Owns what their projects have in common. They are built as core modules: of a component no exit code arrives but that it
//! failed.

mod assemblyscript;
mod c;
mod go;
mod rust;
mod zig;

use super::{Content, Language, Project, Shape, Template};

/// What they all answer, and what says that they are plugins: a command describes nothing.
pub(super) const COMMON: [Template; 2] = [
    Template {
        path: "cases.json",
        content: Content::Text(include_str!("../../../../../guest-sdk/command/cases.json")),
    },
    Template {
        path: "plugin.json",
        content: Content::Text(include_str!("../../../../../guest-sdk/command/plugin.json")),
    },
];

/// A row a language.
pub(super) const PROJECTS: [Project; 5] = [
    Project {
        language: Language::Rust,
        shape: Shape::Command,
        marks: &["src/main.rs"],
        template: rust::TEMPLATE,
        build: rust::build,
    },
    Project {
        language: Language::C,
        shape: Shape::Command,
        marks: &["command.c"],
        template: c::TEMPLATE,
        build: c::build,
    },
    Project {
        language: Language::Zig,
        shape: Shape::Command,
        marks: &["command.zig"],
        template: zig::TEMPLATE,
        build: zig::build,
    },
    Project {
        language: Language::Go,
        shape: Shape::Command,
        marks: &["command.go"],
        template: go::TEMPLATE,
        build: go::build,
    },
    Project {
        language: Language::AssemblyScript,
        shape: Shape::Command,
        marks: &["command.ts"],
        template: assemblyscript::TEMPLATE,
        build: assemblyscript::build,
    },
];

/// Files of a template, from `guest-sdk/<language>/command`.
macro_rules! files {
    ($language:literal: $($path:literal),* $(,)?) => {
        &[$(super::super::Template {
            path: $path,
            content: super::super::Content::Text(include_str!(concat!(
                "../../../../../../guest-sdk/", $language, "/command/", $path
            ))),
        }),*]
    };
}
use files;
