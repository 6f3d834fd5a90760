//! `tacklebox plugin new`: writes a project that builds and passes its own cases as it stands.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::diagnostic::{printable, printable_path};

use super::super::exit::Exit;
use super::super::fault::Fault;
use super::super::out;
use super::super::style::HEAD;
use super::language::{Content, Language, PLACEHOLDER, Project, Shape, Template, listed, listed_with};

const EXAMPLES: &str = "\
Examples:
  A plugin in Rust, built and tested:
    tacklebox plugin new my-guard --lang rust
    tacklebox plugin build my-guard
    tacklebox plugin test my-guard/plugin.wasm my-guard/cases.json
  One in C, in a folder of another name:
    tacklebox plugin new my-guard --lang c --dir plugins/guard
  A WASI command in Go, a program that reads its environment and exits with 2, with no SDK:
    tacklebox plugin new my-guard --lang go --command";

/// The longest name of a plugin.
const LONGEST_NAME: usize = 64;

/// What is begun.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// The plugin's name: lower case letters, digits and hyphens
    name: String,
    #[arg(long, value_name = "LANGUAGE", help = format!("The language: {}", listed()))]
    lang: String,
    #[arg(long, help = format!("A WASI command without any SDK, in {}", listed_with(Shape::Command)))]
    command: bool,
    /// The project's folder [default: one of the plugin's name]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Writes it.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let shape = if args.command { Shape::Command } else { Shape::Typed };
    let project = Project::new(Language::named(&args.lang)?, shape)?;
    check(&args.name)?;
    let folder = args.dir.unwrap_or_else(|| PathBuf::from(&args.name));
    refuse_full(&folder)?;
    let mut count = 0;
    for file in project.files() {
        write(&folder, file, &args.name)?;
        count += 1;
    }
    out::person(&page(&folder, &project, count))?;
    Ok(Exit::Fine)
}

fn check(name: &str) -> anyhow::Result<()> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let ends = name.ends_with('-') || name.contains("--");
    if name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(fits)
        && !ends
        && name.len() <= LONGEST_NAME
    {
        return Ok(());
    }
    let message = format!("`{}` is no name for a plugin", printable(name));
    let hint =
        format!("lower case letters, digits and single hyphens, a letter first, at most {LONGEST_NAME}: `my-guard`");
    Err(Fault::new(message, hint).into())
}

/// What lies in the folder is somebody's.
fn refuse_full(folder: &Path) -> anyhow::Result<()> {
    let place = || printable_path(folder);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(place)?,
    };
    if entries.count() == 0 {
        return Ok(());
    }
    Err(Fault::new(format!("{}: not empty", place()), "give a new folder by `--dir`").into())
}

#[expect(clippy::disallowed_methods, reason = "a person asked for these files, in a folder that is new")]
fn write(folder: &Path, file: &Template, name: &str) -> anyhow::Result<()> {
    let path = folder.join(file.path);
    let place = || printable_path(&path);
    std::fs::create_dir_all(path.parent().unwrap_or(folder)).with_context(place)?;
    match file.content {
        Content::Text(text) => std::fs::write(&path, text.replace(PLACEHOLDER, name)),
        Content::Bytes(bytes) => std::fs::write(&path, bytes),
    }
    .with_context(place)
}

fn page(folder: &Path, project: &Project, count: usize) -> String {
    let folder = printable_path(folder);
    format!(
        "{HEAD}{folder}{HEAD:#}  a plugin in {}, {count} files; README.md says more\n\n  cd {folder}\n  tacklebox plugin build\n  \
        tacklebox plugin test plugin.wasm cases.json\n",
        project.title()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_every_tool_takes() {
        for good in ["a", "my-guard", "guard2"] {
            assert!(check(good).is_ok(), "{good}");
        }
        let long = "a".repeat(65);
        for bad in ["", "A", "my_guard", "2nd", "-a", "a-", "a--b", "a/b", "..", "a b", "é", "a\n", &long] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
