//! The compiler's time: what is refused before it, and what a compilation that takes too long costs others.

use std::time::Duration;

use super::asking::{Asking, PASS, guest, guest_with, plugins_with};
use crate::outcome::Outcome;
use crate::source::Source;
use crate::wasm::limits::MOST_COMPILATIONS;
use crate::wasm::{Limits, LoadError, Owner, Plugins, TooMuch};

/// A sandbox that waits so long for its compiler.
fn patient_for(time: Duration) -> Plugins {
    let mut plugins = plugins_with(2, 0);
    std::sync::Arc::get_mut(&mut plugins.room).unwrap().compile_time = time;
    plugins
}

async fn refusal(plugins: &Plugins, bytes: &[u8]) -> LoadError {
    plugins.load(bytes, Owner::new(Source::Sdk), Limits::default()).await.unwrap_err()
}

#[tokio::test]
async fn a_function_that_would_take_the_compiler_minutes_is_refused_before_it_begins() {
    let branch = "local.get $a local.get $b i32.add local.set $a";
    let locals = "(local $a i32) (local $b i32)";
    let nested = format!("(func {locals} {} {})", format!("loop {branch} ").repeat(4_000), "end ".repeat(4_000));
    let error = refusal(&plugins_with(2, 0), &guest_with(&nested, PASS)).await;
    assert_eq!(error, LoadError::TooMuchWork(TooMuch::LoopDepth));
    let said = error.to_string();
    assert!(said.contains("nests more than 128 loops") && said.contains("the compiler"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compilation_that_is_not_done_in_time_is_given_up_and_keeps_its_turn_until_it_is() {
    let plugins = patient_for(Duration::ZERO);
    let error = refusal(&plugins, &guest(PASS)).await;
    assert!(matches!(error, LoadError::CompilingTookTooLong(_)), "{error}");
    // The thread finishes by itself.
    for _ in 0..3_000 {
        if plugins.room.compilers.available_permits() == MOST_COMPILATIONS {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the turn was never given back");
}

#[tokio::test]
async fn whoever_finds_the_compiler_busy_is_told_so_and_what_is_loaded_needs_none() {
    let plugins = patient_for(Duration::from_secs(60));
    let code = plugins.load(&guest(PASS), Owner::new(Source::Sdk), Limits::default()).await.unwrap();
    let busy = patient_for(Duration::from_millis(20));
    let _both = std::sync::Arc::clone(&busy.room.compilers).acquire_many_owned(MOST_COMPILATIONS as u32).await.unwrap();
    let error = refusal(&busy, &guest(PASS)).await;
    assert!(matches!(error, LoadError::CompilerBusy(_)), "{error}");
    let _all =
        std::sync::Arc::clone(&plugins.room.compilers).acquire_many_owned(MOST_COMPILATIONS as u32).await.unwrap();
    plugins.load(&guest(PASS), Owner::new(Source::Managed), Limits::default()).await.unwrap();
    assert_eq!(Asking::bash("ls").of(&*code).await.outcome, Outcome::pass());
}
