//! One executor a kind of hook: each has the one effect, and gives back the one shape, [`Asked`].
//!
//! An executor does not know other hooks, nor what its answer will mean.

pub mod command;
pub mod function;

use crate::ask::{Ask, Asked};
use crate::hook::HookKind;
use crate::outcome::{Cause, Change, Outcome};
use crate::registry::Hook;

/// Asks one hook. Never fails and never panics.
pub async fn run(hook: &Hook, ask: &Ask<'_>) -> Asked {
    match &hook.spec.kind {
        HookKind::Command(command) => command::run(command, ask).await,
        HookKind::Function(function) => function::run(function, ask).await.into(),
        HookKind::Inject(inject) => {
            Outcome::Continue(Change { context: Some(inject.text.clone()), ..Change::default() }).into()
        }
        HookKind::Callback(callback) => match &hook.code {
            Some(code) => code.call(callback, ask).await,
            None => {
                let why = hook.missing.as_deref().unwrap_or("it has not been loaded");
                Outcome::NoAnswer(Cause::CouldNotStart(format!("its plugin is not there: {why}"))).into()
            }
        },
    }
}
