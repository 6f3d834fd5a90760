//! What must hold of everything that reads bytes from outside, whatever the bytes are: one module a reader, each with one
//! function that a fuzzer calls with anything at all and that panics where a property is broken.
//!
//! Owns the properties. `src/bin` gives each to the fuzzer, `corpus` holds the inputs from which it starts and which
//! `cargo test` replays, `scripts/fuzz.sh` builds and runs. What was found stands as a test beside the code that was wrong.
//!
//! A property is said in another way than the code does it: a glob is compared with an expression, an answer with what
//! `serde_json` makes of it.

#[cfg(feature = "component")]
pub mod component;
pub mod condition;
pub mod matcher;
pub mod output;
pub mod plugin_json;
pub mod reply;
pub mod settings;
mod shown;

/// A property that is broken by the input that it panics on.
pub type Target = fn(&[u8]);

/// Every target, by the name of its program, of its folder in `corpus`, and of its file in `words`.
pub const TARGETS: &[(&str, Target)] = &[
    ("settings", settings::check),
    ("matcher", matcher::check),
    ("condition", condition::check),
    ("output", output::check),
    ("plugin_json", plugin_json::check),
    #[cfg(feature = "component")]
    ("component", component::check),
    ("reply", reply::check),
];

/// The bytes as two texts: the first line, and all behind it. Nothing where they are no text.
fn line_and_rest(bytes: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(bytes).ok()?;
    Some(text.split_once('\n').unwrap_or((text, "")))
}
