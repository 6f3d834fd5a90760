//! The turns of a session.

use super::notice::observed;
use super::{Object, Summary, Verdict};

/// A turn begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnStartInput {
    /// How many turns there were, this one counted.
    pub turn_count: u32,
}

impl TurnStartInput {
    /// The payload for hooks: `{turnCount}`.
    pub fn payload(&self) -> Object {
        Object::from_iter([("turnCount".to_owned(), self.turn_count.into())])
    }
}

observed! {
    /// A turn has begun; the context is for this turn.
    TurnStart with context
}

/// A turn has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnEndInput {
    /// How many turns there were, this one counted.
    pub turn_count: u32,
    /// Tokens read by the model.
    pub input_tokens: Option<u64>,
    /// Tokens written by the model.
    pub output_tokens: Option<u64>,
    /// Tokens read from the provider's cache.
    pub cache_read_input_tokens: Option<u64>,
    /// Tokens written to the provider's cache.
    pub cache_creation_input_tokens: Option<u64>,
}

impl TurnEndInput {
    /// The payload for hooks: `turnCount`, and the token counts that are known.
    pub fn payload(&self) -> Object {
        let mut input = Object::from_iter([("turnCount".to_owned(), self.turn_count.into())]);
        let counts = [
            ("inputTokens", self.input_tokens),
            ("outputTokens", self.output_tokens),
            ("cacheReadInputTokens", self.cache_read_input_tokens),
            ("cacheCreationInputTokens", self.cache_creation_input_tokens),
        ];
        for (key, count) in counts {
            if let Some(count) = count {
                input.insert(key.to_owned(), count.into());
            }
        }
        input
    }
}

observed! {
    /// A turn has ended; the context is for the next one.
    TurnEnd with context
}
