//! What matching sees of an event: the tool's call, and its command taken apart once for all hooks.

use std::sync::Arc;

use crate::event::{Event, Object};
use crate::matching::{Call, Commands, Dialect, ToolTable};

use super::plan::Sight;

/// The parts that a [`Sight`] borrows.
pub(super) struct Look<'a> {
    tools: &'a ToolTable,
    input: Arc<Object>,
    commands: Option<Commands>,
}

impl<'a> Look<'a> {
    pub(super) fn new(event: &Event, tools: &'a ToolTable) -> Self {
        let command = event.name.class().tool.then(|| tools.command(event.tool.as_str(), &event.input)).flatten();
        Self { tools, input: event.input.clone(), commands: command.map(Commands::parse) }
    }

    /// Whether these are the parts of `event`.
    pub(super) fn is_of(&self, event: &Event) -> bool {
        self.commands.is_none() || self.input == event.input
    }

    /// What a shell parser made of the tool's command.
    pub(super) fn commands(&self) -> Option<&Commands> {
        self.commands.as_ref()
    }

    /// The call, as hooks of this version's one dialect know it.
    pub(super) fn call<'b>(&'b self, event: &'b Event) -> Call<'b> {
        self.tools.call(Dialect::Freecode, event.tool.as_str(), &event.input, self.commands.as_ref())
    }

    /// What matching sees.
    pub(super) fn sight<'b>(&'b self, event: &'b Event) -> Sight<'b> {
        Sight { event, call: self.call(event) }
    }
}
