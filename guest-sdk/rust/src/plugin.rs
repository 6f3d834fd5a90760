//! The trait that a plugin implements.

use crate::{Answer, Context, Error, Event, Info, Input};

/// A plugin: what it is, and what it answers.
///
/// Write [`info`](Plugin::info) and the methods of the events that your hooks are registered for. The others have a body that fails, since
/// settings can register a plugin on any event: a guard on an event it has no answer for would pass everything unseen.
///
/// Each call runs in a fresh instance, so nothing is left in memory from the call before; [`state`](crate::state) keeps values.
pub trait Plugin: 'static {
    /// The plugin and its hooks. Called once, when the plugin is loaded, with no permissions: a constant.
    fn info() -> Info;

    /// The arguments in `input`; a block keeps the tool from running, modified input is merged into the arguments.
    fn pre_tool_use(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// The arguments in `input`; answer with `allow`, `ask` or `deny`. Passing is no opinion.
    fn permission_request(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// The arguments in `input`, what the tool printed in `tool_output`; modified output replaces it, a block withholds it.
    fn post_tool_use(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// The arguments in `input`, why the tool failed in `tool_output`; modified output replaces the error text.
    fn post_tool_use_failure(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{prompt, promptLength}`; a block keeps the prompt from being sent, modified output replaces it.
    fn user_prompt_submit(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{sessionId}`; context goes to the session, modified output is the initial user message.
    fn session_start(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{reason}`; observed.
    fn session_end(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{reason, attempt}`; a block makes the agent go on, with the reason.
    fn stop(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{turnCount}`; context goes to the turn.
    fn turn_start(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{turnCount, inputTokens?, outputTokens?, ..}`; context goes to the next turn.
    fn turn_end(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{historyLength, tokenCount?}`; a block leaves the history as it is.
    fn pre_compact(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{success}`; context goes to the session.
    fn post_compact(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{name}`; context goes to the sub-agent.
    fn subagent_start(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{name}`; context goes to the parent.
    fn subagent_stop(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// `{message}`; observed.
    fn notification(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// An event that the agent declares itself; `input.event` has its name.
    fn other(input: &Input, cx: &Context) -> Result<Answer, Error> {
        unanswered(input, cx)
    }

    /// Every call comes in here, and goes to the method of its event. Write this one instead where the answer is the same for all.
    fn run(input: &Input, cx: &Context) -> Result<Answer, Error> {
        match input.event {
            Event::PreToolUse => Self::pre_tool_use(input, cx),
            Event::PermissionRequest => Self::permission_request(input, cx),
            Event::PostToolUse => Self::post_tool_use(input, cx),
            Event::PostToolUseFailure => Self::post_tool_use_failure(input, cx),
            Event::UserPromptSubmit => Self::user_prompt_submit(input, cx),
            Event::SessionStart => Self::session_start(input, cx),
            Event::SessionEnd => Self::session_end(input, cx),
            Event::Stop => Self::stop(input, cx),
            Event::TurnStart => Self::turn_start(input, cx),
            Event::TurnEnd => Self::turn_end(input, cx),
            Event::PreCompact => Self::pre_compact(input, cx),
            Event::PostCompact => Self::post_compact(input, cx),
            Event::SubagentStart => Self::subagent_start(input, cx),
            Event::SubagentStop => Self::subagent_stop(input, cx),
            Event::Notification => Self::notification(input, cx),
            Event::Other(_) => Self::other(input, cx),
        }
    }
}

fn unanswered(input: &Input, _cx: &Context) -> Result<Answer, Error> {
    Err(Error::new(format!("this plugin has no answer for the event `{}`", input.event)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    struct Greeter;

    impl Plugin for Greeter {
        fn info() -> Info {
            Info::new("greeter", "0.1.0", "says hello")
        }

        fn session_start(_: &Input, cx: &Context) -> Result<Answer, Error> {
            Ok(Answer::modify().context(format!("hello, {}", cx.session_id)).into())
        }
    }

    fn run(event: Event) -> Result<Answer, Error> {
        Greeter::run(&Input::test(event, "tool", json!({})), &Context::test())
    }

    #[test]
    fn a_call_goes_to_the_method_of_its_event() {
        assert_eq!(run(Event::SessionStart), Ok(Answer::modify().context("hello, session").into()));
    }

    #[test]
    fn an_event_without_a_method_is_a_failure_and_no_pass() {
        let text = "this plugin has no answer for the event `PreToolUse`";
        assert_eq!(run(Event::PreToolUse), Err(Error::new(text)));
        assert!(run(Event::Other("Deploy".into())).is_err());
    }
}
