//! Functions of the embedder's: a gate that runs at once, or a future that is awaited. A panic is caught.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

use super::panicked;
use crate::ask::Ask;
use crate::hook::FunctionHook;
use crate::outcome::{Cause, Outcome};

/// Asks a function.
pub async fn run(hook: &FunctionHook, ask: &Ask<'_>) -> Outcome {
    match hook {
        FunctionHook::Gate { reason, gate } => {
            let call = AssertUnwindSafe(|| gate(ask.event, ask.cx, &ask.cx.history));
            match std::panic::catch_unwind(call) {
                Ok(true) => Outcome::pass(),
                Ok(false) => Outcome::block(reason.clone()),
                Err(panic) => panicked(panic.as_ref()),
            }
        }
        FunctionHook::Async { run, .. } => {
            let (event, cx) = (ask.event.clone(), ask.cx.clone());
            // The call that makes the future is the embedder's code too.
            let whole = AssertUnwindSafe(async move { run(event, cx).await }).catch_unwind();
            match tokio::time::timeout(ask.time_limit, whole).await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(panic)) => panicked(panic.as_ref()),
                Err(_) => Outcome::NoAnswer(Cause::TimedOut(ask.time_limit)),
            }
        }
    }
}
