//! One executor a kind of hook: each has the one effect, and gives back the one shape, [`Asked`].
//!
//! An executor does not know other hooks, nor what its answer will mean.

pub mod command;
pub mod function;
pub mod prompt;

use std::any::Any;

use crate::ask::{Ask, Asked};
use crate::hook::HookKind;
use crate::outcome::{Cause, Change, Outcome};
use crate::port::Ports;
use crate::registry::Hook;

/// Asks one hook. Never fails and never panics.
pub async fn run(hook: &Hook, ask: &Ask<'_>, ports: &Ports) -> Asked {
    if let Some(why) = &hook.missing {
        return Outcome::NoAnswer(Cause::CouldNotStart(format!("its plugin is not there: {why}"))).into();
    }
    match &hook.spec.kind {
        HookKind::Command(command) => command::run(command, ask).await,
        HookKind::Function(function) => function::run(function, ask).await.into(),
        HookKind::Prompt(prompt) => prompt::run(prompt, ask, ports.model.as_deref()).await,
        HookKind::Inject(inject) => {
            Outcome::Continue(Change { context: Some(inject.text.clone()), ..Change::default() }).into()
        }
        HookKind::Callback(callback) => match &hook.code {
            Some(code) => code.call(callback, ask).await,
            None => {
                let why = "its plugin is not there: it has not been loaded";
                Outcome::NoAnswer(Cause::CouldNotStart(why.to_owned())).into()
            }
        },
    }
}

/// What is said of embedder's code that panicked.
fn panicked(panic: &(dyn Any + Send)) -> Outcome {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    Outcome::NoAnswer(Cause::Panicked(text.unwrap_or_else(|| "without a message".to_owned())))
}
