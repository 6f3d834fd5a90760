//! What the user configured for this hook.

use crate::{Error, host, place};
use serde::de::DeserializeOwned;

/// The `config` of this hook's registration, as a type of the plugin's own; `{}` where there is none.
///
/// `#[serde(default, deny_unknown_fields)]` is the right start for such a type: an empty config works, and a misspelt
/// key is an error instead of a guard that guards less than it seems to.
///
/// # Errors
/// Where it does not fit the type; the text names the key.
pub fn config<T: DeserializeOwned>() -> Result<T, Error> {
    place::parse("config", &host::config::get())
}
