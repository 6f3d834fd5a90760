//! All that a component's file, or a folder of a skill or plugin, brings: the component with its `plugin.json`, the hooks
//! of `hooks/hooks.json`, and the components that these name. As one set: whatever is wrong with any of it refuses all.
//!
//! One component with its `plugin.json` is `package`'s.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::event::Events;
use crate::hook::{HookKind, HookSpec, OnError};
use crate::plugin::{Code, Digest, Given, WholePlugin};
use crate::source::Source;
use crate::trust::{PluginFiles, Ration};
use crate::wire::hooks_json;

use super::Runtime;
use super::load::LoadError;
use super::package::{Package, PackageFiles, read_head, refuse_escape};

/// Where a folder has its hooks.
const HOOKS: &str = "hooks/hooks.json";

/// How large all components of a folder may be together, in bytes: 256 MiB. They are in memory at once, and a link or a file
/// of zeros costs whoever brings them nothing.
const LARGEST_TOGETHER: usize = 256 << 20;

/// A folder or a component as it lies there, read and checked; nothing of it is compiled or run.
#[derive(Clone, Debug)]
pub struct WholeFiles {
    /// The component with its `plugin.json`, or by itself.
    pub plugin: Option<PackageFiles>,
    /// The `hooks/hooks.json`.
    pub hooks: Option<HooksFile>,
    /// The other components that its hooks name, each by the path that they call it.
    pub named: BTreeMap<PathBuf, PackageFiles>,
    /// Its own hooks are not registered, since entries of the same scope name the component.
    own_hooks: OwnHooks,
}

/// A `hooks/hooks.json` that was read.
#[derive(Clone, Debug)]
pub struct HooksFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it, byte for byte.
    pub digest: Digest,
    /// Its hooks.
    pub hooks: Vec<HookSpec>,
    /// What is to be said about it.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a component's own hooks, those of `plugin.json` or of `describe`, are registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnHooks {
    Registered,
    LeftToEntries,
}

/// A hook that can be registered.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) spec: HookSpec,
    /// The plugin that answers it, where one does.
    pub(super) code: Option<Arc<dyn Code>>,
}

impl WholeFiles {
    /// Reads what stands at `path`.
    ///
    /// # Errors
    ///
    /// Where any of its files cannot be read, leads out of the folder, or would lose a hook.
    pub fn read(path: &Path, events: &Events) -> Result<Self, LoadError> {
        Self::read_within(&Ration::unbounded(), path, events)
    }

    /// The same, as far as the ration allows.
    pub(super) fn read_within(ration: &Ration, path: &Path, events: &Events) -> Result<Self, LoadError> {
        if !path.is_dir() {
            let plugin = Some(PackageFiles::read_within(ration, path, events)?);
            return Ok(Self { plugin, hooks: None, named: BTreeMap::new(), own_hooks: OwnHooks::Registered });
        }
        let [manifest, _] = Self::heads(path);
        let hooks = HooksFile::read_within(ration, path, events)?;
        let plugin = match is_there(&manifest) {
            true => Some(PackageFiles::read_within(ration, path, events)?),
            false if path.join(".claude-plugin").is_dir() => {
                return Err(LoadError::Foreign { path: path.to_owned() });
            }
            false if hooks.is_none() => return Err(LoadError::Nothing { path: path.to_owned() }),
            false => None,
        };
        let mut files = Self { plugin, hooks, named: BTreeMap::new(), own_hooks: OwnHooks::Registered };
        files.read_what_is_named(path, LARGEST_TOGETHER, (ration, events))?;
        Ok(files)
    }

    /// The files that say what a folder holds, there or not.
    pub(super) fn heads(folder: &Path) -> [PathBuf; 2] {
        [folder.join("plugin.json"), folder.join(HOOKS)]
    }

    /// The files that it would be read from, as far as can be told where it cannot be read.
    pub(super) fn named(ration: &Ration, path: &Path, events: &Events) -> BTreeSet<PathBuf> {
        let mut files: BTreeSet<_> = PackageFiles::named(ration, path, events).into_iter().collect();
        if path.is_dir() {
            files.extend(Self::heads(path));
            let hooks = HooksFile::read_within(ration, path, events).ok().flatten();
            let named = hooks.iter().flat_map(HooksFile::components);
            files.extend(named.flat_map(|component| PackageFiles::named(ration, component, events)));
        }
        files
    }

    /// Its files, each with its digest.
    pub fn digests(&self) -> Vec<(PathBuf, Digest)> {
        let hooks = self.hooks.iter().map(|file| (file.path.clone(), file.digest));
        let components = self.plugin.iter().chain(self.named.values()).flat_map(PackageFiles::digests);
        let all: BTreeMap<_, _> = hooks.chain(components).collect();
        all.into_iter().collect()
    }

    /// What the digest of a project covers: its files, and the hooks of its `hooks/hooks.json`.
    pub(super) fn brings(&self) -> PluginFiles {
        let hooks = self.hooks.iter().flat_map(|file| file.hooks.clone()).collect();
        PluginFiles { files: self.digests(), hooks }
    }

    /// The hooks that its files name, whether it can be loaded or not. A component that describes itself names none.
    pub(super) fn listed(ration: &Ration, path: &Path, events: &Events) -> Vec<HookSpec> {
        let hooks = HooksFile::read_within(ration, path, events).ok().flatten();
        let mut listed = hooks.map(|file| file.hooks).unwrap_or_default();
        listed.extend(PackageFiles::listed(ration, path, events));
        listed
    }

    /// As settings load it: by their name for it, with their config, and what they say that silence means.
    pub(super) fn told_by_settings(mut self, plugin: &WholePlugin, silence: Option<OnError>) -> Self {
        if let Some(files) = &mut self.plugin {
            files.manifest.name = Some(plugin.name.clone());
        }
        let own = self.named.values_mut().filter(|files| files.written.is_none());
        for PackageFiles { manifest, .. } in self.plugin.iter_mut().chain(own) {
            if !plugin.config.is_empty() {
                manifest.config.clone_from(&plugin.config);
            }
            manifest.on_error = silence.or(manifest.on_error);
        }
        for hook in self.hooks.iter_mut().flat_map(|file| &mut file.hooks) {
            hook.on_error = hook.on_error.or(silence);
        }
        self
    }

    /// The same, without its component's own hooks where one of these names the component.
    pub(super) fn beside<'p>(mut self, path: &Path, mut entries: impl Iterator<Item = &'p Path>) -> Self {
        if entries.any(|entry| same_file(entry, path) || self.is_the_plugin(path, entry)) {
            self.own_hooks = OwnHooks::LeftToEntries;
        }
        self
    }

    /// How large its components are together, in bytes.
    pub(super) fn size(&self) -> usize {
        self.plugin.iter().chain(self.named.values()).map(|files| files.component.len()).sum()
    }

    fn read_what_is_named(
        &mut self,
        folder: &Path,
        most: usize,
        (ration, events): (&Ration, &Events),
    ) -> Result<(), LoadError> {
        let Some(file) = &self.hooks else { return Ok(()) };
        let named: BTreeSet<_> = file.components().map(Path::to_owned).collect();
        for path in named {
            if self.is_the_plugin(folder, &path) {
                self.own_hooks = OwnHooks::LeftToEntries;
                continue;
            }
            refuse_escape(folder, &path)?;
            let mut files = PackageFiles::read_within(ration, &path, events)?;
            if self.size() + files.component.len() > most {
                return Err(LoadError::TooLargeTogether { path: folder.to_owned() });
            }
            if files.written.is_none() {
                self.belongs(folder, &mut files);
            }
            self.named.insert(path, files);
        }
        Ok(())
    }

    /// Whether this path means the component of the `plugin.json`.
    fn is_the_plugin(&self, folder: &Path, path: &Path) -> bool {
        let component = self.plugin.as_ref().map(|plugin| plugin.manifest.component.as_path());
        path == folder || component.is_some_and(|component| same_file(component, path))
    }

    /// A component without a `plugin.json` of its own asks for what that of its folder asks for.
    fn belongs(&self, folder: &Path, files: &mut PackageFiles) {
        files.folder = Some(folder.to_owned());
        if let Some(plugin) = &self.plugin {
            files.manifest.permissions.clone_from(&plugin.manifest.permissions);
            files.manifest.config.clone_from(&plugin.manifest.config);
        }
    }

    /// Compiles its components, and makes its hooks of them: those of `hooks/hooks.json` first.
    pub(super) async fn ready(
        self,
        host: &Runtime,
        path: &Path,
        source: &Source,
        given: &Given,
    ) -> Result<(Vec<Ready>, Vec<Diagnostic>), LoadError> {
        let Self { plugin, hooks, named, own_hooks } = self;
        let (mut said, mut ready) = (Vec::new(), Vec::new());
        let mut components: HashMap<PathBuf, Arc<Package>> = HashMap::new();
        let sandbox = &host.loading.sandbox;
        for (at, files) in named {
            let package = Package::of(files, sandbox, &at, source, given).await?;
            said.extend(package.said.iter().cloned());
            components.insert(at, Arc::new(package));
        }
        let plugin = match plugin {
            Some(files) => Some(Arc::new(Package::of(files, sandbox, path, source, given).await?)),
            None => None,
        };
        let (specs, of_file) = hooks.map(|file| (file.hooks, file.diagnostics)).unwrap_or_default();
        said.extend(of_file);
        for mut spec in specs {
            let package = match &spec.kind {
                HookKind::Callback(callback) => components.get(&callback.plugin).or(plugin.as_ref()),
                _ => None,
            };
            if let Some(package) = package {
                package.complete(&mut spec);
                said.extend(package.not_its_own(&spec));
            }
            ready.push(Ready { code: package.map(|package| package.code.clone()), spec });
        }
        if let Some(plugin) = plugin {
            match own_hooks {
                OwnHooks::Registered => {
                    let (specs, new) = plugin.hooks(&host.events)?;
                    said.extend(new);
                    ready.extend(specs.into_iter().map(|spec| Ready { spec, code: Some(plugin.code.clone()) }));
                }
                OwnHooks::LeftToEntries => said.extend(plugin.left_to_entries()),
            }
        }
        Ok((ready, said))
    }
}

impl HooksFile {
    /// That of this folder; `None` where it has none.
    ///
    /// # Errors
    ///
    /// Where it cannot be read whole, or is a link that leads elsewhere.
    pub fn read(folder: &Path, events: &Events) -> Result<Option<Self>, LoadError> {
        Self::read_within(&Ration::unbounded(), folder, events)
    }

    /// The same, as far as the ration allows.
    fn read_within(ration: &Ration, folder: &Path, events: &Events) -> Result<Option<Self>, LoadError> {
        let path = folder.join(HOOKS);
        if !is_there(&path) {
            return Ok(None);
        }
        let bytes = read_head(&path, ration)?;
        refuse_escape(folder, &path)?;
        let (hooks, diagnostics) = hooks_json::parse(&bytes, &path, folder, events)?;
        Ok(Some(Self { path, digest: Digest::of(&bytes), hooks, diagnostics }))
    }

    /// The components that its hooks name.
    pub fn components(&self) -> impl Iterator<Item = &Path> {
        self.hooks.iter().filter_map(|hook| match &hook.kind {
            HookKind::Callback(callback) => Some(callback.plugin.as_path()),
            _ => None,
        })
    }
}

/// Whether there is anything at `path`: a link that leads nowhere counts, since what it should lead to is missed.
fn is_there(path: &Path) -> bool {
    let nothing = |path: &Path| {
        let about = path.symlink_metadata();
        about.is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
    };
    let folder_leads_nowhere = || path.parent().is_some_and(|folder| !nothing(folder) && !folder.exists());
    !nothing(path) || folder_leads_nowhere()
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::diagnostic::Place;

    fn lay(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// What reading `path` comes to. A busy machine may take long; one that waits for a pipe never comes back.
    fn read_in_time(path: &Path) -> Result<WholeFiles, LoadError> {
        let (done, heard) = std::sync::mpsc::channel();
        let path = path.to_owned();
        std::thread::spawn(move || drop(done.send(WholeFiles::read(&path, &Events::default()))));
        heard.recv_timeout(std::time::Duration::from_secs(60)).expect("it waits")
    }

    #[test]
    fn a_pipe_in_the_place_of_any_file_of_a_package_keeps_nobody_waiting() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let hooks = r#"{"hooks": {"Stop": [{"type": "callback", "plugin": "../b.wasm"}]}}"#;
        let files = [("plugin.json", r#"{"component": "a.wasm"}"#), ("a.wasm", "a"), ("b.wasm", "b"), (HOOKS, hooks)];
        for (pipe, _) in files {
            let folder = tempfile::tempdir().unwrap();
            for (path, text) in files.into_iter().filter(|(path, _)| *path != pipe) {
                lay(&folder.path().join(path), text);
            }
            let at = folder.path().join(pipe);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            mknodat(CWD, &at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            let error = read_in_time(folder.path()).unwrap_err();
            assert!(matches!(&error, LoadError::NoFile { path } if *path == at), "{error}");
        }
    }

    #[test]
    fn the_components_of_a_folder_are_bounded_together() {
        let folder = tempfile::tempdir().unwrap();
        lay(&folder.path().join("plugin.json"), r#"{"component": "a.wasm"}"#);
        let entry = |name: &str| format!(r#"{{"type": "callback", "plugin": "../{name}.wasm"}}"#);
        let names = ["a", "b", "c"];
        names.iter().for_each(|name| lay(&folder.path().join(format!("{name}.wasm")), "0123456789"));
        lay(&folder.path().join(HOOKS), &format!(r#"{{"hooks": {{"Stop": [{}]}}}}"#, names.map(entry).join(",")));
        let whole = WholeFiles::read(folder.path(), &Events::default()).unwrap();
        assert_eq!(whole.size(), 30);
        let again = |most| {
            let mut files = WholeFiles { named: BTreeMap::new(), ..whole.clone() };
            files
                .read_what_is_named(folder.path(), most, (&Ration::unbounded(), &Events::default()))
                .map_err(|error| error.to_string())
        };
        again(30).unwrap();
        assert!(again(29).unwrap_err().contains("its components are larger than 256 MiB together"));
    }

    #[test]
    fn a_file_of_a_package_that_is_too_large_is_not_read_in_part() {
        let folder = tempfile::tempdir().unwrap();
        lay(&folder.path().join("a.wasm"), "a");
        let whole = r#"{"component": "a.wasm"}"#;
        let padded = |size: usize| format!("{whole}{}", " ".repeat(size - whole.len()));
        lay(&folder.path().join("plugin.json"), &padded(1 << 20));
        WholeFiles::read(folder.path(), &Events::default()).unwrap();
        lay(&folder.path().join("plugin.json"), &padded((1 << 20) + 1));
        let error = WholeFiles::read(folder.path(), &Events::default()).unwrap_err();
        assert!(matches!(error, LoadError::TooLarge { .. }), "{error}");
        assert!(PackageFiles::listed(&Ration::unbounded(), folder.path(), &Events::default()).is_empty());
    }

    #[test]
    fn what_settings_say_of_a_plugin_counts_before_its_package() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        lay(&at("plugin.json"), r#"{"component": "a.wasm", "name": "own", "config": {"a": 1}, "onError": "pass"}"#);
        lay(&at("a.wasm"), "a");
        lay(&at("b.wasm"), "b");
        let hooks = r#"{"hooks": {"Stop": [{"type": "callback", "plugin": "../b.wasm"},
            {"command": "true", "onError": "pass"}]}}"#;
        lay(&at("hooks/hooks.json"), hooks);
        let plugin = WholePlugin {
            name: "given".into(),
            path: folder.path().to_owned(),
            given: Given::default(),
            config: [("b".to_owned(), 2.into())].into_iter().collect(),
            place: Place::default(),
        };
        let files = WholeFiles::read(folder.path(), &Events::default()).unwrap();
        assert_eq!(files.digests().len(), 4);
        let files = files.told_by_settings(&plugin, Some(OnError::Block));
        let own = files.plugin.as_ref().unwrap();
        assert_eq!((own.manifest.name.clone(), own.manifest.on_error), (Some("given".into()), Some(OnError::Block)));
        assert!(own.manifest.config == plugin.config && files.named[&at("b.wasm")].manifest.config == plugin.config);
        let meanings: Vec<_> = files.hooks.unwrap().hooks.iter().map(|hook| hook.on_error).collect();
        assert_eq!(meanings, [Some(OnError::Block), Some(OnError::Pass)]);
    }
}
