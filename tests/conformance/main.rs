//! The conformance run: every case of `vectors/*.json` is a test of its own, played to the program as an agent would.
//!
//! Owns reading cases and playing them; what may be expected is `expect`'s. A new case needs no Rust. Each case with a shell
//! command is played once more over a WASI command (`sandboxed`), unless `not-sandboxed.json` says why it cannot be.
//! `cargo test -p tacklebox-tests --test conformance -- matching::` runs the cases of one file.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod case;
mod expect;
mod play;
mod sandboxed;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::ensure;
use libtest_mimic::{Arguments, Failed, Trial};

use crate::case::Case;
use crate::sandboxed::Exceptions;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let trials = trials(&folder)
        .unwrap_or_else(|error| vec![Trial::test("the cases can be read", move || Err(format!("{error:#}").into()))]);
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trials(folder: &Path) -> anyhow::Result<Vec<Trial>> {
    let cases = case::all(&folder.join("vectors"))?;
    let exceptions = Arc::new(Exceptions::read(&folder.join("not-sandboxed.json"), &cases)?);
    let again: Vec<_> = cases.iter().filter(|case| sandboxed::has_commands(case)).cloned().collect();
    say(&format!(
        "{} cases are played in the sandbox as well, {} are not",
        again.len() - exceptions.len(),
        exceptions.len()
    ));
    let sandboxed = again.into_iter().map(|case| {
        let exceptions = Arc::clone(&exceptions);
        trial(format!("sandboxed::{}", case.title()), move || in_the_sandbox(&case, &exceptions))
    });
    let sandboxed: Vec<_> = sandboxed.collect();
    let shells = cases.into_iter().map(|case| trial(case.title(), move || play::case(&case)));
    Ok(shells.chain(sandboxed).collect())
}

fn trial(title: String, run: impl FnOnce() -> anyhow::Result<()> + Send + 'static) -> Trial {
    Trial::test(title, move || run().map_err(|error| Failed::from(format!("{error:#}"))))
}

/// Played in the sandbox it must hold too; one that is listed as an exception must not, so that the list stays short.
fn in_the_sandbox(case: &Case, exceptions: &Exceptions) -> anyhow::Result<()> {
    let played = sandboxed::translated(case).and_then(|case| play::case(&case));
    if !exceptions.names(case) {
        return played;
    }
    ensure!(played.is_err(), "it holds in the sandbox: `not-sandboxed.json` need not name it");
    Ok(())
}

#[expect(clippy::print_stderr, reason = "what is not played is said")]
fn say(line: &str) {
    eprintln!("{line}");
}
