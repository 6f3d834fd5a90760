//! Leaves the functions' names out: this component holds every call of the interface, and is committed.

#[expect(clippy::disallowed_methods, reason = "how cargo talks to a build script")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_TARGET_FAMILY").is_some_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=--strip-all");
    }
}
