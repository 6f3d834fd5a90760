//! Zig: its own compiler, with the bindings of C, and wasm-tools, which makes a component of it.

use super::super::build::{Step, Workshop};
use super::c::{self, Tools};
use super::version::Needed;
use super::{DENY, Template, componentize};

/// The bindings of C come along.
pub(super) const TEMPLATE: &[Template] = &[
    text!("hook.zig", "zig/template/hook.zig"),
    text!("README.md", "zig/template/README.md"),
    text!(".gitignore", "zig/template/.gitignore"),
    text!("sdk/tacklebox.zig", "zig/sdk/tacklebox.zig"),
    text!("sdk/plugin.zig", "zig/sdk/plugin.zig"),
    c::BINDINGS[0],
    c::BINDINGS[1],
    c::BINDINGS[2],
    DENY,
];

/// Safe rather than small: an index out of bounds breaks the call, and does not read what lies there.
const FLAGS: [&str; 6] = ["-target", "wasm32-wasi", "-mexec-model=reactor", "-lc", "-OReleaseSafe", "-fstrip"];

/// The version that templates and helpers are written for, and how to get it; the language changes with each.
pub(super) const fn needed(install: &'static str) -> Needed {
    Needed { tool: "zig", asked: "version", fits: |version| version == (0, 17), words: "zig 0.17", install }
}

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let tools = Tools::find(workshop)?;
    needed(c::INSTALL).check(workshop, &tools.zig)?;
    let compile = Step::new(&tools.zig).args(["build-exe", "hook.zig", "sdk/plugin.c", c::COMPONENT_TYPE]).args(FLAGS);
    workshop.run(compile.args([format!("-femit-bin={}", c::CORE)]))?;
    componentize(workshop, &tools.wasm_tools, c::CORE)
}
