//! Tells the session: for a person, or as one JSON line a step.

use std::io::Write;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::json;

use crate::Runtime;
use crate::diagnostic::printable;
use crate::event::{Stop, ToolCall};
use crate::gate::Passage;
use crate::hook::KindName;
use crate::id::Revision;
use crate::outcome::{Outcome, Permission};
use crate::report::{Answer, Report};
use crate::runtime::Loaded;

use super::has_run;
use super::world::World;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RAN: Style = AnsiColor::Green.on_default().bold();
const REFUSED: Style = AnsiColor::Red.on_default().bold();
const CHANGED: Style = AnsiColor::Yellow.on_default();

/// The teller, and what it counts.
pub(super) struct Show<'a> {
    out: &'a mut dyn Write,
    json: bool,
    calls: usize,
    refused: usize,
    sandboxed: Askings,
    shell: Askings,
}

/// How often hooks of a kind answered, and how long each took.
#[derive(Default)]
struct Askings(Vec<Duration>);

impl Askings {
    fn median(&mut self) -> Option<Duration> {
        self.0.sort_unstable();
        self.0.get(self.0.len() / 2).copied()
    }
}

impl<'a> Show<'a> {
    pub(super) fn new(out: &'a mut dyn Write, json: bool) -> Self {
        Self { out, json, calls: 0, refused: 0, sandboxed: Askings::default(), shell: Askings::default() }
    }

    pub(super) fn opening(&mut self, world: &World, runtime: &Runtime) -> anyhow::Result<()> {
        let hooks = runtime.hooks();
        if self.json {
            let names: Vec<_> = hooks.iter().map(|hook| hook.spec.name.as_str()).collect();
            return self.line(&json!({"step": "begin", "hooks": names}));
        }
        writeln!(self.out, "An agent works in {}, with these hooks:\n", world.project().display())?;
        for hook in hooks {
            let (name, event) = (hook.spec.name.as_str(), hook.spec.event.as_str());
            let kind = match hook.spec.kind.name() {
                KindName::Callback => "WASM plugin, sandboxed",
                KindName::Command => "shell command",
                KindName::Prompt => "question to a model",
                KindName::Function | KindName::Inject => "built in",
            };
            writeln!(self.out, "  {name:<16} {event:<20} {kind:<24} from {}", hook.source)?;
        }
        writeln!(self.out)?;
        Ok(())
    }

    pub(super) fn prompt(&mut self, turn: u32, says: &str, sent: &str, report: &Report) -> anyhow::Result<()> {
        self.count(report);
        if self.json {
            return self.line(&json!({"step": "prompt", "turn": turn, "prompt": says, "sent": sent}));
        }
        writeln!(self.out, "{BOLD}Turn {turn}{BOLD:#}  a person writes: {says}")?;
        self.hooks(report)?;
        if says != sent {
            writeln!(self.out, "        {CHANGED}sent as{CHANGED:#} {sent}")?;
        }
        writeln!(self.out)?;
        Ok(())
    }

    pub(super) fn call(&mut self, why: &str, call: &ToolCall, passage: &Passage, asked: bool) -> anyhow::Result<()> {
        self.calls += 1;
        self.refused += usize::from(!has_run(passage));
        passage.reports().iter().for_each(|report| self.count(report));
        if self.json {
            return self.json_call(why, call, passage, asked);
        }
        writeln!(self.out, "{BOLD}{:>4}  {}{BOLD:#}  {}", self.calls, call.tool, argument(call))?;
        writeln!(self.out, "      {DIM}{why}{DIM:#}")?;
        for report in passage.reports() {
            self.hooks(report)?;
        }
        if asked {
            writeln!(self.out, "      {CHANGED}a person is asked{CHANGED:#}, and approves")?;
        }
        match passage {
            Passage::Ran { call: ran, raw, .. } => {
                let word = if raw.is_ok() { "ran" } else { "ran and failed" };
                writeln!(self.out, "      {RAN}{word}{RAN:#}  {}", argument(ran))?;
            }
            Passage::Refused { .. } => writeln!(self.out, "      {REFUSED}refused{REFUSED:#}")?,
        }
        for line in passage.for_model().lines() {
            writeln!(self.out, "      {DIM}model reads{DIM:#} {line}")?;
        }
        writeln!(self.out)?;
        Ok(())
    }

    fn json_call(&mut self, why: &str, call: &ToolCall, passage: &Passage, asked: bool) -> anyhow::Result<()> {
        let hooks: Vec<_> = passage.reports().iter().flat_map(|report| &report.hooks).map(|hook| {
            json!({"name": hook.name.as_str(), "outcome": hook.word().as_str(), "millis": hook.took.as_secs_f64() * 1e3})
        }).collect();
        let ran = match passage {
            Passage::Ran { call, .. } => Some(call.input.clone()),
            Passage::Refused { .. } => None,
        };
        self.line(&json!({
            "step": "call", "shows": why, "tool": call.tool.as_str(), "input": call.input,
            "ran": ran, "personAsked": asked, "forModel": passage.for_model(), "hooks": hooks,
        }))
    }

    pub(super) fn skill_begins(&mut self, id: &str, loaded: &Loaded) -> anyhow::Result<()> {
        if self.json {
            return self
                .line(&json!({"step": "skill", "skill": id, "loaded": loaded.hooks, "revision": loaded.revision.0}));
        }
        writeln!(
            self.out,
            "{BOLD}Skill{BOLD:#}  `{id}` is loaded: {}, generation {}, revision {} of the registry\n",
            hooks(loaded.hooks),
            loaded.generation,
            loaded.revision
        )?;
        Ok(())
    }

    pub(super) fn skill_ends(&mut self, id: &str, dropped: usize, revision: Revision) -> anyhow::Result<()> {
        if self.json {
            return self.line(&json!({"step": "skill", "skill": id, "dropped": dropped, "revision": revision.0}));
        }
        writeln!(self.out, "{BOLD}Skill{BOLD:#}  `{id}` is dropped: {}, revision {revision}\n", hooks(dropped))?;
        Ok(())
    }

    pub(super) fn edit(&mut self) -> anyhow::Result<()> {
        if self.json {
            return self.line(&json!({"step": "edit"}));
        }
        writeln!(self.out, "{BOLD}Settings{BOLD:#}  a person adds a guard in another window")?;
        Ok(())
    }

    pub(super) fn reload(&mut self, why: &str, runtime: &Runtime) -> anyhow::Result<()> {
        let held: Vec<_> = runtime.waiting().into_iter().flat_map(|waiting| waiting.hooks).collect();
        if self.json {
            let waiting: Vec<_> = held.iter().map(|held| held.hook.as_str()).collect();
            return self
                .line(&json!({"step": "reload", "shows": why, "revision": runtime.revision().0, "waiting": waiting}));
        }
        writeln!(self.out, "{BOLD}Settings{BOLD:#}  are read anew, revision {} of the registry", runtime.revision())?;
        writeln!(self.out, "      {DIM}{why}{DIM:#}")?;
        for held in held {
            let (name, event) = (printable(held.hook.as_str()), held.event.as_str());
            writeln!(
                self.out,
                "        {name:<16} {event:<18} {CHANGED}stays{CHANGED:#}: in the file it {}",
                held.loss
            )?;
        }
        writeln!(self.out)?;
        Ok(())
    }

    pub(super) fn stops(&mut self, answer: &Answer<Stop>) -> anyhow::Result<()> {
        self.count(&answer.report);
        let goes_on = match &answer.verdict {
            Stop::GoesOn { reason } => Some(reason.as_str()),
            Stop::Stops { .. } | Stop::Untrusted => None,
        };
        if self.json {
            return self.line(&json!({"step": "stop", "goesOn": goes_on}));
        }
        writeln!(self.out, "{BOLD}Stop{BOLD:#}  the agent is done")?;
        self.hooks(&answer.report)?;
        if let Some(reason) = goes_on {
            writeln!(self.out, "      {CHANGED}it goes on{CHANGED:#}  {}\n", first_line(reason))?;
        }
        Ok(())
    }

    pub(super) fn turn_ends(&mut self, turn: u32, report: &Report) -> anyhow::Result<()> {
        self.count(report);
        if self.json {
            return self.line(&json!({"step": "turnEnd", "turn": turn}));
        }
        self.hooks(report)?;
        writeln!(self.out)?;
        Ok(())
    }

    /// What hooks said at the end is in their logs: at this event nobody else hears it.
    pub(super) fn session_ends(&mut self, report: &Report) -> anyhow::Result<()> {
        self.count(report);
        let log: Vec<_> = report.hooks.iter().flat_map(|hook| hook.log.iter().map(move |line| (hook, line))).collect();
        if self.json {
            let log: Vec<_> = log.iter().map(|(_, line)| line.message.as_str()).collect();
            return self.line(&json!({"step": "sessionEnd", "log": log}));
        }
        writeln!(self.out, "{BOLD}Session{BOLD:#}  the person leaves")?;
        self.hooks(report)?;
        for (hook, line) in log {
            writeln!(
                self.out,
                "        {:<16} {DIM}logs{DIM:#} {}",
                printable(hook.name.as_str()),
                printable(&line.message)
            )?;
        }
        writeln!(self.out)?;
        Ok(())
    }

    pub(super) fn closing(&mut self) -> anyhow::Result<()> {
        let (sandboxed, shell) = (self.sandboxed.median(), self.shell.median());
        if self.json {
            return self.line(&json!({"step": "end", "calls": self.calls, "refused": self.refused}));
        }
        writeln!(self.out, "{} calls, {} of them refused.", self.calls, self.refused)?;
        if let (Some(sandboxed), Some(shell)) = (sandboxed, shell) {
            writeln!(
                self.out,
                "Half of the plugins' {} answers took less than {}; of the shell commands' {}, {}.",
                self.sandboxed.0.len(),
                time(sandboxed),
                self.shell.0.len(),
                time(shell)
            )?;
        }
        Ok(())
    }

    fn hooks(&mut self, report: &Report) -> anyhow::Result<()> {
        for hook in &report.hooks {
            let askings = [(&hook.outcome, ""), (&hook.recheck, "about the rewrite: ")];
            for (outcome, about) in
                askings.into_iter().filter_map(|(outcome, about)| outcome.as_ref().map(|o| (o, about)))
            {
                let (name, event) = (printable(hook.name.as_str()), report.event.as_str());
                let took = if about.is_empty() { time(hook.took) } else { String::new() };
                writeln!(self.out, "        {name:<16} {event:<18} {took:>8}  {about}{}", said(outcome))?;
            }
        }
        Ok(())
    }

    fn count(&mut self, report: &Report) {
        for hook in report.hooks.iter().filter(|hook| hook.outcome.is_some() && hook.error().is_none()) {
            match hook.kind {
                KindName::Callback => self.sandboxed.0.push(hook.took),
                KindName::Command => self.shell.0.push(hook.took),
                KindName::Function | KindName::Inject | KindName::Prompt => {}
            }
        }
    }

    fn line(&mut self, value: &serde_json::Value) -> anyhow::Result<()> {
        writeln!(self.out, "{value}")?;
        Ok(())
    }
}

/// What a hook said, in words.
fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Block(block) => format!("{REFUSED}no{REFUSED:#}: {}", first_line(&block.reason)),
        Outcome::NoAnswer(cause) => format!("{CHANGED}no answer{CHANGED:#}: {}", first_line(&cause.to_string())),
        Outcome::Continue(change) if change.input.is_some() => format!("{CHANGED}rewrote the call{CHANGED:#}"),
        Outcome::Continue(change) if change.output.is_some() => format!("{CHANGED}rewrote the text{CHANGED:#}"),
        Outcome::Continue(change) => match change.permission {
            Some(Permission::Allow) => format!("{RAN}approved{RAN:#}"),
            Some(Permission::Ask) => "wants a person asked".to_owned(),
            Some(Permission::Deny) | None => "nothing against it".to_owned(),
        },
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn argument(call: &ToolCall) -> &str {
    let value = call.input.get("command").or_else(|| call.input.get("path"));
    value.and_then(|value| value.as_str()).unwrap_or_default()
}

fn hooks(count: usize) -> String {
    match count {
        1 => "1 hook".to_owned(),
        many => format!("{many} hooks"),
    }
}

fn time(took: Duration) -> String {
    match took.as_secs_f64() * 1e3 {
        millis if millis < 10.0 => format!("{millis:.2} ms"),
        millis => format!("{millis:.0} ms"),
    }
}
