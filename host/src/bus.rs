//! What happens, as it happens, for whoever listens: typed, bounded, lossy for slow readers, and never in the way.
//!
//! Telling never waits and never fails, and nothing reads a decision back from it. What a verdict came from is in its
//! report; this is for those who watch many. `tracing` is told the same here, so that nothing is told twice.

mod trace;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::broadcast::{
    self,
    error::{RecvError, TryRecvError},
};

use crate::diagnostic::Diagnostic;
use crate::event::EventName;
use crate::id::{DispatchId, Generation, HookName, Reading, Revision, SessionId};
use crate::report::{Skipped, Word};
use crate::source::Source;

/// How many records a reader may be behind before it misses some.
pub const BACKLOG: usize = 1024;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A hook is asked.
    Triggered(About),
    /// A hook has ended.
    Finished {
        /// Which one, and where.
        about: About,
        /// How.
        word: Word,
        /// How long it took.
        took: Duration,
    },
    /// A hook blocked; it is told beside `Finished`.
    Blocked {
        /// Which one, and where.
        about: About,
        /// Why.
        reason: String,
    },
    /// A hook gave no answer; it is told beside `Finished`.
    Failed {
        /// Which one, and where.
        about: About,
        /// Why.
        cause: String,
    },
    /// A hook matched, and was kept from running.
    Skipped {
        /// Which one, and where.
        about: About,
        /// Why.
        why: Skipped,
    },
    /// Hooks were registered.
    Registered(Count),
    /// Hooks are no longer registered.
    Dropped(Count),
    /// The settings were read anew.
    Reloaded {
        /// The registry's revision from now on.
        revision: Revision,
        /// How many hooks they hold.
        hooks: usize,
    },
    /// A guarded reload holds something back.
    Waiting {
        /// Which reading it is that can be accepted.
        reading: Reading,
        /// How many hooks stay until then.
        hooks: usize,
    },
    /// Something is not as its author may think.
    Warning(Diagnostic),
}

/// One hook's part in one dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The event.
    pub event: EventName,
    /// The hook.
    pub hook: HookName,
    /// Who brought it.
    pub source: Source,
    /// The dispatch.
    pub dispatch: DispatchId,
    /// The session.
    pub session: SessionId,
}

/// How many hooks of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The source.
    pub source: Source,
    /// Which registration of it.
    pub generation: Generation,
    /// How many hooks.
    pub count: usize,
}

impl Record {
    /// Its name for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Triggered(_) => "hook.triggered",
            Self::Finished { .. } => "hook.finished",
            Self::Blocked { .. } => "hook.blocked",
            Self::Failed { .. } => "hook.failed",
            Self::Skipped { .. } => "hook.skipped",
            Self::Registered(_) => "hook.registered",
            Self::Dropped(_) => "hook.dropped",
            Self::Reloaded { .. } => "hook.reloaded",
            Self::Waiting { .. } => "hook.waiting",
            Self::Warning(_) => "hook.warning",
        }
    }

    /// The record as one JSON object, with its name under `type`.
    pub fn to_json(&self) -> Value {
        let mut json = match self {
            Self::Triggered(about) => about.to_json(),
            Self::Finished { about, word, took } => {
                with(about.to_json(), json!({"outcome": word.as_str(), "millis": took.as_secs_f64() * 1e3}))
            }
            Self::Blocked { about, reason } => with(about.to_json(), json!({"reason": reason})),
            Self::Failed { about, cause } => with(about.to_json(), json!({"cause": cause})),
            Self::Skipped { about, why } => with(about.to_json(), json!({"why": why.as_str()})),
            Self::Registered(count) | Self::Dropped(count) => count.to_json(),
            Self::Reloaded { revision, hooks } => json!({"revision": revision.0, "hooks": hooks}),
            Self::Waiting { reading, hooks } => json!({"reading": reading.0, "hooks": hooks}),
            Self::Warning(said) => json!({"message": said.to_string()}),
        };
        json["type"] = self.name().into();
        json
    }
}

impl About {
    fn to_json(&self) -> Value {
        json!({
            "event": self.event.as_str(), "hook": self.hook.as_str(), "source": self.source.to_string(),
            "dispatch": self.dispatch.as_str(), "session": self.session.as_str(),
        })
    }
}

impl Count {
    fn to_json(&self) -> Value {
        json!({"source": self.source.to_string(), "generation": self.generation.0, "count": self.count})
    }
}

fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

/// Where records are told.
#[derive(Clone, Debug)]
pub struct Bus(broadcast::Sender<Arc<Record>>);

impl Default for Bus {
    fn default() -> Self {
        Self(broadcast::channel(BACKLOG).0)
    }
}

impl Bus {
    /// Tells whoever listens, and `tracing`. What is told is only made where somebody hears it.
    pub fn tell(&self, record: impl FnOnce() -> Record) {
        let listened = self.is_heard();
        if !listened && !trace::is_on() {
            return;
        }
        let record = record();
        trace::tell(&record);
        if listened {
            self.send(record);
        }
    }

    /// The same of a warning, which `tracing` is told at a level of its own.
    pub fn warn(&self, said: &Diagnostic) {
        trace::warn(said);
        if self.is_heard() {
            self.send(Record::Warning(said.clone()));
        }
    }

    fn is_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }

    fn send(&self, record: Record) {
        // Where the last reader has just gone there is nobody to tell.
        let _ = self.0.send(Arc::new(record));
    }

    /// Listens from now on.
    pub fn listen(&self) -> Records {
        Records(self.0.subscribe())
    }
}

/// What was told since it was made.
#[derive(Debug)]
pub struct Records(broadcast::Receiver<Arc<Record>>);

/// What a reader hears.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// The next record.
    Record(Arc<Record>),
    /// So many were told while this reader was busy, and are lost to it.
    Missed(u64),
}

impl Records {
    /// Waits for the next one; `None` when the host is gone and all was heard.
    pub async fn next(&mut self) -> Option<Heard> {
        match self.0.recv().await {
            Ok(record) => Some(Heard::Record(record)),
            Err(RecvError::Lagged(missed)) => Some(Heard::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }

    /// The next one that was told already; `None` where there is none yet, or none any more.
    pub fn try_next(&mut self) -> Option<Heard> {
        match self.0.try_recv() {
            Ok(record) => Some(Heard::Record(record)),
            Err(TryRecvError::Lagged(missed)) => Some(Heard::Missed(missed)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reloaded(hooks: usize) -> Record {
        Record::Reloaded { revision: Revision(1), hooks }
    }

    #[tokio::test]
    async fn a_slow_reader_is_told_how_much_it_missed_and_holds_nobody_up() {
        let bus = Bus::default();
        bus.tell(|| panic!("nobody listens"));
        let (mut slow, mut other) = (bus.listen(), bus.listen());
        for hooks in 0..BACKLOG {
            bus.tell(|| reloaded(hooks));
            assert_eq!(other.next().await, Some(Heard::Record(reloaded(hooks).into())));
        }
        for hooks in BACKLOG..BACKLOG + 5 {
            bus.tell(|| reloaded(hooks));
        }
        assert_eq!(slow.next().await, Some(Heard::Missed(5)));
        assert_eq!(slow.next().await, Some(Heard::Record(reloaded(5).into())));
        drop(bus);
        while other.next().await.is_some() {}
    }

    #[test]
    fn a_record_names_itself() {
        let about = About {
            event: EventName::Stop,
            hook: "h".into(),
            source: Source::Sdk,
            dispatch: DispatchId::fresh(),
            session: "s".into(),
        };
        let json = Record::Blocked { about, reason: "no".into() }.to_json();
        assert_eq!(json["type"], "hook.blocked");
        assert_eq!((&json["hook"], &json["reason"]), (&"h".into(), &"no".into()));
    }
}
