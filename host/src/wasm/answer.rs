//! What a plugin says: the records of the interface, read into the words of `plugin` and `outcome`.

use std::time::Duration;

use serde_json::Value;

use super::bindings::{Failure, HookRegistration, HookResult, Modification, Permission, PluginInfo};
use crate::event::Object;
use crate::hook::OnError;
use crate::outcome::{self, Cause, Change, Limit, Outcome};
use crate::plugin::{self, WantedHook};
use crate::text::capped;

/// What stands for a reason that is empty.
const NO_REASON: &str = "blocked by a plugin that gave no reason";

/// What `run` gave back; each of its strings may have `largest` bytes.
pub(super) fn outcome(said: Result<HookResult, String>, largest: usize) -> Outcome {
    if strings(&said).any(|text| text.len() > largest) {
        return Outcome::NoAnswer(Cause::Limit(Limit::Answer(largest)));
    }
    match said {
        Err(text) => Outcome::NoAnswer(Cause::Failed(capped(&text).into_owned())),
        Ok(HookResult::Continue) => Outcome::pass(),
        Ok(HookResult::Block(reason)) if reason.trim().is_empty() => Outcome::block(NO_REASON),
        Ok(HookResult::Block(reason)) => Outcome::block(reason),
        Ok(HookResult::Modify(wanted)) => change(wanted),
    }
}

fn strings(said: &Result<HookResult, String>) -> impl Iterator<Item = &str> {
    let texts = match said {
        Err(text) | Ok(HookResult::Block(text)) => [Some(text), None, None],
        Ok(HookResult::Continue) => [None; 3],
        Ok(HookResult::Modify(wanted)) => [wanted.input.as_ref(), wanted.output.as_ref(), wanted.context.as_ref()],
    };
    texts.into_iter().flatten().map(String::as_str)
}

fn change(wanted: Modification) -> Outcome {
    let input = match wanted.input.as_deref().map(object).transpose() {
        Ok(input) => input,
        // A refusal is heard whatever else is wrong.
        Err(_) if wanted.permission == Some(Permission::Deny) => None,
        Err(why) => return Outcome::NoAnswer(Cause::NotAnAnswer(why)),
    };
    Outcome::Continue(Change {
        input,
        output: wanted.output,
        context: wanted.context,
        permission: wanted.permission.map(Into::into),
        reason: None,
    })
}

fn object(text: &str) -> Result<Object, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("the `input` of a modification is no JSON object".into()),
        Err(error) => Err(format!("the `input` of a modification is no JSON: {error}")),
    }
}

impl From<Permission> for outcome::Permission {
    fn from(permission: Permission) -> Self {
        match permission {
            Permission::Allow => Self::Allow,
            Permission::Ask => Self::Ask,
            Permission::Deny => Self::Deny,
        }
    }
}

/// How large the largest string is that a plugin says of itself.
pub(super) fn largest_string(info: &PluginInfo) -> usize {
    let own = [&info.name, &info.version, &info.description].map(String::len);
    let of_hook = |hook: &HookRegistration| {
        let optional = [&hook.matcher, &hook.condition].map(|text| text.as_ref().map_or(0, String::len));
        [hook.event.len(), hook.name.len()].into_iter().chain(optional).max().unwrap_or(0)
    };
    own.into_iter().chain(info.hooks.iter().map(of_hook)).max().unwrap_or(0)
}

impl From<PluginInfo> for plugin::PluginInfo {
    fn from(info: PluginInfo) -> Self {
        Self {
            name: info.name.into(),
            version: info.version,
            description: info.description,
            hooks: info.hooks.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<HookRegistration> for WantedHook {
    fn from(hook: HookRegistration) -> Self {
        Self {
            event: hook.event,
            name: hook.name,
            matcher: hook.matcher,
            condition: hook.condition,
            timeout: hook.timeout_ms.map(|ms| Duration::from_millis(ms.into())),
            once: hook.once,
            on_error: hook.on_error.map(|failure| match failure {
                Failure::Block => OnError::Block,
                Failure::Pass => OnError::Pass,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TEXT_CAP;

    fn modified(input: &str) -> Outcome {
        let wanted = Modification { input: Some(input.into()), output: None, context: None, permission: None };
        outcome(Ok(HookResult::Modify(wanted)), 100)
    }

    #[test]
    fn a_rewrite_must_be_an_object() {
        assert!(matches!(modified(r#"{"a":1}"#), Outcome::Continue(Change { input: Some(_), .. })));
        assert!(matches!(modified("[1]"), Outcome::NoAnswer(Cause::NotAnAnswer(_))));
        assert!(matches!(modified("{"), Outcome::NoAnswer(Cause::NotAnAnswer(_))));
    }

    #[test]
    fn a_block_without_a_reason_gets_one() {
        assert_eq!(outcome(Ok(HookResult::Block(" \n".into())), 100), Outcome::block(NO_REASON));
        assert_eq!(outcome(Ok(HookResult::Block("no".into())), 100), Outcome::block("no"));
    }

    #[test]
    fn each_string_may_be_so_large_and_no_larger() {
        let block = |bytes| outcome(Ok(HookResult::Block("x".repeat(bytes))), 100);
        assert!(matches!(block(100), Outcome::Block(_)));
        assert_eq!(block(101), Outcome::NoAnswer(Cause::Limit(Limit::Answer(100))));
        assert_eq!(outcome(Err("x".repeat(101)), 100), Outcome::NoAnswer(Cause::Limit(Limit::Answer(100))));
        assert_eq!(outcome(Err("broken".into()), 100), Outcome::NoAnswer(Cause::Failed("broken".into())));
        let Outcome::NoAnswer(Cause::Failed(why)) = outcome(Err("x".repeat(1 << 20)), 1 << 20) else { panic!() };
        assert_eq!(why.chars().count(), TEXT_CAP, "why it failed goes into every report");
    }
}
