//! Records of dispatches in a file: one JSON line each, appended by a thread of its own.
//!
//! A dispatch hands its line to a bounded queue and goes on: a slow disk, or none, never holds it up. Lines that did not
//! fit are counted, and the file says how many are missing where they would stand. What a line says is
//! [`record`](crate::record)'s.

mod file;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::port::Sink;
use crate::record::DispatchRecord;

use file::Appending;

/// How many lines wait for the disk before one is missed.
pub const QUEUE: usize = 1024;

/// Why a file is not written to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonLinesError {
    /// It could not be opened or made.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is not a file that records are kept in.
    #[error("{}: {why}", .path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
}

/// A file to which each dispatch appends one JSON line.
///
/// Several hosts, in one process or in many, may append to one file: each line is one write at its end. Dropped, it writes
/// what is queued first, and waits for that.
pub struct JsonLines {
    path: PathBuf,
    /// Taken when it is dropped, which ends the thread.
    queue: Option<SyncSender<Message>>,
    state: Arc<Mutex<State>>,
    writer: Option<JoinHandle<()>>,
}

/// What the thread is told.
enum Message {
    /// A line, and how many were missed before it.
    Line { missed: u64, line: Vec<u8> },
    /// Answer when everything before this is written.
    Flush(Sender<()>),
}

/// What both sides know.
#[derive(Debug, Default)]
struct State {
    /// Lines that found no place in the queue, and that no message has told the thread of yet.
    missed: u64,
    /// The first thing that went wrong with the file.
    problem: Option<String>,
}

impl JsonLines {
    /// Appends to `path`, which is made with mode 0600 where it does not exist.
    ///
    /// One that exists keeps the mode it has, so a reader may be let in; it must be this user's, a regular file, and
    /// writable by nobody else. A symbolic link is not followed, whether or not it leads anywhere.
    ///
    /// # Errors
    ///
    /// The file is none of these, or cannot be opened, or no thread can be started.
    pub fn append(path: impl AsRef<Path>) -> Result<Self, JsonLinesError> {
        let path = path.as_ref();
        let file = Appending::open(path)?;
        Self::over(path, file, QUEUE)
    }

    fn over(path: &Path, file: Appending, most: usize) -> Result<Self, JsonLinesError> {
        let (queue, lines) = sync_channel(most);
        let state = Arc::new(Mutex::new(State::default()));
        let writer = Writer { file, state: state.clone(), lost: 0 };
        let spawned = thread::Builder::new().name("records".to_owned()).spawn(move || writer.run(&lines));
        let writer = spawned.map_err(|error| JsonLinesError::Io { path: path.to_owned(), error })?;
        Ok(Self { path: path.to_owned(), queue: Some(queue), state, writer: Some(writer) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until everything that was recorded before is written, or could not be.
    pub fn flush(&self) {
        let (done, written) = channel();
        let sent = self.queue.as_ref().is_some_and(|queue| queue.send(Message::Flush(done)).is_ok());
        if sent {
            // The thread ends only with this.
            let _ = written.recv();
        }
    }

    /// The first thing that went wrong with writing, if anything did: the file is not whole then.
    pub fn problem(&self) -> Option<String> {
        locked(&self.state).problem.clone()
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sink for JsonLines {
    fn record(&self, record: &DispatchRecord) {
        let Some(queue) = &self.queue else { return };
        let line = record.to_line();
        // Held over both, so that the count stands before the line that follows it.
        let mut state = locked(&self.state);
        match queue.try_send(Message::Line { missed: state.missed, line }) {
            Ok(()) => state.missed = 0,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => state.missed += 1,
        }
    }
}

impl Drop for JsonLines {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(writer) = self.writer.take() {
            // It does not panic; if it did, there is nothing left to be done about it.
            let _ = writer.join();
        }
    }
}

impl fmt::Debug for JsonLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonLines").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The thread's side.
struct Writer {
    file: Appending,
    state: Arc<Mutex<State>>,
    /// Lines that could not be written, and that the file does not tell of yet.
    lost: u64,
}

impl Writer {
    fn run(mut self, messages: &Receiver<Message>) {
        while let Ok(message) = messages.recv() {
            match message {
                Message::Line { missed, line } => {
                    self.tell_missed(missed);
                    if !self.write(&line) {
                        self.lost += 1;
                    }
                }
                Message::Flush(done) => {
                    self.tell_rest();
                    // Who asked may have gone.
                    let _ = done.send(());
                }
            }
        }
        self.tell_rest();
    }

    /// What was missed after the last line that found its place.
    fn tell_rest(&mut self) {
        let missed = std::mem::take(&mut locked(&self.state).missed);
        self.tell_missed(missed);
    }

    fn tell_missed(&mut self, missed: u64) {
        self.lost += missed;
        if self.lost > 0 && self.write(format!("{{\"type\":\"missed\",\"count\":{}}}\n", self.lost).as_bytes()) {
            self.lost = 0;
        }
    }

    fn write(&mut self, line: &[u8]) -> bool {
        let Err(error) = self.file.write(line) else { return true };
        let mut state = locked(&self.state);
        if state.problem.is_none() {
            let problem = format!("{}: {error}", self.file.path().display());
            tracing::warn!("records of dispatches are not written: {problem}");
            state.problem = Some(problem);
        }
        false
    }
}

#[cfg(test)]
mod tests;
