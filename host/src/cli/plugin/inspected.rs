//! What can be known of a plugin from its files alone.

use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::diagnostic::Diagnostic;
use crate::event::Events;
use crate::plugin::Manifest;
use crate::runtime::{HooksFile, PackageFiles, WholeFiles};
use crate::wasm::{self, Inspection, Kind};

use super::super::fault::Fault;

/// A plugin that was looked at.
#[derive(Debug)]
pub(in crate::cli) struct Inspected {
    /// Its `plugin.json`, where it has one.
    pub(in crate::cli) manifest: Option<Manifest>,
    /// What is to be said about that.
    pub(in crate::cli) diagnostics: Vec<Diagnostic>,
    /// Its component's bytes.
    pub(in crate::cli) bytes: Vec<u8>,
    /// What they are.
    pub(in crate::cli) inspection: Inspection,
}

/// A folder of a plugin or skill that was looked at, or a component by itself.
#[derive(Debug)]
pub(in crate::cli) struct InspectedFolder {
    /// The component, with its `plugin.json` where it has one.
    pub(in crate::cli) plugin: Option<Inspected>,
    /// The `hooks/hooks.json`.
    pub(in crate::cli) hooks: Option<HooksFile>,
    /// The other components that its hooks name.
    pub(in crate::cli) named: Vec<(PathBuf, Inspected)>,
}

impl InspectedFolder {
    /// Looks at all that is brought by what stands there.
    pub(in crate::cli) fn at(path: &Path) -> anyhow::Result<Self> {
        let WholeFiles { plugin, hooks, named, .. } = WholeFiles::read(folder_of(path), &Events::default())?;
        let plugin = plugin.map(Inspected::of).transpose()?;
        let named = named.into_iter().map(|(path, files)| Ok((path, Inspected::of(files)?)));
        Ok(Self { plugin, hooks, named: named.collect::<anyhow::Result<_>>()? })
    }
}

/// A `plugin.json` stands for its folder.
fn folder_of(path: &Path) -> &Path {
    match (path.file_name(), path.parent()) {
        (Some(name), Some(folder)) if name == "plugin.json" => match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        },
        _ => path,
    }
}

impl Inspected {
    /// Looks at a component's file, or a folder with a `plugin.json`, or the `plugin.json` itself.
    pub(in crate::cli) fn at(path: &Path) -> anyhow::Result<Self> {
        Self::of(PackageFiles::read(folder_of(path), &Events::default())?)
    }

    fn of(files: PackageFiles) -> anyhow::Result<Self> {
        let PackageFiles { manifest, component, diagnostics, written, .. } = files;
        let inspection = match wasm::inspect(&component) {
            Ok(inspection) => inspection,
            Err(error) => bail!("{}: {error}", manifest.component.display()),
        };
        let manifest = Some(manifest).filter(|_| written.is_some());
        Ok(Self { manifest, diagnostics, bytes: component, inspection })
    }

    /// Why this host would not load it, as far as its files tell.
    pub(in crate::cli) fn unfit(&self) -> Option<Fault> {
        let exports = || format!("it exports {}", listed(&self.inspection.exports));
        let (message, hint) = match &self.inspection.kind {
            Kind::Plugin(_) | Kind::Command | Kind::Module { command: true } => {
                if self.inspection.missing.is_empty() {
                    return None;
                }
                let missing: Vec<_> = self.inspection.missing.iter().map(ToString::to_string).collect();
                (
                    format!("it imports what this host lacks: {}", missing.join("; ")),
                    "build it without these".to_owned(),
                )
            }
            Kind::OtherVersion(version) => (
                format!("it was built for version {version} of the plugin interface; this host runs 0.1.x"),
                "rebuild it, or take another version of tacklebox".to_owned(),
            ),
            Kind::Module { command: false } => (
                format!("it is a core module without the function `_start`; {}", exports()),
                "a WASI command has it; a component is made with `wasm-tools component new`".to_owned(),
            ),
            Kind::Other => ("it is a component of another world".to_owned(), exports()),
        };
        Some(Fault::new(message, hint))
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
