//! The plugins that settings load whole: each stands for the hooks that it brings, behind the entries of its file, before
//! the files are merged.
//!
//! What such a plugin is read from and made of is `whole`'s. Remembers which hooks it had, for when it no longer loads.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::diagnostic::{Diagnostic, printable};
use crate::event::Events;
use crate::hook::{HookKind, HookSpec, OnError};
use crate::plugin::WholePlugin;
use crate::registry::NewHook;
use crate::source::Source;
use crate::trust::Ration;
use crate::wire::settings::Parsed;

use super::Runtime;
use super::origins::Reads;
use super::trusting::{Standing, of_project};
use super::whole::{Ready, WholeFiles};

/// Which hooks each plugin had when it was last loaded.
pub(super) type Had = Mutex<HashMap<(Source, PathBuf), Vec<HookSpec>>>;

/// Settings in which plugins stand for their hooks.
#[derive(Debug, Default)]
pub(super) struct Unfolded {
    /// The files, with the hooks that their plugins bring.
    pub(super) files: Vec<Parsed>,
    /// The hooks of plugins that were loaded, or were to be.
    ready: Vec<NewHook>,
    /// How many plugins of a project that is not trusted were not asked.
    pub(super) unasked: usize,
    pub(super) said: Vec<Diagnostic>,
    had: HashMap<(Source, PathBuf), Vec<HookSpec>>,
    /// For what is looked at of a project's plugins that are not loaded.
    ration: Ration,
}

impl Unfolded {
    /// The hooks that the files of a plugin name that is not loaded. Of a project's not without end: that any were left out
    /// opens nothing, since none of them is loaded.
    fn listed(&self, source: &Source, path: &Path, events: &Events) -> Vec<HookSpec> {
        match of_project(source) {
            true => WholeFiles::listed(&self.ration, path, events),
            false => WholeFiles::listed(&Ration::unbounded(), path, events),
        }
    }

    /// The hook of a plugin, as it can be registered; `None` for what stands in a file itself.
    pub(super) fn ready(&self, source: &Source, spec: &HookSpec) -> Option<NewHook> {
        self.ready.iter().find(|hook| hook.source == *source && hook.spec == *spec).cloned()
    }
}

impl Runtime {
    /// Loads the plugins of these files. One that does not load goes on as it was; where it was not, the hooks that its
    /// files name are there and cannot answer.
    pub(super) async fn unfold(&self, standing: &Standing, reads: &Reads) -> Unfolded {
        let mut unfolded = Unfolded::default();
        for mut file in standing.files.clone() {
            let (plugins, mut brought) = (file.plugins.clone(), Vec::new());
            for (at, plugin) in plugins.iter().enumerate() {
                if plugins.iter().take(at).any(|other| other.path == plugin.path) {
                    let message = format!("the plugin {} is loaded already under another name", called(plugin));
                    unfolded.said.push(Diagnostic::warning(plugin.place.clone(), message));
                    continue;
                }
                brought.extend(self.hooks_of(plugin, &file, standing, reads, &mut unfolded).await);
            }
            file.brought = brought;
            unfolded.files.push(file);
        }
        let had = std::mem::take(&mut unfolded.had);
        *self.loading.had.lock().unwrap_or_else(PoisonError::into_inner) = had;
        unfolded
    }

    async fn hooks_of(
        &self,
        plugin: &WholePlugin,
        file: &Parsed,
        standing: &Standing,
        reads: &Reads,
        unfolded: &mut Unfolded,
    ) -> Vec<HookSpec> {
        let source = Source::Settings(file.file.scope);
        // Nothing is compiled that is not trusted, or that would only be taken away again.
        if file.disable_all {
            return unfolded.listed(&source, &plugin.path, &self.events);
        }
        if standing.keeps_out(&source) {
            unfolded.unasked += 1;
            return unfolded.listed(&source, &plugin.path, &self.events);
        }
        let key = (source.clone(), plugin.path.clone());
        let new = match self.load_whole(plugin, file, standing, reads).await {
            Ok((ready, said)) => {
                unfolded.said.extend(said);
                let new = |Ready { spec, code }| NewHook { code, ..NewHook::new(spec, source.clone()) };
                let new: Vec<_> = ready.into_iter().map(new).collect();
                unfolded.had.insert(key, new.iter().map(|hook| hook.spec.clone()).collect());
                new
            }
            Err(why) => self.instead_of(plugin, key, &why, unfolded),
        };
        let specs = new.iter().map(|hook| hook.spec.clone()).collect();
        unfolded.ready.extend(new);
        specs
    }

    async fn load_whole(
        &self,
        plugin: &WholePlugin,
        file: &Parsed,
        standing: &Standing,
        reads: &Reads,
    ) -> Result<(Vec<Ready>, Vec<Diagnostic>), String> {
        let source = Source::Settings(file.file.scope);
        let files = match standing.whole(&source, &plugin.path) {
            Some(files) => files?,
            None => reads.whole(&plugin.path, &self.events).map_err(|error| error.to_string())?,
        };
        let entries = file.hooks.iter().filter_map(|hook| match &hook.kind {
            HookKind::Callback(callback) => Some(callback.plugin.as_path()),
            _ => None,
        });
        let files = files.told_by_settings(plugin, file.default_on_error).beside(&plugin.path, entries);
        let ready = files.ready(self, &plugin.path, &source, &plugin.given).await;
        ready.map_err(|error| error.to_string())
    }

    /// No guard is lost because its plugin cannot be loaded.
    fn instead_of(
        &self,
        plugin: &WholePlugin,
        key: (Source, PathBuf),
        why: &str,
        unfolded: &mut Unfolded,
    ) -> Vec<NewHook> {
        let before = self.loading.had.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let (specs, outlook) = match &before {
            Some(before) => (before.clone(), "what was loaded before goes on"),
            None => (unfolded.listed(&key.0, &plugin.path, &self.events), "its hooks cannot answer"),
        };
        let outlook = if specs.is_empty() { "nobody knows which hooks it has: it guards nothing" } else { outlook };
        let message = format!("the plugin {} is not loaded, so {outlook}: {why}", called(plugin));
        unfolded.said.push(Diagnostic::warning(plugin.place.clone(), message));
        let source = key.0.clone();
        let new = specs.into_iter().map(|spec| self.as_before(spec, &source, plugin, before.is_some(), why)).collect();
        if let Some(before) = before {
            unfolded.had.insert(key, before);
        }
        new
    }

    /// The hook with the plugin that answered it before. A project's command is not run once its package is another one:
    /// what it names was trusted with that.
    fn as_before(&self, mut spec: HookSpec, source: &Source, plugin: &WholePlugin, loaded: bool, why: &str) -> NewHook {
        let mut goes_on = loaded && !of_project(source);
        if let HookKind::Callback(callback) = &mut spec.kind {
            callback.grant.clone_from(&plugin.given.permissions);
            goes_on = false;
        }
        if let Some(code) = self.answered_before(&spec, source) {
            return NewHook::answered_by(spec, source.clone(), code);
        }
        if goes_on {
            return NewHook::new(spec, source.clone());
        }
        if spec.event.class().gate {
            spec.on_error = spec.on_error.or(Some(OnError::Block));
        }
        NewHook { missing: Some(why.into()), ..NewHook::new(spec, source.clone()) }
    }
}

fn called(plugin: &WholePlugin) -> String {
    format!("`{}`", printable(plugin.name.as_str()))
}
