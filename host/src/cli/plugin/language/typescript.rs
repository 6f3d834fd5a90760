//! TypeScript: its compiler checks the types, and then it is built as JavaScript is.

use super::super::build::{Step, Workshop};
use super::Template;
use super::javascript::{INSTALL, component_of, need_node};

/// The helpers are JavaScript's, with their types.
pub(super) const TEMPLATE: &[Template] = &[
    text!("hook.ts", "typescript/template/hook.ts"),
    text!("README.md", "typescript/template/README.md"),
    text!(".gitignore", "typescript/template/.gitignore"),
    text!("package.json", "typescript/template/package.json"),
    text!("package-lock.json", "typescript/template/package-lock.json"),
    text!("tsconfig.json", "typescript/template/tsconfig.json"),
    text!("sdk/tacklebox.js", "javascript/sdk/tacklebox.js"),
    text!("sdk/tacklebox.d.ts", "javascript/sdk/tacklebox.d.ts"),
    text!("sdk/hooks.d.ts", "javascript/sdk/hooks.d.ts"),
];

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    need_node(workshop)?;
    let tsc = workshop.find(&["tsc"], INSTALL)?;
    workshop.check(Step::new(&tsc).args(["--noEmit", "--project", "tsconfig.json"]))?;
    component_of(workshop, "hook.ts")
}
