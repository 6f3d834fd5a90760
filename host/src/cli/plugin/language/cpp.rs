//! C++: zig's clang compiles it with the helpers and bindings of C, and wasm-tools makes a component of it.

use super::super::build::{Step, Workshop};
use super::c::{self, Tools};
use super::{DENY, Template, componentize};

/// The helpers of C, which those of C++ stand on, come along as well.
pub(super) const TEMPLATE: &[Template] = &[
    text!("hook.cpp", "cpp/template/hook.cpp"),
    text!("README.md", "cpp/template/README.md"),
    text!(".gitignore", "cpp/template/.gitignore"),
    text!("sdk/tacklebox.hpp", "cpp/sdk/tacklebox.hpp"),
    text!("sdk/tacklebox.cpp", "cpp/sdk/tacklebox.cpp"),
    c::HELPERS[0],
    c::HELPERS[1],
    c::BINDINGS[0],
    c::BINDINGS[1],
    c::BINDINGS[2],
    DENY,
];

/// No exceptions: there is nothing that would unwind them.
const FLAGS: [&str; 9] =
    ["c++", "-target", "wasm32-wasi", "-mexec-model=reactor", "-std=c++23", "-fno-exceptions", "-Os", "-Wall", "-I."];

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let tools = Tools::for_c(workshop)?;
    let mut objects = Vec::new();
    for source in ["plugin", "tacklebox"] {
        let [from, to] = [format!("sdk/{source}.c"), format!("build/{source}.o")];
        workshop.run(Step::new(&tools.zig).args(c::FLAGS).args(["-c", "-o", &to, &from]))?;
        objects.push(to);
    }
    let compile =
        Step::new(&tools.zig).args(FLAGS).args(["-o", c::CORE]).args(c::sources(workshop, &c::PLACES, "cpp")?);
    workshop.run(compile.args(objects).args([c::COMPONENT_TYPE]))?;
    componentize(workshop, &tools.wasm_tools, c::CORE)
}
