//! JavaScript: esbuild makes one file of the project and says what it imports, and componentize-qjs makes a component of it, with
//! QuickJS inside. TypeScript goes the same way, once its types were checked.

use std::collections::BTreeSet;

use anyhow::Context as _;
use serde_json::Value;

use super::super::super::fault::Fault;
use super::super::build::{Step, Workshop};
use super::version::Needed;
use super::world::{self, Interface};
use super::{COMPONENT, Template};
use crate::diagnostic::printable;

/// The helpers and the types of the interfaces come along; the tools are npm's to install, as the lock says.
pub(super) const TEMPLATE: &[Template] = &[
    text!("hook.js", "javascript/template/hook.js"),
    text!("README.md", "javascript/template/README.md"),
    text!(".gitignore", "javascript/template/.gitignore"),
    text!("package.json", "javascript/template/package.json"),
    text!("package-lock.json", "javascript/template/package-lock.json"),
    text!("sdk/tacklebox.js", "javascript/sdk/tacklebox.js"),
    text!("sdk/tacklebox.d.ts", "javascript/sdk/tacklebox.d.ts"),
    text!("sdk/hooks.d.ts", "javascript/sdk/hooks.d.ts"),
];

const INSTALL_NODE: &str =
    "install Node.js 22.7 or later, or 20.19, https://nodejs.org, then run `npm ci` in the project's folder";

/// Older ones do not see by themselves that what npm installs as `componentize-qjs` is a module.
const NODE: Needed = Needed {
    tool: "Node.js",
    asked: "--version",
    fits: |version| version >= (22, 7) || (version.0 == 20 && version.1 >= 19),
    words: "Node.js 22.7 or later, or 20.19",
    install: INSTALL_NODE,
};

/// How the tools come into a project.
pub(super) const INSTALL: &str = "run `npm ci` in the project's folder";

/// All modules of the project in one, and what esbuild says of it.
const BUNDLE: &str = "build/plugin.js";
const META: &str = "build/plugin.json";

const BUNDLING: [&str; 7] = [
    "--bundle",
    "--format=esm",
    "--target=es2023",
    "--platform=neutral",
    "--main-fields=module,main",
    "--external:tacklebox:*",
    "--log-level=warning",
];

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    need_node(workshop)?;
    component_of(workshop, "hook.js")
}

/// Whether what npm installs can run at all.
pub(super) fn need_node(workshop: &Workshop) -> anyhow::Result<()> {
    NODE.check(workshop, &workshop.find(&["node"], INSTALL_NODE)?)
}

/// Makes the component of a project that begins with this file.
pub(super) fn component_of(workshop: &Workshop, entry: &str) -> anyhow::Result<()> {
    let esbuild = workshop.find(&["esbuild"], INSTALL)?;
    let componentize = workshop.find(&["componentize-qjs"], INSTALL)?;
    let files = [format!("--outfile={BUNDLE}"), format!("--metafile={META}")];
    workshop.run(Step::new(&esbuild).args([entry]).args(BUNDLING).args(files))?;
    world::lay(workshop, &imports(&workshop.read(META)?)?)?;
    let given = ["--wit", world::FOLDER, "--world", world::NAME, "--js", BUNDLE, "--sync", "--output", COMPONENT];
    workshop.run(Step::new(&componentize).args(given))?;
    Ok(())
}

/// The interfaces that the bundle still imports, by esbuild's own account.
fn imports(meta: &str) -> anyhow::Result<BTreeSet<Interface>> {
    let meta: Value = serde_json::from_str(meta).context(META)?;
    let imports = meta["outputs"][BUNDLE]["imports"].as_array().context("esbuild does not say what is imported")?;
    imports.iter().filter_map(|one| one["path"].as_str()).map(interface).collect()
}

fn interface(name: &str) -> anyhow::Result<Interface> {
    if let Some(known) = Interface::ALL.into_iter().find(|known| known.full_name() == name) {
        return Ok(known);
    }
    let names = Interface::ALL.map(|known| format!("`{}`", known.full_name())).join(", ");
    Err(Fault::new(format!("`{}` is nothing that a plugin can import", printable(name)), format!("there are {names}"))
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(paths: &[&str]) -> String {
        let imports: Vec<_> = paths.iter().map(|path| serde_json::json!({"path": path, "external": true})).collect();
        serde_json::json!({"outputs": {BUNDLE: {"imports": imports}}}).to_string()
    }

    #[test]
    fn what_the_bundle_imports_is_what_the_plugin_can_ask_for() {
        let found = imports(&meta(&["tacklebox:hooks/state@0.1.0", "tacklebox:hooks/config@0.1.0"])).unwrap();
        assert_eq!(found, BTreeSet::from([Interface::Config, Interface::State]));
        assert!(imports(&meta(&[])).unwrap().is_empty());
    }

    #[test]
    fn an_import_that_there_is_not_is_named_beside_those_that_there_are() {
        let said = Fault::line(&imports(&meta(&["tacklebox:hooks/stat@0.1.0"])).unwrap_err());
        assert!(
            said.contains("`tacklebox:hooks/stat@0.1.0` is nothing") && said.contains("hooks/state@0.1.0"),
            "{said}"
        );
        assert!(imports("{}").is_err());
    }
}
