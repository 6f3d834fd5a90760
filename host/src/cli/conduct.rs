//! Where futures run, and what a signal does: hooks run in process groups of their own, so a key that interrupts the
//! program does not reach them; dropping what is awaited ends them.

use std::future::Future;

use anyhow::Context as _;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use super::exit::Exit;

/// Runs `work` to its end, or until a signal asks for an end.
pub(super) fn run(work: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    // One thread beside this one: what hooks leave to be done goes on while this one waits for input.
    let runtime =
        Builder::new_multi_thread().worker_threads(1).enable_all().build().context("the program cannot start")?;
    let done = runtime.block_on(async {
        tokio::select! {
            done = work => done,
            signal = asked_to_end() => signal,
        }
    });
    // What may still block, say a compiler at work, is not waited for.
    runtime.shutdown_background();
    done
}

async fn asked_to_end() -> anyhow::Result<Exit> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(Exit::Signal(tokio::select! {
        _ = interrupt.recv() => 2,
        _ = terminate.recv() => 15,
        _ = hangup.recv() => 1,
    }))
}
