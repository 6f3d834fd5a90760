//! What a dispatch leaves behind beside its verdict: who ran, what each said, who decided.

mod explain;

use std::time::Duration;

pub use explain::{ELSEWHERE, Entry, Explained, Purpose, Trail, why};

use crate::ask::LogLine;
use crate::diagnostic::Diagnostic;
use crate::event::{DecidedBy, EventName};
use crate::hook::KindName;
use crate::id::{DispatchId, Generation, HookName, Revision};
use crate::outcome::{Ending, Outcome};
use crate::source::Source;

/// A verdict and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<V> {
    /// The verdict.
    pub verdict: V,
    /// How it came about.
    pub report: Report,
}

/// How a verdict came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The event.
    pub event: EventName,
    /// The dispatch.
    pub dispatch: DispatchId,
    /// The registry's revision that it worked on.
    pub revision: Revision,
    /// The hooks that ran, failed, or matched and were kept from running, in order.
    pub hooks: Vec<HookReport>,
    /// Whose word the verdict is, where one hook's is.
    pub decided_by: Option<DecidedBy>,
    /// The hook whose rewrite is to run, where one is.
    pub rewritten_by: Option<DecidedBy>,
    /// What a person is to be shown.
    pub messages: Vec<String>,
    /// What went wrong, with hook and cause.
    pub warnings: Vec<Diagnostic>,
    /// How long the dispatch took.
    pub took: Duration,
    /// What it worked on; `None` where no host made the report.
    pub trail: Option<Trail>,
}

impl Report {
    /// Of a dispatch in which nothing has happened yet.
    pub fn new(event: EventName, dispatch: DispatchId, revision: Revision) -> Self {
        Self {
            event,
            dispatch,
            revision,
            hooks: Vec::new(),
            decided_by: None,
            rewritten_by: None,
            messages: Vec::new(),
            warnings: Vec::new(),
            took: Duration::ZERO,
            trail: None,
        }
    }
}

/// What became of one hook.
#[derive(Clone, Debug, PartialEq)]
pub struct HookReport {
    /// Its name.
    pub name: HookName,
    /// Who brought it.
    pub source: Source,
    /// Which registration of that source brought it.
    pub generation: Generation,
    /// How it runs.
    pub kind: KindName,
    /// What it answered; `None` where it did not run.
    pub outcome: Option<Outcome>,
    /// Why it did not run.
    pub skipped: Option<Skipped>,
    /// What it answered about another hook's rewrite.
    pub recheck: Option<Outcome>,
    /// How long it took, all askings together.
    pub took: Duration,
    /// It saw a cut copy of the payload.
    pub cut: bool,
    /// What it logged.
    pub log: Vec<LogLine>,
}

/// Why a hook that matched did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skipped {
    /// Settings disable it.
    Disabled,
    /// It has run in this session, and is to run once.
    Once,
    /// It equals one that ran.
    Duplicate,
    /// It failed too often in a row in this session.
    SetAside,
    /// The dispatch's budget was used up before its turn came.
    Budget,
    /// Its session ended before its turn came.
    SessionEnded,
}

impl Skipped {
    /// Why, in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled by settings",
            Self::Once => "has run once in this session",
            Self::Duplicate => "equals a hook that is asked before it",
            Self::SetAside => "failed too often in a row, and is set aside for this session",
            Self::Budget => "the dispatch's budget was used up",
            Self::SessionEnded => "its session had ended",
        }
    }
}

/// A hook's end in one word (HOOKS.md, 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// It went on.
    Continued,
    /// It blocked.
    Blocked,
    /// It changed something.
    Modified,
    /// It gave no answer.
    Failed,
    /// It did not run.
    Skipped,
}

impl Word {
    /// That of an answer.
    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Block(_) => Self::Blocked,
            Outcome::NoAnswer(_) => Self::Failed,
            Outcome::Continue(change) if change.input.is_some() || change.output.is_some() => Self::Modified,
            Outcome::Continue(_) => Self::Continued,
        }
    }

    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Continued => "continued",
            Self::Blocked => "blocked",
            Self::Modified => "modified",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl HookReport {
    /// Its end in one word; what it said about a rewrite counts where it says more than the first asking did.
    pub fn word(&self) -> Word {
        self.deciding().map_or(Word::Skipped, Word::of)
    }

    /// How its asking ended; `None` where it did not run.
    pub fn ending(&self) -> Option<Ending> {
        self.deciding().map(Outcome::ending)
    }

    /// The reason it gave, if any.
    pub fn reason(&self) -> Option<&str> {
        match self.deciding()? {
            Outcome::Block(block) => Some(&block.reason),
            Outcome::Continue(change) => change.reason.as_deref(),
            Outcome::NoAnswer(_) => None,
        }
    }

    /// What went wrong, if anything did.
    pub fn error(&self) -> Option<String> {
        match self.deciding()? {
            Outcome::NoAnswer(cause) => Some(cause.to_string()),
            _ => None,
        }
    }

    /// The answer that counts of the two.
    pub fn deciding(&self) -> Option<&Outcome> {
        match (&self.outcome, &self.recheck) {
            (_, Some(again @ (Outcome::Block(_) | Outcome::NoAnswer(_)))) => Some(again),
            (Some(first), _) => Some(first),
            (None, again) => again.as_ref(),
        }
    }
}
