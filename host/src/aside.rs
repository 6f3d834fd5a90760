//! Which hooks are set aside: those that failed five times in a row on an event where nobody waits for a no
//! (HOOKS.md, 8).
//!
//! Counts by session, source, event and name, and by what the hook was then. Who is asked is for `dispatch`. A hook
//! that can refuse something, or change what somebody gets to read, is asked every time: whoever can make a redactor
//! fail must not be rid of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::event::EventName;
use crate::hook::HookSpec;
use crate::id::{Generation, HookName};
use crate::life::SessionLife;
use crate::outcome::{Cause, Ending, Outcome};
use crate::plugin::Digest;
use crate::registry::Hook;
use crate::source::Source;
use crate::trust::Seal;

/// How often in a row a hook fails before it is set aside.
pub const MOST_FAILURES: u32 = 5;

type Key = (SessionLife, Source, EventName, HookName);

/// The hooks that failed when they were last asked, and those that are set aside.
#[derive(Debug, Default)]
pub struct AsideSet(Mutex<HashMap<Key, Row>>);

/// What one more ending came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is asked the next time.
    Asked,
    /// With this ending it has been set aside. Said once.
    SetAside,
}

#[derive(Debug)]
struct Row {
    then: Then,
    generation: Generation,
    failures: u32,
}

/// What a hook was when it failed: a reload that changes it, its plugin or its trusted files lets it be asked again.
#[derive(Debug)]
struct Then {
    spec: Arc<HookSpec>,
    code: Option<Digest>,
    seal: Option<Seal>,
}

impl Then {
    fn of(hook: &Hook) -> Self {
        let code = hook.code.as_ref().map(|code| code.digest());
        Self { spec: hook.spec.clone(), code, seal: hook.seal.clone() }
    }

    fn is(&self, hook: &Hook) -> bool {
        self.spec.same_effect(&hook.spec)
            && self.code == hook.code.as_ref().map(|code| code.digest())
            && self.seal.as_ref().map(Seal::files) == hook.seal.as_ref().map(Seal::files)
    }
}

impl AsideSet {
    /// Whether `hook` is set aside in `session`.
    pub fn holds(&self, hook: &Hook, session: &SessionLife) -> bool {
        if !may_be_set_aside(&hook.spec.event) {
            return false;
        }
        let rows = self.rows();
        // Nearly always: no key is made for it.
        !rows.is_empty() && rows.get(&key(hook, session)).is_some_and(|row| row.is_over() && row.then.is(hook))
    }

    /// Notes how an asking of `hook` ended.
    pub fn note(&self, hook: &Hook, session: &SessionLife, outcome: &Outcome) -> Standing {
        // What was taken from it says nothing of the hook.
        let taken = matches!(outcome, Outcome::NoAnswer(Cause::Cancelled | Cause::OverBudget(_) | Cause::SessionEnded));
        if taken || !may_be_set_aside(&hook.spec.event) {
            return Standing::Asked;
        }
        match outcome.ending() {
            Ending::Answered => self.answered(hook, session),
            Ending::Broke | Ending::CouldNotStart => self.failed(hook, session),
        }
    }

    fn answered(&self, hook: &Hook, session: &SessionLife) -> Standing {
        let mut rows = self.rows();
        if !rows.is_empty() {
            let key = key(hook, session);
            // A call that was slower than five others does not bring it back.
            if rows.get(&key).is_some_and(|row| !row.is_over() && row.generation <= hook.generation) {
                rows.remove(&key);
            }
        }
        Standing::Asked
    }

    fn failed(&self, hook: &Hook, session: &SessionLife) -> Standing {
        let mut rows = self.rows();
        if session.has_ended() {
            return Standing::Asked;
        }
        let new = || Row { then: Then::of(hook), generation: hook.generation, failures: 0 };
        let row = rows.entry(key(hook, session)).or_insert_with(new);
        if row.generation > hook.generation {
            // A call of what it was before: it counts no more.
            return Standing::Asked;
        }
        if !row.then.is(hook) {
            *row = new();
        }
        row.generation = hook.generation;
        row.failures = row.failures.saturating_add(1);
        if row.failures == MOST_FAILURES { Standing::SetAside } else { Standing::Asked }
    }

    /// Forgets a session that has ended.
    pub fn end_session(&self, session: &SessionLife) {
        self.rows().retain(|(of, ..), _| of != session);
    }

    /// Forgets all sessions.
    pub fn clear(&self) {
        self.rows().clear();
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.rows().is_empty()
    }

    fn rows(&self) -> MutexGuard<'_, HashMap<Key, Row>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Row {
    fn is_over(&self) -> bool {
        self.failures >= MOST_FAILURES
    }
}

fn key(hook: &Hook, session: &SessionLife) -> Key {
    (session.clone(), hook.source.clone(), hook.spec.event.clone(), hook.spec.name.clone())
}

/// Not where a block is honoured, nor where an input or a text is changed: such a hook may be there to keep a secret.
fn may_be_set_aside(event: &EventName) -> bool {
    let class = event.class();
    !class.gate && !class.input && !class.output
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::hook::CommandHook;
    use crate::outcome::{Block, Said};
    use crate::registry::{Change, NewHook, Registry};
    use crate::source::Reach;

    fn hook(registry: &Registry, event: EventName, command: &str) -> Arc<Hook> {
        let spec = HookSpec::new(event.clone(), "h", CommandHook::new(command).into());
        let hooks = vec![NewHook::new(spec, Source::Sdk)];
        registry.apply(Change::Add { source: Source::Sdk, reach: Reach::Everywhere, hooks });
        registry.snapshot().at(&event)[0].clone()
    }

    fn late() -> Outcome {
        Outcome::NoAnswer(Cause::TimedOut(Duration::from_secs(1)))
    }

    fn fails(set: &AsideSet, hook: &Hook, times: u32) -> Vec<Standing> {
        (0..times).map(|_| set.note(hook, &"a".into(), &late())).collect()
    }

    #[test]
    fn five_failures_in_a_row_are_said_once_and_an_answer_begins_anew() {
        let (registry, set) = (Registry::default(), AsideSet::default());
        let hook = hook(&registry, EventName::TurnStart, "false");
        let broke = Outcome::Block(Block::new("killed", Said::ByBreaking));
        fails(&set, &hook, 4);
        set.note(&hook, &"a".into(), &Outcome::block("no"));
        set.note(&hook, &"a".into(), &broke);
        set.note(&hook, &"a".into(), &Outcome::NoAnswer(Cause::Cancelled));
        set.note(&hook, &"a".into(), &Outcome::NoAnswer(Cause::OverBudget(Duration::ZERO)));
        assert_eq!(fails(&set, &hook, 3), [Standing::Asked; 3]);
        assert!(!set.holds(&hook, &"a".into()));
        assert_eq!(fails(&set, &hook, 2), [Standing::SetAside, Standing::Asked]);
        set.note(&hook, &"a".into(), &Outcome::pass());
        assert!(set.holds(&hook, &"a".into()) && !set.holds(&hook, &"b".into()));
        set.end_session(&"a".into());
        assert!(!set.holds(&hook, &"a".into()) && set.rows().is_empty());
    }

    #[test]
    fn of_a_session_that_has_ended_nothing_is_noted() {
        let (registry, set, late) = (Registry::default(), AsideSet::default(), SessionLife::from("a"));
        let hook = hook(&registry, EventName::TurnStart, "false");
        late.end();
        for _ in 0..MOST_FAILURES {
            assert_eq!(set.note(&hook, &late, &super::tests::late()), Standing::Asked);
        }
        assert!(set.is_empty());
    }

    #[test]
    fn a_hook_that_is_changed_is_asked_again_and_one_that_is_not_is_not() {
        let (registry, set) = (Registry::default(), AsideSet::default());
        let first = hook(&registry, EventName::TurnStart, "false");
        fails(&set, &first, 5);
        assert!(set.holds(&hook(&registry, EventName::TurnStart, "false"), &"a".into()));
        let other = hook(&registry, EventName::TurnStart, "true");
        assert!(!set.holds(&other, &"a".into()));
        fails(&set, &other, 4);
        // A call of the former one that ends only now.
        fails(&set, &first, 1);
        assert!(!set.holds(&other, &"a".into()));
        assert_eq!(fails(&set, &other, 1), [Standing::SetAside]);
    }

    #[test]
    fn whoever_guards_or_redacts_is_asked_every_time() {
        for event in EventName::BUILT_IN {
            let (registry, set) = (Registry::default(), AsideSet::default());
            let hook = hook(&registry, event.clone(), "false");
            fails(&set, &hook, 6);
            let class = event.class();
            assert_eq!(set.holds(&hook, &"a".into()), !class.gate && !class.output, "{event}");
            assert_eq!(set.rows().is_empty(), class.gate || class.output, "{event}");
        }
    }

    #[test]
    fn failures_at_the_same_time_are_all_counted() {
        let (registry, set) = (Registry::default(), AsideSet::default());
        let hook = hook(&registry, EventName::TurnStart, "false");
        let said: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| fails(&set, &hook, 50))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(said.iter().filter(|standing| **standing == Standing::SetAside).count(), 1);
        assert_eq!(set.rows().values().next().unwrap().failures, 200);
    }
}
