//! A runtime without hooks, whose verdicts an embedder's tests choose.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use crate::event::{
    Context, Custom, CustomEvent, CustomInput, EventName, Notification, NotificationInput, PermissionRequest,
    PostCompact, PostCompactInput, PostToolUse, PostToolUseFailure, PreCompact, PreCompactInput, PreToolUse,
    PromptInput, SessionEnd, SessionEndInput, SessionStart, Stop, StopInput, SubagentInput, SubagentStart,
    SubagentStop, ToolCall, ToolFailure, ToolOutcome, TurnEnd, TurnEndInput, TurnStart, TurnStartInput,
    UserPromptSubmit, Verdict,
};
use crate::id::{DispatchId, Revision};
use crate::port::HookRuntime;
use crate::report::{Answer, Report};

type Chosen = Box<dyn std::any::Any + Send + Sync>;

/// A [`HookRuntime`] for an embedder's tests: no settings, no processes, no plugins.
///
/// Each event gives the verdict that the test chose for it, else that of a host without hooks; every call is noted.
///
/// ```
/// use tacklebox::event::{Context, PreToolUse, ToolCall};
/// use tacklebox::{FakeRuntime, HookRuntime};
///
/// # let rt = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # rt.block_on(async {
/// let no = PreToolUse::Blocked { reason: "not today".into(), context: None, stop: false };
/// let hooks = FakeRuntime::new().answers(no.clone());
/// let call = ToolCall::new("bash", Default::default());
/// assert_eq!(hooks.pre_tool_use(&call, &Context::new("s1")).await.verdict, no);
/// assert_eq!(hooks.calls(), ["PreToolUse"]);
/// # });
/// ```
#[derive(Debug, Default)]
pub struct FakeRuntime {
    chosen: HashMap<std::any::TypeId, Chosen>,
    calls: Mutex<Vec<String>>,
}

impl FakeRuntime {
    /// One that has nothing against anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with this verdict for its event. The last one chosen for an event holds.
    #[must_use]
    pub fn answers<V: Verdict>(mut self, verdict: V) -> Self {
        self.chosen.insert(std::any::TypeId::of::<V>(), Box::new(verdict));
        self
    }

    /// The events that were announced, in order; `PreToolUse` also stands for a recheck.
    pub fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answer<V: Verdict>(&self, event: EventName) -> Answer<V> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(event.to_string());
        let chosen = self.chosen.get(&std::any::TypeId::of::<V>()).and_then(|chosen| chosen.downcast_ref::<V>());
        let report = Report::new(event, DispatchId::fresh(), Revision::default());
        Answer { verdict: chosen.cloned().unwrap_or_else(V::unopposed), report }
    }
}

macro_rules! fake {
    ($($method:ident($($input:ident: $type:ty),*) -> $verdict:ident at $event:ident;)*) => {
        #[async_trait]
        impl HookRuntime for FakeRuntime {
            $(async fn $method(&self, $($input: $type,)* _: &Context) -> Answer<$verdict> {
                $(let _ = $input;)*
                self.answer(EventName::$event)
            })*

            async fn custom(&self, event: &CustomEvent, _: &CustomInput, _: &Context) -> Answer<Custom> {
                self.answer(EventName::Custom(event.clone()))
            }
        }
    };
}

fake! {
    pre_tool_use(call: &ToolCall) -> PreToolUse at PreToolUse;
    recheck_tool_use(call: &ToolCall) -> PreToolUse at PreToolUse;
    permission_request(call: &ToolCall) -> PermissionRequest at PermissionRequest;
    post_tool_use(outcome: &ToolOutcome) -> PostToolUse at PostToolUse;
    post_tool_use_failure(failure: &ToolFailure) -> PostToolUseFailure at PostToolUseFailure;
    user_prompt_submit(input: &PromptInput) -> UserPromptSubmit at UserPromptSubmit;
    session_start() -> SessionStart at SessionStart;
    session_end(input: &SessionEndInput) -> SessionEnd at SessionEnd;
    stop(input: &StopInput) -> Stop at Stop;
    turn_start(input: &TurnStartInput) -> TurnStart at TurnStart;
    turn_end(input: &TurnEndInput) -> TurnEnd at TurnEnd;
    pre_compact(input: &PreCompactInput) -> PreCompact at PreCompact;
    post_compact(input: &PostCompactInput) -> PostCompact at PostCompact;
    subagent_start(input: &SubagentInput) -> SubagentStart at SubagentStart;
    subagent_stop(input: &SubagentInput) -> SubagentStop at SubagentStop;
    notification(input: &NotificationInput) -> Notification at Notification;
}
