//! A package's `plugin.json`: whatever stands in it, nothing outside of the package is named.

use std::path::{Component, Path};

use tacklebox::event::Events;
use tacklebox::hook::{HookKind, HookSpec};
use tacklebox::wire::plugin_json::parse;

use crate::shown::{all_printable, is_printable};

const PACKAGE: &str = "/x/guard";

/// Reads the bytes as the `plugin.json` of a package.
pub fn check(bytes: &[u8]) {
    let read = || parse(bytes, &Path::new(PACKAGE).join("plugin.json"), &Events::default());
    assert_eq!(read(), read(), "it is read in two ways");
    match read() {
        Ok((manifest, diagnostics)) => {
            all_printable(&diagnostics);
            let component = &manifest.component;
            let inside = component.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            assert!(inside && component.file_name().is_some(), "{component:?} is no file of the package");
            assert!(!component.to_string_lossy().contains(['\\', '\0']), "{component:?}");
            manifest.hooks.iter().flatten().for_each(is_its_own);
        }
        Err(error) => is_printable(&error.to_string()),
    }
}

fn is_its_own(hook: &HookSpec) {
    let HookKind::Callback(callback) = &hook.kind else { panic!("{hook:?} is no callback") };
    let climbs = callback.plugin.components().any(|part| part == Component::ParentDir);
    assert!(callback.plugin.starts_with(PACKAGE) && !climbs, "{hook:?} is of another package");
    assert!(!hook.is_final, "{hook:?}: a package's word is not final");
}
