//! The freecode dialect: how an ended command's exit code and output are read. The payload of this dialect is all in
//! the environment, which `wire::environment` fills for every dialect alike.
//!
//! Owns the reading alone; what a missing answer means is for the folding, but for one question: whether text that
//! tries to be JSON and fails is a proper answer.

mod answer;

use answer::{Answer, Unreadable};

use super::process::{Ended, Exit, Stream};
use crate::event::EventName;
use crate::hook::OnError;
use crate::outcome::{Block, Cause, Change, Outcome, Permission, Said};
use crate::text::capped;

/// The reason of a block that came without one.
const NO_REASON: &str = "blocked by a hook that gave no reason";

/// What an ended command said.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The answer.
    pub outcome: Outcome,
    /// Keys that were ignored, and output that was dropped.
    pub warnings: Vec<String>,
}

impl From<Block> for Reading {
    fn from(block: Block) -> Self {
        Outcome::Block(block).into()
    }
}

impl From<Outcome> for Reading {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, warnings: Vec::new() }
    }
}

/// Whose answer is read: what its silence on a permission is worth depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// A shell command: it approves what it has nothing against.
    Shell,
    /// A WASI command: what it does not say is no opinion.
    Sandboxed,
}

/// Reads the answer of a command that has ended. The exit code stands above all; `silence` is what the hook's missing
/// answer means, and with [`OnError::Block`] text that begins with `{` and does not parse is none.
pub fn read(event: &EventName, speaker: Speaker, silence: OnError, ended: &Ended) -> Reading {
    let unsaid = speaker.unsaid(event);
    match ended.exit {
        Exit::Code(0) => went_on(unsaid, silence, &ended.stdout),
        Exit::Code(2) => blocked(reason_of_2(ended), Said::ByExitCode).into(),
        Exit::Code(code @ (126 | 127)) => blocked(reason_of(code_text(code), ended), Said::ByBreaking).into(),
        Exit::Code(code) => blocked(reason_of(code_text(code), ended), Said::ByExitCode).into(),
        Exit::Signal(signal) => {
            blocked(reason_of(format!("Killed by signal {signal}"), ended), Said::ByBreaking).into()
        }
    }
}

impl Speaker {
    /// The permission that it gives by not speaking of one.
    fn unsaid(self, event: &EventName) -> Option<Permission> {
        (self == Self::Shell && *event == EventName::PermissionRequest).then_some(Permission::Allow)
    }
}

fn went_on(unsaid: Option<Permission>, silence: OnError, stdout: &Stream) -> Reading {
    let text = stdout.text();
    if !text.starts_with('{') {
        return plain(unsaid, text, stdout.cut);
    }
    if stdout.cut {
        return no_answer("its output begins with `{` and was cut").into();
    }
    match Answer::parse(&text) {
        Ok(answer) => answered(unsaid, &answer),
        Err(Unreadable::TooDeep) => no_answer("its JSON is nested too deep").into(),
        Err(Unreadable::NotJson) if stdout.unfinished => {
            no_answer("its output begins with `{` and was still being written when it exited").into()
        }
        Err(Unreadable::NotJson) if silence == OnError::Block => {
            no_answer("its output begins with `{` and is not JSON").into()
        }
        Err(Unreadable::NotJson) => Outcome::Continue(Change { context: Some(text), ..Change::default() }).into(),
    }
}

fn plain(unsaid: Option<Permission>, text: String, cut: bool) -> Reading {
    let context = Some(text).filter(|text| !text.is_empty());
    let change = Change { context, permission: unsaid, ..Change::default() };
    let warnings = if cut { vec!["its output was cut".to_owned()] } else { Vec::new() };
    Reading { outcome: Outcome::Continue(change), warnings }
}

fn answered(unsaid: Option<Permission>, answer: &Answer) -> Reading {
    let mut warnings = Vec::new();
    let reason = answer.text("reason", &mut warnings);
    let decided = match answer.decided() {
        Ok(decided) => decided,
        Err(why) => return Reading { outcome: no_answer(why), warnings },
    };
    if decided.block {
        let block = blocked(for_the_model(reason.as_deref()), Said::Explicitly);
        let context = answer.text("context", &mut warnings);
        return Reading { outcome: Outcome::Block(Block { context, ..block }), warnings };
    }
    let input = answer.object("modifiedInput", &mut warnings);
    let mut permission = decided.permission.unwrap_or(unsaid);
    if permission == Some(Permission::Allow) && input.is_none() && answer.has("modifiedInput") {
        // What it approved is what it wrote, and that cannot be read.
        permission = None;
    }
    let change = Change {
        input,
        output: answer.untrimmed("modifiedOutput", &mut warnings),
        context: answer.text("context", &mut warnings),
        permission,
        reason,
    };
    Reading { outcome: Outcome::Continue(change), warnings }
}

fn no_answer(why: impl Into<String>) -> Outcome {
    Outcome::NoAnswer(Cause::NotAnAnswer(why.into()))
}

fn blocked(reason: String, said: Said) -> Block {
    Block::new(if reason.is_empty() { NO_REASON.to_owned() } else { reason }, said)
}

fn reason_of_2(ended: &Ended) -> String {
    let complaint = Some(ended.stderr.text()).filter(|text| !text.is_empty());
    for_the_model(Some(&complaint.unwrap_or_else(|| ended.stdout.text())))
}

fn for_the_model(reason: Option<&str>) -> String {
    capped(reason.unwrap_or_default()).into_owned()
}

fn code_text(code: i32) -> String {
    format!("Exit code {code}")
}

/// JSON's `reason` where there is one, then how the command ended, with the last thing that it complained about.
fn reason_of(ending: String, ended: &Ended) -> String {
    let complaint = ended.stderr.text();
    let ending = match complaint.lines().next_back() {
        Some(last) => format!("{ending}: {}", capped(last.trim())),
        None => ending,
    };
    let answer = Some(ended.stdout.text()).filter(|text| text.starts_with('{')).and_then(|t| Answer::parse(&t).ok());
    match answer.and_then(|answer| answer.text("reason", &mut Vec::new())) {
        Some(reason) => format!("{}\n{ending}", capped(&reason)),
        None => ending,
    }
}

#[cfg(test)]
mod tests;
