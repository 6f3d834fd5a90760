//! Rust: cargo builds it, for whichever WASM target the compiler has.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use super::super::super::fault::Fault;
use super::super::build::{Step, Workshop};
use super::{COMPONENT, Content, Template};

macro_rules! files {
    ($($path:literal => $source:literal),* $(,)?) => {
        &[$(Template { path: $path, content: Content::Text(include_str!(concat!("../../../../../guest-sdk/rust/", $source))) }),*]
    };
}

/// The SDK comes along: whoever has this program and cargo has all that it takes.
pub(super) const TEMPLATE: &[Template] = files![
    "Cargo.toml" => "template/Cargo.toml",
    ".cargo/config.toml" => "template/.cargo/config.toml",
    ".gitignore" => "template/.gitignore",
    "README.md" => "template/README.md",
    "src/lib.rs" => "template/src/lib.rs",
    "sdk/Cargo.toml" => "template/sdk/Cargo.toml",
    "sdk/README.md" => "README.md",
    "sdk/src/answer.rs" => "src/answer.rs",
    "sdk/src/arena.rs" => "src/arena.rs",
    "sdk/src/bindings.rs" => "src/bindings.rs",
    "sdk/src/config.rs" => "src/config.rs",
    "sdk/src/context.rs" => "src/context.rs",
    "sdk/src/error.rs" => "src/error.rs",
    "sdk/src/event.rs" => "src/event.rs",
    "sdk/src/guest.rs" => "src/guest.rs",
    "sdk/src/info.rs" => "src/info.rs",
    "sdk/src/input.rs" => "src/input.rs",
    "sdk/src/lib.rs" => "src/lib.rs",
    "sdk/src/log.rs" => "src/log.rs",
    "sdk/src/place.rs" => "src/place.rs",
    "sdk/src/plugin.rs" => "src/plugin.rs",
    "sdk/src/process.rs" => "src/process.rs",
    "sdk/src/state.rs" => "src/state.rs",
    "sdk/src/testing.rs" => "src/testing.rs",
];

/// The better one first: without WASI a component is half as large.
const TARGETS: [&str; 2] = ["wasm32-unknown-unknown", "wasm32-wasip2"];

/// Builds it.
pub(super) fn build(workshop: &Workshop) -> anyhow::Result<()> {
    let component = cargo(workshop, &TARGETS)?;
    workshop.keep(&component.context("cargo built no `.wasm`: is it a `cdylib`?")?, COMPONENT)
}

/// Has cargo build the project for the first of these targets that the compiler knows, and gives the `.wasm` that it wrote.
pub(super) fn cargo(workshop: &Workshop, targets: &[&'static str]) -> anyhow::Result<Option<PathBuf>> {
    let install = format!("install Rust by rustup, https://rustup.rs, then `rustup target add {}`", targets[0]);
    let cargo = workshop.find(&["cargo"], &install)?;
    let rustc = match workshop.variable("RUSTC") {
        Some(named) => PathBuf::from(named),
        None => workshop.find(&["rustc"], &install)?,
    };
    let target = target(workshop, &rustc, targets)?;
    let args = ["build", "--release", "--target", target, "--message-format", "json-render-diagnostics"];
    Ok(component(&workshop.run(Step::new(&cargo).args(args))?))
}

fn target(workshop: &Workshop, rustc: &Path, targets: &[&'static str]) -> anyhow::Result<&'static str> {
    for target in targets {
        let found = workshop.ask(Step::new(rustc).args(["--print", "target-libdir", "--target", target]));
        if found.is_some_and(|folder| PathBuf::from(folder.trim()).is_dir()) {
            return Ok(target);
        }
    }
    let message = format!("`{}` has no standard library for `{}`", rustc.display(), targets.join("` or `"));
    let add: Vec<_> = targets.iter().map(|target| format!("`rustup target add {target}`")).collect();
    Err(Fault::new(message, add.join(", or ")).into())
}

/// The last component that cargo says it has written: the project's own.
fn component(artifacts: &str) -> Option<PathBuf> {
    let messages = artifacts.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = messages.filter_map(|message| message.get("filenames")?.as_array().cloned()).flatten();
    let mut files = files.filter_map(|file| file.as_str().map(PathBuf::from));
    files.rfind(|file| file.extension().is_some_and(|end| end == "wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_sdk_comes_along() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest-sdk/rust/src");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = format!("sdk/src/{}", entry.unwrap().file_name().to_string_lossy());
            assert!(TEMPLATE.iter().any(|file| file.path == path), "{path}");
        }
    }

    #[test]
    fn the_component_is_found_in_what_cargo_says() {
        let said = "{\"reason\":\"compiler-artifact\",\"filenames\":[\"/t/libx.rlib\"]}\nnot JSON\n{\"filenames\":[\"/t/plugin.wasm\"]}\n{\"reason\":\"build-finished\"}\n";
        assert_eq!(component(said), Some("/t/plugin.wasm".into()));
        assert_eq!(component("{}"), None);
    }
}
