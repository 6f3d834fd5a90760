//! What one loaded plugin may do: what its package asks for and what it is granted, brought together when it is loaded.
//!
//! Folders are opened and programs looked up here, once: whoever can change the disk later changes nothing of it.

use std::sync::Arc;

use super::folders::{self, Preopens};
use super::http::Reach;
use super::native::Form;
use super::process::{Lookup, Program};
use crate::permission::{Folders, Permissions, Programs, Variables};
use crate::plugin::{Allowed, Terms};
use crate::session::StateOwner;
use crate::surroundings::Surroundings;

/// What a plugin may do.
#[derive(Default)]
pub(super) struct Allowance {
    /// What others than the sandbox have to know of it.
    pub(super) allowed: Allowed,
    /// The folders that it reaches.
    pub(super) folders: Preopens,
    /// The programs that it may run.
    pub(super) programs: Vec<Program>,
    /// Whether some program was granted that it does not ask for.
    pub(super) granted_unasked: Programs,
    /// The hosts that it may send requests to.
    pub(super) reach: Arc<Reach>,
    env: Variables,
}

impl std::fmt::Debug for Allowance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Allowance").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

impl Allowance {
    /// What stands in both sides of `terms` and can be used by a plugin of this form. Looks at the disk, and opens what is
    /// granted.
    pub(super) fn of(form: Form, terms: &Terms, owner: &StateOwner) -> Self {
        let granted = &terms.granted;
        if granted.is_empty() {
            return Self::default();
        }
        match form {
            Form::Component => Self::of_component(terms, owner),
            Form::Module => Self::of_module(terms),
        }
    }

    fn of_component(terms: &Terms, owner: &StateOwner) -> Self {
        let granted = &terms.granted;
        let asked = terms.requested.as_ref().unwrap_or(granted);
        let mut doubts = unasked(asked, granted);
        let folders = folders::open(asked, terms, owner, &mut doubts);
        let run = asked.run.narrowed(&granted.run);
        let lookup = Lookup::of(&terms.surroundings);
        let programs: Vec<_> = run.0.iter().map(|name| Program::granted(name, &lookup)).collect();
        let granted_unasked = Programs(granted.run.0.iter().filter(|name| !run.allows(name)).cloned().collect());
        let reach = Reach::of(&asked.http, &granted.http, &terms.surroundings.authorities);
        doubts.extend(reach.doubt());
        let (approves, waits) = (asked.approve.narrowed(granted.approve), !programs.is_empty() || !reach.is_empty());
        let allowed = Allowed { approves, waits, doubts };
        let env = asked.env.narrowed(&granted.env);
        Self { allowed, folders, programs, granted_unasked, reach: Arc::new(reach), env }
    }

    /// A core module sees variables, and its approvals count. Preview 1 has no requests and no programs, and opens files
    /// past the check that keeps pipes and devices out, so nothing is opened, looked up or made for it.
    fn of_module(terms: &Terms) -> Self {
        let granted = &terms.granted;
        let asked = terms.requested.as_ref().unwrap_or(granted);
        let usable =
            |all: &Permissions| Permissions { env: all.env.clone(), approve: all.approve, ..Permissions::default() };
        let mut doubts = unasked(&usable(asked), &usable(granted));
        let folders = folders_of(granted).iter().any(|(list, _)| !list.0.is_empty());
        let useless =
            [("folders", folders), ("hosts", !granted.http.0.is_empty()), ("programs", !granted.run.0.is_empty())];
        doubts.extend(
            useless
                .iter()
                .filter(|(_, granted)| *granted)
                .map(|(what, _)| format!("{what} are granted, and a core module gets none: make a component of it")),
        );
        let allowed = Allowed { approves: asked.approve.narrowed(granted.approve), waits: false, doubts };
        Self { allowed, env: asked.env.narrowed(&granted.env), ..Self::default() }
    }

    /// The variables that it sees, as they are in these surroundings. One that is not UTF-8 cannot be handed over.
    pub(super) fn env(&self, surroundings: &Surroundings) -> Vec<(String, String)> {
        let value = |name: &String| {
            // Of a repeated name the last counts.
            let (_, value) = surroundings.env.iter().rev().find(|(one, _)| one == name.as_str())?;
            Some((name.clone(), value.to_str()?.to_owned()))
        };
        self.env.0.iter().filter_map(value).collect()
    }

    /// The surroundings that its programs run in; none where it runs none.
    pub(super) fn outside(&self, surroundings: &Surroundings) -> Option<Arc<Surroundings>> {
        (!self.programs.is_empty()).then(|| Arc::new(surroundings.clone()))
    }
}

/// What is granted and not asked for, but for folders: those are compared where they really lie.
fn unasked(asked: &Permissions, granted: &Permissions) -> Vec<String> {
    let doubt =
        |what: &str| format!("{what} is granted and not asked for in `permissions`, so the plugin does not get it");
    let env = granted.env.0.iter().filter(|name| !asked.env.allows(name)).map(|name| doubt(&format!("`env` {name}")));
    let run = granted.run.0.iter().filter(|name| !asked.run.allows(name)).map(|name| doubt(&format!("`run` {name}")));
    let http =
        granted.http.0.iter().filter(|host| !asked.http.meets(host)).map(|host| doubt(&format!("`http` {host}")));
    let approve = (granted.approve.0 && !asked.approve.0).then(|| doubt("`approve`"));
    env.chain(http).chain(run).chain(approve).collect()
}

/// The folders of both `read` and `write`: who may change a folder may read it.
pub(super) fn folders_of(permissions: &Permissions) -> [(&Folders, super::folders::Access); 2] {
    use super::folders::Access;
    [(&permissions.read, Access::Read), (&permissions.write, Access::Write)]
}
