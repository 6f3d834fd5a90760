//! One case: what a plugin is asked, in which surroundings, and what it has to say.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::diagnostic::printable;
use crate::event::{Agent, Context, Event, EventName, Object, Original};

use super::super::super::announcement::{Announcement, event, found};
use super::super::super::moment::Moment;
use super::expected::{Described, Expected, LogPattern};
use super::keys::Keys;

/// The keys of a case.
pub(super) const KEYS: [&str; 25] = [
    "name",
    "event",
    "hook",
    "tool",
    "input",
    "output",
    "config",
    "session",
    "rootSession",
    "turn",
    "cwd",
    "project",
    "agentId",
    "agentType",
    "parentAgentId",
    "agentDepth",
    "toolUseId",
    "attempt",
    "recheck",
    "originalInput",
    "changedBy",
    "timeout",
    "expect",
    "log",
    "describe",
];

/// One case.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) task: Task,
}

/// What is done in it.
#[derive(Debug)]
pub(super) enum Task {
    /// What the plugin said of itself is looked at.
    Describe(Described),
    /// It is asked.
    Ask(Box<Asking>),
}

/// One asking.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) event: Event,
    pub(super) cx: Context,
    pub(super) project: Option<PathBuf>,
    /// The plugin's own name for its hook; without it, its only one of this event.
    pub(super) hook: Option<String>,
    pub(super) config: Option<Object>,
    pub(super) recheck: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) expected: Expected,
    pub(super) log: Option<Vec<LogPattern>>,
}

impl Case {
    /// The `n`th of its file.
    pub(super) fn read(object: &Object, n: usize) -> anyhow::Result<Self> {
        let name = match object.get("name") {
            Some(Value::String(name)) => name.clone(),
            Some(other) => bail!("case {n}: `name` must be a string, found {}", found(other)),
            None => bail!("case {n}: `name` is missing"),
        };
        let what = format!("case `{}`", printable(&name));
        let task = match object.get("describe") {
            Some(described) => {
                Keys::of(object, &["name", "describe"], &what)?;
                Task::Describe(Described::read(described, &format!("{what}: `describe`"))?)
            }
            None => Task::Ask(Box::new(Asking::read(&Keys::of(object, &KEYS, &what)?, &what, n)?)),
        };
        Ok(Self { name, task })
    }
}

impl Asking {
    fn read(keys: &Keys<'_>, what: &str, n: usize) -> anyhow::Result<Self> {
        let expected = keys.get("expect").with_context(|| format!("{what}: `expect` is missing"))?;
        let name = event(&keys.needed("event")?).context(what.to_owned())?;
        let cx = context(keys, n)?;
        Ok(Self {
            event: happening(keys, name, &cx).context(what.to_owned())?,
            cx,
            project: keys.text("project")?.map(PathBuf::from),
            hook: keys.text("hook")?,
            config: keys.object("config")?,
            recheck: keys.flag("recheck")?,
            timeout: keys.seconds("timeout")?.map(Duration::from_secs_f64),
            expected: Expected::read(expected, what)?,
            log: keys.list("log")?.map(|lines| LogPattern::read_all(lines, what)).transpose()?,
        })
    }
}

/// Without a session of its own, no other case sees what this one kept.
fn context(keys: &Keys<'_>, n: usize) -> anyhow::Result<Context> {
    let session = keys.text("session")?.unwrap_or_else(|| format!("case {n}"));
    let root = keys.text("rootSession")?.unwrap_or_else(|| session.clone());
    Ok(Context {
        root_session: root.into(),
        turn: keys.number("turn")?.unwrap_or_default(),
        cwd: keys.text("cwd")?.map(PathBuf::from),
        agent: Agent {
            id: keys.text("agentId")?.map(Into::into),
            kind: keys.text("agentType")?,
            parent: keys.text("parentAgentId")?.map(Into::into),
            depth: keys.number("agentDepth")?.unwrap_or_default(),
        },
        ..Context::new(session)
    })
}

/// The event as the host would announce it, with the payload that it has in truth.
fn happening(keys: &Keys<'_>, name: EventName, cx: &Context) -> anyhow::Result<Event> {
    let mut input = keys.object("input")?.unwrap_or_default();
    match keys.number("attempt")? {
        Some(attempt) if name == EventName::Stop => {
            input.insert("attempt".to_owned(), attempt.into());
        }
        Some(_) => bail!("`attempt` is not read: {name} has none"),
        None => {}
    }
    let said = Announcement { tool: keys.text("tool")?, input, output: keys.text("output")?, ..blank(&name) };
    let (moment, _, doubts) = Moment::of(said)?;
    if let Some(doubt) = doubts.first() {
        bail!("{doubt}");
    }
    let mut event = moment.event(cx);
    event.tool_use_id = keys.text("toolUseId")?;
    event.original = original(keys)?;
    let after = [EventName::PostToolUse, EventName::PostToolUseFailure].contains(&name);
    match () {
        () if event.original.is_some() && !after => bail!("`originalInput` is not read: at {name} no tool has run"),
        () if event.tool_use_id.is_some() && !name.class().tool => {
            bail!("`toolUseId` is not read: {name} is about no tool")
        }
        () => Ok(event),
    }
}

fn blank(name: &EventName) -> Announcement {
    Announcement::new(name.clone(), None)
}

fn original(keys: &Keys<'_>) -> anyhow::Result<Option<Original>> {
    let changed_by = keys.texts("changedBy")?.into_iter().map(Into::into).collect();
    match keys.object("originalInput")? {
        Some(input) => Ok(Some(Original { input, changed_by })),
        None if keys.has("changedBy") => bail!("`changedBy` goes with `originalInput`"),
        None => Ok(None),
    }
}
