//! From the folded answer to the typed verdict of each event.

use crate::dispatch::Dispatched;
use crate::dispatch::fold::Folded;
use crate::event::{
    Consent, Custom, Notification, PermissionRequest, PostCompact, PostToolUse, PostToolUseFailure, PreCompact,
    PreToolUse, SessionEnd, SessionStart, Stop, SubagentStart, SubagentStop, TurnEnd, TurnStart, UserPromptSubmit,
    Verdict,
};
use crate::outcome::Permission;
use crate::report::Answer;

/// A verdict that can be made of a folded answer.
pub(super) trait Typed: Verdict {
    /// The verdict without trust.
    const UNTRUSTED: Self;

    /// The verdict that this answer comes to.
    fn of(folded: Folded, exports: Vec<(String, String)>) -> Self;
}

/// The typed answer of a dispatch.
pub(super) fn answer<V: Typed>(dispatched: Dispatched) -> Answer<V> {
    let Dispatched { folded, exports, report } = dispatched;
    let verdict = match folded {
        Some(folded) => V::of(folded, exports),
        None => V::UNTRUSTED,
    };
    Answer { verdict, report }
}

/// The reason and the contexts as one text.
fn said(reason: Option<String>, context: Option<String>) -> Option<String> {
    let parts: Vec<_> = reason.into_iter().chain(context).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

impl Typed for PreToolUse {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(folded: Folded, _: Vec<(String, String)>) -> Self {
        if let Some((_, block)) = folded.block {
            return Self::Blocked { reason: block.reason, context: folded.context, stop: block.stop };
        }
        let consent = match folded.permission {
            Some((_, Permission::Ask, reason)) => Consent::Ask { reason },
            Some((_, Permission::Allow, _)) => Consent::Allow,
            Some((_, Permission::Deny, _)) | None => Consent::Unset,
        };
        let rewrite = folded.rewrite.map(|(_, rewrite)| rewrite);
        Self::Proceed { input: folded.input, rewrite, context: folded.context, consent }
    }
}

impl Typed for PermissionRequest {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(folded: Folded, _: Vec<(String, String)>) -> Self {
        if let Some((_, block)) = folded.block {
            let reason = said(Some(block.reason), folded.context).unwrap_or_default();
            return Self::Deny { reason, stop: block.stop };
        }
        let (input, rewrite) = (folded.input, folded.rewrite.map(|(_, rewrite)| rewrite));
        match folded.permission {
            Some((_, Permission::Allow, reason)) => {
                Self::Allow { input, rewrite, reason: said(reason, folded.context) }
            }
            Some((_, Permission::Ask, reason)) => Self::Ask { input, rewrite, reason: said(reason, folded.context) },
            // A deny is folded into a block.
            Some((_, Permission::Deny, _)) | None => {
                Self::Passthrough { input, rewrite, reason: said(None, folded.context) }
            }
        }
    }
}

impl Typed for PostToolUse {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(folded: Folded, _: Vec<(String, String)>) -> Self {
        match folded.block {
            Some((_, block)) => {
                let context = said(folded.complaint.map(|(_, complaint)| complaint), folded.context);
                Self::Withheld { reason: block.reason, context, stop: block.stop }
            }
            None => Self::Shown {
                output: folded.output,
                complaint: folded.complaint.map(|(_, complaint)| complaint),
                context: folded.context,
            },
        }
    }
}

impl Typed for PostToolUseFailure {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(folded: Folded, _: Vec<(String, String)>) -> Self {
        Self::Shown { error: folded.output, context: folded.context }
    }
}

impl Typed for UserPromptSubmit {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(folded: Folded, _: Vec<(String, String)>) -> Self {
        match folded.block {
            Some((_, block)) => Self::Blocked { reason: block.reason, context: folded.context, stop: block.stop },
            None => Self::Send { prompt: folded.output, context: folded.context },
        }
    }
}

impl Typed for SessionStart {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(folded: Folded, exports: Vec<(String, String)>) -> Self {
        Self::Begun { initial_message: folded.output, context: folded.context, exports }
    }
}

impl Typed for Stop {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(folded: Folded, _: Vec<(String, String)>) -> Self {
        match folded.block {
            Some((_, block)) => Self::GoesOn { reason: said(Some(block.reason), folded.context).unwrap_or_default() },
            None => Self::Stops { context: folded.context, capped: folded.capped },
        }
    }
}

impl Typed for PreCompact {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(folded: Folded, _: Vec<(String, String)>) -> Self {
        match folded.block {
            Some((_, block)) => Self::Blocked { reason: block.reason },
            None => Self::Proceed,
        }
    }
}

impl Typed for Custom {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(folded: Folded, _: Vec<(String, String)>) -> Self {
        match folded.block {
            Some((_, block)) => Self::Blocked { reason: block.reason, context: folded.context },
            None => Self::Proceed {
                input: folded.input,
                rewrite: folded.rewrite.map(|(_, rewrite)| rewrite),
                output: folded.output,
                context: folded.context,
            },
        }
    }
}

macro_rules! told {
    ($($name:ident)*) => {$(
        impl Typed for $name {
            const UNTRUSTED: Self = Self::Untrusted;

            fn of(folded: Folded, _: Vec<(String, String)>) -> Self {
                Self::Told { context: folded.context }
            }
        }
    )*};
}

told!(TurnStart TurnEnd PostCompact SubagentStart SubagentStop);

impl Typed for SessionEnd {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(_: Folded, _: Vec<(String, String)>) -> Self {
        Self::Told
    }
}

impl Typed for Notification {
    const UNTRUSTED: Self = Self::Untrusted;

    fn of(_: Folded, _: Vec<(String, String)>) -> Self {
        Self::Told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Decision, EventName};
    use crate::outcome::{Block, Said};

    fn says<V: Typed>(event: EventName) {
        let permissions = [None, Some(Permission::Allow), Some(Permission::Ask)];
        for (permission, blocks, complains) in
            permissions.iter().flat_map(|p| [(*p, false, false), (*p, true, false), (*p, false, true)])
        {
            // Only what the fold makes of that event: complaints are PostToolUse's, blocks are honoured at gates.
            let class = event.class();
            let folded = Folded {
                block: (blocks && class.gate).then(|| (0, Block::new("no", Said::Explicitly))),
                complaint: (complains && event == EventName::PostToolUse).then(|| (0, "hm".to_owned())),
                permission: permission.map(|permission| (0, permission, None)),
                ..Folded::default()
            };
            let word = folded.decision(&event);
            let verdict = V::of(folded, Vec::new()).summary().decision.unwrap_or(Decision::Allow);
            assert_eq!(word, verdict, "{event}: {permission:?} {blocks} {complains}");
        }
    }

    #[test]
    fn the_word_of_a_dispatch_is_that_of_its_verdict() {
        says::<PreToolUse>(EventName::PreToolUse);
        says::<PermissionRequest>(EventName::PermissionRequest);
        says::<PostToolUse>(EventName::PostToolUse);
        says::<PostToolUseFailure>(EventName::PostToolUseFailure);
        says::<UserPromptSubmit>(EventName::UserPromptSubmit);
        says::<SessionStart>(EventName::SessionStart);
        says::<Stop>(EventName::Stop);
        says::<PreCompact>(EventName::PreCompact);
        says::<TurnStart>(EventName::TurnStart);
        says::<SessionEnd>(EventName::SessionEnd);
    }
}
