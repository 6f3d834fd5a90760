//! What a host knows of the machine it runs on: home, project, the environment that hooks may inherit, and who vouches
//! for servers there.
//! Read once, when the host is built, in [`Surroundings::of_this_process`]; nothing else asks the process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a host knows of the machine it runs on.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// The project's folder: absolute.
    pub project: Option<PathBuf>,
    /// The environment that commands inherit, before anything is taken out of it.
    pub env: Vec<(OsString, OsString)>,
    /// How much of it they inherit.
    pub inherit: Inherit,
    /// Certificates of authorities that are believed beside the machine's when a plugin sends a request over TLS, as that of
    /// a company: in PEM, any number of them.
    pub authorities: Arc<[u8]>,
}

/// How much of the host's environment a command inherits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Inherit {
    /// Everything but what looks like a secret (HOOKS.md, 3).
    #[default]
    LessSecrets,
    /// Everything.
    All,
    /// These names alone.
    Only(Vec<String>),
}

impl Surroundings {
    /// Where the person's compiled plugins are kept (HOOKS.md, 5): in `$XDG_CACHE_HOME`, else in `.cache` of the home
    /// folder; nowhere without both.
    pub fn compile_cache(&self) -> Option<PathBuf> {
        Some(self.base("XDG_CACHE_HOME", ".cache")?.join("tacklebox/compiled"))
    }

    /// Where plugins have their own folders (HOOKS.md, 5): in `$XDG_DATA_HOME`, else in `.local/share` of the home folder;
    /// nowhere without both.
    pub fn plugin_data(&self) -> Option<PathBuf> {
        Some(self.base("XDG_DATA_HOME", ".local/share")?.join("tacklebox/plugins"))
    }

    /// As the XDG base directory specification has it: a relative one counts as none.
    fn base(&self, variable: &str, at_home: &str) -> Option<PathBuf> {
        let named = self.env.iter().find(|(name, _)| name == variable).map(|(_, value)| PathBuf::from(value));
        let named = named.filter(|folder| folder.is_absolute());
        named.or_else(|| self.home.as_ref().map(|home| home.join(at_home)))
    }

    /// The folder in which the agent works, there or not: `cwd`, from the project where it is relative, else the project.
    pub fn folder(&self, cwd: Option<&Path>) -> Option<PathBuf> {
        match (cwd, &self.project) {
            (Some(cwd), Some(project)) => Some(project.join(cwd)),
            (Some(cwd), None) => Some(cwd.to_owned()),
            (None, project) => project.clone(),
        }
    }

    /// Those of this process, for `project`. A relative path is taken from the current folder.
    pub fn of_this_process(project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        #[expect(clippy::disallowed_methods, reason = "the one door to the process's environment")]
        let env: Vec<_> = std::env::vars_os().collect();
        let home = env.iter().find(|(name, _)| name == "HOME").map(|(_, value)| PathBuf::from(value));
        let project = std::path::absolute(&project).unwrap_or(project);
        Self { home: home.filter(|h| h.is_absolute()), project: Some(project), env, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compile_cache_is_where_the_person_keeps_caches() {
        let at = |named: &[&str], home: Option<&str>| {
            let env = named.iter().map(|value| ("XDG_CACHE_HOME".into(), value.into())).collect();
            Surroundings { home: home.map(PathBuf::from), env, ..Surroundings::default() }.compile_cache()
        };
        assert_eq!(at(&["/c"], Some("/h")), Some("/c/tacklebox/compiled".into()));
        for nowhere in ["", "c"] {
            assert_eq!(at(&[nowhere], Some("/h")), Some("/h/.cache/tacklebox/compiled".into()));
        }
        assert_eq!(at(&[], Some("/h")), Some("/h/.cache/tacklebox/compiled".into()));
        assert_eq!(at(&[], None), None);
    }
}
