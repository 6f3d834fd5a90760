//! What a plugin says about itself: [`Info`] and the [`Hook`]s it brings.

use crate::{Event, Failure, Hook, Info};

impl Info {
    /// A plugin without hooks. `env!("CARGO_PKG_VERSION")` is the usual version.
    pub fn new(name: &str, version: &str, description: &str) -> Self {
        Self { name: name.into(), version: version.into(), description: description.into(), hooks: Vec::new() }
    }

    /// Adds a hook, after those already there.
    #[must_use]
    pub fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(hook);
        self
    }
}

impl Hook {
    /// A hook on every occurrence of the event, with the host's defaults for the rest.
    pub fn on(event: Event, name: &str) -> Self {
        Self {
            event: event.name().into(),
            name: name.into(),
            matcher: None,
            condition: None,
            timeout_ms: None,
            once: false,
            on_error: None,
        }
    }

    /// Only for tools whose name fits: equal, a regular expression, or alternatives between `|`. On PreToolUse,
    /// PostToolUse and PermissionRequest.
    #[must_use]
    pub fn matcher(mut self, matcher: &str) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// Only for arguments that fit, as `if` in settings: `bash(git *)`. On tool events.
    #[must_use]
    pub fn condition(mut self, condition: &str) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// The time that one call may take, in milliseconds, the host's work for it included.
    #[must_use]
    pub fn timeout_ms(mut self, timeout: u32) -> Self {
        self.timeout_ms = Some(timeout);
        self
    }

    /// At most once a session. Not for a guard.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// What a failure of the plugin means. Without it, a failure on a gate blocks.
    #[must_use]
    pub fn on_error(mut self, failure: Failure) -> Self {
        self.on_error = Some(failure);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_says_only_what_it_was_told() {
        let plain = Hook::on(Event::Stop, "more");
        assert_eq!((plain.event.as_str(), plain.name.as_str()), ("Stop", "more"));
        assert_eq!((plain.matcher, plain.condition, plain.timeout_ms), (None, None, None));
        assert_eq!((plain.once, plain.on_error), (false, None));
    }

    #[test]
    fn a_hook_says_all_that_it_was_told() {
        let hook = Hook::on(Event::PreToolUse, "rm")
            .matcher("bash")
            .condition("bash(rm *)")
            .timeout_ms(200)
            .once()
            .on_error(Failure::Pass);
        assert_eq!(hook.matcher.as_deref(), Some("bash"));
        assert_eq!(hook.condition.as_deref(), Some("bash(rm *)"));
        assert_eq!((hook.timeout_ms, hook.once, hook.on_error), (Some(200), true, Some(Failure::Pass)));
    }

    #[test]
    fn hooks_keep_their_order() {
        let info = Info::new("p", "1.0.0", "d").hook(Hook::on(Event::Stop, "a")).hook(Hook::on(Event::Stop, "b"));
        assert_eq!(info.hooks.iter().map(|hook| hook.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}
