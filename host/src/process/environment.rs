//! What a program inherits of the host's environment: less secrets, less what could steer a shell. Pure.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use super::secrets::is_secret;
use crate::hook::OUR_VARIABLES;
use crate::surroundings::{Inherit, Surroundings};

/// The host's variables, less what is not inherited and what could steer a shell or pass for ours (HOOKS.md, 3).
pub(crate) fn inherited(surroundings: &Surroundings) -> Vec<(OsString, OsString)> {
    let passes = |name: &OsStr, value: &OsStr| match &surroundings.inherit {
        Inherit::LessSecrets => !is_secret(name, value),
        Inherit::All => true,
        Inherit::Only(names) => names.iter().any(|n| n.as_str() == name),
    };
    let vars = surroundings.env.iter().filter(|(name, value)| passes(name, value) && is_name(name) && !steers(name));
    vars.map(|(name, value)| (name.clone(), without_nul(value.clone()))).collect()
}

/// The same for a program that a plugin runs: without secrets whatever commands inherit, and without what makes a program
/// load code or settings from where it happens to stand.
#[cfg(feature = "wasm")]
pub(crate) fn scrubbed(surroundings: &Surroundings) -> Vec<(OsString, OsString)> {
    let passes = |name: &OsStr, value: &OsStr| !is_secret(name, value) && !loads(name);
    inherited(surroundings).into_iter().filter(|(name, value)| passes(name, value)).collect()
}

/// Families of variables that make programs load code: those of the loaders, of git and of package managers.
#[cfg(feature = "wasm")]
const LOADING_FAMILIES: [&str; 8] =
    ["LD_", "DYLD_", "GIT_", "NPM_CONFIG_", "npm_config_", "CARGO_BUILD_", "RUSTC", "GCONV_"];

/// Variables that make interpreters and common programs load code, or run a program of another's choice.
#[cfg(feature = "wasm")]
const LOADING: [&str; 34] = [
    "BUN_OPTIONS",
    "CDPATH",
    "CLASSPATH",
    "EDITOR",
    "FPATH",
    "GCC_EXEC_PREFIX",
    "GLIBC_TUNABLES",
    "GOFLAGS",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LESSCLOSE",
    "LESSOPEN",
    "LUA_CPATH",
    "LUA_INIT",
    "LUA_PATH",
    "MAKEFILES",
    "MAKEFLAGS",
    "MANPAGER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PAGER",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PROMPT_COMMAND",
    "RIPGREP_CONFIG_PATH",
    "RUBYLIB",
    "RUBYOPT",
    "VISUAL",
    "ZDOTDIR",
];

/// Whether a variable could make a program run something that nobody granted: a preloaded library, a module on a path with
/// an empty entry, which means the project. Of Python all that starts so, but for how it prints.
#[cfg(feature = "wasm")]
fn loads(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return true };
    let python = name.starts_with("PYTHON") && !matches!(name, "PYTHONIOENCODING" | "PYTHONUTF8" | "PYTHONUNBUFFERED");
    python || LOADING.contains(&name) || LOADING_FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Whether a variable could make the shell run something of its own accord, or pass for one of ours.
fn steers(name: &OsStr) -> bool {
    name == "BASH_ENV"
        || name == "ENV"
        || name.as_bytes().starts_with(b"BASH_FUNC_")
        || OUR_VARIABLES.iter().any(|n| *n == name)
}

/// Whether the system takes it for a name; one that it does not take would make the start fail.
pub(crate) fn is_name(name: &OsStr) -> bool {
    !name.is_empty() && !name.as_bytes().iter().any(|b| matches!(b, 0 | b'='))
}

pub(crate) fn without_nul(value: OsString) -> OsString {
    if !value.as_bytes().contains(&0) {
        return value;
    }
    let pieces: Vec<_> = value.as_bytes().split(|b| *b == 0).collect();
    OsString::from_vec(pieces.join("\u{fffd}".as_bytes()))
}
