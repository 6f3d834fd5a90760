//! What a command printed: the first byte chooses the exit, the second the event, the third what a missing answer means and
//! whether the output was cut; the rest is stdout and, behind the byte 0x1e, stderr.

use serde_json::Value;
use tacklebox::event::EventName;
use tacklebox::hook::OnError;
use tacklebox::outcome::{Change, Outcome, Permission};
use tacklebox::text::TEXT_CAP;
use tacklebox::wire::freecode::{Reading, Speaker, read};
use tacklebox::wire::process::{Ended, Exit, Stream};

use crate::shown::is_printable;

/// Deeper JSON is read by the host where `serde_json` gives up.
const DEEP: usize = 100;

/// What `serde_json` says of a number that no double holds. It is JSON all the same, and the host reads what stands beside it.
const OUT_OF_RANGE: &str = "number out of range";

/// Reads the bytes as an ended command.
pub fn check(bytes: &[u8]) {
    let [exit, event, flags, printed @ ..] = bytes else { return };
    let silence = if flags & 1 == 0 { OnError::Pass } else { OnError::Block };
    let event = &EventName::BUILT_IN[usize::from(*event) % EventName::BUILT_IN.len()];
    let ended = ended(*exit, *flags, printed);
    let reading = read(event, Speaker::Shell, silence, &ended);
    assert_eq!(reading, read(event, Speaker::Shell, silence, &ended), "{ended:?} is read in two ways");
    sandboxed(&ended, &reading, &read(event, Speaker::Sandboxed, silence, &ended));
    reading.warnings.iter().for_each(|warning| is_printable(warning));
    match ended.exit {
        Exit::Code(0) => went_on(event, silence, &ended.stdout, &reading),
        _ => blocked(&ended, &reading),
    }
}

/// A WASI command's answer is read as a shell command's, but for its silence, which approves nothing.
fn sandboxed(ended: &Ended, shell: &Reading, reading: &Reading) {
    let (Some(shell), Some(change)) = (change(shell), change(reading)) else {
        return assert_eq!(shell, reading, "{ended:?}");
    };
    assert_eq!(*shell, Change { permission: shell.permission, ..change.clone() }, "{ended:?}");
    let spoke = ended.stdout.text().starts_with('{');
    assert!(change.permission == shell.permission || change.permission.is_none(), "{ended:?}");
    assert!(spoke || change.permission.is_none(), "{ended:?} approves by silence");
}

fn ended(exit: u8, flags: u8, printed: &[u8]) -> Ended {
    let exit = match exit {
        0..=127 => Exit::Code(exit.into()),
        _ => Exit::Signal((exit - 128).into()),
    };
    let at = printed.iter().position(|byte| *byte == 0x1e).unwrap_or(printed.len());
    let stdout = Stream { bytes: printed[..at].to_vec(), cut: flags & 2 != 0, unfinished: flags & 4 != 0 };
    let stderr = Stream { bytes: printed.get(at + 1..).unwrap_or_default().to_vec(), ..Stream::default() };
    Ended { exit, stdout, stderr }
}

/// Any other end than exit code 0 is a no, whatever was printed.
fn blocked(ended: &Ended, reading: &Reading) {
    let Outcome::Block(block) = &reading.outcome else { panic!("{ended:?} does not block: {reading:?}") };
    assert!(!block.reason.is_empty(), "{ended:?} blocks without a reason");
    assert!(block.reason.chars().count() <= 2 * TEXT_CAP + 100, "{ended:?}: the reason has no bound");
}

fn went_on(event: &EventName, silence: OnError, stdout: &Stream, reading: &Reading) {
    let text = stdout.text();
    let change = change(reading);
    if !text.starts_with('{') {
        let change = change.unwrap_or_else(|| panic!("{text:?} is no plain text: {reading:?}"));
        assert_eq!(change.context.as_deref().unwrap_or_default(), text);
        assert!(change.input.is_none() && change.output.is_none(), "{text:?} changes something");
        assert_eq!(change.permission, silent(event), "{text:?}");
        return;
    }
    assert!(!stdout.cut || change.is_none(), "{text:?} was cut, and counts: {reading:?}");
    if text.matches(['[', '{']).count() > DEEP || text.contains("\\u") {
        return;
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(answer) if !stdout.cut => answered(event, &answer, reading),
        Ok(_) => {}
        Err(error) if error.to_string().starts_with(OUT_OF_RANGE) => {}
        Err(_) => broken(silence, stdout, &text, reading),
    }
}

fn change(reading: &Reading) -> Option<&Change> {
    match &reading.outcome {
        Outcome::Continue(change) => Some(change),
        Outcome::Block(_) | Outcome::NoAnswer(_) => None,
    }
}

fn silent(event: &EventName) -> Option<Permission> {
    (*event == EventName::PermissionRequest).then_some(Permission::Allow)
}

/// A text that tries to be JSON is never an approval, and never context where a missing answer blocks.
fn broken(silence: OnError, stdout: &Stream, text: &str, reading: &Reading) {
    let Some(change) = change(reading) else { return };
    assert!(silence == OnError::Pass && !stdout.unfinished, "{text:?} is not JSON, and counts: {reading:?}");
    assert_eq!(*change, Change { context: Some(text.to_owned()), ..Change::default() });
}

/// `serde_json` keeps the last of two equal keys; the host takes the stricter, so it may be stricter than is asked here.
fn answered(event: &EventName, answer: &Value, reading: &Reading) {
    let says = |key: &str, value: &str| answer.get(key).and_then(Value::as_str) == Some(value);
    if answer.get("block") == Some(&Value::Bool(true)) {
        assert!(matches!(reading.outcome, Outcome::Block(_)), "{answer} does not block: {reading:?}");
    }
    let Some(change) = change(reading) else { return };
    if says("permission", "deny") {
        assert_eq!(change.permission, Some(Permission::Deny), "{answer}: {reading:?}");
    }
    if change.permission == Some(Permission::Allow) {
        let allowed = says("permission", "allow") || (answer.get("permission").is_none() && silent(event).is_some());
        assert!(allowed, "{answer} approves at `{event}`");
        let meant = answer.get("modifiedInput").is_some_and(|input| !input.is_null());
        assert!(!meant || change.input.is_some(), "{answer} approves what it could not rewrite");
    }
    for (key, value) in [("decision", "block"), ("decision", "deny"), ("behavior", "deny")] {
        assert!(!says(key, value) || change.permission == Some(Permission::Deny), "{answer} passes: {reading:?}");
    }
}
