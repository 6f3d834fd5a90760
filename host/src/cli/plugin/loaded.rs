//! A plugin that was loaded by itself: asked through the sandbox that any embedder has, with no host, hook or rule around it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::ask::{Ask, Asked, Lease};
use crate::diagnostic::{printable, printable_path};
use crate::event::{Context, Event, EventName, Object};
use crate::hook::{CallbackHook, HookKind, HookSpec};
use crate::id::{DispatchId, PluginName};
use crate::limits::{Limits, LimitsSaid};
use crate::matching::{Commands, ToolTable};
use crate::outcome::Outcome;
use crate::plugin::{Code, Manifest, PluginInfo};
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::wasm::{Kind, Owner, Plugins};

use super::super::fault::Fault;
use super::super::style::{DIM, HEAD};
use super::super::{conduct, host};
use super::inspected::Inspected;

/// A plugin, loaded.
pub(super) struct LoadedPlugin {
    path: PathBuf,
    code: Arc<dyn Code>,
    manifest: Manifest,
    is_command: bool,
    /// How long it took to load, compiling included.
    pub(super) loading: Duration,
    size: usize,
    /// What it imports.
    pub(super) imports: Vec<String>,
}

/// Which plugin is spoken of.
#[derive(Debug, Serialize)]
pub(super) struct About {
    file: PathBuf,
    name: String,
    version: String,
    /// Of the component, in bytes.
    pub(super) size: usize,
}

/// What happens, as far as it does not differ between hooks.
pub(super) struct Happening<'a> {
    pub(super) event: &'a Event,
    pub(super) cx: &'a Context,
    pub(super) project: Option<&'a Path>,
    pub(super) recheck: bool,
}

/// One of the plugin's hooks, as somebody may mean it.
struct Candidate {
    name: String,
    config: Object,
    timeout: Option<Duration>,
}

impl LoadedPlugin {
    /// Loads a component's file, or a folder with a `plugin.json`; a WASI command's file with the `plugin.json` beside it.
    pub(super) async fn load(path: &Path, plugins: &Plugins) -> anyhow::Result<Self> {
        let inspected = looked_at(path)?;
        let is_command = is_command(&inspected);
        if let Some(unfit) = inspected.unfit() {
            return Err(unfit.into());
        }
        let Inspected { manifest, bytes, inspection, .. } = inspected;
        let manifest = manifest.unwrap_or_default();
        let owner = Owner { name: manifest.name.clone(), ..Owner::new(Source::Session("alone".into())) };
        let began = Instant::now();
        let limits = Limits::from(LimitsSaid::default().over(manifest.limits));
        let code = conduct::telling(plugins.load(&bytes, owner, limits), || host::compiling(path)).await?;
        let loading = began.elapsed();
        let imports = inspection.imports;
        Ok(Self { path: path.to_owned(), code, manifest, is_command, loading, size: bytes.len(), imports })
    }

    /// What it says of itself.
    pub(super) fn info(&self) -> &PluginInfo {
        self.code.info()
    }

    /// What is said of it before anything else.
    pub(super) fn about(&self) -> About {
        let (name, version) = self.told();
        About { file: self.path.clone(), name: name.to_owned(), version: version.to_owned(), size: self.size }
    }

    /// Its name and version, by itself; those of a command by its `plugin.json`.
    fn told(&self) -> (&str, &str) {
        match &self.manifest {
            Manifest { name, version, .. } if self.is_command => {
                (name.as_ref().map_or("", PluginName::as_str), version.as_deref().unwrap_or_default())
            }
            _ => (self.info().name.as_str(), &self.info().version),
        }
    }

    /// Whether it is a WASI command: it describes nothing, which hooks it has others say, and no instance of it is kept.
    pub(super) fn is_command(&self) -> bool {
        self.is_command
    }

    /// The events that its hooks are on, in their order.
    pub(super) fn events(&self) -> Vec<EventName> {
        match &self.manifest.hooks {
            Some(specs) => specs.iter().map(|spec| spec.event.clone()).collect(),
            None => self.info().hooks.iter().filter_map(|hook| EventName::built_in(&hook.event)).collect(),
        }
    }

    /// Its hook of this name, known to it or not; without a name, its only one on this event. With its own config.
    ///
    /// # Errors
    ///
    /// Where it has none, or more than one.
    pub(super) fn hook(&self, event: &EventName, name: Option<&str>) -> anyhow::Result<HookSpec> {
        let candidate = self.candidate(event, name)?;
        let callback = CallbackHook { config: candidate.config, ..CallbackHook::new(&self.path) };
        let mut spec = HookSpec::new(event.clone(), candidate.name, callback.into());
        spec.timeout = candidate.timeout;
        Ok(spec)
    }

    /// Asks one of its hooks.
    pub(super) async fn ask(&self, spec: &HookSpec, happening: &Happening<'_>) -> Asked {
        let HookKind::Callback(callback) = &spec.kind else { return Outcome::pass().into() };
        let commands = commands(happening.event);
        let surroundings = Surroundings { project: happening.project.map(Path::to_owned), ..Surroundings::default() };
        let ask = Ask {
            hook: spec,
            event: happening.event,
            cx: happening.cx,
            life: &happening.cx.session.clone().into(),
            dispatch: &DispatchId::fresh(),
            commands: commands.as_ref(),
            recheck: happening.recheck,
            surroundings: &surroundings,
            time_limit: spec.time_limit(),
            lease: &Lease::default(),
        };
        self.code.call(callback, &ask).await
    }

    fn candidate(&self, event: &EventName, name: Option<&str>) -> anyhow::Result<Candidate> {
        let mut all = self.candidates(event);
        if let Some(name) = name {
            let known = all.into_iter().find(|candidate| candidate.name == name);
            return Ok(known.unwrap_or_else(|| self.unlisted(name)));
        }
        match all.len() {
            1 => Ok(all.remove(0)),
            0 => {
                let message = format!("the plugin has no hook on {event}");
                Err(Fault::new(message, "name the one that settings would register by `hook`").into())
            }
            _ => {
                let names: Vec<_> = all.iter().map(|candidate| printable(&candidate.name)).collect();
                let message = format!("the plugin has more than one hook on {event}");
                Err(Fault::new(message, format!("say which by `hook`: {}", names.join(", "))).into())
            }
        }
    }

    fn candidates(&self, event: &EventName) -> Vec<Candidate> {
        match &self.manifest.hooks {
            Some(specs) => specs.iter().filter(|spec| spec.event == *event).map(|spec| self.written(spec)).collect(),
            // Settings could register it on any event.
            None if self.is_command => {
                vec![self.unlisted(&self.path.file_stem().unwrap_or_default().to_string_lossy())]
            }
            None => {
                let described = self.info().hooks.iter().filter(|hook| hook.event == event.as_str());
                described.map(|hook| Candidate { timeout: hook.timeout, ..self.unlisted(&hook.name) }).collect()
            }
        }
    }

    /// A hook of `plugin.json`.
    fn written(&self, spec: &HookSpec) -> Candidate {
        let plain = self.unlisted(spec.told_name());
        match &spec.kind {
            HookKind::Callback(callback) if !callback.config.is_empty() => {
                Candidate { config: callback.config.clone(), timeout: spec.timeout, ..plain }
            }
            _ => Candidate { timeout: spec.timeout, ..plain },
        }
    }

    /// A hook that only settings know.
    fn unlisted(&self, name: &str) -> Candidate {
        Candidate { name: name.to_owned(), config: self.manifest.config.clone(), timeout: None }
    }
}

impl About {
    /// Its head line: the file, and behind it what it says of itself, which of a command may be nothing, and `more`.
    pub(super) fn line(&self, more: String) -> String {
        let file = printable_path(&self.file);
        let told = [&self.name, &self.version].into_iter().filter(|word| !word.is_empty());
        let told = told.map(|word| printable(word)).collect::<Vec<_>>().join(" ");
        let about = [told, more].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        format!("{HEAD}{file}{HEAD:#}  {DIM}{about}{DIM:#}\n")
    }
}

/// A command has nowhere to say which hooks it has and which config, but in the package that it is the component of.
fn looked_at(path: &Path) -> anyhow::Result<Inspected> {
    let alone = Inspected::at(path)?;
    let beside = path.with_file_name("plugin.json");
    if alone.manifest.is_some() || !is_command(&alone) || !beside.is_file() {
        return Ok(alone);
    }
    let package = Inspected::at(&beside)?;
    let component = package.manifest.as_ref().map(|manifest| manifest.component.as_path());
    let same = component.is_some_and(|component| component.canonicalize().ok() == path.canonicalize().ok());
    Ok(if same { package } else { alone })
}

fn is_command(inspected: &Inspected) -> bool {
    matches!(inspected.inspection.kind, Kind::Command | Kind::Module { command: true })
}

/// What the host tells a hook of the commands in a tool's argument.
fn commands(event: &Event) -> Option<Commands> {
    let tools = ToolTable::default();
    let command = tools.command(event.tool.as_str(), &event.input).filter(|_| event.name.class().tool)?;
    Some(Commands::parse(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_of_itself_has_a_head_line_all_the_same() {
        let about = |name: &str, version: &str| About {
            file: "a\nb.wasm".into(),
            name: name.to_owned(),
            version: version.to_owned(),
            size: 1,
        };
        let line = |about: About| about.line("1 KiB".to_owned());
        assert!(line(about("", "")).contains("1 KiB") && !line(about("", "")).contains(','));
        assert!(line(about("guard", "")).contains("guard, 1 KiB"));
        assert!(
            line(about("guard", "0.1")).contains("guard 0.1, 1 KiB") && line(about("", "")).contains("a\\u{a}b.wasm")
        );
    }
}
