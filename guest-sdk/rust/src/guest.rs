//! The component's side of the interface: hands the host's calls to a [`Plugin`].

use crate::bindings::exports::tacklebox::hooks::callback::Guest;
use crate::bindings::tacklebox::hooks::types::HookInput;
use crate::{Answer, Context, Info, Input, Plugin};
use std::marker::PhantomData;

/// What [`export!`](crate::export) exports.
pub struct Exported<P>(PhantomData<P>);

impl<P: Plugin> Guest for Exported<P> {
    fn describe() -> Info {
        report_panics();
        P::info()
    }

    fn run(input: HookInput, context: Context) -> Result<Answer, String> {
        report_panics();
        P::run(&Input::from(input), &context).map_err(|error| error.to_string())
    }
}

/// Writes a panic's text to the log: a component has no stderr, and the trap that follows carries no text.
#[cfg(target_family = "wasm")]
fn report_panics() {
    std::panic::set_hook(Box::new(|panic| crate::log::error(panic)));
}

#[cfg(not(target_family = "wasm"))]
fn report_panics() {}

/// Makes a component of a [`Plugin`]: `tacklebox_sdk::export!(MyPlugin);`, once, in the crate's root.
#[macro_export]
macro_rules! export {
    ($plugin:ty) => {
        // Names like `tacklebox:hooks/callback@0.1.0#run` are nothing that a linker of another system takes.
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Exported = $crate::Exported<$plugin>;
    $crate::bindings::export_component!(Exported with_types_in $crate::bindings);
        };
        #[cfg(not(target_family = "wasm"))]
        const _: fn() -> $crate::Info = <$plugin as $crate::Plugin>::info;
    };
}
