//! Rust: cargo builds a program for preview 1 of WASI.

use anyhow::Context as _;

use super::super::super::build::Workshop;
use super::super::{COMPONENT, Template, rust};
use super::files;

pub(super) const TEMPLATE: &[Template] = files!("rust": "src/main.rs", "Cargo.toml", "README.md", ".gitignore");

/// Not `wasm32-wasip2`: that makes a component.
const TARGET: &str = "wasm32-wasip1";

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let program = rust::cargo(workshop, &[TARGET])?;
    workshop.keep(&program.context("cargo built no `.wasm`: is it a program, with a `main`?")?, COMPONENT)
}
