//! What the model is told of a formatter: that the text on disk may be another now, or why it is not formatted.

use tacklebox_sdk::process::{Error as Trouble, Output};
use tacklebox_sdk::{Error, state};

/// In characters, of what a formatter complains about.
const LONGEST: usize = 1_000;
/// How formatters say that they had nothing to do.
const NOTHING: [&str; 2] = ["left unchanged", "(unchanged)"];

/// About the file that is the last of `args`. None where there is nothing to know.
pub(crate) fn of(program: &str, args: &[&str], ran: Result<Output, Trouble>) -> Result<Option<String>, Error> {
    let path = args.last().unwrap_or(&"");
    let text = match ran {
        Ok(output) if output.exit_code == Some(0) => {
            let text = format!("`{path}` was formatted by `{program}` and may no longer be as written: read it again");
            return Ok(may_have_changed(args, &output).then_some(text));
        }
        Ok(output) => failed(program, path, &output),
        Err(Trouble::TimedOut) => format!("`{program}` took too long over `{path}`, and may have changed it"),
        Err(Trouble::Failed(why)) => format!("`{program}` failed on `{path}`, and may have changed it: {why}"),
        Err(why) => return absent(program, path, &why),
    };
    Ok(Some(text))
}

/// By what it says. One that is told to list what it changes (`-l`) and lists nothing has changed nothing.
fn may_have_changed(args: &[&str], output: &Output) -> bool {
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lists_nothing = args.contains(&"-l") && said.is_empty();
    !lists_nothing && !NOTHING.iter().any(|word| said.contains(word))
}

fn failed(program: &str, path: &str, output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let is_text = |char: &char| *char == '\n' || !char.is_control();
    let said: String = said.trim().chars().filter(is_text).take(LONGEST).collect();
    let exit = output.exit_code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
    format!("`{program}` failed on `{path}` ({exit}), and may have changed it: {said}")
}

/// Once a session: it stays so until the plugin is loaded anew.
fn absent(program: &str, path: &str, why: &Trouble) -> Result<Option<String>, Error> {
    let why = if matches!(why, Trouble::Denied) { "may not be run" } else { "is not there" };
    let is_first = state::add(program, 1)? == 1;
    Ok(is_first.then(|| format!("`{path}` and its like are not formatted: `{program}` {why}")))
}
