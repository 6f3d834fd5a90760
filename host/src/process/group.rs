//! A command's process group, and its end.
//!
//! A group is signalled only while its leader has not been reaped: until then its number cannot belong to anyone else.
//! A command that exits by itself is never signalled, so what it left behind on purpose lives on.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::Child;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::ask::Lease;
use crate::wire::process::Exit;

/// How long a group may take to end by itself once it was told to.
const GRACE: Duration = Duration::from_secs(2);

/// How long the killed are waited for; they may hang in the kernel.
const REAP: Duration = Duration::from_secs(1);

/// A running command. Dropping it ends the whole group, without waiting for that.
pub(crate) struct Group {
    running: Option<Running>,
}

impl Group {
    /// The group that the child leads. `lease` is held until it has ended.
    pub(crate) fn of(child: Child, lease: Lease) -> Self {
        Self { running: Some(Running { child, signalled: Signalled::No, _lease: lease }) }
    }

    /// The leader.
    ///
    /// # Panics
    ///
    /// Never: the group is there until it is ended, which consumes it.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.running.as_mut().expect("a group is there until it is ended").child
    }

    /// Waits until the leader exits. From then on the group is left alone.
    pub(crate) async fn exited(&mut self) -> io::Result<Exit> {
        let status = self.child().wait().await?;
        if let Some(running) = &mut self.running {
            running.signalled = Signalled::Over;
        }
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or_default()),
        })
    }

    /// Waits until the leader exits, and kills whoever of the group is left then: what was started for a plugin ends with
    /// what the plugin asked for. Who has left the group is not found.
    #[cfg(feature = "wasm")]
    pub(crate) async fn exited_with_all(&mut self) -> io::Result<Exit> {
        if let Some(running) = &mut self.running
            && let Some(leader) = running.leader()
        {
            // The leader is not reaped by this look, so its number is still the group's.
            let dead = tokio::task::spawn_blocking(move || wait_until_dead(leader)).await;
            dead.map_err(io::Error::other)??;
            running.kill();
        }
        self.exited().await
    }

    /// Ends the group and waits until nobody is left in it: 2 s and a little at most.
    pub(crate) async fn end(mut self) {
        if let Some(ending) = self.detached() {
            // A task of its own, so that the group has its 2 s also where this dispatch is dropped meanwhile.
            let _ = ending.await;
        }
    }

    fn detached(&mut self) -> Option<tokio::task::JoinHandle<()>> {
        let running = self.running.take().filter(|running| running.signalled == Signalled::No)?;
        // Without a runtime, or with one that is going down, the task is dropped unrun, which kills at once.
        Handle::try_current().ok().map(|runtime| runtime.spawn(running.end()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.detached();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signalled {
    /// It may still have to be killed.
    No,
    /// It was killed, or its leader was reaped: its number is nobody's or another's.
    Over,
}

struct Running {
    child: Child,
    signalled: Signalled,
    _lease: Lease,
}

impl Running {
    async fn end(mut self) {
        if let Some(leader) = self.leader() {
            // What cannot be signalled is gone or another user's; either way there is nothing to do about it.
            let _ = kill_process_group(leader, Signal::TERM);
            // Whoever is stopped, for reaching for the terminal perhaps, hears of it only when it goes on.
            let _ = kill_process_group(leader, Signal::CONT);
            wait_until_gone(leader, GRACE).await;
            self.kill();
            wait_until_gone(leader, REAP).await;
        }
        let _ = tokio::time::timeout(REAP, self.child.wait()).await;
    }

    fn kill(&mut self) {
        if std::mem::replace(&mut self.signalled, Signalled::Over) == Signalled::No
            && let Some(leader) = self.leader()
        {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }

    /// The leader's number, while it has not been reaped.
    fn leader(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.id()?).ok()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn wait_until_gone(leader: Pid, limit: Duration) {
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_millis(2);
    while Instant::now() < deadline && (leader_lives(leader) || member_lives(leader)) {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

#[cfg(feature = "wasm")]
fn wait_until_dead(leader: Pid) -> io::Result<()> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(leader), look) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other.map(|_| ())?),
        }
    }
}

fn leader_lives(leader: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(leader), look), Ok(None))
}

/// Whether anyone is left in the group but for the dead who wait to be reaped. Signal 0 cannot tell those apart here.
#[cfg(target_os = "linux")]
fn member_lives(leader: Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let numbered = processes.flatten().filter(|p| p.file_name().as_encoded_bytes()[0].is_ascii_digit());
    // As bytes: a process may call itself anything.
    let mut stats = numbered.filter_map(|p| std::fs::read(p.path().join("stat")).ok());
    stats.any(|stat| is_live_member(&String::from_utf8_lossy(&stat), leader))
}

#[cfg(target_os = "linux")]
fn is_live_member(stat: &str, leader: Pid) -> bool {
    // `pid (name) state ppid pgrp ..`; the name may hold anything, parentheses too.
    let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace();
    let (state, group) = (fields.next(), fields.nth(1));
    !matches!(state, None | Some("Z" | "X")) && group == Some(leader.as_raw_nonzero().to_string().as_str())
}

/// Whether anyone is left in the group; elsewhere than on Linux the dead do not answer signal 0.
#[cfg(not(target_os = "linux"))]
fn member_lives(leader: Pid) -> bool {
    rustix::process::test_kill_process_group(leader).is_ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn members_are_told_by_state_and_group_whatever_their_name() {
        let leader = Pid::from_raw(42).unwrap();
        let table = [
            ("43 (sleep) S 1 42 42 0", true),
            ("43 (a) Z 1 42) T 1 42 42 0", true),
            ("43 (\u{fffd}) R 1 7 42 0", false),
            ("42 (bash) Z 1 42 42 0", false),
            ("43 (gone) X 1 42 42 0", false),
            ("", false),
        ];
        for (stat, live) in table {
            assert_eq!(is_live_member(stat, leader), live, "{stat}");
        }
    }
}
