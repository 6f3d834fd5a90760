//! The chain: one hook after the other is asked, and what each said is noted for the report.
//!
//! What an answer *means* is for `fold`; what of it is taken, for `accept`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::Instrument as _;

use crate::ask::{Ask, Asked};
use crate::bus::{About, Record};
use crate::diagnostic::{Diagnostic, Place};
use crate::event::{Context, DecidedBy, Event};
use crate::executor;
use crate::hook::sight::Look;
use crate::id::{DispatchId, Revision};
use crate::life::SessionLife;
use crate::outcome::{Cause, Outcome};
use crate::registry::Hook;
use crate::report::{HookReport, Report, Skipped, Trail, Word};

use super::accept::Accept;
use super::budget::Budget;
use super::fold::{Flow, Fold, Folded};
use super::plan::{Fit, Plan};
use super::{Dispatched, Dispatcher, span};

/// One dispatch in progress.
pub(super) struct Run<'a> {
    pub(super) with: &'a Dispatcher,
    pub(super) cx: &'a Context,
    /// The session's life in which it began; it may end on the way.
    pub(super) life: SessionLife,
    budget: Budget,
    report: Report,
    trail: Trail,
    exports: Vec<(String, String)>,
    begun: Instant,
}

/// One asking.
pub(super) struct Told<'a> {
    pub(super) event: &'a Event,
    pub(super) look: &'a Look<'a>,
    pub(super) recheck: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        with: &'a Dispatcher,
        cx: &'a Context,
        dispatch: DispatchId,
        trail: Trail,
        revision: Revision,
    ) -> Self {
        let report = Report::new(trail.event.name.clone(), dispatch, revision);
        let (budget, life) = (Budget::begin(with.budget), with.lives.of(&cx.session));
        Self { with, cx, life, budget, report, trail, exports: Vec::new(), begun: Instant::now() }
    }

    /// Ends before anybody was asked, for want of trust or of a host.
    pub(super) fn without_asking(mut self, folded: Option<Folded>) -> Dispatched {
        self.trail.open = false;
        self.close(folded)
    }

    fn close(self, folded: Option<Folded>) -> Dispatched {
        let report = Report { took: self.begun.elapsed(), trail: Some(self.trail), ..self.report };
        Dispatched { folded, exports: self.exports, report }
    }

    /// Hook number `at` has ended the chain.
    pub(super) fn ended_by(&mut self, at: usize) {
        self.trail.ended_at = Some(at);
    }

    /// Asks the hooks that match, until one ends the chain.
    pub(super) async fn chain(&mut self, plan: &Plan, look: &Look<'_>, fold: &mut Fold) {
        for (at, candidate) in plan.candidates.iter().enumerate() {
            let flow = match candidate.fit {
                Fit::Missed(_) => continue,
                Fit::Kept(why) => {
                    self.note_kept(at, &candidate.hook, why);
                    continue;
                }
                Fit::Asked => self.link(at, &candidate.hook, look, fold).await,
            };
            if flow == Flow::Ends {
                self.ended_by(at);
                return;
            }
        }
    }

    async fn link(&mut self, at: usize, hook: &Arc<Hook>, look: &Look<'_>, fold: &mut Fold) -> Flow {
        if self.with.aside.holds(hook, &self.life) {
            self.note_kept(at, hook, Skipped::SetAside);
            return Flow::GoesOn;
        }
        let reserved = match hook.spec.once {
            true => match self.with.once.reserve(hook, &self.life) {
                Some(reserved) => Some(reserved),
                None => {
                    self.note_kept(at, hook, Skipped::Once);
                    return Flow::GoesOn;
                }
            },
            false => None,
        };
        let saw = fold.view();
        let (outcome, cut) = self.ask_with(at, hook, &saw, look).await;
        if let (Some(reserved), false) = (reserved, matches!(outcome, Outcome::NoAnswer(_))) {
            reserved.keep();
        }
        self.set_aside(hook, &outcome);
        fold.take(at, &hook.spec, &saw, &outcome, cut)
    }

    /// In a waterfall a hook sees other arguments than those that were taken apart for matching.
    async fn ask_with(&mut self, at: usize, hook: &Arc<Hook>, saw: &Event, look: &Look<'_>) -> (Outcome, bool) {
        if look.is_of(saw) {
            self.ask(at, hook, &Told { event: saw, look, recheck: false }).await
        } else {
            let look = Look::new(saw, &self.with.tools);
            self.ask(at, hook, &Told { event: saw, look: &look, recheck: false }).await
        }
    }

    /// Asks one hook, and notes what it said.
    pub(super) async fn ask(&mut self, at: usize, hook: &Arc<Hook>, told: &Told<'_>) -> (Outcome, bool) {
        let share = match self.budget.share(hook.spec.time_limit()) {
            Ok(share) => share,
            Err(over) => return (self.note_unasked(at, hook, over, told.recheck), false),
        };
        if self.life.has_ended() {
            return (self.note_unasked(at, hook, Cause::SessionEnded, told.recheck), false);
        }
        let life = self.life.clone();
        let dispatch = self.report.dispatch.clone();
        let ask = Ask {
            hook: &hook.spec,
            event: told.event,
            cx: self.cx,
            life: &life,
            dispatch: &dispatch,
            commands: told.look.commands(),
            recheck: told.recheck,
            surroundings: &self.with.surroundings,
            time_limit: share.limit,
            lease: &hook.lease(),
        };
        let span = span::of_hook(hook, told.recheck);
        span.in_scope(|| self.with.bus.tell(|| Record::Triggered(self.about(hook))));
        self.tally(hook, |tally| tally.begin());
        let running = hook.enter();
        let begun = Instant::now();
        let asked = tokio::select! {
            // First: what was cancelled is not even begun.
            biased;
            () = hook.cancelled() => Outcome::NoAnswer(Cause::Cancelled).into(),
            asked = share.hold(self.run(hook, &ask)).instrument(span.clone()) => asked,
        };
        let took = begun.elapsed();
        drop(running);
        let Dispatcher { tools, may_approve, .. } = self.with;
        let accept = Accept { hook, saw: told.event, look: told.look, tools, may_approve };
        let outcome = accept.outcome(&asked);
        let cut = asked.cut;
        span::close_hook(&span, &outcome, took);
        self.tally(hook, |tally| tally.end(Word::of(&outcome)));
        span.in_scope(|| self.note(at, hook, &outcome, asked, took, told.recheck));
        (outcome, cut)
    }

    async fn run(&self, hook: &Hook, ask: &Ask<'_>) -> Asked {
        let ready = self.still_trusted(hook).await.map_err(Cause::NotTrusted);
        match ready.and_then(|()| ask.may_begin()) {
            Ok(()) => executor::run(hook, ask, &self.with.ports).await,
            Err(cause) => Outcome::NoAnswer(cause).into(),
        }
    }

    /// Whether the files that a project's command names are what was trusted. Files are read, so not on this thread.
    async fn still_trusted(&self, hook: &Hook) -> Result<(), String> {
        let Some(seal) = hook.seal.clone() else { return Ok(()) };
        let cwd = self.cx.cwd.clone();
        let checked = tokio::task::spawn_blocking(move || seal.check(cwd.as_deref())).await;
        checked.unwrap_or_else(|_| Err("its files could not be looked at".to_owned()))
    }

    fn note(&mut self, at: usize, hook: &Hook, outcome: &Outcome, asked: Asked, took: Duration, recheck: bool) {
        self.tell(hook, outcome, took);
        self.exports.extend(asked.exports);
        for warning in asked.warnings {
            self.warn(hook, warning);
        }
        if let Outcome::NoAnswer(cause) = outcome {
            self.warn(hook, cause.to_string());
        }
        let line = self.line(at, hook);
        line.took += took;
        line.cut |= asked.cut;
        line.log.extend(asked.log);
        *(if recheck { &mut line.recheck } else { &mut line.outcome }) = Some(outcome.clone());
    }

    pub(super) fn about(&self, hook: &Hook) -> About {
        About {
            event: self.report.event.clone(),
            hook: hook.spec.name.clone(),
            source: hook.source.clone(),
            dispatch: self.report.dispatch.clone(),
            session: self.cx.session.clone(),
        }
    }

    fn tell(&self, hook: &Hook, outcome: &Outcome, took: Duration) {
        let bus = &self.with.bus;
        bus.tell(|| Record::Finished { about: self.about(hook), word: Word::of(outcome), took });
        match outcome {
            Outcome::Continue(_) => {}
            Outcome::Block(block) => {
                bus.tell(|| Record::Blocked { about: self.about(hook), reason: block.reason.clone() });
            }
            Outcome::NoAnswer(cause) => {
                bus.tell(|| Record::Failed { about: self.about(hook), cause: cause.to_string() });
            }
        }
    }

    pub(super) fn note_kept(&mut self, at: usize, hook: &Hook, why: Skipped) {
        self.with.bus.tell(|| Record::Skipped { about: self.about(hook), why });
        self.tally(hook, |tally| tally.end(Word::Skipped));
        self.line(at, hook).skipped = Some(why);
    }

    pub(super) fn warn(&mut self, hook: &Hook, message: String) {
        let place = Place {
            event: Some(self.report.event.to_string()),
            hook: Some(hook.spec.name.clone()),
            ..hook.spec.place.clone()
        };
        let warning = Diagnostic::warning(place, message);
        self.with.bus.warn(&warning);
        self.report.warnings.push(warning);
    }

    pub(super) fn line(&mut self, at: usize, hook: &Hook) -> &mut HookReport {
        let known = self.trail.lines.iter().find(|(of, _)| *of == at).map(|(_, line)| *line);
        let line = known.unwrap_or_else(|| {
            self.report.hooks.push(HookReport {
                name: hook.spec.name.clone(),
                source: hook.source.clone(),
                generation: hook.generation,
                kind: hook.spec.kind.name(),
                outcome: None,
                skipped: None,
                recheck: None,
                took: Duration::ZERO,
                cut: false,
                log: Vec::new(),
            });
            self.trail.lines.push((at, self.report.hooks.len() - 1));
            self.report.hooks.len() - 1
        });
        &mut self.report.hooks[line]
    }

    /// Signs the folded answer: whose word it is, and who rewrote what is to run.
    pub(super) fn finish(mut self, plan: &Plan, folded: Folded) -> Dispatched {
        let signed = |at: usize| {
            let hook = &plan.candidates[at].hook;
            DecidedBy { hook: hook.spec.name.clone(), source: hook.source.clone() }
        };
        let by = folded.block.as_ref().map(|(at, _)| *at);
        let by = by.or(folded.permission.as_ref().map(|(at, ..)| *at));
        let by = by.or(folded.complaint.as_ref().map(|(at, _)| *at));
        self.report.decided_by = by.map(signed);
        let rewrote = folded.rewrite.as_ref().filter(|_| folded.input.is_some());
        self.report.rewritten_by = rewrote.map(|(at, _)| signed(*at));
        self.close(Some(folded))
    }
}
