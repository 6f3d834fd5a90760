//! What a guarded host's reloads hold back: telling of it, and letting go of it when the embedder accepts.

use std::sync::PoisonError;

use crate::bus::Record;
use crate::diagnostic::{Diagnostic, Place};
use crate::id::{Reading, Revision};
use crate::registry::{Dropped, Held, Loss, Taken, Waiting};
use crate::settings::{self, Why};

use super::Runtime;
use super::auditing::Occasion;

/// With so many hooks it is told what becomes of each; of more, how many they are.
const MOST_TOLD: usize = 20;

/// What was accepted is done.
#[derive(Debug)]
pub struct Accepted {
    /// The registry's revision from now on.
    pub revision: Revision,
    /// The hooks that are gone now.
    pub dropped: Dropped,
}

/// What was to be accepted is not what waits; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", match .waiting {
    Some(waiting) => format!("another reading has come since: {} is what waits now", waiting.reading),
    None => "nothing waits to be accepted".to_owned(),
})]
pub struct Refused {
    /// What waits now.
    pub waiting: Option<Waiting>,
}

impl Runtime {
    /// What reloads would have taken from gates, and what becomes of each of these hooks; `None` where nothing waits, and
    /// always where the host is not guarded.
    pub fn waiting(&self) -> Option<Waiting> {
        self.dispatcher.registry.snapshot().waiting()
    }

    /// Lets go of what waits, as one swap, where it is what was shown under this number.
    ///
    /// Does what the reading said that was shown, whatever the files say by now: those are for the next reload.
    ///
    /// # Errors
    ///
    /// What waits instead, where another reading has come since: nobody accepts what they have not seen.
    pub fn accept(&self, reading: Reading) -> Result<Accepted, Refused> {
        match self.dispatcher.registry.accept(reading) {
            Ok(mut applied) => {
                self.tell(&mut applied, &Occasion::accepted());
                Ok(Accepted { revision: applied.revision, dropped: applied.dropped })
            }
            Err(waiting) => Err(Refused { waiting }),
        }
    }

    /// Says what waits, unless that was said already.
    pub(super) fn tell_what_waits(&self) -> Vec<Diagnostic> {
        let waiting = self.waiting();
        let reading = waiting.as_ref().map(|waiting| waiting.reading);
        let before = std::mem::replace(&mut *self.loading.told.lock().unwrap_or_else(PoisonError::into_inner), reading);
        let Some(waiting) = waiting.filter(|_| reading != before) else { return Vec::new() };
        let said = words(&waiting);
        self.say(&said);
        self.dispatcher.bus.tell(|| Record::Waiting { reading: waiting.reading, hooks: waiting.hooks.len() });
        said
    }
}

fn words(waiting: &Waiting) -> Vec<Diagnostic> {
    let more = waiting.hooks.len().saturating_sub(MOST_TOLD);
    let rest = (more > 0).then(|| {
        let message = format!("{more} more hooks would be taken from gates, and stay until that is accepted");
        Diagnostic::warning(Place::default(), message)
    });
    waiting.hooks.iter().take(MOST_TOLD).map(word).chain(rest).collect()
}

fn word(held: &Held) -> Diagnostic {
    let place = Place { event: Some(held.event.to_string()), hook: Some(held.hook.clone()), ..held.place.clone() };
    let message = format!("it {}, and guards a gate: it stays in force until that is accepted", held.loss);
    let hint = "whoever runs this host accepts it, or starts it anew";
    Diagnostic::warning(place, message).hint(hint)
}

/// What settings took away again, in the words of the registry.
pub(super) fn taken(dropped: &settings::Dropped) -> Taken {
    let loss = match &dropped.why {
        Why::DisabledByName | Why::DisableAllHooks => Loss::Disabled,
        Why::Replaced { by } | Why::SameName { by } | Why::Final { kept: by } => Loss::Replaced { by: by.clone() },
    };
    let settings::Dropped { spec, source, .. } = dropped;
    Taken { source: source.clone(), event: spec.event.clone(), name: spec.name.clone(), loss }
}
