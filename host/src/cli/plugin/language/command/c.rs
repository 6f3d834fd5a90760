//! C: zig's clang compiles it, with a libc for WASI of its own.

use super::super::super::build::{Step, Workshop};
use super::super::{COMPONENT, Template, c};
use super::files;

pub(super) const TEMPLATE: &[Template] = files!("c": "command.c", "README.md", ".gitignore");

/// The compiler leaves the functions' names out whatever it is told.
const FLAGS: [&str; 6] = ["cc", "-target", "wasm32-wasi", "-std=c11", "-Os", "-Wall"];

/// How to get the compiler.
pub(super) const INSTALL: &str =
    "`python3 -m venv .venv && .venv/bin/pip install ziglang==0.17.1` in the project's folder";

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let zig = c::zig(workshop, INSTALL)?;
    let sources = c::sources(workshop, &[""], "c")?;
    workshop.run(Step::new(&zig).args(FLAGS).args(["-o", COMPONENT]).args(sources))?;
    Ok(())
}
