//! Where futures run, and what a signal does: hooks run in process groups of their own, so a key that interrupts the
//! program does not reach them; dropping what is awaited ends them.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use anyhow::Context as _;
use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep};

use super::exit::Exit;

/// How long hooks that were told to end may take: a little longer than the executor gives them.
const GRACE: Duration = Duration::from_millis(2500);

/// How long a compiler at work is waited for.
const PATIENCE: Duration = Duration::from_millis(200);

/// How long a person waits without being told what for.
const SILENCE: Duration = Duration::from_secs(1);

/// Awaits what mostly takes no time, and once calls `tell` where it does.
pub(super) async fn telling<T>(work: impl Future<Output = T>, tell: impl FnOnce()) -> T {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = sleep(SILENCE) => tell(),
    }
    work.await
}

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
    // The work was dropped, and with it every hook was told to end.
    if let Ok(Exit::Signal(_)) = done {
        runtime.block_on(hooks_ended());
    }
    // Not in the background: whatever is dropped here still has to end its processes.
    runtime.shutdown_timeout(PATIENCE);
    done
}

/// Ending a hook's processes is a task that outlives the hook; a second signal waits for none.
async fn hooks_ended() {
    let tasks = Handle::current().metrics();
    let until = Instant::now() + GRACE;
    let all = async {
        while tasks.num_alive_tasks() > 0 && Instant::now() < until {
            sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        () = all => {}
        _ = asked_to_end() => {}
    }
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_takes_long_is_told_once_and_what_does_not_never() {
        for (takes, times) in [(Duration::ZERO, 0), (SILENCE / 2, 0), (SILENCE * 10, 1)] {
            let told = Cell::new(0);
            let done = telling(
                async {
                    sleep(takes).await;
                    7
                },
                || told.set(told.get() + 1),
            )
            .await;
            assert_eq!((done, told.get()), (7, times), "{takes:?}");
        }
    }
}
