//! Instances that are kept from call to call: one for each plugin and session whose hooks ask for that.
//!
//! A call takes its instance out and puts it back when all went well, so whatever ends otherwise ends the instance too: a
//! trap, a limit, a timeout, a call that is cancelled. An instance that rests has its place in the sandbox; those that rest
//! take half of the places at most, and give theirs up to whoever would have to wait for one.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};
use tokio::time::timeout_at;

use super::instance::{Body, Deadline};
use crate::life::SessionLife;
use crate::outcome::Cause;

/// A loaded plugin among all of this sandbox; no other ever has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tenant(u64);

type Key = (Tenant, SessionLife);

/// All that rest, and who uses them one after the other.
pub(super) struct Kept {
    rooms: Mutex<HashMap<Key, Cell>>,
    /// How many places those that rest may take together.
    most: u32,
    tenants: AtomicU64,
    /// Counts what was put back, so that the oldest is known.
    rests: AtomicU64,
}

#[derive(Default)]
struct Cell {
    queue: Arc<Queue<()>>,
    resting: Option<Body>,
    /// When it was put back.
    since: u64,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("most", &self.most).finish_non_exhaustive()
    }
}

impl Kept {
    /// With nothing in it; what rests may take so many places.
    pub(super) fn new(most: u32) -> Self {
        Self { rooms: Mutex::default(), most, tenants: AtomicU64::new(0), rests: AtomicU64::new(0) }
    }

    /// A name for another loaded plugin.
    pub(super) fn tenant(&self) -> Tenant {
        Tenant(self.tenants.fetch_add(1, Ordering::Relaxed))
    }

    /// Waits until no other call of this plugin and session uses the instance, at most until `deadline`. A session that has
    /// ended has none.
    pub(super) async fn turn(
        &self,
        tenant: Tenant,
        session: &SessionLife,
        deadline: Deadline,
    ) -> Result<Turn<'_>, Cause> {
        let key = (tenant, session.clone());
        let queue = self.queue(&key).ok_or(Cause::SessionEnded)?;
        let mut turn = Turn { kept: self, key, queue, mine: None };
        match timeout_at(deadline.at(), Arc::clone(&turn.queue).lock_owned()).await {
            Ok(mine) => turn.mine = Some(mine),
            Err(_) => {
                let why = "other calls of this session use the plugin's instance, and it is one at a time";
                return Err(Cause::CouldNotStart(why.to_owned()));
            }
        }
        Ok(turn)
    }

    /// Where to wait for it; a session that has ended is given no place among those that are kept.
    fn queue(&self, key: &Key) -> Option<Arc<Queue<()>>> {
        let mut cells = self.lock();
        let (_, session) = key;
        (!session.has_ended()).then(|| Arc::clone(&cells.entry(key.clone()).or_default().queue))
    }

    /// Ends what rests of this session. What is in use ends with its call.
    pub(super) fn end_session(&self, session: &SessionLife) {
        self.end(|(_, other)| other == session);
    }

    /// Ends all that rests of this plugin.
    pub(super) fn end_tenant(&self, tenant: Tenant) {
        self.end(|(other, _)| *other == tenant);
    }

    /// Ends those that have rested longest, until so many places are free or nobody rests.
    pub(super) fn make_room(&self, places: u32) {
        let mut freed = 0;
        let mut ended = Vec::new();
        let mut cells = self.lock();
        while freed < places {
            let Some(body) = oldest(&mut cells) else { break };
            freed += body.places();
            ended.push(body);
        }
        drop(cells);
    }

    fn end(&self, which: impl Fn(&Key) -> bool) {
        let ended: Vec<_> = self.lock().extract_if(|key, _| which(key)).collect();
        drop(ended);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Cell>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are, in use or at rest.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// As if the last calls of all that rest had taken so long.
    #[cfg(test)]
    pub(super) fn charge(&self, time: std::time::Duration) {
        self.lock().values().filter_map(|cell| cell.resting.as_ref()).for_each(|body| body.charge(time));
    }

    /// How many wait for their turn with an instance that is in use.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        // The map has one, whoever has the turn two, and each who waits for it two.
        let others = |cell: &Cell| Arc::strong_count(&cell.queue).saturating_sub(3) / 2;
        self.lock().values().map(others).sum()
    }

    /// How many are at rest.
    #[cfg(test)]
    pub(super) fn resting(&self) -> usize {
        self.lock().values().filter(|cell| cell.resting.is_some()).count()
    }
}

/// The one that has rested longest; nobody queues for it, since whoever has the turn takes it out at once.
#[expect(clippy::mutable_key_type, reason = "what changes of a life, that it has ended, is no part of the key")]
fn oldest(cells: &mut HashMap<Key, Cell>) -> Option<Body> {
    let resting = cells.iter().filter(|(_, cell)| cell.resting.is_some());
    let key = resting.min_by_key(|(_, cell)| cell.since).map(|(key, _)| key.clone())?;
    let cell = cells.get_mut(&key)?;
    let body = cell.resting.take();
    if Arc::strong_count(&cell.queue) == 1 {
        cells.remove(&key);
    }
    body
}

/// The turn of one call with the instance of its plugin and session.
pub(super) struct Turn<'a> {
    kept: &'a Kept,
    key: Key,
    queue: Arc<Queue<()>>,
    mine: Option<OwnedMutexGuard<()>>,
}

impl Turn<'_> {
    /// The instance that was kept, where one was.
    pub(super) fn take(&self) -> Option<Body> {
        self.cell(&mut self.kept.lock()).and_then(|cell| cell.resting.take())
    }

    /// Puts back what is left of the instance for the next call; ends it where the session or the plugin has ended meanwhile.
    pub(super) fn keep(self, rest: Option<Body>) {
        let Some(body) = rest else { return };
        let mut ended = Vec::new();
        let mut cells = self.kept.lock();
        let taken: u32 = cells.values().filter_map(|cell| cell.resting.as_ref()).map(Body::places).sum();
        let mut left = self.kept.most.saturating_sub(taken);
        if body.places() > self.kept.most || self.cell(&mut cells).is_none() {
            ended.push(body);
        } else {
            while left < body.places() {
                let Some(old) = oldest(&mut cells) else { break };
                left += old.places();
                ended.push(old);
            }
            if let Some(cell) = self.cell(&mut cells) {
                cell.since = self.kept.rests.fetch_add(1, Ordering::Relaxed);
                cell.resting = Some(body);
            }
        }
        drop(cells);
    }

    /// Its own: after the end of a session a new one of the same name is another.
    #[expect(clippy::mutable_key_type, reason = "what changes of a life, that it has ended, is no part of the key")]
    fn cell<'c>(&self, cells: &'c mut HashMap<Key, Cell>) -> Option<&'c mut Cell> {
        cells.get_mut(&self.key).filter(|cell| Arc::ptr_eq(&cell.queue, &self.queue))
    }
}

impl Drop for Turn<'_> {
    /// Whoever leaves last and leaves nothing behind closes the door.
    fn drop(&mut self) {
        let mut cells = self.kept.lock();
        self.mine = None;
        let Some(cell) = self.cell(&mut cells) else { return };
        // The map's and this one.
        if cell.resting.is_none() && Arc::strong_count(&cell.queue) == 2 {
            cells.remove(&self.key);
        }
    }
}
