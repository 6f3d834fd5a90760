//! What a host knows of the machine it runs on: home, project, and the environment that hooks may inherit.
//! Read once, when the host is built, in [`Surroundings::of_this_process`]; nothing else asks the process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
        Self { home: home.filter(|h| h.is_absolute()), project: Some(project), env, inherit: Inherit::default() }
    }
}
