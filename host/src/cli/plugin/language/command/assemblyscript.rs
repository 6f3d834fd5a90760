//! AssemblyScript: its own compiler, from npm. What it needs of WASI the source declares itself.

use super::super::super::build::{Step, Workshop};
use super::super::{COMPONENT, Template};
use super::files;

pub(super) const TEMPLATE: &[Template] = files!("assemblyscript":
    "command.ts", "package.json", "package-lock.json", "tsconfig.json", "README.md", ".gitignore");

const NODE: &str = "install Node.js 20 or later, https://nodejs.org, then run `npm ci` in the project's folder";
const INSTALL: &str = "run `npm ci` in the project's folder";

/// No `abort`, which would be imported from nowhere: what breaks is a trap.
const FLAGS: [&str; 6] = ["--exportStart", "_start", "--use", "abort=", "--optimize", "--outFile"];

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    workshop.find(&["node"], NODE)?;
    let asc = workshop.find(&["asc"], INSTALL)?;
    workshop.check(Step::new(&asc).args(["command.ts"]).args(FLAGS).args([COMPONENT]))
}
