//! Asks the program `rtk` what it makes of a command, and says how much of its answer is believed.

use tacklebox_sdk::process::{self, Error, Output};
use tacklebox_sdk::state;

/// In bytes, of what it is asked and of what it may answer.
const LONGEST: usize = 4096;
/// Under this key `state` remembers that it did not end in time, so that a session waits for it once.
const STUCK: &str = "rtk-is-stuck";

/// The command to run in place of this one, which is plain; this one itself where rtk wants it left alone. None where there
/// is no such program, it knows nothing better, or its answer is none.
pub(crate) fn ask(command: &str) -> Option<String> {
    let is_worth_it = !command.starts_with('-') && command.len() <= LONGEST && !command.split(' ').any(is_rtk);
    if !is_worth_it || state::get(STUCK).is_some() || !process::available("rtk") {
        return None;
    }
    let ran = process::run("rtk", &["rewrite", command], b"");
    if matches!(ran, Err(Error::TimedOut)) {
        // One small value always fits.
        let _ = state::set(STUCK, b"1");
    }
    answer(command, &ran.ok()?)
}

fn is_rtk(word: &str) -> bool {
    word == "rtk" || word.ends_with("/rtk")
}

/// By its exit code. That it would approve the command (0) or not (3) is nothing that it is asked.
pub(crate) fn answer(command: &str, output: &Output) -> Option<String> {
    match output.exit_code {
        Some(0 | 3) => believed(command, &output.stdout),
        // Somebody's rule denies the command, and is to find it as it is. With a word it is another program's wrong usage.
        Some(2) if output.stdout.is_empty() && output.stderr.is_empty() => Some(command.to_owned()),
        _ => None,
    }
}

/// The same command behind `rtk`: words may be left out or moved, options and numbers be added, and one of rtk's own commands.
/// With any other word it could be another command, which nobody asked for.
fn believed(command: &str, printed: &[u8]) -> Option<String> {
    let answer = std::str::from_utf8(printed).ok()?.trim_ascii();
    let is_known = |word: &str| command.split(' ').any(|known| known == word);
    let mut words = answer.strip_prefix("rtk ")?.split(' ');
    let begins = words.next().is_some_and(|word| is_known(word) || is_plain(word));
    let is_same = begins && words.all(|word| is_known(word) || is_plain(word) && is_option(word));
    (is_same && answer.len() <= LONGEST).then(|| answer.to_owned())
}

/// Nothing in it is more than a letter to any shell.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=.".contains(&byte))
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit())
}
