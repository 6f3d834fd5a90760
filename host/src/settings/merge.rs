//! What several settings files come to together (contract: hooks, 7). Pure.
//!
//! A hook is taken away only by somebody who may, and every one that is taken away is kept among the [`Dropped`].

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Diagnostic, Place, nearest, printable};
use crate::event::EventName;
use crate::hook::HookSpec;
use crate::id::HookName;
use crate::source::{Scope, Source};
use crate::wire::settings::Parsed;

/// What the settings files come to together.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// The hooks in the order in which they are asked. A project's that replaced a user's stands in the user's place.
    pub hooks: Vec<(Source, HookSpec)>,
    /// Those that were taken away.
    pub dropped: Vec<Dropped>,
    /// The names that user settings disable: also among the user's plugins and skills.
    pub user_disabled: Vec<String>,
    /// Whether user settings disable everything of the user's: also plugins and skills.
    pub user_disable_all: bool,
    /// What is to be said about the files.
    pub diagnostics: Vec<Diagnostic>,
    /// How many hooks of the project's own run: without any there is nothing to trust.
    pub project_brings: usize,
    /// The files that are there and could not be read: on a reload their last good hooks stay.
    pub unreadable: Vec<crate::wire::settings::FileRef>,
}

/// A hook that was taken away.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    /// The hook.
    pub spec: HookSpec,
    /// Who brought it.
    pub source: Source,
    /// Why it does not run.
    pub why: Why,
}

/// Why a hook of the settings does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A hook of the same event and name in another scope took its place.
    Replaced {
        /// Where that one is written.
        by: Place,
    },
    /// Its own scope's `disabled` names it.
    DisabledByName,
    /// Its own scope's `disableAllHooks`.
    DisableAllHooks,
    /// A later one in the same scope has the same event and name.
    SameName {
        /// Where that one is written.
        by: Place,
    },
    /// It would have replaced a user's hook that is `final`.
    Final {
        /// Where that one is written.
        kept: Place,
    },
}

/// Merges files that are given in the order of their scopes.
pub fn merge(files: Vec<Parsed>) -> Merged {
    let off = Off::of(&files);
    let mut merging = Merging::default();
    let written: Vec<_> = files.iter().flat_map(names).collect();
    let idle = off.names_that_disable_nothing(&written);
    for file in files {
        merging.file(file, &off);
    }
    let mut merged = merging.merged;
    merged.diagnostics.extend(idle);
    merged.project_brings = merged.hooks.iter().filter(|(source, _)| *source != Source::Settings(Scope::User)).count();
    merged.user_disabled = off.names.get(&Scope::User).into_iter().flatten().map(|(name, _)| name.clone()).collect();
    merged.user_disable_all = off.all.contains(&Scope::User);
    merged
}

fn names(file: &Parsed) -> Vec<(Scope, HookName)> {
    file.hooks.iter().filter(|hook| hook.named).map(|hook| (file.file.scope, hook.name.clone())).collect()
}

/// What is disabled, by scope.
#[derive(Debug, Default)]
struct Off {
    all: HashSet<Scope>,
    names: HashMap<Scope, Vec<(String, Place)>>,
    lookup: HashSet<(Scope, String)>,
}

impl Off {
    fn of(files: &[Parsed]) -> Self {
        let mut off = Self::default();
        for file in files {
            let scope = file.file.scope;
            if file.disable_all {
                off.all.insert(scope);
            }
            off.lookup.extend(file.disabled.iter().map(|(name, _)| (scope, name.clone())));
            off.names.entry(scope).or_default().extend(file.disabled.iter().cloned());
        }
        off
    }

    fn why(&self, scope: Scope, hook: &HookSpec) -> Option<Why> {
        if self.all.contains(&scope) {
            return Some(Why::DisableAllHooks);
        }
        let named = hook.named && self.lookup.contains(&(scope, hook.name.as_str().to_owned()));
        named.then_some(Why::DisabledByName)
    }

    /// A project that disables what is not its own is told so. The user's may name plugins' hooks, which are not here.
    fn names_that_disable_nothing(&self, written: &[(Scope, HookName)]) -> Vec<Diagnostic> {
        let own: HashSet<(Scope, &str)> = written.iter().map(|(scope, name)| (*scope, name.as_str())).collect();
        let of_others = self.names.iter().filter(|(scope, _)| **scope != Scope::User);
        let mut said = Vec::new();
        for (scope, (name, place)) in of_others.flat_map(|(scope, list)| list.iter().map(move |one| (*scope, one))) {
            if own.contains(&(scope, name.as_str())) {
                continue;
            }
            let message = format!("`disabled` names `{}`, and this scope has no such hook", printable(name));
            let hint = if own.contains(&(Scope::User, name.as_str())) {
                Some("a user's hooks are disabled in user settings alone".to_owned())
            } else {
                let known = own.iter().filter(|(of, _)| *of == scope).map(|(_, name)| *name);
                nearest(name, known).map(|near| format!("did you mean `{}`?", printable(near)))
            };
            said.push(Diagnostic { hint, ..Diagnostic::warning(place.clone(), message) });
        }
        said
    }
}

/// The set while it is put together.
#[derive(Debug, Default)]
struct Merging {
    merged: Merged,
    /// Where the hook of an event and a written name stands.
    slots: HashMap<(EventName, HookName), usize>,
}

impl Merging {
    fn file(&mut self, file: Parsed, off: &Off) {
        self.merged.diagnostics.extend(file.diagnostics);
        let scope = file.file.scope;
        if !file.readable {
            self.merged.unreadable.push(file.file);
        }
        for spec in file.hooks {
            let source = Source::Settings(scope);
            match off.why(scope, &spec) {
                Some(why) => self.merged.dropped.push(Dropped { spec, source, why }),
                None => self.add(source, spec),
            }
        }
    }

    fn add(&mut self, source: Source, spec: HookSpec) {
        let key = (spec.event.clone(), spec.name.clone());
        let slot = if spec.named { self.slots.get(&key).copied() } else { None };
        let Some(former) = slot.and_then(|slot| self.merged.hooks.get_mut(slot)) else {
            if spec.named {
                self.slots.insert(key, self.merged.hooks.len());
            }
            self.merged.hooks.push((source, spec));
            return;
        };
        let (notice, dropped) = settle(former, source, spec);
        self.merged.diagnostics.push(notice);
        self.merged.dropped.push(dropped);
    }
}

/// Two hooks of one event and name: what is said, and which of them goes. The one that stays is in `former`.
fn settle(former: &mut (Source, HookSpec), source: Source, spec: HookSpec) -> (Diagnostic, Dropped) {
    let there = former.1.place.clone();
    let (of_former, of_new) = (former.0.clone(), source.clone());
    if of_former != of_new && former.1.is_final {
        let message = format!("the {of_former}'s hook of this name is `final`, so this one is skipped");
        let notice = Diagnostic::warning(spec.place.clone(), message).hint(format!("that one is at {there}"));
        return (notice, Dropped { spec, source, why: Why::Final { kept: there } });
    }
    let by = spec.place.clone();
    let (message, why) = if of_former == of_new {
        (
            "a second hook of this event and name: it takes the place of the first".to_owned(),
            Why::SameName { by: by.clone() },
        )
    } else {
        (format!("replaces the {of_former}'s hook of this name"), Why::Replaced { by: by.clone() })
    };
    let notice = Diagnostic::warning(by, message).hint(format!("the one that no longer runs is at {there}"));
    let (source, spec) = std::mem::replace(former, (source, spec));
    (notice, Dropped { spec, source, why })
}
