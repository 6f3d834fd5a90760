//! One dispatch as one line of a record: who ran, how each ended, what was decided, and no content.
//!
//! What an agent's model, its tools or a hook wrote stands here as a digest: with the text at hand one can see that it is
//! the one, and without it one learns nothing but its size. (A short text can be guessed: a digest is no secret.) Names are
//! shown as they are: of hooks, sources, tools, sessions and agents. Where lines go is for [`Sink`](crate::port::Sink).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::event::{Context, DecidedBy, Decision, Event, Object, Summary};
use crate::outcome::{Ending, Outcome};
use crate::plugin;
use crate::report::{HookReport, Purpose, Report, Skipped};

/// A text of which only this much is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Digested {
    /// Its SHA-256, as 64 digits in lower case.
    pub sha256: String,
    /// Its length.
    pub bytes: usize,
}

impl Digested {
    /// Of a text: its UTF-8 bytes.
    pub fn of_text(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    /// Of arguments: their compact JSON, keys in the order in which they were given.
    pub fn of_input(input: &Object) -> Self {
        // A map of JSON values is always JSON.
        Self::of_bytes(&serde_json::to_vec(input).unwrap_or_default())
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        Self { sha256: plugin::Digest::of(bytes).to_string(), bytes: bytes.len() }
    }
}

/// Who, where one hook's word counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct By {
    /// The hook.
    pub hook: String,
    /// Who brought it.
    pub source: String,
}

impl From<&DecidedBy> for By {
    fn from(by: &DecidedBy) -> Self {
        Self { hook: by.hook.to_string(), source: by.source.to_string() }
    }
}

/// One dispatch. What is not known or not there is left out of its JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "dispatch")]
#[non_exhaustive]
pub struct DispatchRecord {
    /// When it ended, in milliseconds since 1970 (UTC).
    pub time: u64,
    /// The dispatch.
    pub dispatch: String,
    /// The event.
    pub event: String,
    /// It asked the hooks of PreToolUse about what a PermissionRequest hook wrote.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recheck: bool,
    /// The session.
    pub session: String,
    /// The session at the root of its tree, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_session: Option<String>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What kind of agent it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// How deep it is, where it is a sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The tool, where the event is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The registry's revision.
    pub revision: u64,
    /// The decision, in the verdict's words.
    pub decision: &'static str,
    /// Whose word that is, where it is one hook's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<By>,
    /// Whose rewrite of the arguments is to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewritten_by: Option<By>,
    /// How long it took, in milliseconds.
    pub millis: f64,
    /// What it was about, and what was said.
    #[serde(flatten)]
    pub contents: Contents,
    /// The hooks that ran, or matched and were kept from running.
    pub hooks: Vec<HookRecord>,
    /// How many things went wrong.
    pub warnings: usize,
}

/// What a dispatch was about, and what was said: digests alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Contents {
    /// The arguments, or the event's payload, as they were announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Digested>,
    /// The arguments to run, where they changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_after: Option<Digested>,
    /// The output, the error or the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Digested>,
    /// What replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_after: Option<Digested>,
    /// The verdict's reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Digested>,
    /// What hooks had to add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Digested>,
}

impl Contents {
    /// Of an event and its verdict. It reads whole payloads, which may be megabytes.
    pub fn of(event: Option<&Event>, verdict: &Summary) -> Self {
        let text = |text: &Option<String>| text.as_deref().map(Digested::of_text);
        Self {
            input: event.map(|event| Digested::of_input(&event.input)),
            input_after: verdict.input.as_ref().map(Digested::of_input),
            output: event.and_then(Event::text).map(Digested::of_text),
            output_after: text(&verdict.modified_output),
            reason: text(&verdict.reason),
            context: text(&verdict.context),
        }
    }
}

/// What became of one hook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HookRecord {
    /// Its name.
    pub name: String,
    /// Who brought it.
    pub source: String,
    /// Which registration of that source brought it.
    pub generation: u64,
    /// How it runs.
    pub kind: &'static str,
    /// Its end in one word.
    pub outcome: &'static str,
    /// How its asking ended: `answered`, `broke` or `could-not-start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<&'static str>,
    /// Why it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<&'static str>,
    /// What kept it from answering, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'static str>,
    /// It saw a cut copy of the payload.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// How long it took, in milliseconds.
    pub millis: f64,
}

impl DispatchRecord {
    /// Of a dispatch in `cx` that ended at `time`, by its report and its decision, and without [`Contents`].
    pub fn new(report: &Report, decision: Decision, cx: &Context, time: SystemTime) -> Self {
        let event = report.trail.as_ref().map(|trail| &trail.event);
        Self {
            time: since_1970(time),
            dispatch: report.dispatch.to_string(),
            event: report.event.to_string(),
            recheck: report.trail.as_ref().is_some_and(|trail| trail.purpose == Purpose::Recheck),
            session: cx.session.to_string(),
            root_session: (cx.root_session != cx.session).then(|| cx.root_session.to_string()),
            agent_id: cx.agent.id.as_ref().map(ToString::to_string),
            agent_type: cx.agent.kind.clone(),
            depth: Some(cx.agent.depth).filter(|depth| *depth > 0),
            tool: event.filter(|event| event.name.class().tool).map(|event| event.tool.to_string()),
            revision: report.revision.0,
            decision: decision.as_str(),
            decided_by: report.decided_by.as_ref().map(By::from),
            rewritten_by: report.rewritten_by.as_ref().map(By::from),
            millis: millis(report.took),
            contents: Contents::default(),
            hooks: report.hooks.iter().map(HookRecord::new).collect(),
            warnings: report.warnings.len(),
        }
    }

    /// As one line of JSON, with its newline.
    pub fn to_line(&self) -> Vec<u8> {
        // Text and numbers are always JSON; in JSON no text holds a newline.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

impl HookRecord {
    fn new(hook: &HookReport) -> Self {
        let cause = match hook.deciding() {
            Some(Outcome::NoAnswer(cause)) => Some(cause.kind()),
            _ => None,
        };
        Self {
            name: hook.name.to_string(),
            source: hook.source.to_string(),
            generation: hook.generation.0,
            kind: hook.kind.as_str(),
            outcome: hook.word().as_str(),
            ending: hook.ending().map(Ending::as_str),
            skipped: hook.skipped.map(Skipped::as_str),
            cause,
            cut: hook.cut,
            millis: millis(hook.took),
        }
    }
}

fn millis(took: Duration) -> f64 {
    (took.as_secs_f64() * 1e6).round() / 1e3
}

/// A clock that stands before 1970 is not worth a panic.
fn since_1970(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
