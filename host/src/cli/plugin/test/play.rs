//! Plays cases to a plugin: through the sandbox that any embedder has, in a fresh instance each.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::ask::{Asked, LogLine};
use crate::diagnostic::printable;
use crate::hook::{HookKind, HookSpec};
use crate::outcome::{Cause, Outcome};
use crate::session::PluginStates;
use crate::wasm::{CompileCache, Plugins};

use super::super::super::fault::Fault;
use super::super::super::host;
use super::super::loaded::{Happening, LoadedPlugin};
use super::case::{Asking, Case, Task};
use super::compare::{self, Difference};

/// Whoever plays cases to a plugin.
pub(super) struct Player {
    pub(super) plugin: LoadedPlugin,
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

impl Player {
    /// Loads it, as [`LoadedPlugin::load`] does, with the compile cache of this machine.
    pub(super) async fn load(path: &Path) -> anyhow::Result<Self> {
        let plugins = Plugins::new(PluginStates::default())?;
        let plugins = match host::surroundings(None)?.compile_cache() {
            Some(folder) => plugins.caching_in(CompileCache::at(folder)),
            None => plugins,
        };
        Ok(Self { plugin: LoadedPlugin::load(path, &plugins).await? })
    }

    /// Plays one case.
    ///
    /// # Errors
    ///
    /// Where the case does not say which of the plugin's hooks it is about.
    pub(super) async fn play(&self, case: Case) -> anyhow::Result<Played> {
        match case.task {
            Task::Describe(_) if self.plugin.is_command() => {
                let message = format!("case `{}`: a WASI command describes nothing", printable(&case.name));
                Err(Fault::new(message, "`plugin inspect` shows what its `plugin.json` says").into())
            }
            Task::Describe(described) => {
                let differences = compare::described(&described, self.plugin.info());
                Ok(Played::of(case.name, Duration::ZERO, differences, Outcome::pass().into()))
            }
            Task::Ask(asking) => {
                let spec = self.hook(&asking).with_context(|| format!("case `{}`", printable(&case.name)))?;
                let began = Instant::now();
                let asked = self.ask(&spec, &asking).await;
                let took = began.elapsed();
                let differences = compare::asked(&asking.expected, asking.log.as_deref(), &asked);
                Ok(Played::of(case.name, took, differences, asked))
            }
        }
    }

    async fn ask(&self, spec: &HookSpec, asking: &Asking) -> Asked {
        let Asking { event, cx, project, recheck, .. } = asking;
        self.plugin.ask(spec, &Happening { event, cx, project: project.as_deref(), recheck: *recheck }).await
    }

    fn hook(&self, asking: &Asking) -> anyhow::Result<HookSpec> {
        let mut spec = self.plugin.hook(&asking.event.name, asking.hook.as_deref())?;
        if let (HookKind::Callback(callback), Some(config)) = (&mut spec.kind, &asking.config) {
            callback.config.clone_from(config);
        }
        spec.timeout = asking.timeout.or(spec.timeout);
        Ok(spec)
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
