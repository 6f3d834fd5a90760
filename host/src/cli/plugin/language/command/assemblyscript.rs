//! AssemblyScript: its own compiler, from npm, with a shim that gives `process` by WASI.

use super::super::super::super::fault::Fault;
use super::super::super::build::{Step, Workshop};
use super::super::{COMPONENT, Template};
use super::files;

pub(super) const TEMPLATE: &[Template] = files!("assemblyscript":
    "command.ts", "package.json", "package-lock.json", "tsconfig.json", "README.md", ".gitignore");

const NODE: &str = "install Node.js 20 or later, https://nodejs.org, then run `npm ci` in the project's folder";
const INSTALL: &str = "run `npm ci` in the project's folder";

/// What the compiler is told of WASI. It reads the file right only where it is named from the project's folder.
const SHIM: &str = "node_modules/@assemblyscript/wasi-shim/asconfig.json";

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    workshop.find(&["node"], NODE)?;
    let asc = workshop.find(&["asc"], INSTALL)?;
    if !workshop.folder().join(SHIM).is_file() {
        return Err(Fault::new("`@assemblyscript/wasi-shim` is not in the project's `node_modules`", INSTALL).into());
    }
    let compile = Step::new(&asc).args(["command.ts", "--config", SHIM]);
    workshop.check(compile.args(["--optimize", "--outFile", COMPONENT]))
}
