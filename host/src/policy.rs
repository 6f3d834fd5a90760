//! Pure rules on who may do what: whether hooks may run here at all, and whose approval counts.

use crate::hook::{HookKind, HookSpec};
use crate::permission::Approve;
use crate::plugin::Code;
use crate::source::Source;

/// Whether the project is trusted. The embedder says so; there is no default (HOOKS.md, 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trust {
    /// Hooks run.
    Trusted,
    /// No hook of any kind or source runs, where the project brings any.
    Untrusted,
}

/// Whose approvals count (HOOKS.md, 6: `sources_that_may_approve`).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum MayApprove {
    /// Those of every source.
    #[default]
    Every,
    /// Those of these sources alone.
    Only(Vec<Source>),
}

impl MayApprove {
    /// Whether an approval of `hook`, which `source` brought, counts. A plugin in the sandbox approves only where that
    /// was asked for and granted: `code` says whether.
    pub fn allows(&self, hook: &HookSpec, source: &Source, code: Option<&dyn Code>) -> bool {
        let granted = code.is_some_and(|code| code.allowed().approves == Approve(true));
        if matches!(hook.kind, HookKind::Callback(_)) && !granted {
            return false;
        }
        match self {
            Self::Every => true,
            Self::Only(sources) => sources.contains(source),
        }
    }
}
