//! Building a host: trust has no default, everything else does.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::aside::AsideSet;
use crate::bus::Bus;
use crate::diagnostic::Diagnostic;
use crate::dispatch::Dispatcher;
use crate::dispatch::fold::InputView;
use crate::event::{CustomEvent, Events};
use crate::life::SessionLives;
use crate::matching::ToolTable;
use crate::once::OnceSet;
use crate::policy::MayApprove;
use crate::port::{Audit, Model, Ports, Sink};
use crate::registry::{Registry, Reloading};
use crate::session::OpenSessions;
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::trust::TrustedBy;

use super::Runtime;
use super::load::Loading;
use super::sandbox::Sandbox;

/// Builds a [`Runtime`].
///
/// The defaults:
///
/// - settings: `~/.freecode/settings.json` and `.freecode/settings.json` of the project are read
/// - tools: `bash`, `edit`, `write` and `read`, not complete
/// - events: the fifteen built-in ones
/// - model: none; a prompt hook gives no answer
/// - sink: none; no dispatch is recorded
/// - approvals: of every source; of plugins in the sandbox where that was granted
/// - a chain sees the arguments as the model gave them
/// - the compiled code of plugins is kept nowhere: each host compiles anew
/// - budget: none; a dispatch may take as long as its hooks may together
/// - audit: none; nothing is counted
/// - not guarded: a reload is whole, and takes from gates what is no longer in the files
/// - not strict: what is wrong with a settings file is said, and the rest of it works
#[derive(Debug)]
pub struct RuntimeBuilder {
    trust: TrustedBy,
    surroundings: Surroundings,
    events: Vec<CustomEvent>,
    ports: Ports,
    tools: ToolTable,
    may_approve: MayApprove,
    view: InputView,
    settings: bool,
    strict: bool,
    reloading: Reloading,
    compile_cache: Option<PathBuf>,
    budget: Option<Duration>,
}

/// Why a host is not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A strict host found something wrong with hooks on gates.
    #[error("{} wrong with hooks on gates, and the host is strict: {}", things(.0.len()), listed(.0))]
    Strict(Vec<Diagnostic>),
}

fn things(count: usize) -> String {
    match count {
        1 => "one thing is".to_owned(),
        many => format!("{many} things are"),
    }
}

fn listed(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl RuntimeBuilder {
    pub(super) fn new(trust: TrustedBy, surroundings: Surroundings) -> Self {
        Self {
            trust,
            surroundings,
            events: Vec::new(),
            ports: Ports::default(),
            tools: ToolTable::default(),
            may_approve: MayApprove::default(),
            view: InputView::default(),
            settings: true,
            strict: false,
            reloading: Reloading::Whole,
            compile_cache: None,
            budget: None,
        }
    }

    /// Declares an event of the embedder's own; settings may then name it.
    #[must_use]
    pub fn event(mut self, event: CustomEvent) -> Self {
        self.events.push(event);
        self
    }

    /// The model that prompt hooks ask.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.ports.model = Some(model);
        self
    }

    /// Where each dispatch is recorded, with digests instead of contents: a file
    /// ([`JsonLines`](crate::sink::JsonLines)), or whatever the embedder has. Without one nothing is digested.
    #[must_use]
    pub fn sink(mut self, sink: Arc<dyn Sink>) -> Self {
        self.ports.sink = Some(sink);
        self
    }

    /// The agent's tools: which argument is a command, which a path.
    #[must_use]
    pub fn tools(mut self, tools: ToolTable) -> Self {
        self.tools = tools;
        self
    }

    /// Takes approvals from these sources alone.
    #[must_use]
    pub fn sources_that_may_approve(mut self, sources: impl IntoIterator<Item = Source>) -> Self {
        self.may_approve = MayApprove::Only(sources.into_iter().collect());
        self
    }

    /// What a chain of hooks sees of the arguments.
    #[must_use]
    pub fn input_view(mut self, view: InputView) -> Self {
        self.view = view;
        self
    }

    /// Reads no settings files: hooks come from code and packages alone.
    #[must_use]
    pub fn without_settings(mut self) -> Self {
        self.settings = false;
        self
    }

    /// Keeps the compiled code of plugins where the person's is kept ([`Surroundings::compile_cache`]), and takes it from
    /// there: loading a plugin for the second time then takes milliseconds.
    ///
    /// Off unless asked for, since whoever can write to that folder can run code in this process: an agent whose tools,
    /// though sandboxed, may write to it should have a place of its own ([`RuntimeBuilder::compile_cache_in`]), or none.
    #[must_use]
    pub fn compile_cache(mut self) -> Self {
        self.compile_cache = self.surroundings.compile_cache();
        self
    }

    /// Keeps the compiled code of plugins in this folder instead. It is made with mode 0700, or has it and is this
    /// user's; else it is not used.
    #[must_use]
    pub fn compile_cache_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.compile_cache = Some(folder.into());
        self
    }

    /// Is told of the hooks of each session when they are dropped: what they were, how often each was asked, and how
    /// that ended.
    #[must_use]
    pub fn audit(mut self, audit: Arc<dyn Audit>) -> Self {
        self.ports.audit = Some(audit);
        self
    }

    /// How long a dispatch may take as a whole, its recheck included. Each hook's time limit is at most what is left.
    ///
    /// When it is over, no further hook is asked, and the report says so of each. On a gate that blocks whatever the
    /// hook's `onError` says, and so does a hook whose time it cut short; a tool's output or error is withheld.
    /// Elsewhere it is only reported.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Guards the gates against reloads: what is new counts at once, but a hook on a gate that is gone, has changed in any
    /// way, is replaced or disabled, or whose plugin has other bytes, stays in force until [`Runtime::accept`]. An agent
    /// that can write its user's settings or plugins must not disarm its guards.
    ///
    /// What the embedder itself registers, loads and drops is its own word, and is done at once.
    #[must_use]
    pub fn guarded_reload(mut self) -> Self {
        self.reloading = Reloading::Guarded;
        self
    }

    /// Takes what is wrong with hooks on gates for an error.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Reads the settings, loads the plugins that they name, and makes the host.
    ///
    /// # Errors
    ///
    /// Only where the host is strict: otherwise what is wrong with a settings file is in
    /// [`Runtime::diagnostics`], and the rest of it works.
    pub async fn build(self) -> Result<Runtime, BuildError> {
        let sandbox = Sandbox::new(self.compile_cache, self.surroundings.clone());
        let runtime = Runtime {
            dispatcher: Dispatcher {
                registry: Registry::new(self.reloading),
                surroundings: self.surroundings,
                ports: self.ports,
                tools: Arc::new(self.tools),
                may_approve: self.may_approve,
                view: self.view,
                once: OnceSet::default(),
                lives: SessionLives::default(),
                sessions: OpenSessions::default(),
                aside: AsideSet::default(),
                budget: self.budget,
                bus: Bus::default(),
            },
            events: Events::with(self.events),
            loading: Loading::new(self.settings, self.trust, sandbox),
            diagnostics: Default::default(),
            dropped: Default::default(),
            shutdown: Default::default(),
        };
        let doubts: Vec<_> = runtime.loading.trusting.doubts().into_iter().collect();
        runtime.say(&doubts);
        let loaded = runtime.reload().await;
        let on_gates: Vec<_> = loaded.diagnostics.into_iter().filter(|said| runtime.is_about_a_gate(said)).collect();
        if self.strict && !on_gates.is_empty() {
            return Err(BuildError::Strict(on_gates));
        }
        Ok(runtime)
    }
}

impl Runtime {
    /// Whether a warning is about a hook on a gate. An event nobody knows may have been meant to be one, and so may
    /// anything in a file that could not be read.
    fn is_about_a_gate(&self, said: &Diagnostic) -> bool {
        let event = said.place.event.as_deref().map(|name| self.events.named(name));
        !matches!(event, Some(Some(event)) if !event.class().gate)
    }
}
