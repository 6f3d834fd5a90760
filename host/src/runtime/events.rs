//! One method an event: typed input in, typed verdict out.

use async_trait::async_trait;

use crate::dispatch::Purpose;
use crate::event::{
    Context, Custom, CustomEvent, CustomInput, Event, EventName, Notification, NotificationInput, PermissionRequest,
    PostCompact, PostCompactInput, PostToolUse, PostToolUseFailure, PreCompact, PreCompactInput, PreToolUse,
    PromptInput, SessionEnd, SessionEndInput, SessionStart, Stop, StopInput, SubagentInput, SubagentStart,
    SubagentStop, ToolCall, ToolFailure, ToolOutcome, TurnEnd, TurnEndInput, TurnStart, TurnStartInput,
    UserPromptSubmit,
};
use crate::id::ToolName;
use crate::port::HookRuntime;
use crate::report::Answer;

use super::Runtime;
use super::recording::record;
use super::verdicts::{Typed, answer};

impl Runtime {
    async fn announce<V: Typed>(&self, event: Event, cx: &Context) -> Answer<V> {
        self.ask(event, cx, Purpose::Announce).await
    }

    async fn ask<V: Typed>(&self, event: Event, cx: &Context, purpose: Purpose) -> Answer<V> {
        let answer = answer(self.dispatcher.dispatch(event, cx, purpose).await);
        if let Some(sink) = &self.dispatcher.ports.sink {
            record(sink, &answer, cx).await;
        }
        answer
    }

    async fn announce_plain<V: Typed>(&self, name: EventName, input: crate::event::Object, cx: &Context) -> Answer<V> {
        self.announce(Event::plain(name, input), cx).await
    }

    /// Announces the end of a session, which is still remembered then.
    pub(super) async fn announce_end(&self, input: &SessionEndInput, cx: &Context) -> Answer<SessionEnd> {
        self.announce_plain(EventName::SessionEnd, input.payload(), cx).await
    }
}

#[async_trait]
impl HookRuntime for Runtime {
    async fn pre_tool_use(&self, call: &ToolCall, cx: &Context) -> Answer<PreToolUse> {
        self.announce(Event::tool(EventName::PreToolUse, call), cx).await
    }

    async fn recheck_tool_use(&self, call: &ToolCall, cx: &Context) -> Answer<PreToolUse> {
        self.ask(Event::tool(EventName::PreToolUse, call), cx, Purpose::Recheck).await
    }

    async fn permission_request(&self, call: &ToolCall, cx: &Context) -> Answer<PermissionRequest> {
        self.announce(Event::tool(EventName::PermissionRequest, call), cx).await
    }

    async fn post_tool_use(&self, outcome: &ToolOutcome, cx: &Context) -> Answer<PostToolUse> {
        let event = Event {
            output: Some(outcome.output.as_str().into()),
            original: outcome.original.clone(),
            ..Event::tool(EventName::PostToolUse, &outcome.call)
        };
        self.announce(event, cx).await
    }

    async fn post_tool_use_failure(&self, failure: &ToolFailure, cx: &Context) -> Answer<PostToolUseFailure> {
        let event = Event {
            output: Some(failure.error.as_str().into()),
            original: failure.original.clone(),
            ..Event::tool(EventName::PostToolUseFailure, &failure.call)
        };
        self.announce(event, cx).await
    }

    async fn user_prompt_submit(&self, input: &PromptInput, cx: &Context) -> Answer<UserPromptSubmit> {
        self.announce_plain(EventName::UserPromptSubmit, input.payload(), cx).await
    }

    async fn session_start(&self, cx: &Context) -> Answer<SessionStart> {
        let input = crate::event::Object::from_iter([("sessionId".to_owned(), cx.session.as_str().into())]);
        self.announce_plain(EventName::SessionStart, input, cx).await
    }

    async fn session_end(&self, input: &SessionEndInput, cx: &Context) -> Answer<SessionEnd> {
        // Held from before: what begins while the end is announced belongs to it.
        let life = self.dispatcher.lives.of(&cx.session);
        let answer = self.announce_end(input, cx).await;
        self.forget_session(&life);
        answer
    }

    async fn stop(&self, input: &StopInput, cx: &Context) -> Answer<Stop> {
        let event = Event { attempt: Some(input.attempt), ..Event::plain(EventName::Stop, input.payload()) };
        self.announce(event, cx).await
    }

    async fn turn_start(&self, input: &TurnStartInput, cx: &Context) -> Answer<TurnStart> {
        self.announce_plain(EventName::TurnStart, input.payload(), cx).await
    }

    async fn turn_end(&self, input: &TurnEndInput, cx: &Context) -> Answer<TurnEnd> {
        self.announce_plain(EventName::TurnEnd, input.payload(), cx).await
    }

    async fn pre_compact(&self, input: &PreCompactInput, cx: &Context) -> Answer<PreCompact> {
        self.announce_plain(EventName::PreCompact, input.payload(), cx).await
    }

    async fn post_compact(&self, input: &PostCompactInput, cx: &Context) -> Answer<PostCompact> {
        self.announce_plain(EventName::PostCompact, input.payload(), cx).await
    }

    async fn subagent_start(&self, input: &SubagentInput, cx: &Context) -> Answer<SubagentStart> {
        self.announce_plain(EventName::SubagentStart, input.payload(), cx).await
    }

    async fn subagent_stop(&self, input: &SubagentInput, cx: &Context) -> Answer<SubagentStop> {
        self.announce_plain(EventName::SubagentStop, input.payload(), cx).await
    }

    async fn notification(&self, input: &NotificationInput, cx: &Context) -> Answer<Notification> {
        self.announce_plain(EventName::Notification, input.payload(), cx).await
    }

    async fn custom(&self, event: &CustomEvent, input: &CustomInput, cx: &Context) -> Answer<Custom> {
        let mut announced = Event::plain(EventName::Custom(event.clone()), input.input.clone());
        if let Some(tool) = &input.tool {
            announced.tool = ToolName::new(tool.as_str());
        }
        announced.output = input.output.as_deref().map(Into::into);
        self.announce(announced, cx).await
    }
}
