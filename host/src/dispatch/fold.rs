//! Many answers, one verdict: pure, in order of registration, never in order of arrival (HOOKS.md, 6).
//!
//! Owns what each hook gets to see, what a missing answer means, and whose word counts. Runs nothing and waits for
//! nothing: `run` and `recheck` drive it.

use std::sync::Arc;

use crate::event::{Decision, Event, EventClass, EventName, Object, merged};
use crate::hook::{HookSpec, OnError};
use crate::outcome::{Block, Cause, Change, Outcome, Permission, Said};
use crate::text::{CONTEXT_CAP, DISPATCH_CONTEXT_CAP, cut};

/// What a chain of hooks sees of the arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InputView {
    /// Every hook sees the arguments as the model gave them.
    #[default]
    Original,
    /// Each hook sees what those before it wrote.
    Waterfall,
}

/// Whether the chain goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The next hook is asked.
    GoesOn,
    /// It is decided.
    Ends,
}

/// What a chain came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    /// The block that ended it, and the hook's place in the chain.
    pub block: Option<(usize, Block)>,
    /// The permission, who gave it, and why.
    pub permission: Option<(usize, Permission, Option<String>)>,
    /// The winning rewrite, as the hook gave it.
    pub rewrite: Option<(usize, Object)>,
    /// The arguments to go on with, where they changed.
    pub input: Option<Object>,
    /// The text that replaces the output, the error or the prompt.
    pub output: Option<String>,
    /// Every context, joined.
    pub context: Option<String>,
    /// Why hooks were not content with an output that is shown all the same.
    pub complaint: Option<(usize, String)>,
    /// A hook wanted the agent to go on, and has wanted that too often.
    pub capped: bool,
}

impl Folded {
    /// What it comes to in one word, as the verdict of `event` says it.
    pub fn decision(&self, event: &EventName) -> Decision {
        let permission = self.permission.as_ref().map(|(_, permission, _)| *permission);
        let blocked = self.block.is_some() || self.complaint.is_some();
        match (event, permission) {
            (EventName::PermissionRequest, _) if blocked => Decision::Deny,
            _ if blocked => Decision::Block,
            (EventName::PermissionRequest, Some(Permission::Allow)) => Decision::Allow,
            (EventName::PermissionRequest | EventName::PreToolUse, Some(Permission::Ask)) => Decision::Ask,
            (EventName::PermissionRequest, _) => Decision::Passthrough,
            _ => Decision::Allow,
        }
    }
}

/// A fold in progress.
#[derive(Debug)]
pub struct Fold {
    event: Event,
    class: EventClass,
    view: InputView,
    rewrite: Option<(usize, Object)>,
    text: Option<Arc<str>>,
    contexts: Vec<String>,
    complaints: Vec<(usize, String)>,
    opinions: Vec<Opinion>,
    block: Option<(usize, Block)>,
    capped: bool,
    seen: Vec<Seen>,
}

/// A permission that was given, and for which input.
#[derive(Debug)]
struct Opinion {
    by: usize,
    permission: Permission,
    reason: Option<String>,
    saw: Arc<Object>,
    wrote: Option<Object>,
}

/// What one hook saw, and wrote.
#[derive(Debug)]
struct Seen {
    by: usize,
    input: Arc<Object>,
    text: Option<Arc<str>>,
    wrote_input: Option<Object>,
    wrote_text: Option<Arc<str>>,
}

impl Fold {
    /// A chain that has not begun.
    pub fn new(event: Event, view: InputView) -> Self {
        Self {
            class: event.name.class(),
            event,
            view,
            rewrite: None,
            text: None,
            contexts: Vec::new(),
            complaints: Vec::new(),
            opinions: Vec::new(),
            block: None,
            capped: false,
            seen: Vec::new(),
        }
    }

    /// The event as the next hook sees it. Outputs, errors and prompts are a chain: each hook sees what those before
    /// it left, so that a later rewrite does not undo a redaction.
    pub fn view(&self) -> Event {
        let mut event = self.event.clone();
        if let (InputView::Waterfall, Some((_, rewrite))) = (self.view, &self.rewrite) {
            event = event.with_input(merged(&self.event.input, rewrite));
        }
        match &self.text {
            Some(text) => event.with_text(text),
            None => event,
        }
    }

    /// Takes what hook number `by` answered when it was shown `saw`.
    pub fn take(&mut self, by: usize, hook: &HookSpec, saw: &Event, outcome: &Outcome, saw_cut: bool) -> Flow {
        let mut seen = Seen::of(by, saw);
        let flow = match outcome {
            Outcome::Continue(change) => self.change(by, saw, change, &mut seen),
            Outcome::Block(block) => self.refuse(by, hook, block.clone()),
            Outcome::NoAnswer(cause) => self.silence(by, hook, cause, saw_cut),
        };
        self.seen.push(seen);
        flow
    }

    fn change(&mut self, by: usize, saw: &Event, change: &Change, seen: &mut Seen) -> Flow {
        self.context(change.context.as_deref());
        if let Some(rewrite) = &change.input {
            let rewrite = self.whole(rewrite);
            seen.wrote_input = Some(merged(&self.event.input, &rewrite));
            self.rewrite = Some((by, rewrite));
        }
        if let Some(text) = change.output.as_deref() {
            let text: Arc<str> = text.into();
            seen.wrote_text = Some(text.clone());
            self.text = Some(text);
        }
        self.opinion(by, saw, change, seen.wrote_input.clone())
    }

    fn context(&mut self, text: Option<&str>) {
        if let Some(text) = text.filter(|text| self.class.context && !text.is_empty()) {
            self.contexts.push(cut(text, CONTEXT_CAP).into_owned());
        }
    }

    /// The last rewrite wins whole; in a waterfall a hook wrote on top of what it was shown.
    fn whole(&self, rewrite: &Object) -> Object {
        match (self.view, &self.rewrite) {
            (InputView::Waterfall, Some((_, before))) => merged(before, rewrite),
            _ => rewrite.clone(),
        }
    }

    /// A deny never comes here: it is a block by then.
    fn opinion(&mut self, by: usize, saw: &Event, change: &Change, wrote: Option<Object>) -> Flow {
        if let Some(permission) = change.permission {
            let reason = change.reason.clone();
            self.opinions.push(Opinion { by, permission, reason, saw: saw.input.clone(), wrote });
        }
        Flow::GoesOn
    }

    fn refuse(&mut self, by: usize, hook: &HookSpec, block: Block) -> Flow {
        if !self.class.gate {
            return Flow::GoesOn;
        }
        let reason = cut(&block.reason, CONTEXT_CAP).into_owned();
        self.context(block.context.as_deref());
        if self.is_a_complaint(hook, &block) {
            self.complaints.push((by, reason));
            return Flow::GoesOn;
        }
        if self.is_past_its_attempts(hook) {
            self.capped = true;
            return Flow::GoesOn;
        }
        self.block = Some((by, Block { reason, ..block }));
        Flow::Ends
    }

    /// The tool has run, and a formatter that fails must neither hide the edit nor keep the next hook from redacting
    /// it. One that was to fail closed and broke has not looked the output through: that is withheld.
    fn is_a_complaint(&self, hook: &HookSpec, block: &Block) -> bool {
        let by_code = match block.said {
            Said::ByExitCode => true,
            Said::ByBreaking => hook.on_error != Some(OnError::Block),
            Said::Explicitly | Said::ByNotAnswering => false,
        };
        self.event.name == EventName::PostToolUse && by_code
    }

    /// An agent that is sent back to work again and again would never stop.
    fn is_past_its_attempts(&self, hook: &HookSpec) -> bool {
        self.event.name == EventName::Stop && self.event.attempt.is_some_and(|attempt| attempt > hook.most_attempts())
    }

    fn silence(&mut self, by: usize, hook: &HookSpec, cause: &Cause, saw_cut: bool) -> Flow {
        let reason = format!("hook `{}` gave no answer: {cause}", hook.name);
        if self.withholds(hook, cause, saw_cut) {
            return self.withhold(by, hook, reason);
        }
        if matches!(cause, Cause::OverBudget(_) | Cause::SessionEnded) && self.may_redact(hook) {
            return self.hide(reason);
        }
        // A guard must not be switched off by dropping it while it runs, nor by writing to its script, nor by keeping
        // those before it busy, nor by ending the session under it.
        let blocks =
            matches!(cause, Cause::Cancelled | Cause::NotTrusted(_) | Cause::OverBudget(_) | Cause::SessionEnded);
        match hook.means_by_silence() {
            OnError::Pass if !blocks => Flow::GoesOn,
            OnError::Pass | OnError::Block => self.refuse(by, hook, Block::new(reason, Said::ByNotAnswering)),
        }
    }

    /// A hook that saw a cut copy of an output and gave that back was to change something: what, nobody knows.
    fn withholds(&self, hook: &HookSpec, cause: &Cause, saw_cut: bool) -> bool {
        saw_cut
            && matches!(cause, Cause::RefusedRewrite(_))
            && matches!(self.event.name, EventName::PostToolUse | EventName::PostToolUseFailure)
            && hook.on_error != Some(OnError::Pass)
    }

    fn withhold(&mut self, by: usize, hook: &HookSpec, reason: String) -> Flow {
        if self.class.gate {
            return self.refuse(by, hook, Block::new(reason, Said::ByNotAnswering));
        }
        self.text = Some(reason.into());
        Flow::Ends
    }

    /// Whether a hook that nobody waits for a no from might have changed a text.
    fn may_redact(&self, hook: &HookSpec) -> bool {
        self.class.output && !self.class.gate && !hook.observes()
    }

    /// Nobody knows what a hook that was not asked would have taken out of a text: the event's own is withheld, and
    /// where it had none, what other hooks wrote is not used.
    fn hide(&mut self, reason: String) -> Flow {
        self.text = self.event.text().is_some().then(|| reason.into());
        Flow::Ends
    }

    /// The event as it would go on, where its input or its prompt changed: what hooks are to be asked about again.
    pub fn changed(&self) -> Option<Event> {
        if self.block.is_some() {
            return None;
        }
        if let Some(input) = self.final_input() {
            return Some(self.event.with_input(input));
        }
        let text = self.text.as_ref().filter(|_| self.event.name == EventName::UserPromptSubmit)?;
        (self.event.text() != Some(text)).then(|| self.event.with_text(text))
    }

    fn final_input(&self) -> Option<Object> {
        let (_, rewrite) = self.rewrite.as_ref()?;
        Some(merged(&self.event.input, rewrite)).filter(|input| *input != *self.event.input)
    }

    /// Whether hook number `by` has seen or written exactly `event`.
    pub fn knows(&self, by: usize, event: &Event) -> bool {
        self.seen.iter().filter(|seen| seen.by == by).any(|seen| seen.covers(event))
    }

    /// Takes what hook number `by` answered about the changed event: blocks, denies and permissions count, rewrites and
    /// contexts do not.
    pub fn retake(&mut self, by: usize, hook: &HookSpec, saw: &Event, outcome: &Outcome) -> Flow {
        match outcome {
            Outcome::Continue(change) => {
                let change = Change { input: None, output: None, context: None, ..change.clone() };
                self.opinion(by, saw, &change, None)
            }
            Outcome::Block(block) => self.refuse(by, hook, Block { context: None, ..block.clone() }),
            Outcome::NoAnswer(cause) => self.silence(by, hook, cause, false),
        }
    }

    /// What it came to. A blocked chain carries no rewrites.
    pub fn finish(self) -> Folded {
        let context = self.joined_contexts();
        let complaint = self.complaint();
        if let Some(block) = self.block {
            return Folded { block: Some(block), context, complaint, ..Folded::default() };
        }
        let input = self.final_input();
        let permission = self.permission(input.as_ref().unwrap_or(&self.event.input));
        let output = self.text.filter(|text| self.event.text() != Some(text)).map(|text| text.to_string());
        Folded {
            block: None,
            permission,
            rewrite: self.rewrite,
            input,
            output,
            context,
            complaint,
            capped: self.capped,
        }
    }

    fn joined_contexts(&self) -> Option<String> {
        let joined = self.contexts.join("\n");
        Some(cut(&joined, DISPATCH_CONTEXT_CAP).into_owned()).filter(|text| !text.is_empty())
    }

    fn complaint(&self) -> Option<(usize, String)> {
        let by = self.complaints.first()?.0;
        let texts: Vec<_> = self.complaints.iter().map(|(_, text)| text.as_str()).collect();
        Some((by, texts.join("\n")))
    }

    /// The strictest that was given, with the reason of the first that gave it. An allow counts only for the input on
    /// which it was given.
    fn permission(&self, input: &Object) -> Option<(usize, Permission, Option<String>)> {
        let counts = |opinion: &&Opinion| {
            opinion.permission != Permission::Allow
                || *opinion.saw == *input
                || opinion.wrote.as_ref().is_some_and(|wrote| wrote == input)
        };
        let strictest = self.opinions.iter().filter(counts).map(|opinion| opinion.permission).max()?;
        let first = self.opinions.iter().filter(counts).find(|opinion| opinion.permission == strictest)?;
        Some((first.by, strictest, first.reason.clone()))
    }
}

impl Seen {
    fn of(by: usize, event: &Event) -> Self {
        // Only prompts are compared: an output may be megabytes, and is not copied for each hook.
        let text = event.prompt().map(Into::into);
        Self { by, input: event.input.clone(), text, wrote_input: None, wrote_text: None }
    }

    fn covers(&self, event: &Event) -> bool {
        let text = event.text();
        if event.name == EventName::UserPromptSubmit {
            return self.text.as_deref() == text || (self.wrote_text.is_some() && self.wrote_text.as_deref() == text);
        }
        *self.input == *event.input || self.wrote_input.as_ref().is_some_and(|wrote| *wrote == *event.input)
    }
}
