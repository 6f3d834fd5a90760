//! From an announcement to the typed event of the facade, and back to what all verdicts have in common.
//!
//! Owns which keys of `input` each event reads. What is missing there has a default; what is of a wrong type is
//! refused.

use anyhow::bail;
use serde_json::Value;

use crate::event::{
    Context, Event, EventName, NotificationInput, Object, PostCompactInput, PreCompactInput, PromptInput,
    SessionEndInput, StopInput, SubagentInput, Summary, ToolCall, ToolFailure, ToolOutcome, TurnEndInput,
    TurnStartInput, Verdict,
};
use crate::port::HookRuntime;
use crate::report::{Answer, Report};

use super::announcement::{Announcement, found, unread};
use super::fault::Fault;

/// One typed event, ready to be announced.
#[derive(Debug)]
pub(super) enum Moment {
    PreToolUse(ToolCall),
    PermissionRequest(ToolCall),
    PostToolUse(ToolOutcome),
    PostToolUseFailure(ToolFailure),
    UserPromptSubmit(PromptInput),
    SessionStart,
    SessionEnd(SessionEndInput),
    Stop(StopInput),
    TurnStart(TurnStartInput),
    TurnEnd(TurnEndInput),
    PreCompact(PreCompactInput),
    PostCompact(PostCompactInput),
    SubagentStart(SubagentInput),
    SubagentStop(SubagentInput),
    Notification(NotificationInput),
}

/// What any verdict says, and how it came about.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) summary: Summary,
    pub(super) report: Report,
}

impl<V: Verdict> From<Answer<V>> for Answered {
    fn from(answer: Answer<V>) -> Self {
        Self { summary: answer.verdict.summary(), report: answer.report }
    }
}

impl Moment {
    /// The event that `said` announces, where and with which doubts.
    pub(super) fn of(said: Announcement) -> anyhow::Result<(Self, Context, Vec<String>)> {
        let mut doubts = said.doubts;
        let Announcement { event, tool, input, output, cx, .. } = Announcement { doubts: Vec::new(), ..said };
        let class = event.class();
        if class.tool {
            if let (Some(_), EventName::PreToolUse | EventName::PermissionRequest) = (&output, &event) {
                doubts.push(format!("`output` is not read: at {event} the tool has not run"));
            }
            return Ok((Self::about_a_tool(&event, tool, input, output)?, cx, doubts));
        }
        let beside = [("tool", tool.is_some()), ("output", output.is_some())];
        doubts.extend(
            beside
                .iter()
                .filter(|(_, is)| *is)
                .map(|(key, _)| format!("`{key}` is not read: {event} is about no tool")),
        );
        let mut keys = Keys { input, read: Vec::new() };
        let moment = Self::about_no_tool(&event, &mut keys)?;
        doubts.extend(keys.doubts(&event));
        Ok((moment, cx, doubts))
    }

    fn about_a_tool(
        event: &EventName,
        tool: Option<String>,
        input: Object,
        output: Option<String>,
    ) -> anyhow::Result<Self> {
        let Some(tool) = tool else {
            return Err(Fault::new(format!("{event} is about a tool, and none is named"), "give its `tool`").into());
        };
        let call = ToolCall::new(tool, input);
        let output = output.unwrap_or_default();
        Ok(match event {
            EventName::PreToolUse => Self::PreToolUse(call),
            EventName::PermissionRequest => Self::PermissionRequest(call),
            EventName::PostToolUse => Self::PostToolUse(ToolOutcome { call, output, original: None }),
            EventName::PostToolUseFailure => {
                Self::PostToolUseFailure(ToolFailure { call, error: output, original: None })
            }
            other => bail!("{other} cannot be announced by the program"),
        })
    }

    fn about_no_tool(event: &EventName, keys: &mut Keys) -> anyhow::Result<Self> {
        Ok(match event {
            EventName::UserPromptSubmit => {
                keys.read.push("promptLength");
                Self::UserPromptSubmit(PromptInput { prompt: keys.text("prompt")? })
            }
            EventName::SessionStart => {
                keys.read.push("sessionId");
                Self::SessionStart
            }
            EventName::SessionEnd => Self::SessionEnd(SessionEndInput { reason: keys.text("reason")? }),
            EventName::Stop => {
                Self::Stop(StopInput { reason: keys.text("reason")?, attempt: keys.small("attempt")?.unwrap_or(1) })
            }
            EventName::TurnStart => {
                Self::TurnStart(TurnStartInput { turn_count: keys.small("turnCount")?.unwrap_or_default() })
            }
            EventName::TurnEnd => Self::TurnEnd(TurnEndInput {
                turn_count: keys.small("turnCount")?.unwrap_or_default(),
                input_tokens: keys.number("inputTokens")?,
                output_tokens: keys.number("outputTokens")?,
                cache_read_input_tokens: keys.number("cacheReadInputTokens")?,
                cache_creation_input_tokens: keys.number("cacheCreationInputTokens")?,
            }),
            EventName::PreCompact => Self::PreCompact(PreCompactInput {
                history_length: keys.number("historyLength")?.unwrap_or_default(),
                token_count: keys.number("tokenCount")?,
            }),
            EventName::PostCompact => Self::PostCompact(PostCompactInput { success: keys.flag("success")? }),
            EventName::SubagentStart => Self::SubagentStart(SubagentInput { name: keys.text("name")? }),
            EventName::SubagentStop => Self::SubagentStop(SubagentInput { name: keys.text("name")? }),
            EventName::Notification => Self::Notification(NotificationInput { message: keys.text("message")? }),
            other => bail!("{other} cannot be announced by the program"),
        })
    }

    /// Announces it.
    pub(super) async fn announce(&self, host: &dyn HookRuntime, cx: &Context) -> Answered {
        match self {
            Self::PreToolUse(call) => host.pre_tool_use(call, cx).await.into(),
            Self::PermissionRequest(call) => host.permission_request(call, cx).await.into(),
            Self::PostToolUse(outcome) => host.post_tool_use(outcome, cx).await.into(),
            Self::PostToolUseFailure(failure) => host.post_tool_use_failure(failure, cx).await.into(),
            Self::UserPromptSubmit(input) => host.user_prompt_submit(input, cx).await.into(),
            Self::SessionStart => host.session_start(cx).await.into(),
            Self::SessionEnd(input) => host.session_end(input, cx).await.into(),
            Self::Stop(input) => host.stop(input, cx).await.into(),
            Self::TurnStart(input) => host.turn_start(input, cx).await.into(),
            Self::TurnEnd(input) => host.turn_end(input, cx).await.into(),
            Self::PreCompact(input) => host.pre_compact(input, cx).await.into(),
            Self::PostCompact(input) => host.post_compact(input, cx).await.into(),
            Self::SubagentStart(input) => host.subagent_start(input, cx).await.into(),
            Self::SubagentStop(input) => host.subagent_stop(input, cx).await.into(),
            Self::Notification(input) => host.notification(input, cx).await.into(),
        }
    }

    /// The event as hooks see it.
    pub(super) fn event(&self, cx: &Context) -> Event {
        let with_output = |event: Event, text: &str| Event { output: Some(text.into()), ..event };
        match self {
            Self::PreToolUse(call) => Event::tool(EventName::PreToolUse, call),
            Self::PermissionRequest(call) => Event::tool(EventName::PermissionRequest, call),
            Self::PostToolUse(ran) => with_output(Event::tool(EventName::PostToolUse, &ran.call), &ran.output),
            Self::PostToolUseFailure(failure) => {
                with_output(Event::tool(EventName::PostToolUseFailure, &failure.call), &failure.error)
            }
            Self::UserPromptSubmit(input) => Event::plain(EventName::UserPromptSubmit, input.payload()),
            Self::SessionStart => {
                let input = Object::from_iter([("sessionId".to_owned(), cx.session.as_str().into())]);
                Event::plain(EventName::SessionStart, input)
            }
            Self::SessionEnd(input) => Event::plain(EventName::SessionEnd, input.payload()),
            Self::Stop(input) => {
                Event { attempt: Some(input.attempt), ..Event::plain(EventName::Stop, input.payload()) }
            }
            Self::TurnStart(input) => Event::plain(EventName::TurnStart, input.payload()),
            Self::TurnEnd(input) => Event::plain(EventName::TurnEnd, input.payload()),
            Self::PreCompact(input) => Event::plain(EventName::PreCompact, input.payload()),
            Self::PostCompact(input) => Event::plain(EventName::PostCompact, input.payload()),
            Self::SubagentStart(input) => Event::plain(EventName::SubagentStart, input.payload()),
            Self::SubagentStop(input) => Event::plain(EventName::SubagentStop, input.payload()),
            Self::Notification(input) => Event::plain(EventName::Notification, input.payload()),
        }
    }
}

/// The payload of an event without a tool, and which of its keys were asked for.
struct Keys {
    input: Object,
    read: Vec<&'static str>,
}

impl Keys {
    fn get(&mut self, key: &'static str) -> Option<&Value> {
        self.read.push(key);
        self.input.get(key).filter(|value| !value.is_null())
    }

    fn text(&mut self, key: &'static str) -> anyhow::Result<String> {
        match self.get(key) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => bail!("`{key}` of `input` must be a string, found {}", found(other)),
        }
    }

    fn flag(&mut self, key: &'static str) -> anyhow::Result<bool> {
        match self.get(key) {
            None => Ok(true),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => bail!("`{key}` of `input` must be true or false, found {}", found(other)),
        }
    }

    fn number(&mut self, key: &'static str) -> anyhow::Result<Option<u64>> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                None => bail!("`{key}` of `input` must be a whole number from 0, found {}", found(value)),
            },
        }
    }

    fn small(&mut self, key: &'static str) -> anyhow::Result<Option<u32>> {
        match self.number(key)?.map(u32::try_from) {
            None => Ok(None),
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => bail!("`{key}` of `input` is too large"),
        }
    }

    fn doubts(&self, event: &EventName) -> Vec<String> {
        unread(&self.input, &self.read, &format!("{event}: key of `input`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> anyhow::Result<(Moment, Context, Vec<String>)> {
        Moment::of(Announcement::read(line.as_bytes())?)
    }

    #[test]
    fn every_event_can_be_announced_and_is_the_event_it_says() {
        for event in EventName::BUILT_IN {
            let tool = if event.class().tool { r#", "tool": "bash""# } else { "" };
            let (moment, cx, doubts) = read(&format!(r#"{{"event": "{event}"{tool}}}"#)).unwrap();
            assert_eq!(moment.event(&cx).name, event);
            assert!(doubts.is_empty(), "{doubts:?}");
        }
    }

    #[test]
    fn a_tool_event_needs_a_tool_and_others_doubt_one() {
        assert!(read(r#"{"event": "PreToolUse"}"#).unwrap_err().to_string().contains("none is named"));
        let (_, _, doubts) = read(r#"{"event": "Stop", "tool": "bash", "input": {"atempt": 2}}"#).unwrap();
        assert_eq!(doubts.len(), 2, "{doubts:?}");
        assert!(doubts[1].contains("did you mean `attempt`?"), "{doubts:?}");
    }

    #[test]
    fn a_wrong_type_is_refused() {
        for (event, input) in [
            ("UserPromptSubmit", r#"{"prompt": 1}"#),
            ("Stop", r#"{"attempt": "2"}"#),
            ("Stop", r#"{"attempt": 99999999999}"#),
            ("PostCompact", r#"{"success": 1}"#),
            ("TurnEnd", r#"{"inputTokens": 1.5}"#),
        ] {
            let line = format!(r#"{{"event": "{event}", "input": {input}}}"#);
            assert!(read(&line).is_err(), "{line}");
        }
    }
}
