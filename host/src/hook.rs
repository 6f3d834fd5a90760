//! What is registered: a hook's event, name, tests, kind and rules, as plain data that can be compared and printed.
//!
//! Owns no compiled plugin and no process: a [`HookSpec`] says what to run, an executor runs it; [`sight`] says whether it
//! matches.

pub mod sight;

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::diagnostic::Place;
use crate::event::{Context, Event, EventName, Object};
use crate::id::HookName;
use crate::limits::LimitsSaid;
pub use crate::matching::Dialect;
use crate::matching::{Condition, Matcher};
use crate::outcome::Outcome;
use crate::permission::Permissions;

/// The variables that the host sets for a command; a hook's own `env` cannot (HOOKS.md, 3).
pub const OUR_VARIABLES: [&str; 24] = [
    "CLAUDE_SESSION_ID",
    "CLAUDE_TOOL_NAME",
    "CLAUDE_TOOL_INPUT",
    "CLAUDE_TOOL_OUTPUT",
    "CLAUDE_CWD",
    "CLAUDE_AGENT_ID",
    "CLAUDE_AGENT_TYPE",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_ENV_FILE",
    "HOOK_EVENT",
    "HOOK_SESSION_ID",
    "HOOK_ROOT_SESSION_ID",
    "HOOK_DISPATCH_ID",
    "HOOK_TOOL_NAME",
    "HOOK_PROMPT",
    "HOOK_PARENT_AGENT_ID",
    "HOOK_AGENT_DEPTH",
    "HOOK_ATTEMPT",
    "HOOK_RECHECK",
    "HOOK_FILE_PATH",
    "CLAUDE_TOOL_INPUT_FILE",
    "CLAUDE_TOOL_OUTPUT_FILE",
    "HOOK_PROMPT_FILE",
];

/// Up to which attempt of a turn a hook's block of a Stop counts, where the hook does not say.
pub const MOST_ATTEMPTS: u32 = 8;

/// The longest timeout a hook may have.
pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(300);

/// A hook as it is registered.
#[derive(Clone, Debug, PartialEq)]
pub struct HookSpec {
    /// The event it is asked at.
    pub event: EventName,
    /// Its name.
    pub name: HookName,
    /// Whether its author wrote that name; made-up names take no part in replacing and disabling.
    pub named: bool,
    /// Tested against the tool's name, where the event has a matcher.
    pub matcher: Matcher,
    /// `if`: tested against the tool's arguments.
    pub condition: Option<Condition>,
    /// What to run.
    pub kind: HookKind,
    /// How long it may take; `None` is the kind's default.
    pub timeout: Option<Duration>,
    /// Once per session.
    pub once: bool,
    /// What a missing answer means; `None` is the default of kind and event.
    pub on_error: Option<OnError>,
    /// Stop: up to which attempt of a turn its block counts; `None` is 8.
    pub max_attempts: Option<u32>,
    /// Whether no other scope may replace it; in user settings alone.
    pub is_final: bool,
    /// Where it was written.
    pub place: Place,
}

impl HookSpec {
    /// A hook with everything else at its default: every tool, no condition, the kind's timeout.
    pub fn new(event: EventName, name: impl Into<HookName>, kind: HookKind) -> Self {
        Self {
            event,
            name: name.into(),
            named: true,
            matcher: Matcher::everything(),
            condition: None,
            kind,
            timeout: None,
            once: false,
            on_error: None,
            max_attempts: None,
            is_final: false,
            place: Place::default(),
        }
    }

    /// How long it may take.
    pub fn time_limit(&self) -> Duration {
        self.timeout.unwrap_or_else(|| self.kind.default_timeout()).min(LONGEST_TIMEOUT)
    }

    /// What a missing answer of it means (HOOKS.md, 2).
    pub fn means_by_silence(&self) -> OnError {
        self.on_error.unwrap_or_else(|| self.kind.default_on_error(&self.event))
    }

    /// Up to which attempt of a turn its block of a Stop counts.
    pub fn most_attempts(&self) -> u32 {
        self.max_attempts.unwrap_or(MOST_ATTEMPTS)
    }

    /// The name under which a plugin is told which of its hooks is meant: `function` in settings, else its own.
    pub fn told_name(&self) -> &str {
        match &self.kind {
            HookKind::Callback(CallbackHook { function: Some(function), .. }) => function,
            _ => self.name.as_str(),
        }
    }

    /// Whether it only looks on, and is not asked about another hook's rewrite.
    pub fn observes(&self) -> bool {
        matches!(self.kind, HookKind::Function(FunctionHook::Async { observes: true, .. }))
    }

    /// Whether it is the same as `other` in everything but name and place.
    pub fn same_effect(&self, other: &Self) -> bool {
        self.event == other.event
            && self.matcher == other.matcher
            && self.condition == other.condition
            && self.kind == other.kind
            && self.time_limit() == other.time_limit()
            && self.once == other.once
            && self.means_by_silence() == other.means_by_silence()
            && self.on_error == other.on_error
            && self.most_attempts() == other.most_attempts()
    }
}

/// What a missing answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnError {
    /// It is reported, and the chain goes on.
    Pass,
    /// It blocks.
    Block,
}

/// What to do about a payload that is too large for the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnCut {
    /// Hand over a cut copy, beside files that hold it whole.
    #[default]
    Run,
    /// Block the call unseen.
    Block,
}

/// How a hook runs.
#[derive(Clone, Debug, PartialEq)]
pub enum HookKind {
    /// A shell command.
    Command(CommandHook),
    /// A WASM component.
    Callback(CallbackHook),
    /// Code of the embedder's, in process.
    Function(FunctionHook),
    /// A fixed text.
    Inject(InjectHook),
    /// A question to a model.
    Prompt(PromptHook),
}

/// The name of a hook's kind, as `type` in settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KindName {
    /// A shell command.
    Command,
    /// A WASM component.
    Callback,
    /// Code of the embedder's.
    Function,
    /// A fixed text.
    Inject,
    /// A question to a model.
    Prompt,
}

impl KindName {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Callback => "callback",
            Self::Function => "function",
            Self::Inject => "inject",
            Self::Prompt => "prompt",
        }
    }
}

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl HookKind {
    /// Its name.
    pub fn name(&self) -> KindName {
        match self {
            Self::Command(_) => KindName::Command,
            Self::Callback(_) => KindName::Callback,
            Self::Function(_) => KindName::Function,
            Self::Inject(_) => KindName::Inject,
            Self::Prompt(_) => KindName::Prompt,
        }
    }

    /// How long it may take where nothing else is said: 300 s for a command, 30 s for a question to a model,
    /// 5 s in the sandbox and in process.
    pub fn default_timeout(&self) -> Duration {
        match self {
            Self::Command(_) => Duration::from_secs(300),
            Self::Prompt(_) => Duration::from_secs(30),
            Self::Callback(_) | Self::Function(_) | Self::Inject(_) => Duration::from_secs(5),
        }
    }

    /// What a missing answer means where nothing else is said: a sandbox's limits can be provoked by a padded payload,
    /// so on a gate a plugin's silence blocks, and so does a function's.
    pub fn default_on_error(&self, event: &EventName) -> OnError {
        match self {
            // Nobody waits for what one that only looks on has to say.
            Self::Function(FunctionHook::Async { observes: true, .. }) => OnError::Pass,
            Self::Callback(_) | Self::Function(_) if event.class().gate => OnError::Block,
            _ => OnError::Pass,
        }
    }
}

/// A shell command (HOOKS.md, 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandHook {
    /// The shell text; with `args`, the program.
    pub command: String,
    /// With these, no shell is started.
    pub args: Option<Vec<String>>,
    /// Which shell.
    pub shell: Shell,
    /// What is added to the environment, and which secrets are kept.
    pub env: HookEnv,
    /// How the payload goes in and the answer is read.
    pub dialect: Dialect,
    /// What to do about a payload that is too large for the environment.
    pub on_cut: OnCut,
    /// The folder of its package, where it belongs to one: `CLAUDE_PLUGIN_ROOT`.
    pub plugin_root: Option<PathBuf>,
}

impl CommandHook {
    /// A command for `bash`, in the freecode dialect.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            args: None,
            shell: Shell::Bash,
            env: HookEnv::default(),
            dialect: Dialect::Freecode,
            on_cut: OnCut::Run,
            plugin_root: None,
        }
    }
}

/// Which shell runs a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shell {
    /// `bash -c`.
    #[default]
    Bash,
    /// `pwsh -NoProfile -NonInteractive -Command`.
    Powershell,
}

/// A hook's own part of its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEnv {
    /// These of the host's variables are kept, secrets or not.
    Keep(Vec<String>),
    /// These are set.
    Set(Vec<(String, String)>),
}

impl Default for HookEnv {
    fn default() -> Self {
        Self::Keep(Vec::new())
    }
}

/// A hook that a plugin answers: a WASM component, or a WASI command.
#[derive(Clone, Debug, PartialEq)]
pub struct CallbackHook {
    /// The component's file, or the folder of its package.
    pub plugin: PathBuf,
    /// Which of the plugin's hooks it is; without it, the hook's own name is told to the plugin.
    pub function: Option<String>,
    /// What the plugin reads as its `config`.
    pub config: Object,
    /// What the plugin is granted.
    pub grant: Permissions,
    /// What is said of its limits.
    pub limits: LimitsSaid,
    /// How long its instance lives, where somebody says.
    pub instance: Option<Lifetime>,
}

impl CallbackHook {
    /// A hook of this plugin, with everything else at its default.
    pub fn new(plugin: impl Into<PathBuf>) -> Self {
        Self {
            plugin: plugin.into(),
            function: None,
            config: Object::new(),
            grant: Permissions::default(),
            limits: LimitsSaid::default(),
            instance: None,
        }
    }
}

/// How long an instance of a plugin lives, and with it what it has in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// Each call has a fresh one.
    #[default]
    Call,
    /// One for the calls of a session, one at a time.
    Session,
}

impl Lifetime {
    /// The one of this word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Call, Self::Session].into_iter().find(|one| one.as_str() == word)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Session => "session",
        }
    }
}

/// A fixed text as context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectHook {
    /// The text.
    pub text: String,
}

/// One question to a model (HOOKS.md, 13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptHook {
    /// What the model is asked; `$ARGUMENTS` in it stands for the payload.
    pub prompt: String,
    /// Which model; without it, the provider's own choice.
    pub model: Option<String>,
}

impl PromptHook {
    /// A question to whatever model the provider has.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), model: None }
    }
}

/// A future that an embedder's function gives back.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

type GateFn = dyn Fn(&Event, &Context, &[Value]) -> bool + Send + Sync;
type AsyncFn = dyn Fn(Event, Context) -> BoxFuture<'static, Outcome> + Send + Sync;

/// Code of the embedder's.
#[derive(Clone)]
pub enum FunctionHook {
    /// Runs at once, is trusted and has no timeout: false blocks.
    Gate {
        /// What the model is told when it blocks.
        reason: String,
        /// The gate, over event, context and history.
        gate: Arc<GateFn>,
    },
    /// Is awaited; its timeout is kept at its await points.
    Async {
        /// It only looks on: it is not asked about another hook's rewrite.
        observes: bool,
        /// The function.
        run: Arc<AsyncFn>,
    },
}

impl FunctionHook {
    /// A gate that blocks with `reason` where it gives false.
    pub fn gate(
        reason: impl Into<String>,
        gate: impl Fn(&Event, &Context, &[Value]) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::Gate { reason: reason.into(), gate: Arc::new(gate) }
    }

    /// A function that answers like any other hook.
    pub fn new<F, T>(run: F) -> Self
    where
        F: Fn(Event, Context) -> T + Send + Sync + 'static,
        T: Future<Output = Outcome> + Send + 'static,
    {
        Self::Async { observes: false, run: Arc::new(move |event, cx| Box::pin(run(event, cx))) }
    }

    /// A function that only looks on: it answers nothing, and is not asked about another hook's rewrite.
    pub fn observer<F, T>(run: F) -> Self
    where
        F: Fn(Event, Context) -> T + Send + Sync + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let run = move |event, cx| -> BoxFuture<'static, Outcome> {
            let seen = run(event, cx);
            Box::pin(async move {
                seen.await;
                Outcome::pass()
            })
        };
        Self::Async { observes: true, run: Arc::new(run) }
    }
}

impl PartialEq for FunctionHook {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Gate { gate: a, .. }, Self::Gate { gate: b, .. }) => Arc::ptr_eq(a, b),
            (Self::Async { run: a, .. }, Self::Async { run: b, .. }) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl fmt::Debug for FunctionHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gate { .. } => "Gate",
            Self::Async { observes: true, .. } => "Observer",
            Self::Async { .. } => "Async",
        })
    }
}

impl From<CommandHook> for HookKind {
    fn from(hook: CommandHook) -> Self {
        Self::Command(hook)
    }
}

impl From<FunctionHook> for HookKind {
    fn from(hook: FunctionHook) -> Self {
        Self::Function(hook)
    }
}

impl From<CallbackHook> for HookKind {
    fn from(hook: CallbackHook) -> Self {
        Self::Callback(hook)
    }
}

impl From<PromptHook> for HookKind {
    fn from(hook: PromptHook) -> Self {
        Self::Prompt(hook)
    }
}

impl From<InjectHook> for HookKind {
    fn from(hook: InjectHook) -> Self {
        Self::Inject(hook)
    }
}
