//! Why each hook of an event was asked, or was not: in words, and only when somebody wants to know.
//!
//! A report keeps what that takes: what was announced, and who was registered for it, as plain data behind `Arc`s. It
//! keeps no plugin, so that a report which is kept for long does not hold up the end of what was dropped.

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::printable;
use crate::event::{Context, Event};
use crate::hook::HookSpec;
use crate::hook::sight::{Look, Sight};
use crate::id::{Generation, HookName, SessionId};
use crate::matching::{Because, ConditionVerdict, MatcherHit, ToolTable};
use crate::source::{Reach, Source};

use super::{HookReport, Report, Skipped};

/// What is said of a hook whose reach ends elsewhere.
pub const ELSEWHERE: &str = "it belongs to another session";

/// One hook, whether it is asked, and which test decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The hook.
    pub hook: HookName,
    /// Who brought it.
    pub source: Source,
    /// Which registration of that source.
    pub generation: Generation,
    /// Whether it is asked.
    pub asked: bool,
    /// Which test decided.
    pub because: String,
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = if self.asked { "asked" } else { "not asked" };
        let [hook, source, because] = [self.hook.as_str(), &self.source.to_string(), &self.because].map(printable);
        write!(f, "`{hook}` ({source}) {asked}: {because}")
    }
}

/// A hook that is registered for an event: plain data, which keeps nothing alive.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it is.
    pub spec: Arc<HookSpec>,
    /// Who brought it.
    pub source: Source,
    /// Which registration of that source brought it.
    pub generation: Generation,
    /// Where it is asked.
    pub reach: Reach,
    /// Settings switch it off, whatever it matches.
    pub disabled: bool,
}

/// Why hooks are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The event has come.
    Announce,
    /// A later hook rewrote what they were asked about: blocks and permissions count, rewrites and contexts do not.
    Recheck,
}

/// What a dispatch worked on.
#[derive(Clone, PartialEq)]
pub struct Trail {
    /// What was announced.
    pub event: Arc<Event>,
    /// Why.
    pub purpose: Purpose,
    /// The tools, as matching knows them.
    pub tools: Arc<ToolTable>,
    /// Everyone who was registered for the event, in order.
    pub entries: Arc<[Entry]>,
    /// The session.
    pub session: SessionId,
    /// The session at the root of its tree.
    pub root_session: SessionId,
    /// Hooks ran: the project is trusted, or brings nothing to run.
    pub open: bool,
    /// Which line of the report is whose, by the place among those whose reach covers the session.
    pub lines: Vec<(usize, usize)>,
    /// The place of the hook that ended the chain.
    pub ended_at: Option<usize>,
}

impl fmt::Debug for Trail {
    /// A payload may be megabytes, and is nobody's business in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { purpose, session, open, entries, .. } = self;
        f.debug_struct("Trail")
            .field("purpose", purpose)
            .field("session", session)
            .field("open", open)
            .field("hooks", &entries.len())
            .finish_non_exhaustive()
    }
}

impl Trail {
    /// Of a dispatch in which nothing has happened yet.
    pub fn new(
        event: Arc<Event>,
        purpose: Purpose,
        cx: &Context,
        tools: Arc<ToolTable>,
        entries: Arc<[Entry]>,
    ) -> Self {
        let (session, root_session) = (cx.session.clone(), cx.root_session.clone());
        let (lines, ended_at) = (Vec::new(), None);
        Self { event, purpose, tools, entries, session, root_session, open: true, lines, ended_at }
    }
}

impl Report {
    /// For each hook that was registered for the event, in order: whether it was asked, and which test decided. Also
    /// those that did not match, that belong to another session, or that a block before them kept from being asked.
    ///
    /// It is computed now, from what the dispatch worked on: what was registered since makes no difference. That is why
    /// a report keeps the payload as long as it lives. Empty for a report that no host made.
    pub fn explain(&self) -> Vec<Explained> {
        let Some(trail) = &self.trail else { return Vec::new() };
        let look = Look::new(&trail.event, &trail.tools);
        let told = Told { report: self, trail, sight: look.sight(&trail.event) };
        let mut at = 0;
        let explain = |entry: &Entry| {
            let here = entry.reach.covers(&trail.session, &trail.root_session);
            let place = here.then_some(at);
            at += usize::from(here);
            told.explained(entry, place)
        };
        trail.entries.iter().map(explain).collect()
    }
}

/// A report that is being explained.
struct Told<'a> {
    report: &'a Report,
    trail: &'a Trail,
    sight: Sight<'a>,
}

impl Told<'_> {
    fn explained(&self, entry: &Entry, place: Option<usize>) -> Explained {
        let (asked, because) = self.because(entry, place);
        let Entry { spec, source, generation, .. } = entry;
        Explained { hook: spec.name.clone(), source: source.clone(), generation: *generation, asked, because }
    }

    fn because(&self, entry: &Entry, place: Option<usize>) -> (bool, String) {
        let Some(place) = place else { return (false, ELSEWHERE.to_owned()) };
        if !self.trail.open {
            return (false, "the project brings hooks and is not trusted".to_owned());
        }
        match self.line(place) {
            Some(HookReport { skipped: Some(why), .. }) => (false, why.as_str().to_owned()),
            Some(line) => (true, self.asked(entry, line)),
            None => (false, self.not_reached(entry, place)),
        }
    }

    fn line(&self, place: usize) -> Option<&HookReport> {
        let (_, line) = self.trail.lines.iter().find(|(of, _)| *of == place)?;
        self.report.hooks.get(*line)
    }

    fn asked(&self, entry: &Entry, line: &HookReport) -> String {
        let matched = why(&entry.spec, &self.sight);
        match (&line.outcome, &line.recheck) {
            (Some(_), Some(_)) => format!("{matched}; asked again about what another hook wrote"),
            (None, Some(_)) if self.sight.of(&entry.spec).is_err() => {
                format!("what another hook wrote matches; what was announced does not: {matched}")
            }
            _ => matched,
        }
    }

    fn not_reached(&self, entry: &Entry, place: usize) -> String {
        let spec = &entry.spec;
        if self.sight.of(spec).is_err() {
            return why(spec, &self.sight);
        }
        if entry.disabled {
            return Skipped::Disabled.as_str().to_owned();
        }
        match self.trail.ended_at {
            Some(end) if end < place => self.ended_by(end),
            _ if spec.once => "it is to run once, and is not asked about a rewrite".to_owned(),
            _ if spec.observes() => "it only looks on, and is not asked about a rewrite".to_owned(),
            // Nobody says so of those that are asked about a rewrite alone.
            _ => Skipped::Duplicate.as_str().to_owned(),
        }
    }

    fn ended_by(&self, place: usize) -> String {
        let name = self.line(place).map(|line| printable(line.name.as_str())).unwrap_or_default();
        match self.report.event.class().gate {
            true => format!("`{name}` had blocked"),
            false => format!("`{name}` had ended the chain"),
        }
    }
}

/// Which tests of `hook` decide, and how, in words.
pub fn why(hook: &HookSpec, sight: &Sight<'_>) -> String {
    let class = sight.event.name.class();
    let tool = sight.call.tool();
    let matcher = match (class.matcher, hook.matcher.test(tool)) {
        (false, _) => "every hook of this event is asked".to_owned(),
        (true, None) => return format!("matcher `{}` does not fit `{tool}`", hook.matcher.text()),
        (true, Some(hit)) => matched(hook.matcher.text(), tool, hit),
    };
    match &hook.condition {
        Some(condition) if class.tool => {
            format!("{matcher}; {}", tested(condition.text(), &condition.test(&sight.call)))
        }
        _ => matcher,
    }
}

fn matched(matcher: &str, tool: &str, hit: MatcherHit) -> String {
    match hit {
        MatcherHit::Everything => "its matcher takes every tool".to_owned(),
        MatcherHit::Equal => format!("matcher `{matcher}` is `{tool}`"),
        MatcherHit::Pattern => format!("matcher `{matcher}` is found in `{tool}`"),
        MatcherHit::Alternative => format!("an alternative of matcher `{matcher}` is `{tool}`"),
        MatcherHit::PatternLimit => format!("matcher `{matcher}` took too long on `{tool}`, which counts as a match"),
    }
}

fn tested(condition: &str, verdict: &ConditionVerdict<'_>) -> String {
    let ConditionVerdict::Holds { because, .. } = verdict else { return format!("`if` {condition} does not hold") };
    match because {
        Because::Tool => format!("`if` {condition} asks for the tool alone"),
        Because::Values(text) => format!("`if` {condition} holds on all values `{text}`"),
        Because::Value(text) => format!("`if` {condition} holds on the value `{text}`"),
        Because::Command(text) => format!("`if` {condition} holds on the command `{text}`"),
        Because::Unsure(reason) => format!("`if` {condition} cannot vouch for the command: {reason}"),
        Because::Unreadable => format!("`if` {condition} cannot be read, so it holds"),
    }
}
