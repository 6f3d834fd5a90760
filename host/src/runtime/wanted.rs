//! From what a plugin asks for (`describe`) to hooks that can be registered.

use std::path::Path;

use crate::diagnostic::{Diagnostic, Place, nearest, printable};
use crate::event::{Events, Object};
use crate::hook::{CallbackHook, HookKind, HookSpec, LONGEST_TIMEOUT};
use crate::matching::{Condition, Matcher};
use crate::permission::Permissions;
use crate::plugin::WantedHook;

/// A hook that cannot be registered as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hook `{}` {why}", printable(hook))]
pub struct Unfit {
    /// The hook.
    pub hook: String,
    /// Why.
    pub why: String,
}

/// What a plugin's registrations have in common.
pub(super) struct Wants<'a> {
    pub(super) events: &'a Events,
    pub(super) file: &'a Path,
    pub(super) config: &'a Object,
    pub(super) grant: &'a Permissions,
}

impl Wants<'_> {
    /// The hook, and what is to be said about it.
    ///
    /// # Errors
    ///
    /// An event that does not exist, or a matcher that compiles nowhere: a guard that could never run is refused.
    pub(super) fn spec(&self, wanted: &WantedHook) -> Result<(HookSpec, Vec<Diagnostic>), Unfit> {
        let unfit = |why: String| Unfit { hook: wanted.name.clone(), why };
        let event = self.events.named(&wanted.event).ok_or_else(|| unfit(self.no_such_event(&wanted.event)))?;
        let (config, grant) = (self.config.clone(), self.grant.clone());
        let callback = CallbackHook { config, grant, ..CallbackHook::new(self.file) };
        let mut spec = HookSpec::new(event, wanted.name.as_str(), HookKind::Callback(callback));
        spec.timeout = wanted.timeout;
        spec.once = wanted.once;
        spec.on_error = wanted.on_error;
        spec.place = Place {
            file: Some(self.file.to_owned()),
            event: Some(wanted.event.clone()),
            hook: Some(spec.name.clone()),
            ..Place::default()
        };
        let mut said = Vec::new();
        let mut say = |message: String| said.push(Diagnostic::warning(spec.place.clone(), message));
        if let Some(text) = &wanted.matcher {
            let matcher = Matcher::new(text).map_err(|error| unfit(format!("has no readable matcher: {error}")))?;
            if spec.event.class().matcher {
                spec.matcher = matcher;
            } else if !matcher.is_everything() {
                say("a matcher does nothing on this event".to_owned());
            }
        }
        if let Some(text) = &wanted.condition {
            let (condition, warning) = Condition::new(text);
            if let Some(warning) = warning {
                say(warning.to_string());
            }
            if !spec.event.class().tool {
                say("an `if` does nothing on this event".to_owned());
            }
            spec.condition = Some(condition).filter(|_| spec.event.class().tool);
        }
        if wanted.timeout.is_some_and(|timeout| timeout > LONGEST_TIMEOUT) {
            say(format!("a timeout is at most {} s", LONGEST_TIMEOUT.as_secs()));
        }
        if wanted.once && spec.event.class().gate {
            say("`once` on a gate: after its first answer it guards nothing".to_owned());
        }
        Ok((spec, said))
    }

    fn no_such_event(&self, event: &str) -> String {
        match nearest(event, self.events.names()) {
            Some(near) => format!("is for the event `{}`, which does not exist: perhaps `{near}`", printable(event)),
            None => format!("is for the event `{}`, which does not exist", printable(event)),
        }
    }
}
