//! The model of the demo: it answers the prompt hooks' questions from a script, so that the demo needs no network.

use async_trait::async_trait;

use crate::port::{Model, ModelError, Question};

/// What it answers, by a text in the question.
const SCRIPT: [(&str, &str); 2] = [
    (
        "cp config.env",
        r#"{"decision": "block", "reason": "`config.env` holds a key, and `/mnt/usb` is outside of the project"}"#,
    ),
    ("cp src/app.py", "Nothing leaves the project.\n```json\n{\"decision\": \"allow\"}\n```"),
];

/// A model that plays a part.
pub(super) struct ScriptedModel;

#[async_trait]
impl Model for ScriptedModel {
    async fn ask(&self, question: &Question) -> Result<String, ModelError> {
        let line = SCRIPT.iter().find(|(about, _)| question.user.contains(about));
        let (_, reply) = line.ok_or_else(|| ModelError::Other("its part has no such question".to_owned()))?;
        Ok((*reply).to_owned())
    }
}
