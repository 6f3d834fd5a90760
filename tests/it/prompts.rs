//! Prompt hooks in a whole host: from the model's word to the verdict, with a model that is played.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use tacklebox::event::{EventName, PreToolUse};
use tacklebox::hook::{HookSpec, PromptHook};
use tacklebox::port::{Model, ModelError, Question};
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};

use crate::agent::{bare, bash, cx, hook, rewrite};

/// A model that blocks whatever mentions `rm -rf`.
struct Judge;

#[async_trait]
impl Model for Judge {
    async fn ask(&self, question: &Question) -> Result<String, ModelError> {
        let (decision, reason) = match question.user.contains("rm -rf") {
            true => ("block", "it deletes"),
            false => ("allow", "it only reads"),
        };
        Ok(format!("```json\n{}\n```", json!({"decision": decision, "reason": reason})))
    }
}

async fn host(hooks: Vec<HookSpec>) -> Runtime {
    let host = bare().model(Arc::new(Judge)).build().await.unwrap();
    host.register(Source::Sdk, Reach::Everywhere, hooks).unwrap();
    host
}

fn judge() -> HookSpec {
    HookSpec::new(EventName::PreToolUse, "judge", PromptHook::new("Does it delete anything?").into())
}

fn blocked(verdict: PreToolUse) -> String {
    match verdict {
        PreToolUse::Blocked { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_models_word_is_a_verdict() {
    let host = host(vec![judge()]).await;
    let answer = host.pre_tool_use(&bash("rm -rf /"), &cx()).await;
    assert_eq!(blocked(answer.verdict), "it deletes");
    assert_eq!(answer.report.decided_by.unwrap().hook.as_str(), "judge");
    match host.pre_tool_use(&bash("ls"), &cx()).await.verdict {
        PreToolUse::Proceed { context, .. } => assert_eq!(context.as_deref(), Some("it only reads")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_rewrite_is_shown_to_the_model_too() {
    let writer = hook(EventName::PreToolUse, "writer", |_| rewrite("rm -rf /"));
    let host = host(vec![judge(), writer]).await;
    assert_eq!(blocked(host.pre_tool_use(&bash("ls"), &cx()).await.verdict), "it deletes");
}
