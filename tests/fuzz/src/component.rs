//! Files given to the loader: refused or loaded by the real sandbox with its limits, never a panic of the engine.
//!
//! A fuzzer that knows nothing of WASM rarely gets past a section's length, so what begins with a parenthesis is taken for
//! the text form, and what it stands for is loaded.

use std::borrow::Cow;
use std::sync::LazyLock;

use tacklebox::plugin::Digest;
use tacklebox::session::PluginStates;
use tacklebox::source::Source;
use tacklebox::wasm::{Limits, LoadError, Owner, Plugins, inspect};
use tokio::runtime::{Builder, Runtime};

use crate::shown::is_printable;

static SANDBOX: LazyLock<(Runtime, Plugins)> = LazyLock::new(|| {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let plugins = Plugins::new(PluginStates::default()).expect("an engine");
    (runtime, plugins)
});

/// Has the sandbox load the bytes.
pub fn check(bytes: &[u8]) {
    let Some(bytes) = binary(bytes) else { return };
    let (runtime, plugins) = &*SANDBOX;
    let seen = inspect(&bytes);
    let loaded = runtime.block_on(plugins.load(&bytes, Owner::new(Source::Sdk), Limits::default()));
    match loaded {
        Ok(plugin) => {
            assert_eq!(plugin.digest(), Digest::of(&bytes));
            assert!(seen.is_ok_and(|seen| seen.missing.is_empty()), "it is loaded, and no file for a plugin");
            assert!(!plugin.info().name.as_str().trim().is_empty(), "it is loaded, and has no name");
        }
        Err(LoadError::Panicked(why)) => panic!("the engine panicked: {why}"),
        Err(error) => {
            is_printable(&error.to_string());
            assert!(seen.is_ok() || seen == Err(error), "it is inspected and loaded differently");
        }
    }
}

fn binary(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    match bytes {
        [b'(', ..] => wat::parse_bytes(bytes).ok(),
        _ => Some(Cow::Borrowed(bytes)),
    }
}
