//! What the tests of a hook see of an event: the tool's call, and its command taken apart once for all hooks.
//!
//! Owns whether a hook matches, and which of its tests kept it out. What follows from that is for `dispatch`.

use std::sync::Arc;

use crate::event::{Event, Object};
use crate::matching::{Call, Commands, ToolTable};

use super::{Dialect, HookSpec};

/// The parts that a [`Sight`] borrows.
#[derive(Debug)]
pub struct Look<'a> {
    tools: &'a ToolTable,
    input: Arc<Object>,
    commands: Option<Commands>,
}

impl<'a> Look<'a> {
    /// The parts of `event`.
    pub fn new(event: &Event, tools: &'a ToolTable) -> Self {
        let command = event.name.class().tool.then(|| tools.command(event.tool.as_str(), &event.input)).flatten();
        Self { tools, input: event.input.clone(), commands: command.map(Commands::parse) }
    }

    /// Whether these are the parts of `event`.
    pub fn is_of(&self, event: &Event) -> bool {
        self.commands.is_none() || self.input == event.input
    }

    /// What a shell parser made of the tool's command.
    pub fn commands(&self) -> Option<&Commands> {
        self.commands.as_ref()
    }

    /// The call, as hooks of this version's one dialect know it.
    pub fn call<'b>(&'b self, event: &'b Event) -> Call<'b> {
        self.tools.call(Dialect::Freecode, event.tool.as_str(), &event.input, self.commands.as_ref())
    }

    /// What matching sees.
    pub fn sight<'b>(&'b self, event: &'b Event) -> Sight<'b> {
        Sight { event, call: self.call(event) }
    }
}

/// What matching depends on.
#[derive(Debug)]
pub struct Sight<'a> {
    /// The event.
    pub event: &'a Event,
    /// The call it is about, as hooks know it.
    pub call: Call<'a>,
}

/// What kept a hook out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// Its matcher does not fit the tool.
    Matcher,
    /// Its `if` does not hold.
    Condition,
}

impl Sight<'_> {
    /// Whether `hook` matches, and if not, which test kept it out.
    pub fn of(&self, hook: &HookSpec) -> Result<(), Miss> {
        let class = self.event.name.class();
        if class.matcher && hook.matcher.test(self.call.tool()).is_none() {
            return Err(Miss::Matcher);
        }
        match &hook.condition {
            Some(condition) if class.tool && !condition.test(&self.call).holds() => Err(Miss::Condition),
            _ => Ok(()),
        }
    }
}
