//! Plays cases to a plugin: through the sandbox that any embedder has, in a fresh instance each.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::ask::{Ask, Asked, Lease, LogLine};
use crate::diagnostic::printable;
use crate::event::{Event, Object};
use crate::hook::{CallbackHook, HookKind, HookSpec};
use crate::id::{DispatchId, PluginName};
use crate::limits::{Limits, LimitsSaid};
use crate::matching::{Commands, ToolTable};
use crate::outcome::{Cause, Outcome};
use crate::plugin::{Code, Manifest, PluginInfo};
use crate::session::PluginStates;
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::wasm::{CompileCache, Kind, Owner, Plugins};

use super::super::super::fault::Fault;
use super::super::super::{conduct, host};
use super::super::inspected::Inspected;
use super::case::{Asking, Case, Task};
use super::compare::{self, Difference};

/// A plugin, loaded.
pub(super) struct Player {
    path: PathBuf,
    code: Arc<dyn Code>,
    manifest: Manifest,
    /// It describes nothing: which hooks it has, others say.
    is_command: bool,
    /// How long it took to load, compiling included.
    pub(super) loading: Duration,
    /// Its size, in bytes.
    pub(super) size: usize,
    /// What it imports.
    pub(super) imports: Vec<String>,
}

/// A case that was played.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) name: String,
    pub(super) took: Duration,
    pub(super) differences: Vec<Difference>,
    pub(super) log: Vec<LogLine>,
    pub(super) warnings: Vec<String>,
    /// Where the plugin trapped: its own functions, innermost first.
    pub(super) backtrace: Vec<String>,
}

/// One of the plugin's hooks, as a case may mean it.
struct Candidate {
    name: String,
    config: Object,
    timeout: Option<Duration>,
}

impl Player {
    /// Loads a component's file, or a folder with a `plugin.json`; a WASI command's file with the `plugin.json` beside it.
    pub(super) async fn load(path: &Path) -> anyhow::Result<Self> {
        let inspected = looked_at(path)?;
        let is_command = is_command(&inspected);
        if let Some(unfit) = inspected.unfit() {
            return Err(unfit.into());
        }
        let Inspected { manifest, bytes, inspection, .. } = inspected;
        let manifest = manifest.unwrap_or_default();
        let owner = Owner { name: manifest.name.clone(), ..Owner::new(Source::Session("test".into())) };
        let plugins = Plugins::new(PluginStates::default())?;
        let plugins = match host::surroundings(None)?.compile_cache() {
            Some(folder) => plugins.caching_in(CompileCache::at(folder)),
            None => plugins,
        };
        let began = Instant::now();
        let limits = Limits::from(LimitsSaid::default().over(manifest.limits));
        let code = conduct::telling(plugins.load(&bytes, owner, limits), || host::compiling(path)).await?;
        let loading = began.elapsed();
        let imports = inspection.imports;
        Ok(Self { path: path.to_owned(), code, manifest, is_command, loading, size: bytes.len(), imports })
    }

    /// What it says of itself.
    fn info(&self) -> &PluginInfo {
        self.code.info()
    }

    /// Its name and version, by itself; those of a command by its `plugin.json`.
    pub(super) fn told(&self) -> (&str, &str) {
        match &self.manifest {
            Manifest { name, version, .. } if self.is_command => {
                (name.as_ref().map_or("", PluginName::as_str), version.as_deref().unwrap_or_default())
            }
            _ => (self.info().name.as_str(), &self.info().version),
        }
    }

    /// Plays one case.
    ///
    /// # Errors
    ///
    /// Where the case does not say which of the plugin's hooks it is about.
    pub(super) async fn play(&self, case: Case) -> anyhow::Result<Played> {
        match case.task {
            Task::Describe(_) if self.is_command => {
                let message = format!("case `{}`: a WASI command describes nothing", printable(&case.name));
                Err(Fault::new(message, "`plugin inspect` shows what its `plugin.json` says").into())
            }
            Task::Describe(described) => {
                let differences = compare::described(&described, self.info());
                Ok(Played::of(case.name, Duration::ZERO, differences, Outcome::pass().into()))
            }
            Task::Ask(asking) => {
                let spec = self.hook(&case.name, &asking)?;
                let began = Instant::now();
                let asked = self.ask(&spec, &asking).await;
                let took = began.elapsed();
                let differences = compare::asked(&asking.expected, asking.log.as_deref(), &asked);
                Ok(Played::of(case.name, took, differences, asked))
            }
        }
    }

    async fn ask(&self, spec: &HookSpec, asking: &Asking) -> Asked {
        let HookKind::Callback(callback) = &spec.kind else { return Outcome::pass().into() };
        let commands = commands(&asking.event);
        let surroundings = Surroundings { project: asking.project.clone(), ..Surroundings::default() };
        let ask = Ask {
            hook: spec,
            event: &asking.event,
            cx: &asking.cx,
            dispatch: &DispatchId::fresh(),
            commands: commands.as_ref(),
            recheck: asking.recheck,
            surroundings: &surroundings,
            time_limit: spec.time_limit(),
            lease: &Lease::default(),
        };
        self.code.call(callback, &ask).await
    }

    fn hook(&self, case: &str, asking: &Asking) -> anyhow::Result<HookSpec> {
        let candidate = self.candidate(case, asking)?;
        let config = asking.config.clone().unwrap_or(candidate.config);
        let callback = CallbackHook { config, ..CallbackHook::new(&self.path) };
        let mut spec = HookSpec::new(asking.event.name.clone(), candidate.name, callback.into());
        spec.timeout = asking.timeout.or(candidate.timeout);
        Ok(spec)
    }

    /// The hook that is named; else the only one of this event.
    fn candidate(&self, case: &str, asking: &Asking) -> anyhow::Result<Candidate> {
        let mut all = self.candidates(&asking.event);
        if let Some(name) = &asking.hook {
            let known = all.into_iter().find(|candidate| candidate.name == *name);
            return Ok(known.unwrap_or_else(|| self.unlisted(name)));
        }
        match all.len() {
            1 => Ok(all.remove(0)),
            0 => {
                let message = format!("case `{}`: the plugin has no hook on {}", printable(case), asking.event.name);
                Err(Fault::new(message, "name the one that settings would register by `hook`").into())
            }
            _ => {
                let names: Vec<_> = all.iter().map(|candidate| printable(&candidate.name)).collect();
                let message =
                    format!("case `{}`: the plugin has more than one hook on {}", printable(case), asking.event.name);
                Err(Fault::new(message, format!("say which by `hook`: {}", names.join(", "))).into())
            }
        }
    }

    fn candidates(&self, event: &Event) -> Vec<Candidate> {
        match &self.manifest.hooks {
            Some(specs) => {
                specs.iter().filter(|spec| spec.event == event.name).map(|spec| self.written(spec)).collect()
            }
            // Settings could register it on any event.
            None if self.is_command => {
                vec![self.unlisted(&self.path.file_stem().unwrap_or_default().to_string_lossy())]
            }
            None => {
                let described = self.info().hooks.iter().filter(|hook| hook.event == event.name.as_str());
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

impl Played {
    fn of(name: String, took: Duration, differences: Vec<Difference>, asked: Asked) -> Self {
        let backtrace = match asked.outcome {
            Outcome::NoAnswer(Cause::Trapped { backtrace, .. }) => backtrace,
            _ => Vec::new(),
        };
        Self { name, took, differences, log: asked.log, warnings: asked.warnings, backtrace }
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
