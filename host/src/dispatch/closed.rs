//! What a dispatch comes to once the host is shut down: nobody is left to be asked, so nothing is let past
//! (HOOKS.md, 8).

use crate::event::{Event, EventName};
use crate::hook::MOST_ATTEMPTS;
use crate::outcome::{Block, Said};

use super::Dispatched;
use super::fold::Folded;
use super::run::Run;

const WHY: &str = "the host of the hooks was shut down, so nobody could be asked";

impl Run<'_> {
    /// Asks nobody.
    pub(super) fn closed(self, event: &Event) -> Dispatched {
        self.without_asking(Some(folded(event)))
    }
}

fn folded(event: &Event) -> Folded {
    let class = event.name.class();
    if class.gate {
        // An agent that is sent on for ever would never stop.
        if event.name == EventName::Stop && event.attempt.is_some_and(|attempt| attempt > MOST_ATTEMPTS) {
            return Folded { capped: true, ..Folded::default() };
        }
        // Of no hook: nothing is signed with this place.
        return Folded { block: Some((0, Block::new(WHY, Said::ByNotAnswering))), ..Folded::default() };
    }
    // Nor is a text shown that nobody has looked through for secrets.
    let withheld = (class.output && event.text().is_some()).then(|| WHY.to_owned());
    Folded { output: withheld, ..Folded::default() }
}
