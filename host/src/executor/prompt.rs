//! Prompt hooks: one question to the embedder's model, within the hook's time. What is asked and how the reply is read is
//! `wire::prompt`'s.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

use super::panicked;
use crate::ask::{Ask, Asked};
use crate::hook::{OnError, PromptHook};
use crate::outcome::{Cause, Outcome};
use crate::port::{Model, ModelError, Question};
use crate::wire::prompt::{MAX_TOKENS, Texts, read, texts};

/// Asks a model.
pub async fn run(hook: &PromptHook, ask: &Ask<'_>, model: Option<&dyn Model>) -> Asked {
    let Some(model) = model else {
        return Outcome::NoAnswer(Cause::CouldNotStart("no model provider".to_owned())).into();
    };
    // The model is the embedder's code: it may panic.
    let whole = AssertUnwindSafe(question(hook, ask, model)).catch_unwind();
    match tokio::time::timeout(ask.time_limit, whole).await {
        Ok(Ok(asked)) => asked,
        Ok(Err(panic)) => panicked(panic.as_ref()).into(),
        Err(_) => Outcome::NoAnswer(Cause::TimedOut(ask.time_limit)).into(),
    }
}

async fn question(hook: &PromptHook, ask: &Ask<'_>, model: &dyn Model) -> Asked {
    let Texts { system, user, cut } = match prepared(hook, ask).await {
        Ok(texts) => texts,
        Err(cause) => return Outcome::NoAnswer(cause).into(),
    };
    if let Err(cause) = ask.may_begin() {
        return Outcome::NoAnswer(cause).into();
    }
    let question = Question { system, user, max_tokens: MAX_TOKENS, model: hook.model.clone() };
    match model.ask(&question).await {
        Ok(reply) => {
            let reply = read(&reply, ask.hook.means_by_silence() == OnError::Block);
            let warnings = reply.warning.map(str::to_owned).into_iter().collect();
            Asked { cut, warnings, ..reply.outcome.into() }
        }
        Err(error) => Asked { cut, ..Outcome::NoAnswer(cause(error)).into() },
    }
}

/// The texts, made on a thread that may block: an argument can be many megabytes.
async fn prepared(hook: &PromptHook, ask: &Ask<'_>) -> Result<Texts, Cause> {
    let (prompt, event) = (hook.prompt.clone(), ask.event.clone());
    let nonce = uuid::Uuid::new_v4().simple().to_string();
    let made = tokio::task::spawn_blocking(move || texts(&prompt, &event, &nonce)).await;
    made.map_err(|error| match error.is_panic() {
        true => Cause::Panicked("while the question was made".to_owned()),
        false => Cause::CouldNotStart("the host is going down".to_owned()),
    })
}

fn cause(error: ModelError) -> Cause {
    match error {
        ModelError::NoModel | ModelError::Unusable(_) | ModelError::Unreachable(_) => {
            Cause::CouldNotStart(error.to_string())
        }
        other => Cause::Failed(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use async_trait::async_trait;
    use serde_json::json;

    use super::*;
    use crate::event::{Context, Event, EventName};
    use crate::hook::HookSpec;
    use crate::id::DispatchId;
    use crate::life::SessionLife;
    use crate::outcome::Change;
    use crate::surroundings::Surroundings;

    /// A model that plays one reply, and remembers what it was asked.
    struct Fake {
        reply: fn() -> Result<String, ModelError>,
        asked: Mutex<Vec<Question>>,
    }

    impl Fake {
        fn saying(reply: fn() -> Result<String, ModelError>) -> Self {
            Self { reply, asked: Mutex::default() }
        }
    }

    #[async_trait]
    impl Model for Fake {
        async fn ask(&self, question: &Question) -> Result<String, ModelError> {
            self.asked.lock().unwrap().push(question.clone());
            (self.reply)()
        }
    }

    /// A model that never answers.
    struct Silent;

    #[async_trait]
    impl Model for Silent {
        async fn ask(&self, _: &Question) -> Result<String, ModelError> {
            std::future::pending().await
        }
    }

    async fn asked(model: Option<&dyn Model>, on_error: Option<OnError>, command: &str) -> Asked {
        asked_in(&"s".into(), model, on_error, command).await
    }

    async fn asked_in(
        life: &SessionLife,
        model: Option<&dyn Model>,
        on_error: Option<OnError>,
        command: &str,
    ) -> Asked {
        let hook = PromptHook { prompt: "Safe?".into(), model: Some("small".into()) };
        let input = json!({"command": command}).as_object().unwrap().clone();
        let event = Event { tool: "bash".into(), ..Event::plain(EventName::PreToolUse, input) };
        let spec = HookSpec { on_error, ..HookSpec::new(EventName::PreToolUse, "judge", hook.clone().into()) };
        let ask = Ask {
            hook: &spec,
            event: &event,
            cx: &Context::new("s"),
            life,
            dispatch: &DispatchId::fresh(),
            commands: None,
            recheck: false,
            surroundings: &Surroundings::default(),
            time_limit: Duration::from_millis(if on_error.is_some() { 10_000 } else { 300 }),
            lease: &crate::ask::Lease::default(),
        };
        run(&hook, &ask, model).await
    }

    #[tokio::test]
    async fn the_model_is_asked_with_fresh_markers_and_its_answer_counts() {
        let model = Fake::saying(|| Ok(r#"{"decision":"block","reason":"no"}"#.into()));
        for _ in 0..2 {
            assert_eq!(asked(Some(&model), Some(OnError::Pass), "ls").await.outcome, Outcome::block("no"));
        }
        let questions = model.asked.lock().unwrap().clone();
        assert_ne!(questions[0].user, questions[1].user);
        assert_eq!((questions[0].max_tokens, questions[0].model.as_deref()), (200, Some("small")));
        let model = Fake::saying(|| Ok(r#"{"decision":"allow","reason":"fine"}"#.into()));
        let outcome = asked(Some(&model), Some(OnError::Pass), "ls").await.outcome;
        assert_eq!(outcome, Outcome::Continue(Change { context: Some("fine".into()), ..Change::default() }));
    }

    #[tokio::test]
    async fn after_the_end_of_its_session_no_model_is_asked() {
        let model = Fake::saying(|| Ok(r#"{"decision":"allow"}"#.into()));
        let life = SessionLife::from("s");
        life.end();
        let asked = asked_in(&life, Some(&model), Some(OnError::Pass), "ls").await;
        assert_eq!(asked.outcome, Outcome::NoAnswer(Cause::SessionEnded));
        assert!(model.asked.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_cut_payload_is_marked_in_the_report() {
        let model = Fake::saying(|| Ok(r#"{"decision":"allow"}"#.into()));
        assert!(!asked(Some(&model), Some(OnError::Pass), "ls").await.cut);
        assert!(asked(Some(&model), Some(OnError::Pass), &"x".repeat(20 << 20)).await.cut);
    }

    #[tokio::test]
    async fn a_rambling_reply_passes_with_a_warning_and_is_no_answer_where_that_blocks() {
        let model = Fake::saying(|| Ok("I would rather talk about the weather.".into()));
        let passed = asked(Some(&model), Some(OnError::Pass), "ls").await;
        assert_eq!((passed.outcome, passed.warnings.len()), (Outcome::pass(), 1));
        let strict = asked(Some(&model), Some(OnError::Block), "ls").await;
        assert!(matches!(strict.outcome, Outcome::NoAnswer(Cause::NotAnAnswer(_))));
    }

    #[tokio::test]
    async fn without_a_model_or_a_reply_there_is_no_answer_and_its_cause_says_why() {
        let cause = |asked: Asked| match asked.outcome {
            Outcome::NoAnswer(cause) => cause.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(cause(asked(None, None, "ls").await), "could not start: no model provider");
        assert_eq!(cause(asked(Some(&Silent), None, "ls").await), "timed out after 300ms");
        let broken = Fake::saying(|| Err(ModelError::Status { status: 500, message: None }));
        let said = cause(asked(Some(&broken), Some(OnError::Pass), "ls").await);
        assert_eq!(said, "failed: the model provider answered with status 500");
        let nowhere = Fake::saying(|| Err(ModelError::Unreachable("connection refused".into())));
        assert!(
            cause(asked(Some(&nowhere), Some(OnError::Pass), "ls").await).starts_with("could not start: the model")
        );
        let panics = Fake::saying(|| panic!("on purpose"));
        assert_eq!(cause(asked(Some(&panics), Some(OnError::Pass), "ls").await), "panicked: on purpose");
    }
}
