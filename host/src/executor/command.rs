//! Shell commands, from the payload's files to the end of their process group.
//!
//! Programs are started, and groups ended, by `process`. What its answer says is read in
//! [`wire`](crate::wire); what a missing answer means is for the folding.
//!
//! Nothing in a payload can keep a command from being started (a gate whose guard does not start lets the call past):
//! whatever goes into the environment is cut to a size that fits, and whole in private files beside it.

mod environment;
mod exports;
mod files;
mod folder;
mod payload;
mod spawn;

use std::time::Duration;

use crate::ask::{Ask, Asked};
use crate::event::EventName;
use crate::hook::{CommandHook, Dialect, OnError};
use crate::outcome::{Block, Cause, Outcome, Said};
use crate::process::{DRAIN, Group, Pipes};
use crate::wire::freecode::{self, Speaker};
use crate::wire::process::Ended;

use payload::Payload;
use spawn::{NotStarted, Started};

/// Asks a command hook.
///
/// The time limit counts from the start of its process, so a large payload does not use it up. Dropping the future
/// ends the process group: SIGTERM, and SIGKILL 2 s later, or at once where the runtime is going down; the lease of `ask`
/// is held until it has ended. Needs a tokio runtime with its I/O and time drivers; does not panic otherwise and does not
/// fail: whatever goes wrong is the outcome's cause.
pub async fn run(hook: &CommandHook, ask: &Ask<'_>) -> Asked {
    // A guard is not run in a dialect that it was not written for.
    if hook.dialect != Dialect::Freecode {
        return Outcome::NoAnswer(Cause::CouldNotStart("its dialect is not spoken by this version".to_owned())).into();
    }
    let payload = match Payload::of(ask.event).await {
        Ok(payload) => payload,
        Err(why) => return unprepared(ask, why).into(),
    };
    if let Err(cause) = ask.may_begin() {
        return Outcome::NoAnswer(cause).into();
    }
    let started = match spawn::start(hook, ask, &payload).await {
        Ok(started) => started,
        Err(NotStarted::Failed(why)) => return Outcome::NoAnswer(Cause::CouldNotStart(why)).into(),
        Err(NotStarted::Refused) => return Asked { cut: true, ..Outcome::block(refusal()).into() },
    };
    let Started { child, cut, mut warnings } = started;
    let (outcome, exports) = match followed(Group::of(child, ask.lease.clone()), ask.time_limit).await {
        Ok(ended) => answered(ask, &ended, &payload, &mut warnings),
        Err(cause) => (Outcome::NoAnswer(cause), Vec::new()),
    };
    Asked { outcome, cut, exports, log: Vec::new(), warnings }
}

/// A payload may have filled the folder of the private files: on a gate that must not let it past, unless the hook's
/// author has said so.
fn unprepared(ask: &Ask<'_>, why: String) -> Outcome {
    if ask.event.name.class().gate && ask.hook.on_error != Some(OnError::Pass) {
        let reason = format!("hook `{}` could not be asked: {why}", ask.hook.name);
        return Outcome::Block(Block::new(reason, Said::ByNotAnswering));
    }
    Outcome::NoAnswer(Cause::CouldNotStart(why))
}

fn refusal() -> String {
    "the call is too large for a hook that must see all of it, and was blocked unseen (`onCut` is `block`)".to_owned()
}

/// Waits until the command exits, or ends it when its time is up. Its output is read all the while.
async fn followed(mut group: Group, limit: Duration) -> Result<Ended, Cause> {
    let mut pipes = Pipes::of(group.child());
    match tokio::time::timeout(limit, pipes.until(group.exited())).await {
        Ok(Ok(exit)) => {
            pipes.drain(DRAIN).await;
            let (stdout, stderr) = pipes.close();
            Ok(Ended { exit, stdout, stderr })
        }
        Ok(Err(error)) => Err(Cause::Failed(format!("waiting for it failed: {error}"))),
        Err(_) => {
            group.end().await;
            Err(Cause::TimedOut(limit))
        }
    }
}

type Answered = (Outcome, Vec<(String, String)>);

fn answered(ask: &Ask<'_>, ended: &Ended, payload: &Payload, warnings: &mut Vec<String>) -> Answered {
    let reading = freecode::read(&ask.event.name, Speaker::Shell, ask.hook.means_by_silence(), ended);
    warnings.extend(reading.warnings);
    let exports = match (&ask.event.name, &reading.outcome) {
        (EventName::SessionStart, Outcome::Continue(_)) => exports::read(payload.files.env.as_deref(), warnings),
        _ => Vec::new(),
    };
    (reading.outcome, exports)
}

#[cfg(test)]
mod tests;
