//! Zig: its own compiler, with the bindings of C, and wasm-tools, which makes a component of it.

use std::path::Path;

use crate::diagnostic::printable;

use super::super::super::fault::Fault;
use super::super::build::{Step, Workshop};
use super::c::{self, Tools};
use super::{Content, DENY, Template, componentize};

macro_rules! text {
    ($path:literal, $source:literal) => {
        Template {
            path: $path,
            content: Content::Text(include_str!(concat!("../../../../../guest-sdk/zig/", $source))),
        }
    };
}

/// The bindings of C come along.
pub(super) const TEMPLATE: &[Template] = &[
    text!("hook.zig", "template/hook.zig"),
    text!("README.md", "template/README.md"),
    text!(".gitignore", "template/.gitignore"),
    text!("sdk/tacklebox.zig", "sdk/tacklebox.zig"),
    text!("sdk/plugin.zig", "sdk/plugin.zig"),
    c::BINDINGS[0],
    c::BINDINGS[1],
    c::BINDINGS[2],
    DENY,
];

/// Safe rather than small: an index out of bounds breaks the call, and does not read what lies there.
const FLAGS: [&str; 6] = ["-target", "wasm32-wasi", "-mexec-model=reactor", "-lc", "-OReleaseSafe", "-fstrip"];

/// The versions that the helpers are written for; the language changes with each.
const VERSION: &str = "0.17.";

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let tools = Tools::find(workshop)?;
    check(workshop, &tools.zig, c::INSTALL)?;
    let compile = Step::new(&tools.zig).args(["build-exe", "hook.zig", "sdk/plugin.c", c::COMPONENT_TYPE]).args(FLAGS);
    workshop.run(compile.args([format!("-femit-bin={}", c::CORE)]))?;
    componentize(workshop, &tools.wasm_tools, c::CORE)
}

/// Another version would fail with errors in the helpers, of which the author can make nothing.
pub(super) fn check(workshop: &Workshop, zig: &Path, install: &str) -> anyhow::Result<()> {
    let version = workshop.ask(Step::new(zig).args(["version"])).unwrap_or_default();
    if version.starts_with(VERSION) {
        return Ok(());
    }
    let [zig, version] = [&*zig.to_string_lossy(), version.trim()].map(printable);
    let message = format!("`{zig}` is zig `{version}`, and plugins are written for 0.17");
    Err(Fault::new(message, install).into())
}
