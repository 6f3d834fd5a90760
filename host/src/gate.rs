//! The whole order around one tool call, and around one compaction (HOOKS.md, 9).
//!
//! Owns the order and who outranks whom: a rule's deny is final, an ask is lifted by no hook, and what a person
//! approved is what runs. The hooks, the rules, the prompt and the tool are the embedder's to bring.

mod compact;
mod tool;

pub use compact::{CompactGate, Compaction};
pub use tool::{Passage, Refused, RefusedBy, ToolGate};
