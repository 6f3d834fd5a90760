//! What several settings files come to together (HOOKS.md, 7). Pure.
//!
//! A hook is taken away only by somebody who may, and every one that is taken away is kept among the [`Dropped`].

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::diagnostic::{Diagnostic, Place};
use crate::event::EventName;
use crate::hook::HookSpec;
use crate::id::HookName;
use crate::source::{Scope, Source};
use crate::wire::document::{Notes, Quoted, did_you_mean};
use crate::wire::settings::{FileRef, Parsed};

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
    pub unreadable: Vec<FileRef>,
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

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced { by } => write!(f, "replaced by {by}"),
            Self::DisabledByName => f.write_str("disabled by name in settings of its scope"),
            Self::DisableAllHooks => f.write_str("`disableAllHooks` in settings of its scope"),
            Self::SameName { by } => write!(f, "a later one of the same name stands at {by}"),
            Self::Final { kept } => write!(f, "the one at {kept} is `final`"),
        }
    }
}

/// Merges files that are given in the order of their scopes.
pub fn merge(files: Vec<Parsed>) -> Merged {
    let off = Off::of(&files);
    let mut merging = Merging::default();
    let written: Vec<_> = files.iter().flat_map(names).collect();
    off.names_that_disable_nothing(&written, &mut merging.notes);
    for file in files {
        merging.file(file, &off);
    }
    let mut merged = merging.merged;
    merged.diagnostics.extend(merging.notes.finish(Place::default()));
    merged.project_brings = merged.hooks.iter().filter(|(source, _)| *source != Source::Settings(Scope::User)).count();
    merged.user_disabled = off.names.get(&Scope::User).into_iter().flatten().map(|(name, _)| name.clone()).collect();
    merged.user_disable_all = off.all.contains(&Scope::User);
    merged
}

fn names(file: &Parsed) -> Vec<(Scope, HookName)> {
    file.hooks
        .iter()
        .chain(&file.brought)
        .filter(|hook| hook.named)
        .map(|hook| (file.file.scope, hook.name.clone()))
        .collect()
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
    fn names_that_disable_nothing(&self, written: &[(Scope, HookName)], notes: &mut Notes) {
        let own: HashSet<(Scope, &str)> = written.iter().map(|(scope, name)| (*scope, name.as_str())).collect();
        let of_others = self.names.iter().filter(|(scope, _)| **scope != Scope::User);
        for (scope, (name, place)) in of_others.flat_map(|(scope, list)| list.iter().map(move |one| (*scope, one))) {
            if own.contains(&(scope, name.as_str())) {
                continue;
            }
            notes.say_with(|| {
                let message = format!("`disabled` names {}, and this scope has no such hook", Quoted(name));
                let hint = if own.contains(&(Scope::User, name.as_str())) {
                    Some("a user's hooks are disabled in user settings alone".to_owned())
                } else {
                    let known = written.iter().filter(|(of, _)| *of == scope).map(|(_, name)| name.as_str());
                    did_you_mean(name, known.take(MOST_COMPARED))
                };
                Diagnostic { hint, ..Diagnostic::warning(place.clone(), message) }
            });
        }
    }
}

/// With so many names a typo is compared; more would take long.
const MOST_COMPARED: usize = 1000;

/// The set while it is put together.
#[derive(Debug, Default)]
struct Merging {
    merged: Merged,
    notes: Notes,
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
            if let Some((source, spec)) = self.unless_off(scope, spec, off) {
                self.add(source, spec);
            }
        }
        for spec in file.brought {
            if let Some((source, spec)) = self.unless_off(scope, spec, off) {
                self.add_beside(source, spec);
            }
        }
    }

    fn unless_off(&mut self, scope: Scope, spec: HookSpec, off: &Off) -> Option<(Source, HookSpec)> {
        let source = Source::Settings(scope);
        let Some(why) = off.why(scope, &spec) else { return Some((source, spec)) };
        self.merged.dropped.push(Dropped { spec, source, why });
        None
    }

    /// What a plugin calls its hooks is its own choice, and often known to nobody before it runs: it takes nobody's place,
    /// and others of its name run as well.
    fn add_beside(&mut self, source: Source, spec: HookSpec) {
        if spec.named {
            match self.slots.entry((spec.event.clone(), spec.name.clone())) {
                Entry::Vacant(slot) => {
                    slot.insert(self.merged.hooks.len());
                }
                Entry::Occupied(_) => {
                    let message = "another hook has this event and name; a plugin's takes nobody's place, so both run";
                    self.notes.say(Diagnostic::warning(spec.place.clone(), message));
                }
            }
        }
        self.merged.hooks.push((source, spec));
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
        // That a user's hook is replaced is said however much else there is to say.
        match &dropped.why {
            Why::Replaced { .. } => self.merged.diagnostics.push(notice),
            _ => self.notes.say(notice),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Events;
    use crate::surroundings::Surroundings;
    use crate::wire::settings::{FileRef, parse};

    fn file(scope: Scope, text: &str) -> Parsed {
        let file = FileRef { path: format!("/{}/settings.json", Source::Settings(scope)).into(), scope };
        parse(text.as_bytes(), &file, &Events::default(), &Surroundings::default())
    }

    fn merged(user: &str, project: &str) -> Merged {
        merge(vec![file(Scope::User, user), file(Scope::Project, project)])
    }

    /// `source:name:command` of every hook.
    fn run(merged: &Merged) -> Vec<String> {
        let command = |hook: &HookSpec| match &hook.kind {
            crate::hook::HookKind::Command(command) => command.command.clone(),
            other => other.name().to_string(),
        };
        merged.hooks.iter().map(|(source, hook)| format!("{source}:{}:{}", hook.name, command(hook))).collect()
    }

    fn said(merged: &Merged) -> Vec<String> {
        merged.diagnostics.iter().map(ToString::to_string).collect()
    }

    const ABC: &str = r#"{"hooks": {"Stop": [
        {"name": "a", "command": "1"}, {"name": "b", "command": "2"}, {"command": "3"}]}}"#;

    #[test]
    fn scopes_add_up_and_a_project_replaces_in_the_users_place() {
        let merged = merged(
            ABC,
            r#"{"hooks": {"Stop": [{"command": "x"}, {"name": "a", "command": "y"}],
            "TurnEnd": [{"name": "b", "command": "z"}]}}"#,
        );
        assert_eq!(
            run(&merged),
            ["project:a:y", "user:b:2", "user:user/Stop-2:3", "project:project/Stop-0:x", "project:b:z"]
        );
        assert_eq!(merged.project_brings, 3);
        let [one] = merged.dropped.as_slice() else { panic!("one is dropped") };
        assert!(
            matches!(&one.why, Why::Replaced { by } if by.file.as_deref() == Some("/project/settings.json".as_ref()))
        );
        assert_eq!(
            said(&merged),
            ["/project/settings.json:1: Stop[1]: hook `a`: replaces the user's hook of this name \
              (hint: the one that no longer runs is at /user/settings.json:2: Stop[0]: hook `a`)"]
        );
    }

    #[test]
    fn a_flood_of_warnings_does_not_hide_that_a_guard_is_replaced() {
        let noise = r#"{"name": "n", "command": "true"},"#.repeat(500);
        let merged = merged(ABC, &format!(r#"{{"hooks": {{"Stop": [{noise} {{"name": "b", "command": "true"}}]}}}}"#));
        assert!(said(&merged).iter().any(|line| line.contains("hook `b`: replaces the user's hook")));
        assert_eq!(merged.diagnostics.len(), 102);
    }

    /// The file, with a plugin that brings the hooks of `plugin`.
    fn with_plugin(scope: Scope, text: &str, plugin: &str) -> Parsed {
        Parsed { brought: file(scope, plugin).hooks, ..file(scope, text) }
    }

    #[test]
    fn what_a_plugin_brings_takes_nobodys_place_whatever_it_calls_its_hooks() {
        let like_them = r#"{"hooks": {"Stop": [{"name": "a", "command": "p"}, {"name": "b", "command": "p"}]}}"#;
        let user = with_plugin(Scope::User, ABC, like_them);
        let run_both = merge(vec![user.clone(), with_plugin(Scope::Project, "{}", like_them)]);
        let all = ["user:a:1", "user:b:2", "user:user/Stop-2:3", "user:a:p", "user:b:p", "project:a:p", "project:b:p"];
        assert_eq!(run(&run_both), all);
        assert!(run_both.dropped.is_empty());
        assert!(said(&run_both).iter().all(|line| line.contains("takes nobody's place")));
        // What a person writes replaces it, and switches it off.
        let alone = with_plugin(Scope::User, "{}", like_them);
        let replaced = merge(vec![alone.clone(), file(Scope::Project, ABC)]);
        assert_eq!(run(&replaced), ["project:a:1", "project:b:2", "project:project/Stop-2:3"]);
        let off = Parsed { disabled: vec![("a".to_owned(), Place::default())], ..alone };
        assert_eq!(run(&merge(vec![off])), ["user:b:p"]);
    }

    #[test]
    fn an_empty_list_takes_nothing_away() {
        for project in [r#"{"hooks": {"Stop": []}}"#, r#"{"hooks": {}}"#, "{}", r#"{"hooks": {"PostToolUse": []}}"#] {
            assert_eq!(merged(ABC, project).hooks.len(), 3, "{project}");
        }
    }

    #[test]
    fn only_the_users_final_counts() {
        let last = r#"{"hooks": {"Stop": [{"name": "a", "command": "1", "final": true}]}}"#;
        let kept = merged(last, ABC);
        assert_eq!(run(&kept).first().map(String::as_str), Some("user:a:1"));
        assert!(matches!(kept.dropped.as_slice(), [Dropped { why: Why::Final { .. }, .. }]));
        assert!(said(&kept).iter().any(|line| line.contains("`final`") && line.contains("hook `a`")));
        let local = merge(vec![file(Scope::Project, last), file(Scope::Local, ABC)]);
        assert_eq!(run(&local).first().map(String::as_str), Some("local:a:1"));
    }

    #[test]
    fn of_two_with_one_name_the_last_runs_at_the_firsts_place() {
        let twice = r#"{"hooks": {"Stop": [{"name": "a", "command": "1"}, {"name": "b", "command": "2"},
            {"name": "a", "command": "3"}], "TurnEnd": [{"name": "a", "command": "4"}]}}"#;
        let merged = merged(twice, "{}");
        assert_eq!(run(&merged), ["user:a:3", "user:b:2", "user:a:4"]);
        assert_eq!(merged.diagnostics.len(), 1);
        assert!(matches!(merged.dropped.as_slice(), [Dropped { why: Why::SameName { .. }, .. }]));
    }

    #[test]
    fn disabling_acts_on_its_own_scope() {
        let off = |key: &str| ABC.replacen('{', &format!("{{{key}, "), 1);
        let names = merged(&off(r#""disabled": ["a", "user/Stop-2", "of-a-plugin"]"#), ABC);
        let left = ["project:b:2", "user:user/Stop-2:3", "project:a:1", "project:project/Stop-2:3"];
        assert_eq!(run(&names), left);
        assert_eq!(names.user_disabled, ["a", "user/Stop-2", "of-a-plugin"]);
        let all = merged(&off(r#""disableAllHooks": true"#), ABC);
        assert_eq!(all.hooks.len(), 3);
        assert!(
            all.user_disable_all && all.hooks.iter().all(|(source, _)| *source == Source::Settings(Scope::Project))
        );
        assert!(all.dropped.iter().all(|dropped| dropped.why == Why::DisableAllHooks));
    }

    #[test]
    fn a_project_cannot_disable_the_users_and_is_told() {
        for (project, hint) in [
            (r#"{"disabled": ["a"]}"#, Some("a user's hooks are disabled in user settings alone")),
            (
                r#"{"disabled": ["guar"], "hooks": {"Stop": [{"name": "guard", "command": "1"}]}}"#,
                Some("did you mean `guard`?"),
            ),
            (r#"{"disabled": ["nothing-like-it"]}"#, None),
        ] {
            let merged = merged(ABC, project);
            assert!(merged.hooks.len() >= 3 && merged.dropped.is_empty(), "{project}");
            assert_eq!(merged.diagnostics.first().map(|d| d.hint.as_deref()), Some(hint), "{project}");
        }
        assert_eq!(merged(ABC, r#"{"disableAllHooks": true}"#).hooks.len(), 3);
    }

    #[test]
    fn a_disabled_hook_replaces_nobody() {
        let merged = merged(ABC, r#"{"disabled": ["a"], "hooks": {"Stop": [{"name": "a", "command": "9"}]}}"#);
        assert_eq!(run(&merged).first().map(String::as_str), Some("user:a:1"));
        assert!(merged.diagnostics.is_empty());
    }

    #[test]
    fn a_broken_file_costs_the_other_nothing_and_is_named() {
        let merged = merged(ABC, "{ not json");
        assert_eq!(merged.hooks.len(), 3);
        assert_eq!(merged.unreadable.len(), 1);
        assert_eq!(merged.project_brings, 0);
    }
}
