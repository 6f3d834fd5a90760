//! Programs outside the sandbox, each by name and only where granted (`"run": ["git"]`).

pub use crate::bindings::tacklebox::hooks::process::{Error, Output};
use crate::host;

/// Whether [`run`] could start this program now.
pub fn available(program: &str) -> bool {
    host::process::available(program)
}

/// Runs a program in the project's folder, without a shell, and waits for its end. `stdin` may be empty.
///
/// # Errors
/// Where the program was not granted, is not there, took too long, or could not run. An exit code is no error.
pub fn run(program: &str, args: &[&str], stdin: &[u8]) -> Result<Output, Error> {
    let args: Vec<String> = args.iter().map(|word| (*word).to_owned()).collect();
    host::process::run(program, &args, stdin)
}
