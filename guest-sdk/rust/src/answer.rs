//! What a hook answers: [`Answer`], and the [`Modification`] that a rewriting answer is made of.

use crate::{Answer, Modification, Permission};
use serde_json::Value;

impl Answer {
    /// Nothing to say: the chain goes on.
    pub fn pass() -> Self {
        Self::Continue
    }

    /// No, and why; the model reads the reason.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::Block(reason.into())
    }

    /// Yes, with changes: add them, then `.into()`. Each event takes the parts that it can honour and ignores the rest.
    ///
    /// ```
    /// use tacklebox_sdk::{Answer, json};
    /// let answer: Answer = Answer::modify().input(json!({"command": "ls -l"})).context("ls is long here").into();
    /// ```
    pub fn modify() -> Modification {
        Modification { input: None, output: None, context: None, permission: None }
    }
}

impl Modification {
    /// Merges a JSON object into the tool's arguments. The host refuses anything but an object.
    #[must_use]
    pub fn input(mut self, arguments: Value) -> Self {
        self.input = Some(arguments.to_string());
        self
    }

    /// Replaces the tool's output, the error text, or the prompt.
    #[must_use]
    pub fn output(mut self, text: impl Into<String>) -> Self {
        self.output = Some(text.into());
        self
    }

    /// Adds text for the model.
    #[must_use]
    pub fn context(mut self, text: impl Into<String>) -> Self {
        self.context = Some(text.into());
        self
    }

    /// The tool may run without a prompt. Counts only where the plugin was granted `approve`.
    #[must_use]
    pub fn allow(self) -> Self {
        self.permission(Permission::Allow)
    }

    /// A person is asked.
    #[must_use]
    pub fn ask(self) -> Self {
        self.permission(Permission::Ask)
    }

    /// The tool does not run.
    #[must_use]
    pub fn deny(self) -> Self {
        self.permission(Permission::Deny)
    }

    fn permission(mut self, permission: Permission) -> Self {
        self.permission = Some(permission);
        self
    }
}

impl From<Modification> for Answer {
    fn from(modification: Modification) -> Self {
        Self::Modify(modification)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_modification_holds_what_was_added_and_nothing_else() {
        let Answer::Modify(change) = Answer::modify().input(json!({"a": [1, "é"]})).ask().into() else {
            panic!("a modification");
        };
        assert_eq!(change.input.as_deref(), Some(r#"{"a":[1,"é"]}"#));
        assert_eq!((change.output, change.context, change.permission), (None, None, Some(Permission::Ask)));
    }

    #[test]
    fn the_last_permission_counts() {
        assert_eq!(Answer::modify().allow().deny().permission, Some(Permission::Deny));
        assert_eq!(Answer::modify().deny().allow().permission, Some(Permission::Allow));
    }
}
