//! From a path to a plugin: a component's file, or a folder with a `plugin.json` that names one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::diagnostic::{Diagnostic, Place};
use crate::event::{Events, Object};
use crate::hook::{CallbackHook, HookKind, HookSpec, Lifetime};
use crate::id::PluginName;
use crate::plugin::{Code, Digest, Given, Manifest};
use crate::settings;
use crate::source::Source;
use crate::trust::{Ration, Spent};
use crate::wire::document::{Notes, Quoted, did_you_mean};
use crate::wire::plugin_json;

use super::load::LoadError;
use super::sandbox::Sandbox;
use super::wanted::Wants;

/// The largest `plugin.json` or `hooks/hooks.json`: 1 MiB.
const LARGEST_MANIFEST: u64 = 1 << 20;

/// The largest component that is read: 64 MiB, and a byte to see that there is more.
pub(super) const LARGEST_COMPONENT: u64 = (64 << 20) + 1;

/// How long a hook may take that runs programs, where nobody says.
const WITH_PROGRAMS: Duration = Duration::from_secs(30);

/// A plugin as it lies there, read and checked; nothing of it is compiled or run.
#[derive(Clone, Debug)]
pub struct PackageFiles {
    /// What its `plugin.json` says; of a bare component, where that is.
    pub manifest: Manifest,
    /// The component's bytes.
    pub component: Vec<u8>,
    /// The `plugin.json` and what is in it, byte for byte, where there is one.
    pub written: Option<(PathBuf, Digest)>,
    /// What is to be said about its `plugin.json`.
    pub diagnostics: Vec<Diagnostic>,
    /// The folder of its package, where it has one.
    pub folder: Option<PathBuf>,
}

impl PackageFiles {
    /// Reads what stands at `path`: a component's file, or a folder with a `plugin.json`.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, or the `plugin.json` says nothing that could be loaded.
    pub fn read(path: &Path, events: &Events) -> Result<Self, LoadError> {
        Self::read_within(&Ration::unbounded(), path, events)
    }

    /// The same, as far as the ration allows.
    pub(super) fn read_within(ration: &Ration, path: &Path, events: &Events) -> Result<Self, LoadError> {
        let mut files = if path.is_dir() { manifest(path, events, ration)? } else { bare(path) };
        files.component = read(&files.manifest.component, LARGEST_COMPONENT, ration)?;
        Ok(files)
    }

    /// The files that it would be read from, as far as can be told where it cannot be read.
    pub(super) fn named(ration: &Ration, path: &Path, events: &Events) -> Vec<PathBuf> {
        if !path.is_dir() {
            return vec![path.to_owned()];
        }
        let file = path.join("plugin.json");
        let bytes = read_head(&file, ration).unwrap_or_default();
        let component = plugin_json::parse(&bytes, &file, events).ok().map(|(said, _)| path.join(said.component));
        [file].into_iter().chain(component).collect()
    }

    /// The hooks that a folder's `plugin.json` lists, whatever is wrong with the rest of it.
    pub(super) fn listed(ration: &Ration, path: &Path, events: &Events) -> Vec<HookSpec> {
        let file = path.join("plugin.json");
        let bytes = read_head(&file, ration).unwrap_or_default();
        let said = plugin_json::parse(&bytes, &file, events).ok();
        said.and_then(|(manifest, _)| manifest.hooks).unwrap_or_default()
    }

    /// Its files, each with its digest.
    pub fn digests(&self) -> Vec<(PathBuf, Digest)> {
        let component = (self.manifest.component.clone(), Digest::of(&self.component));
        self.written.iter().cloned().chain([component]).collect()
    }
}

/// Where a plugin's file lies.
#[cfg_attr(not(feature = "wasm"), expect(dead_code, reason = "for the sandbox"))]
pub(super) struct Packed {
    /// The folder of its package, where it has one.
    pub(super) package: Option<PathBuf>,
    /// What it is called where it has no name otherwise.
    pub(super) otherwise: PluginName,
}

/// A plugin that was loaded, with what its package says.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) path: PathBuf,
    pub(super) code: Arc<dyn Code>,
    pub(super) manifest: Manifest,
    given: Given,
    pub(super) said: Vec<Diagnostic>,
}

impl Package {
    /// Loads what was read from `path`, with what it was given.
    pub(super) async fn of(
        files: PackageFiles,
        sandbox: &Sandbox,
        path: &Path,
        source: &Source,
        given: &Given,
    ) -> Result<Self, LoadError> {
        let PackageFiles { manifest, component, diagnostics: mut said, folder: package, .. } = files;
        let otherwise = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let loaded =
            sandbox.load(&component, source, &manifest, Packed { package, otherwise: otherwise.into() }, given).await;
        let code = loaded.map_err(|error| LoadError::Plugin { path: manifest.component.clone(), error })?;
        let place = || Place::file(path);
        said.extend(code.allowed().doubts.iter().map(|doubt| Diagnostic::warning(place(), doubt)));
        let missing = given.limits.missing(manifest.limits);
        said.extend(missing.into_iter().map(|what| Diagnostic::warning(place(), what)));
        let said = bounded(said, path);
        Ok(Self { path: path.to_owned(), code, manifest, given: given.clone(), said })
    }

    /// The hooks it brings when it is loaded whole: those of its `plugin.json`, else those that it asks for itself.
    pub(super) fn hooks(&self, events: &Events) -> Result<(Vec<HookSpec>, Vec<Diagnostic>), LoadError> {
        let mut said = self.said.clone();
        let mut specs = match &self.manifest.hooks {
            Some(hooks) => hooks.clone(),
            None if !self.code.describes_itself() => return Err(LoadError::NoHooks { path: self.path.clone() }),
            None => {
                let Manifest { config, .. } = &self.manifest;
                let wants = Wants { events, file: &self.path, config, grant: &self.given.permissions };
                let mut specs = Vec::new();
                for wanted in &self.code.info().hooks {
                    let (spec, new) = wants
                        .spec(wanted)
                        .map_err(|error| LoadError::Registration { path: self.path.clone(), error })?;
                    // Its own word about silence is the last that counts.
                    specs.push(HookSpec { on_error: None, ..spec });
                    said.extend(new);
                }
                specs
            }
        };
        for spec in &mut specs {
            self.complete(spec);
            said.extend(self.never_kept(spec));
        }
        Ok((specs, bounded(said, &self.path)))
    }

    /// What is said where entries name it, and so say which of its hooks are asked.
    pub(super) fn left_to_entries(&self) -> Vec<Diagnostic> {
        let mut said = self.said.clone();
        if self.manifest.hooks.as_ref().is_some_and(|hooks| !hooks.is_empty()) {
            let message = "an entry names this plugin, so the `hooks` of its `plugin.json` are left to such entries";
            said.push(Diagnostic::warning(Place::file(&self.path), message));
        }
        said
    }

    /// Fills in what an entry leaves to the package: its config, what silence means, how long it may take.
    pub(super) fn complete(&self, spec: &mut HookSpec) {
        let described = self.described(spec);
        spec.on_error = spec.on_error.or(self.manifest.on_error).or(described.and_then(|hook| hook.on_error));
        let waiting = self.code.allowed().waits.then_some(WITH_PROGRAMS);
        spec.timeout = spec.timeout.or(described.and_then(|hook| hook.timeout)).or(waiting);
        if let HookKind::Callback(CallbackHook { config, grant, limits, instance, .. }) = &mut spec.kind {
            if config.is_empty() {
                *config = self.manifest.config.clone();
            }
            grant.clone_from(&self.given.permissions);
            *limits = self.given.limits.over(self.manifest.limits);
            *instance = self.given.instance.or(*instance).or(self.manifest.instance);
        }
    }

    /// A doubt about a hook whose instance cannot be kept, since a WASI command ends with its call.
    pub(super) fn never_kept(&self, spec: &HookSpec) -> Option<Diagnostic> {
        let HookKind::Callback(callback) = &spec.kind else { return None };
        let in_vain = callback.instance == Some(Lifetime::Session) && !self.code.describes_itself();
        in_vain.then(|| {
            let message = "`instance` is ignored: a WASI command is started anew for each call";
            Diagnostic::warning(spec.place.clone(), message)
        })
    }

    /// A doubt about an entry whose `function` is none of the plugin's hooks: asked for what it does not know, a guard may
    /// let everything past. What a plugin tells nobody of cannot be missed.
    pub(super) fn not_its_own(&self, spec: &HookSpec) -> Option<Diagnostic> {
        let HookKind::Callback(CallbackHook { function: Some(function), .. }) = &spec.kind else { return None };
        let listed = self.manifest.hooks.iter().flatten().map(HookSpec::told_name);
        let known: Vec<_> = self.code.info().hooks.iter().map(|hook| hook.name.as_str()).chain(listed).collect();
        if known.is_empty() || known.contains(&function.as_str()) {
            return None;
        }
        let said = Diagnostic::warning(
            spec.place.clone(),
            format!("`function` names {}, and the plugin tells of no such hook", Quoted(function)),
        );
        Some(Diagnostic { hint: did_you_mean(function, known), ..said })
    }

    fn described(&self, spec: &HookSpec) -> Option<&crate::plugin::WantedHook> {
        let name = spec.told_name();
        self.code.info().hooks.iter().find(|hook| hook.event == spec.event.as_str() && hook.name == name)
    }
}

/// As much of it as is said of one file: a plugin must not be able to bury what is said of others.
fn bounded(said: Vec<Diagnostic>, path: &Path) -> Vec<Diagnostic> {
    let mut notes = Notes::default();
    said.into_iter().for_each(|one| notes.say(one));
    notes.finish(Place::file(path))
}

fn bare(path: &Path) -> PackageFiles {
    let manifest = Manifest { component: path.to_owned(), config: Object::new(), ..Manifest::default() };
    PackageFiles { manifest, component: Vec::new(), written: None, diagnostics: Vec::new(), folder: None }
}

/// Everything but the component.
fn manifest(folder: &Path, events: &Events, ration: &Ration) -> Result<PackageFiles, LoadError> {
    let path = folder.join("plugin.json");
    let bytes = read_head(&path, ration)?;
    refuse_escape(folder, &path)?;
    let written = Some((path.clone(), Digest::of(&bytes)));
    let (mut manifest, diagnostics) =
        plugin_json::parse(&bytes, &path, events).map_err(|error| LoadError::Manifest { path, error })?;
    manifest.component = folder.join(&manifest.component);
    refuse_escape(folder, &manifest.component)?;
    let folder = Some(folder.to_owned());
    Ok(PackageFiles { manifest, component: Vec::new(), written, diagnostics, folder })
}

/// A link may lead out of the package although the name does not.
pub(super) fn refuse_escape(folder: &Path, component: &Path) -> Result<(), LoadError> {
    let real = |path: &Path| path.canonicalize().map_err(|error| LoadError::Read { path: path.to_owned(), error });
    if real(component)?.starts_with(real(folder)?) {
        Ok(())
    } else {
        Err(LoadError::Outside { path: component.to_owned() })
    }
}

/// The file's bytes, at most so many; none where the ration does not suffice. Waits for nobody: a pipe is no file.
pub(super) fn read(path: &Path, most: u64, ration: &Ration) -> Result<Vec<u8>, LoadError> {
    use std::io::Read as _;
    let failed = |error| LoadError::Read { path: path.to_owned(), error };
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(LoadError::NoFile { path: path.to_owned() });
    }
    let too_much = |_: Spent| LoadError::TooMuch { path: path.to_owned() };
    let most = ration.at_most(path, most).map_err(too_much)?;
    let file = settings::open_regular(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let read = file.take(most).read_to_end(&mut bytes);
    ration.took(path, bytes.len() as u64).map_err(too_much)?;
    read.map_err(failed)?;
    Ok(bytes)
}

/// The bytes of a `plugin.json` or `hooks/hooks.json`. One that is larger is not read in part: what stands behind its cut would
/// be lost in silence.
pub(super) fn read_head(path: &Path, ration: &Ration) -> Result<Vec<u8>, LoadError> {
    let bytes = read(path, LARGEST_MANIFEST + 1, ration)?;
    if bytes.len() as u64 > LARGEST_MANIFEST {
        return Err(LoadError::TooLarge { path: path.to_owned() });
    }
    Ok(bytes)
}
