//! What an executor is given, and what it gives back: the one shape for every kind of hook.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::event::{Context, Event};
use crate::hook::HookSpec;
use crate::id::DispatchId;
use crate::life::SessionLife;
use crate::matching::Commands;
use crate::outcome::{Cause, Outcome};
use crate::surroundings::Surroundings;

/// One hook's asking.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The hook.
    pub hook: &'a HookSpec,
    /// The event, as this hook is to see it.
    pub event: &'a Event,
    /// Where it happens.
    pub cx: &'a Context,
    /// The session's life in which the dispatch began.
    pub life: &'a SessionLife,
    /// The dispatch.
    pub dispatch: &'a DispatchId,
    /// What a shell parser made of the tool's command, where the tool has one.
    pub commands: Option<&'a Commands>,
    /// The input is another hook's rewrite: a block counts, a rewrite does not.
    pub recheck: bool,
    /// The machine.
    pub surroundings: &'a Surroundings,
    /// How long it may take.
    pub time_limit: Duration,
    /// Kept by whatever the call starts that may outlast it, until that has ended.
    pub lease: &'a Lease,
}

impl Ask<'_> {
    /// To be asked right before the hook's effect is begun, however long it took to get there.
    ///
    /// # Errors
    ///
    /// Where the session has ended meanwhile: then nothing is begun.
    pub fn may_begin(&self) -> Result<(), Cause> {
        if self.life.has_ended() { Err(Cause::SessionEnded) } else { Ok(()) }
    }
}

/// Held by what a call leaves behind that is still to end, a process group perhaps: whoever dropped the hook waits for it.
#[derive(Clone)]
pub struct Lease(#[expect(dead_code, reason = "it only has to be there")] Arc<dyn Any + Send + Sync>);

impl Lease {
    /// On what lives as long as the lease does.
    pub fn on(what: Arc<dyn Any + Send + Sync>) -> Self {
        Self(what)
    }
}

impl Default for Lease {
    /// Nobody waits for it.
    fn default() -> Self {
        Self(Arc::new(()))
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lease")
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The answer.
    pub outcome: Outcome,
    /// The hook saw a cut copy of the payload.
    pub cut: bool,
    /// Environment variables it exported (SessionStart).
    pub exports: Vec<(String, String)>,
    /// What a plugin logged.
    pub log: Vec<LogLine>,
    /// What is to be said about it: keys that were ignored, a folder that is gone.
    pub warnings: Vec<String>,
}

impl From<Outcome> for Asked {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, cut: false, exports: Vec::new(), log: Vec::new(), warnings: Vec::new() }
    }
}

/// One line of a plugin's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How important its author found it.
    pub level: LogLevel,
    /// What it says.
    pub message: String,
}

/// How important a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogLevel {
    /// Every step.
    Trace,
    /// For the plugin's author.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is not as it should be.
    Warn,
    /// Something failed.
    Error,
}

impl LogLevel {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}
