//! `tacklebox check`: what is wrong with settings files and plugins. Runs nothing of them.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::event::Events;
use crate::hook::{HookKind, HookSpec};
use crate::runtime::HooksFile;
use crate::settings::{self, FileRef, Merged};
use crate::source::Scope;
use crate::surroundings::Surroundings;
use crate::wire::schema;

use super::exit::Exit;
use super::fault::Fault;
use super::plugin::inspected::{Inspected, InspectedFolder};
use super::style::{DIM, HEAD};
use super::{host, out};

const EXAMPLES: &str = "\
Examples:
  The settings of this project and of the user, with the plugins they name:
    tacklebox check
  A settings file and a plugin before they are put in place:
    tacklebox check new-settings.json guard.wasm
  The shape of a settings file, for an editor:
    tacklebox check --schema";

/// What is checked.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Settings files, components, and folders of plugins or skills [default: the project's and the user's settings]
    files: Vec<PathBuf>,
    /// The project [default: the current folder]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print the JSON Schema of settings files instead
    #[arg(long, conflicts_with_all = ["files", "json"])]
    schema: bool,
    /// Print a JSON value a warning
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    severity: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook: Option<&'a str>,
}

/// Checks.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    if args.schema {
        let schema = serde_json::to_string_pretty(&schema::settings(&Events::default()))?;
        out::person(&format!("{schema}\n"))?;
        return Ok(Exit::Fine);
    }
    let mut checked = Checked { surroundings: host::surroundings(args.project.as_deref())?, ..Checked::default() };
    match args.files.is_empty() {
        true => checked.settings(settings::locate(&checked.surroundings)),
        false => args.files.iter().try_for_each(|file| checked.file(file))?,
    }
    match args.json {
        true => checked.said.iter().try_for_each(|said| out::json(&Line::of(said)))?,
        false => out::person(&checked.page())?,
    }
    Ok(if checked.said.is_empty() { Exit::Fine } else { Exit::Fault })
}

/// What was checked, and what is to be said about it.
#[derive(Default)]
struct Checked {
    surroundings: Surroundings,
    files: usize,
    hooks: usize,
    plugins: Vec<PathBuf>,
    said: Vec<Diagnostic>,
}

impl Checked {
    fn file(&mut self, file: &Path) -> anyhow::Result<()> {
        let is_plugin = file.is_dir()
            || file.extension().is_some_and(|end| end == "wasm")
            || file.file_name().is_some_and(|name| name == "plugin.json");
        if is_plugin {
            self.plugin(file, &Place::file(file));
            return Ok(());
        }
        std::fs::metadata(file).with_context(|| file.display().to_string())?;
        let path = std::path::absolute(file).with_context(|| file.display().to_string())?;
        // One that is not where settings are looked for is read as the user's: where it will stand is not known yet.
        let known = settings::locate(&self.surroundings).into_iter().find(|known| known.path == path);
        self.settings(vec![known.unwrap_or(FileRef { path, scope: Scope::User })]);
        Ok(())
    }

    fn settings(&mut self, files: Vec<FileRef>) {
        let read = files.iter().filter_map(|file| settings::read(file, &Events::default(), &self.surroundings));
        let read: Vec<_> = read.collect();
        self.files += read.len();
        let plugins: Vec<_> = read.iter().flat_map(|file| file.plugins.clone()).collect();
        let Merged { hooks, diagnostics, .. } = settings::merge(read);
        self.hooks += hooks.len();
        self.said.extend(diagnostics);
        for (_, hook) in &hooks {
            self.said.extend(settings::missing_programs(hook, &self.surroundings));
            self.plugin_of(hook);
        }
        for plugin in plugins {
            self.plugin(&plugin.path, &plugin.place);
        }
    }

    fn plugin_of(&mut self, hook: &HookSpec) {
        let HookKind::Callback(callback) = &hook.kind else { return };
        self.plugin(&callback.plugin, &hook.place);
    }

    /// A plugin is looked at once, whatever names it.
    fn plugin(&mut self, path: &Path, place: &Place) {
        if self.plugins.iter().any(|seen| seen == path) {
            return;
        }
        self.plugins.push(path.to_owned());
        match InspectedFolder::at(path) {
            Ok(InspectedFolder { plugin, hooks, named }) => {
                for inspected in plugin.into_iter().chain(named.into_iter().map(|(_, inspected)| inspected)) {
                    self.component(path, place, inspected);
                }
                self.hooks_file(hooks);
            }
            Err(error) => self.broken(path, place, &error),
        }
    }

    fn component(&mut self, path: &Path, place: &Place, inspected: Inspected) {
        self.hooks += inspected.manifest.as_ref().and_then(|m| m.hooks.as_ref()).map_or(0, Vec::len);
        if let Some(fault) = inspected.unfit() {
            self.broken(path, place, &fault.into());
        }
        self.said.extend(inspected.diagnostics);
    }

    fn hooks_file(&mut self, file: Option<HooksFile>) {
        if let Some(HooksFile { hooks, diagnostics, .. }) = file {
            self.hooks += hooks.len();
            self.said.extend(hooks.iter().filter_map(|hook| settings::missing_programs(hook, &self.surroundings)));
            self.said.extend(diagnostics);
        }
    }

    fn broken(&mut self, path: &Path, place: &Place, error: &anyhow::Error) {
        let line = Fault::line(error);
        // The file is not named twice.
        let about = match line.contains(&*path.display().to_string()) || place.file.as_deref() == Some(path) {
            true => line,
            false => format!("{}: {line}", path.display()),
        };
        let place = match place.file.as_deref() == Some(path) && about.starts_with(&*path.display().to_string()) {
            true => Place::default(),
            false => place.clone(),
        };
        self.said.push(Diagnostic::error(place, about));
    }

    fn page(&self) -> String {
        let mut page: String = self.said.iter().map(out::note).collect();
        let counted =
            [count(self.files, "settings file"), count(self.hooks, "hook"), count(self.plugins.len(), "plugin")];
        let found = match self.said.len() {
            0 => "nothing is wrong".to_owned(),
            many => count(many, "complaint"),
        };
        page.push_str(&format!("{HEAD}{found}{HEAD:#} {DIM}({} checked){DIM:#}\n", counted.join(", ")));
        page
    }
}

fn count(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl<'a> Line<'a> {
    fn of(said: &'a Diagnostic) -> Self {
        Self {
            severity: match said.severity {
                Severity::Warning => "warning",
                Severity::Error => "error",
            },
            message: &said.message,
            hint: said.hint.as_deref(),
            file: said.place.file.as_deref(),
            line: said.place.line,
            event: said.place.event.as_deref(),
            index: said.place.index.as_deref(),
            hook: said.place.hook.as_ref().map(|hook| hook.as_str()),
        }
    }
}
