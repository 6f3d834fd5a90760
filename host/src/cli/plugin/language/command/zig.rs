//! Zig: its own compiler and standard library, without libc.

use super::super::super::build::{Step, Workshop};
use super::super::{COMPONENT, Template, c, zig};
use super::c::INSTALL;
use super::files;

pub(super) const TEMPLATE: &[Template] = files!("zig": "command.zig", "README.md", ".gitignore");

/// Safe rather than small: an index out of bounds breaks the call, and does not read what lies there.
const FLAGS: [&str; 4] = ["-target", "wasm32-wasi", "-OReleaseSafe", "-fstrip"];

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let compiler = c::zig(workshop, INSTALL)?;
    zig::needed(INSTALL).check(workshop, &compiler)?;
    let compile = Step::new(&compiler).args(["build-exe", "command.zig"]).args(FLAGS);
    workshop.run(compile.args([format!("-femit-bin={COMPONENT}")]))?;
    Ok(())
}
