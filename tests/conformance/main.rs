//! The conformance run: every case of `vectors/*.json` is a test of its own, played to the program as an agent would.
//!
//! Owns reading cases and playing them; what may be expected is `expect`'s. A new case needs no Rust.
//! `cargo test -p tacklebox-tests --test conformance -- matching::` runs the cases of one file.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod case;
mod expect;
mod play;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/vectors");
    let trials = match case::all(&folder) {
        Ok(cases) => cases.into_iter().map(trial).collect(),
        Err(error) => vec![Trial::test("the cases can be read", move || Err(format!("{error:#}").into()))],
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(case: case::Case) -> Trial {
    Trial::test(case.title(), move || play::case(&case).map_err(|error| Failed::from(format!("{error:#}"))))
}
