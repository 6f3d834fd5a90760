//! What the two protocols of model servers write: Anthropic's Messages, and OpenAI's chat completions, which llama.cpp,
//! Ollama and vLLM speak too. Pure: a body in, a text out; who sends it is `provider`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::port::{ModelError, Question};

/// The most characters of what a server says about an error.
const LONGEST_MESSAGE: usize = 300;

/// The field in which chat completions are told how long a reply may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitField {
    /// OpenAI's own: its newer models take no other.
    MaxCompletionTokens,
    /// Everybody else's.
    MaxTokens,
}

/// The body of a request for Messages.
pub(crate) fn messages_body(question: &Question, model: &str) -> Vec<u8> {
    let body = json!({
        "model": model,
        "max_tokens": question.max_tokens,
        "system": question.system,
        "messages": [{"role": "user", "content": question.user}],
    });
    body.to_string().into_bytes()
}

/// The body of a request for a chat completion.
pub(crate) fn chat_body(question: &Question, model: &str, limit: LimitField) -> Vec<u8> {
    let mut body = json!({
        "model": model,
        "messages": [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.user},
        ],
    });
    let field = match limit {
        LimitField::MaxCompletionTokens => "max_completion_tokens",
        LimitField::MaxTokens => "max_tokens",
    };
    body[field] = question.max_tokens.into();
    body.to_string().into_bytes()
}

#[derive(Deserialize)]
struct Message {
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

/// The text of a message.
pub(crate) fn messages_text(body: &[u8]) -> Result<String, ModelError> {
    let message: Message = parsed(body)?;
    let texts = message.content.into_iter().filter(|block| block.kind == "text");
    Ok(texts.map(|block| block.text).collect())
}

#[derive(Deserialize)]
struct Chat {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
}

#[derive(Deserialize)]
struct Said {
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Block>),
}

/// The text of a chat completion; a refusal has none.
pub(crate) fn chat_text(body: &[u8]) -> Result<String, ModelError> {
    let chat: Chat = parsed(body)?;
    let first = chat.choices.into_iter().next();
    let first = first.ok_or_else(|| ModelError::Unreadable("it holds no choice".to_owned()))?;
    Ok(match first.message.content {
        Some(Content::Text(text)) => text,
        Some(Content::Parts(parts)) => parts.into_iter().map(|part| part.text).collect(),
        None => String::new(),
    })
}

fn parsed<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ModelError> {
    serde_json::from_slice(body).map_err(|error| {
        // What serde_json says of a wrong type quotes the value, which may be anything.
        let what = if error.is_data() { "it is not what the protocol says" } else { "it is not JSON" };
        ModelError::Unreadable(format!("{what} (line {}, column {})", error.line(), error.column()))
    })
}

/// What a server says about an error: `error.message`, `error` or `message`, on one line and not too long.
pub(crate) fn error_message(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let texts = [body.pointer("/error/message"), body.get("error"), body.get("message")];
    let text = texts.into_iter().flatten().find_map(Value::as_str)?;
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_MESSAGE).collect();
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question { system: "s".into(), user: "u\n\"".into(), max_tokens: 200, model: None }
    }

    fn value(body: &[u8]) -> Value {
        serde_json::from_slice(body).unwrap()
    }

    #[test]
    fn a_question_is_written_as_each_protocol_wants_it() {
        let message = value(&messages_body(&question(), "m"));
        assert_eq!(message["system"], "s");
        assert_eq!(message["messages"], json!([{"role": "user", "content": "u\n\""}]));
        let chat = value(&chat_body(&question(), "m", LimitField::MaxTokens));
        assert_eq!(chat["messages"][0], json!({"role": "system", "content": "s"}));
        assert_eq!((&chat["max_tokens"], &chat["model"]), (&json!(200), &json!("m")));
        let own = value(&chat_body(&question(), "m", LimitField::MaxCompletionTokens));
        assert_eq!((&own["max_completion_tokens"], own.get("max_tokens")), (&json!(200), None));
    }

    #[test]
    fn a_reply_is_read_and_what_is_none_says_what_is_wrong() {
        let thought = br#"{"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#;
        assert_eq!(messages_text(thought).unwrap(), "ab");
        assert_eq!(chat_text(br#"{"choices":[{"message":{"content":"a"}}]}"#).unwrap(), "a");
        let parts = br#"{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}"#;
        assert_eq!(chat_text(parts).unwrap(), "a");
        assert_eq!(chat_text(br#"{"choices":[{"message":{"content":null,"refusal":"no"}}]}"#).unwrap(), "");
        assert!(chat_text(br#"{"choices":[]}"#).unwrap_err().to_string().ends_with("it holds no choice"));
        assert!(chat_text(b"<html>").unwrap_err().to_string().contains("it is not JSON"));
        assert!(messages_text(br#"{"content":"x"}"#).unwrap_err().to_string().contains("not what the protocol says"));
    }

    #[test]
    fn an_error_is_told_in_a_line() {
        assert_eq!(error_message(br#"{"error":{"message":"a\nb\u001b"}}"#).as_deref(), Some("a b"));
        assert_eq!(error_message(br#"{"error":"plain"}"#).as_deref(), Some("plain"));
        assert_eq!(error_message(b"<html>"), None);
        let long = format!(r#"{{"message":"{}"}}"#, "x".repeat(5000));
        assert_eq!(error_message(long.as_bytes()).map(|text| text.len()), Some(LONGEST_MESSAGE));
    }
}
