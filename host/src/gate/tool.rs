//! One tool call, from the model's wish to what the model reads.

use std::sync::Arc;
use std::time::Duration;

use crate::event::{
    Consent, Context, DecidedBy, NotificationInput, Object, Original, PermissionRequest, PostToolUse,
    PostToolUseFailure, PreToolUse, ToolCall, ToolFailure, ToolOutcome,
};
use crate::id::HookName;
use crate::port::{Approval, HookRuntime, Prompt, Rule, Rules, Tool};
use crate::report::Report;

/// Runs tool calls past hooks, rules and a person.
#[derive(Clone)]
pub struct ToolGate {
    hooks: Arc<dyn HookRuntime>,
    rules: Arc<dyn Rules>,
    prompt: Option<Arc<dyn Prompt>>,
    patience: Option<Duration>,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Passage {
    /// It ran.
    Ran {
        /// The call as it ran.
        call: ToolCall,
        /// What the tool gave back, before hooks changed it; its error, where it failed.
        raw: Result<String, String>,
        /// What the model is to read.
        for_model: String,
        /// Whether a hook wants the agent to stop altogether.
        stop: bool,
        /// What was said on the way, in order.
        reports: Vec<Report>,
    },
    /// It did not run.
    Refused {
        /// Why, and by whom.
        refused: Refused,
        /// What was said on the way, in order.
        reports: Vec<Report>,
    },
}

/// Why a call did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Who refused it.
    pub by: RefusedBy,
    /// Why; for the model.
    pub reason: String,
    /// What hooks had to add for the model.
    pub context: Option<String>,
    /// Whether a hook wants the agent to stop altogether.
    pub stop: bool,
}

/// Who refused a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// A hook.
    Hook(Option<DecidedBy>),
    /// The embedder's rules.
    Rules,
    /// A person.
    Person,
    /// Nobody was there to be asked, or nobody answered in time.
    Nobody,
}

impl Passage {
    /// What the model is to read.
    pub fn for_model(&self) -> String {
        match self {
            Self::Ran { for_model, .. } => for_model.clone(),
            Self::Refused { refused, .. } => {
                let parts = std::iter::once(refused.reason.as_str()).chain(refused.context.as_deref());
                parts.collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// What was said on the way, in order.
    pub fn reports(&self) -> &[Report] {
        match self {
            Self::Ran { reports, .. } | Self::Refused { reports, .. } => reports,
        }
    }
}

impl Refused {
    fn new(by: RefusedBy, reason: impl Into<String>) -> Self {
        Self { by, reason: reason.into(), context: None, stop: false }
    }
}

/// How much a call still needs, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Nothing,
    /// A person, unless a hook spares it.
    Person,
    /// A person, whatever hooks say.
    PersonAlways,
}

/// A call on its way.
struct Way<'a> {
    cx: &'a Context,
    asked_for: &'a ToolCall,
    call: ToolCall,
    need: Need,
    /// A hook approved the call as it now stands.
    approved: bool,
    /// Why a person is asked.
    why: Option<String>,
    contexts: Vec<String>,
    changed_by: Vec<HookName>,
    reports: Vec<Report>,
}

impl ToolGate {
    /// A gate without a person behind it: what would be asked is denied.
    pub fn new(hooks: Arc<dyn HookRuntime>, rules: Arc<dyn Rules>) -> Self {
        Self { hooks, rules, prompt: None, patience: None }
    }

    /// With a person to ask.
    #[must_use]
    pub fn prompt(mut self, prompt: Arc<dyn Prompt>) -> Self {
        self.prompt = Some(prompt);
        self
    }

    /// Takes no answer for a no after this long; without, it waits for ever.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Takes one call the whole way.
    pub async fn pass(&self, call: &ToolCall, cx: &Context, tool: &dyn Tool) -> Passage {
        let mut way = Way::new(call, cx);
        match self.admit(&mut way).await {
            Ok(()) => self.run(way, tool).await,
            Err(mut refused) => {
                refused.context = refused.context.or(way.context());
                Passage::Refused { refused, reports: way.reports }
            }
        }
    }

    async fn admit(&self, way: &mut Way<'_>) -> Result<(), Refused> {
        self.pre_tool_use(way).await?;
        self.rules(way)?;
        self.permission_request(way).await?;
        self.person(way).await
    }

    async fn pre_tool_use(&self, way: &mut Way<'_>) -> Result<(), Refused> {
        let answer = self.hooks.pre_tool_use(&way.call, way.cx).await;
        let (by, rewriter) = (answer.report.decided_by.clone(), answer.report.rewritten_by.clone());
        way.reports.push(answer.report);
        match answer.verdict {
            PreToolUse::Proceed { input, context, consent, .. } => {
                way.contexts.extend(context);
                way.rewrite(input, rewriter);
                way.consent(consent);
                Ok(())
            }
            PreToolUse::Blocked { reason, context, stop } => {
                Err(Refused { by: RefusedBy::Hook(by), reason, context, stop })
            }
            PreToolUse::Untrusted => {
                way.untrusted();
                Ok(())
            }
        }
    }

    fn rules(&self, way: &mut Way<'_>) -> Result<(), Refused> {
        match self.rules.decide(&way.call, way.cx) {
            Rule::Allow => {}
            Rule::Ask => way.need(Need::Person),
            Rule::AskAlways => way.need(Need::PersonAlways),
            Rule::Deny { reason } => return Err(Refused::new(RefusedBy::Rules, reason)),
        }
        Ok(())
    }

    async fn permission_request(&self, way: &mut Way<'_>) -> Result<(), Refused> {
        let answer = self.hooks.permission_request(&way.call, way.cx).await;
        let (by, rewriter) = (answer.report.decided_by.clone(), answer.report.rewritten_by.clone());
        way.reports.push(answer.report);
        if let Some(input) = answer.verdict.input() {
            self.rewritten(way, input.clone(), rewriter).await?;
        }
        match answer.verdict {
            PermissionRequest::Passthrough { .. } => {}
            PermissionRequest::Allow { .. } => way.approved = true,
            PermissionRequest::Ask { reason, .. } => way.ask(reason),
            PermissionRequest::Deny { reason, stop } => {
                return Err(Refused { by: RefusedBy::Hook(by), reason, context: None, stop });
            }
            PermissionRequest::Untrusted => way.untrusted(),
        }
        Ok(())
    }

    /// What a PermissionRequest hook wrote goes before the PreToolUse hooks and the rules once more.
    async fn rewritten(&self, way: &mut Way<'_>, input: Object, by: Option<DecidedBy>) -> Result<(), Refused> {
        way.rewrite(Some(input), by);
        // Whoever approved before, approved something else.
        way.approved = false;
        let answer = self.hooks.recheck_tool_use(&way.call, way.cx).await;
        let by = answer.report.decided_by.clone();
        way.reports.push(answer.report);
        match answer.verdict {
            PreToolUse::Proceed { consent, .. } => way.consent(consent),
            PreToolUse::Blocked { reason, stop, .. } => {
                return Err(Refused { by: RefusedBy::Hook(by), reason, context: None, stop });
            }
            PreToolUse::Untrusted => way.untrusted(),
        }
        self.rules(way)
    }

    async fn person(&self, way: &mut Way<'_>) -> Result<(), Refused> {
        let needed = match way.need {
            Need::Nothing => false,
            Need::Person => !way.approved,
            Need::PersonAlways => true,
        };
        if !needed {
            return Ok(());
        }
        self.notify(way);
        let why = way.why.clone();
        let Some(prompt) = &self.prompt else {
            return Err(Refused::new(RefusedBy::Nobody, refusal("nobody is there to approve this call", why)));
        };
        let asked = prompt.ask(&way.call, way.why.as_deref(), way.cx);
        let approval = match self.patience {
            Some(patience) => tokio::time::timeout(patience, asked).await.ok(),
            None => Some(asked.await),
        };
        match approval {
            Some(Approval::Approved) => Ok(()),
            Some(Approval::Denied { reason }) => {
                let reason = reason.unwrap_or_else(|| "the person denied this call".to_owned());
                Err(Refused::new(RefusedBy::Person, reason))
            }
            None => Err(Refused::new(RefusedBy::Nobody, refusal("nobody approved this call in time", why))),
        }
    }

    /// Notification hooks start and are not waited for: a slow one must not stand between a person and the prompt.
    fn notify(&self, way: &Way<'_>) {
        let (hooks, cx) = (self.hooks.clone(), way.cx.clone());
        let message = match &way.why {
            Some(why) => format!("{} needs your approval: {why}", way.call.tool),
            None => format!("{} needs your approval", way.call.tool),
        };
        tokio::spawn(async move { hooks.notification(&NotificationInput { message }, &cx).await });
    }

    async fn run(&self, mut way: Way<'_>, tool: &dyn Tool) -> Passage {
        let original = (way.call.input != way.asked_for.input)
            .then(|| Original { input: way.asked_for.input.clone(), changed_by: std::mem::take(&mut way.changed_by) });
        let raw = tool.run(&way.call, way.cx).await;
        let (text, stop) = match &raw {
            Ok(output) => self.after(&mut way, output, original).await,
            Err(error) => self.after_failure(&mut way, error, original).await,
        };
        let for_model = std::iter::once(text).chain(way.context()).collect::<Vec<_>>().join("\n");
        Passage::Ran { call: way.call, raw, for_model, stop, reports: way.reports }
    }

    async fn after(&self, way: &mut Way<'_>, output: &str, original: Option<Original>) -> (String, bool) {
        let outcome = ToolOutcome { call: way.call.clone(), output: output.to_owned(), original };
        let answer = self.hooks.post_tool_use(&outcome, way.cx).await;
        way.reports.push(answer.report);
        let stop = matches!(answer.verdict, PostToolUse::Withheld { stop: true, .. });
        (answer.verdict.for_model(output), stop)
    }

    async fn after_failure(&self, way: &mut Way<'_>, error: &str, original: Option<Original>) -> (String, bool) {
        let failure = ToolFailure { call: way.call.clone(), error: error.to_owned(), original };
        let answer = self.hooks.post_tool_use_failure(&failure, way.cx).await;
        way.reports.push(answer.report);
        (PostToolUseFailure::for_model(&answer.verdict, error), false)
    }
}

fn refusal(what: &str, why: Option<String>) -> String {
    match why {
        Some(why) => format!("{what}: {why}"),
        None => what.to_owned(),
    }
}

impl<'a> Way<'a> {
    fn new(call: &'a ToolCall, cx: &'a Context) -> Self {
        Self {
            cx,
            asked_for: call,
            call: call.clone(),
            need: Need::Nothing,
            approved: false,
            why: None,
            contexts: Vec::new(),
            changed_by: Vec::new(),
            reports: Vec::new(),
        }
    }

    fn rewrite(&mut self, input: Option<Object>, by: Option<DecidedBy>) {
        if let Some(input) = input {
            self.call = self.call.with_input(input);
            self.changed_by.extend(by.map(|by| by.hook));
        }
    }

    fn need(&mut self, need: Need) {
        self.need = self.need.max(need);
    }

    /// An ask is lifted by no hook; an allow spares a prompt.
    fn consent(&mut self, consent: Consent) {
        match consent {
            Consent::Unset => {}
            Consent::Allow => self.approved = true,
            Consent::Ask { reason } => self.ask(reason),
        }
    }

    fn ask(&mut self, reason: Option<String>) {
        self.need(Need::PersonAlways);
        self.why = self.why.take().or(reason);
    }

    /// No hook was asked, so no guard has spoken: a person must.
    fn untrusted(&mut self) {
        self.ask(Some("the project's hooks are not trusted, so none was asked".to_owned()));
    }

    fn context(&self) -> Option<String> {
        (!self.contexts.is_empty()).then(|| self.contexts.join("\n"))
    }
}
