//! What of a project is in force: where trust is the store's, only what was trusted exactly as it is.
//!
//! Owns the last trusted reading of a project, kept while what lies on the disk is another one. What a digest covers is
//! `trust`'s; what becomes of a reading is `load`'s.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::diagnostic::{Diagnostic, Place};
use crate::event::Events;
use crate::hook::{HookKind, HookSpec};
use crate::plugin::WholePlugin;
use crate::policy::Trust;
use crate::settings;
use crate::source::{Scope, Source};
use crate::surroundings::Surroundings;
use crate::trust::{Brought, BroughtPlugin, Ration, Root, Seal, TrustStore, TrustedBy};
use crate::wire::settings::Parsed;

use super::load::LoadError;
use super::origins::Reads;
use super::package::PackageFiles;
use super::whole::WholeFiles;

/// On whose word the project is trusted, and what of it is.
#[derive(Debug)]
pub(super) struct Trusting(Mutex<State>);

#[derive(Debug)]
struct State {
    by: TrustedBy,
    /// What the project brought when it was last read.
    found: Option<Arc<Brought>>,
    /// What was last trusted.
    in_force: Option<Arc<Project>>,
}

/// One reading of a project, plugins and all.
#[derive(Debug)]
pub(super) struct Project {
    files: Vec<Parsed>,
    plugins: HashMap<PathBuf, Result<PackageFiles, String>>,
    wholes: HashMap<PathBuf, Result<WholeFiles, String>>,
    brought: Arc<Brought>,
    /// What is to be said of the reading itself.
    said: Option<Diagnostic>,
}

/// What a reading of the settings comes to.
#[derive(Debug)]
pub(super) struct Standing {
    /// Whether the project is trusted.
    pub(super) trust: Trust,
    /// The files whose hooks are registered.
    pub(super) files: Vec<Parsed>,
    /// What is to be said about it.
    pub(super) said: Vec<Diagnostic>,
    /// The reading that is trusted, where trust is the store's.
    project: Option<Arc<Project>>,
}

impl Trusting {
    pub(super) fn new(by: TrustedBy) -> Self {
        Self(Mutex::new(State { by, found: None, in_force: None }))
    }

    /// What the project brought when it was last read; `None` where trust is not the store's.
    pub(super) fn found(&self) -> Option<Arc<Brought>> {
        self.state().found.clone()
    }

    /// What is wrong with the store.
    pub(super) fn doubts(&self) -> Option<Diagnostic> {
        let state = self.state();
        let TrustedBy::Store(store) = &state.by else { return None };
        let place = store.path().map(Place::file).unwrap_or_default();
        let said = Diagnostic::warning(place, format!("the trust store trusts nothing: {}", store.problem()?));
        Some(said.hint("look at it, and remove it if it is not yours"))
    }

    /// Takes the project for trusted as `digest`, as long as the host lives.
    pub(super) fn admit(&self, surroundings: &Surroundings, digest: crate::plugin::Digest) {
        if let (TrustedBy::Store(store), Some(root)) = (&mut self.state().by, Root::of(surroundings)) {
            store.admit(root.real(), digest);
        }
    }

    /// What of these files is in force.
    pub(super) fn settle(
        &self,
        files: Vec<Parsed>,
        surroundings: &Surroundings,
        events: &Events,
        reads: &Reads,
    ) -> Standing {
        let mut state = self.state();
        let store = match &state.by {
            TrustedBy::Word(trust) => {
                return Standing { trust: *trust, files, said: Vec::new(), project: None };
            }
            TrustedBy::Store(store) => store,
        };
        let project = Arc::new(Project::read(&files, surroundings, events, (reads, &Ration::of_a_project())));
        let trusted = project.is_trusted_by(store);
        state.found = Some(project.brought.clone());
        let said: Vec<_> = project.said.iter().cloned().collect();
        if trusted {
            state.in_force = Some(project);
            return Standing { trust: Trust::Trusted, files, said, project: state.in_force.clone() };
        }
        match &state.in_force {
            None => Standing { trust: Trust::Untrusted, files, said, project: None },
            Some(before) => before.instead_of(files, said),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Project {
    /// What is named beyond the ration counts as what cannot be read.
    fn read(
        files: &[Parsed],
        surroundings: &Surroundings,
        events: &Events,
        (reads, ration): (&Reads, &Ration),
    ) -> Self {
        let files: Vec<_> = files.iter().filter(|file| is_projects(file)).cloned().collect();
        // Merged without the user's: a digest is the project's alone.
        let hooks = settings::merge(files.clone()).hooks;
        let mut plugins = HashMap::new();
        for (_, spec) in &hooks {
            if let HookKind::Callback(callback) = &spec.kind {
                let read = |path: &PathBuf| why_not(reads.package_within(ration, path, events));
                plugins.entry(callback.plugin.clone()).or_insert_with_key(read);
            }
        }
        let files_of = |path: &Path| plugins.get(path)?.as_ref().ok().map(PackageFiles::digests);
        let mut wholes = HashMap::new();
        // Of a file that disables everything of its scope nothing is loaded.
        let loaded = files.iter().filter(|file| !file.disable_all);
        for plugin in loaded.clone().flat_map(|file| &file.plugins) {
            let read = |path: &PathBuf| why_not(reads.whole_within(ration, path, events));
            wholes.entry(plugin.path.clone()).or_insert_with_key(read);
        }
        let brought_by = |root: &Root, file: &Parsed, plugin: &WholePlugin| {
            let found = wholes.get(&plugin.path).and_then(|files| files.as_ref().ok()).map(WholeFiles::brings);
            BroughtPlugin::new(root, (Source::Settings(file.file.scope), file), plugin.clone(), found, ration)
        };
        let brought = match Root::of(surroundings) {
            Some(root) => {
                let of_file = |file: &Parsed| {
                    file.plugins.iter().map(|plugin| brought_by(&root, file, plugin)).collect::<Vec<_>>()
                };
                let plugins = loaded.flat_map(of_file).collect();
                Brought::new(root, hooks, files_of, ration).loading(plugins)
            }
            None => Brought::default(),
        };
        let said = ration.complaint().map(|what| beyond(&files, what));
        Self { files, plugins, wholes, brought: Arc::new(brought), said }
    }

    /// A project that brings nothing to run needs no trust.
    fn is_trusted_by(&self, store: &TrustStore) -> bool {
        let known = self.brought.project().and_then(|project| store.digest_of(project));
        self.brought.is_empty() || known == Some(self.brought.digest())
    }

    /// The user's files are as they are now, the project's as they were.
    fn instead_of(self: &Arc<Self>, now: Vec<Parsed>, mut said: Vec<Diagnostic>) -> Standing {
        let place = now.iter().find(|file| is_projects(file)).map(|file| Place::file(&file.file.path));
        let message = "what the project brings to run has changed and is not trusted; what was trusted stays in force";
        let changed = Diagnostic::warning(place.unwrap_or_default(), message);
        said.push(changed.hint("look at it with `tacklebox trust`"));
        let mut files: Vec<_> = now.into_iter().filter(|file| !is_projects(file)).collect();
        files.extend(self.files.iter().cloned());
        Standing { trust: Trust::Trusted, files, said, project: Some(self.clone()) }
    }
}

impl Standing {
    /// The files of a project's plugin as they were when the digest was taken; `None` where nobody took one.
    pub(super) fn plugin(&self, source: &Source, path: &Path) -> Option<Result<PackageFiles, String>> {
        let project = self.project.as_ref().filter(|_| of_project(source))?;
        project.plugins.get(path).cloned()
    }

    /// The same for all that is brought whole.
    pub(super) fn whole(&self, source: &Source, path: &Path) -> Option<Result<WholeFiles, String>> {
        let project = self.project.as_ref().filter(|_| of_project(source))?;
        project.wholes.get(path).cloned()
    }

    /// What is to be checked before each run of a hook.
    pub(super) fn seal(&self, source: &Source, spec: &HookSpec) -> Option<Seal> {
        self.project.as_ref()?.brought.seal(source, spec)
    }

    /// Without trust no code of the project's own is compiled, let alone asked to describe itself.
    pub(super) fn keeps_out(&self, source: &Source) -> bool {
        self.trust == Trust::Untrusted && of_project(source)
    }
}

fn why_not<F>(read: Result<F, LoadError>) -> Result<F, String> {
    read.map_err(|error| error.to_string())
}

/// What is said where a project names more than is read of it.
fn beyond(files: &[Parsed], what: String) -> Diagnostic {
    let place = files.first().map(|file| Place::file(&file.file.path)).unwrap_or_default();
    Diagnostic::warning(place, what).hint("name fewer or smaller files; `tacklebox trust` shows which are missing")
}

fn is_projects(file: &Parsed) -> bool {
    of_project(&Source::Settings(file.file.scope))
}

pub(super) fn of_project(source: &Source) -> bool {
    matches!(source, Source::Settings(Scope::Project | Scope::Local))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::wire::settings::{FileRef, parse};

    #[test]
    fn what_a_project_names_is_bounded_together_before_anybody_trusts_it() {
        let folder = tempfile::tempdir().unwrap();
        let lay = |name: &str, text: &str| {
            std::fs::File::create(folder.path().join(name)).unwrap().write_all(text.as_bytes()).unwrap();
        };
        ["a.wasm", "b.wasm", "c.wasm"].into_iter().for_each(|name| lay(name, &"0123456789".repeat(1_000)));
        let surroundings = Surroundings { project: Some(folder.path().to_owned()), ..Surroundings::default() };
        let events = Events::default();
        let text = r#"{"plugins": {"c": {"path": "c.wasm"}}, "hooks": {"Stop": [
            {"type": "callback", "plugin": "a.wasm"}, {"type": "callback", "plugin": "b.wasm"},
            {"name": "again", "type": "callback", "plugin": "a.wasm"}]}}"#;
        let file = FileRef { path: folder.path().join("settings.json"), scope: Scope::Project };
        let files = [parse(text.as_bytes(), &file, &events, &surroundings)];
        let reads = Reads::default();
        let readable = |most: u64| {
            let project = Project::read(&files, &surroundings, &events, (&reads, &Ration::of(most)));
            let packages = project.plugins.values().filter(|files| files.is_ok()).count();
            assert_eq!(project.said.is_some(), most < 30_000);
            (packages, project.wholes.values().filter(|files| files.is_ok()).count())
        };
        let all = [30_000, 29_999, 20_000, 19_999, 9_999].map(readable);
        assert_eq!(all, [(2, 1), (2, 0), (2, 0), (1, 0), (0, 0)]);
    }

    #[test]
    fn the_scripts_that_a_project_names_share_that_bound_and_none_beyond_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let lay = |name: &str| {
            std::fs::File::create(folder.path().join(name)).unwrap().set_len(10_000).unwrap();
        };
        ["a.sh", "b.sh", "c.sh", "p.wasm"].into_iter().for_each(lay);
        let surroundings = Surroundings { project: Some(folder.path().to_owned()), ..Surroundings::default() };
        let text = r#"{"hooks": {"Stop": [{"command": "./a.sh"}, {"command": "./a.sh again"}, {"command": "./b.sh"},
            {"type": "callback", "plugin": "p.wasm"}, {"command": "./c.sh"}]}}"#;
        let file = FileRef { path: folder.path().join("settings.json"), scope: Scope::Project };
        let files = [parse(text.as_bytes(), &file, &Events::default(), &surroundings)];
        let reading = |most: u64| {
            let ration = Ration::of(most);
            Project::read(&files, &surroundings, &Events::default(), (&Reads::default(), &ration))
        };
        let known = |project: &Project| {
            let hooks = project.brought.hooks().iter();
            hooks.map(|hook| hook.files.iter().all(|file| file.digest.is_some())).collect::<Vec<_>>()
        };
        // What two commands name is read once.
        assert_eq!(known(&reading(40_000)), [true; 5]);
        let short = reading(39_999);
        assert_eq!(known(&short), [true, true, true, true, false]);
        let said = short.said.as_ref().unwrap().to_string();
        assert!(said.contains("256 MiB") && said.contains("`c.sh`") && said.contains("does not run"), "{said}");
        // Trusted as it is, the command that names it does not run for all that.
        let hook = short.brought.hooks().last().unwrap();
        let seal = short.brought.seal(&hook.source, &hook.spec).unwrap();
        assert!(seal.check(None).unwrap_err().contains("`c.sh`"));
        assert_eq!(known(&reading(9_999)), [false; 5], "nothing is read from then on");
    }

    #[test]
    fn what_is_read_in_vain_counts_too() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            let broken = std::fs::File::create(folder.path().join(name).join("plugin.json")).unwrap();
            broken.set_len(100_000).unwrap();
        }
        let surroundings = Surroundings { project: Some(folder.path().to_owned()), ..Surroundings::default() };
        let text = r#"{"plugins": {"a": {"path": "a"}, "b": {"path": "b"}, "c": {"path": "c"}}}"#;
        let file = FileRef { path: folder.path().join("settings.json"), scope: Scope::Project };
        let files = [parse(text.as_bytes(), &file, &Events::default(), &surroundings)];
        let ration = Ration::of(1_000_000);
        let project = Project::read(&files, &surroundings, &Events::default(), (&Reads::default(), &ration));
        let not_read = project.wholes.values().filter(|files| files.as_ref().unwrap_err().contains("256 MiB"));
        assert!(project.said.is_some() && not_read.count() > 0, "{project:?}");
    }
}
