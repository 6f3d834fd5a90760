//! What a project brings to run, with everything its digest covers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::hook::{HookKind, HookSpec, OnError};
use crate::plugin::{Digest, WholePlugin};
use crate::source::Source;
use crate::wire::settings::Parsed;

use super::canonical;
use super::named::{NamedFile, Root, named_files};
use super::ration::Ration;
use super::seal::Seal;

/// What a project brings to run.
#[derive(Clone, Debug, Default)]
pub struct Brought {
    root: Option<Arc<Root>>,
    hooks: Vec<BroughtHook>,
    plugins: Vec<BroughtPlugin>,
}

/// One hook of a project's settings, and the files that were looked at for it.
#[derive(Clone, Debug)]
pub struct BroughtHook {
    /// Which of the project's settings name it.
    pub source: Source,
    /// What they say.
    pub spec: HookSpec,
    /// The files that the words of its command name; of a plugin, its component and its `plugin.json`.
    pub files: Vec<NamedFile>,
}

/// A plugin that a project's settings load whole. Which hooks it has may be known to nobody before it runs: what it is, its
/// bytes, stands for them.
#[derive(Clone, Debug)]
pub struct BroughtPlugin {
    /// Which of the project's settings load it.
    pub source: Source,
    /// What they say.
    pub plugin: WholePlugin,
    /// What these settings say a missing answer means.
    pub on_error: Option<OnError>,
    /// The names that they disable, which may be those of its hooks.
    pub disabled: Vec<String>,
    /// Its files: components, `plugin.json`, `hooks/hooks.json`; none that could be read where it cannot be loaded.
    pub files: Vec<NamedFile>,
    /// The hooks of its `hooks/hooks.json`, with the files of the project that their commands name.
    pub hooks: Vec<BroughtHook>,
}

/// What was found where a plugin lies.
#[derive(Clone, Debug, Default)]
pub struct PluginFiles {
    /// All files that it is made of.
    pub files: Vec<(PathBuf, Digest)>,
    /// The hooks of its `hooks/hooks.json`.
    pub hooks: Vec<HookSpec>,
}

impl BroughtPlugin {
    /// This plugin of these settings, with what was found of it; `None` where it cannot be read. The files that its commands
    /// name are read within `ration`.
    pub fn new(
        root: &Root,
        (source, settings): (Source, &Parsed),
        plugin: WholePlugin,
        found: Option<PluginFiles>,
        ration: &Ration,
    ) -> Self {
        let (files, hooks) = match found {
            Some(PluginFiles { files, hooks }) => (known(root, files), hooks),
            None => (vec![NamedFile { path: root.seen(&plugin.path), digest: None }], Vec::new()),
        };
        let hook = |spec: HookSpec| {
            let files = match &spec.kind {
                HookKind::Command(command) => named_files(root, command, None, ration),
                _ => Vec::new(),
            };
            BroughtHook { source: source.clone(), spec, files }
        };
        let hooks = hooks.into_iter().map(hook).collect();
        let disabled = settings.disabled.iter().map(|(name, _)| name.clone()).collect();
        Self { source, plugin, on_error: settings.default_on_error, disabled, files, hooks }
    }
}

impl Brought {
    /// These hooks of the project's own, in order. `plugin` tells the files of a plugin, each with its digest; a plugin
    /// that cannot be read has none. The files that commands name are read within `ration`.
    pub fn new(
        root: Root,
        hooks: Vec<(Source, HookSpec)>,
        plugin: impl Fn(&Path) -> Option<Vec<(PathBuf, Digest)>>,
        ration: &Ration,
    ) -> Self {
        let hooks = hooks.into_iter().map(|(source, spec)| {
            let files = files(&root, &spec, &plugin, ration);
            BroughtHook { source, spec, files }
        });
        let hooks = hooks.collect();
        Self { root: Some(Arc::new(root)), hooks, plugins: Vec::new() }
    }

    /// And these plugins, which are loaded whole.
    #[must_use]
    pub fn loading(self, plugins: Vec<BroughtPlugin>) -> Self {
        Self { plugins, ..self }
    }

    /// The plugins that are loaded whole, in order.
    pub fn plugins(&self) -> &[BroughtPlugin] {
        &self.plugins
    }

    /// Whether there is nothing to trust.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.plugins.is_empty()
    }

    /// The hooks, in order.
    pub fn hooks(&self) -> &[BroughtHook] {
        &self.hooks
    }

    /// The project's canonical path; `None` where there is no project.
    pub fn project(&self) -> Option<&Path> {
        self.root.as_ref().map(|root| root.real())
    }

    /// The digest of all of it: the same on every machine, wherever the project lies.
    ///
    /// It is the SHA-256 of one line of text for the form's version and one line of JSON for each hook and each plugin that
    /// is loaded whole, in order: every field that has an effect, and the path and SHA-256 of every file. Lines and files of settings have no part in it.
    pub fn digest(&self) -> Digest {
        let mut text = canonical::HEAD.to_owned();
        if let Some(root) = &self.root {
            for hook in &self.hooks {
                text.push_str(&canonical::line(hook, root));
                text.push('\n');
            }
            for plugin in &self.plugins {
                text.push_str(&canonical::plugin_line(plugin, root));
                text.push('\n');
            }
        }
        Digest::of(text.as_bytes())
    }

    /// What is to be checked before each run of this hook, where it is a command of the project's.
    pub fn seal(&self, source: &Source, spec: &HookSpec) -> Option<Seal> {
        let HookKind::Command(command) = &spec.kind else { return None };
        let written = self.hooks.iter().find(|hook| hook.source == *source && hook.spec == *spec);
        // What settings leave to a package's hook is filled in when it is loaded; its command stays as it is.
        let mut packed = self.plugins.iter().flat_map(|plugin| &plugin.hooks);
        let hook = written.or_else(|| packed.find(|hook| hook.source == *source && hook.spec.kind == spec.kind))?;
        Some(Seal::new(self.root.clone()?, command.clone(), hook.files.clone()))
    }
}

fn files(
    root: &Root,
    spec: &HookSpec,
    plugin: impl Fn(&Path) -> Option<Vec<(PathBuf, Digest)>>,
    ration: &Ration,
) -> Vec<NamedFile> {
    match &spec.kind {
        HookKind::Command(command) => named_files(root, command, None, ration),
        HookKind::Callback(callback) => match plugin(&callback.plugin) {
            None => vec![NamedFile { path: root.seen(&callback.plugin), digest: None }],
            Some(files) => known(root, files),
        },
        HookKind::Function(_) | HookKind::Inject(_) | HookKind::Prompt(_) => Vec::new(),
    }
}

fn known(root: &Root, files: Vec<(PathBuf, Digest)>) -> Vec<NamedFile> {
    let known = |(path, digest): (PathBuf, _)| NamedFile { path: root.seen(&path), digest: Some(digest) };
    files.into_iter().map(known).collect()
}
