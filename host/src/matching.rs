//! Which hooks a tool call is about, and what a hook's `if` may vouch for.
//!
//! It owns matchers, conditions, the tool table and the taking apart of shell commands: pure code over texts and
//! values, compiled once and tested often. Everything says which test decided. Which events match at all, which hooks
//! are asked and what their answers do is left to others.
//!
//! The command of a call is taken apart once, then every condition is tested on the same [`Call`]:
//!
//! ```
//! use tacklebox::matching::{Commands, Condition, Dialect, ToolTable};
//!
//! let tools = ToolTable::default();
//! let input = serde_json::json!({"command": "cd x && sudo rm -rf y"});
//! let input = input.as_object().expect("an object");
//! let commands = tools.command("bash", input).map(Commands::parse);
//! let call = tools.call(Dialect::Freecode, "bash", input, commands.as_ref());
//!
//! let (condition, warning) = Condition::new("bash(rm *)");
//! assert!(warning.is_none() && condition.test(&call).holds());
//! ```
//!
//! Doubt is read two ways. A condition narrows a guard, so a command that cannot be judged makes the hook run; an
//! approval rests on a condition, so the same command is not approved.

mod approval;
mod condition;
mod expression;
mod matcher;
mod pattern;
mod shell;
mod tools;

pub use condition::{Because, Call, Condition, ConditionVerdict, ConditionWarning, Subject};
pub use matcher::{Matcher, MatcherError, MatcherHit};
pub use shell::{Commands, MAX_COMMAND, MAX_DEPTH, Reason, SimpleCommand, Within};
pub use tools::{Dialect, PATH_ARGUMENTS, Tool, ToolTable};
