//! A home and a project on a real file system, for hosts that read settings.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tacklebox::event::PreToolUse;
use tacklebox::policy::Trust;
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime as _, Runtime, RuntimeBuilder};
use tempfile::TempDir;

use crate::agent::{bash, cx};

/// A folder that holds `home/` and `project/`, each with a `.freecode/` where it is wanted.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self::bare();
        for folder in ["home/.freecode", "project/.freecode"] {
            std::fs::create_dir(place.path(folder)).unwrap();
        }
        place
    }

    /// Without any `.freecode/`.
    pub(crate) fn bare() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for folder in ["home", "project"] {
            std::fs::create_dir(place.path(folder)).unwrap();
        }
        place
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn lay(&self, path: &str, content: impl AsRef<[u8]>) {
        write(&self.path(path), content);
    }

    pub(crate) fn user(&self, text: impl ToString) {
        self.lay("home/.freecode/settings.json", text.to_string());
    }

    pub(crate) fn project_says(&self, text: impl ToString) {
        self.lay("project/.freecode/settings.json", text.to_string());
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings { home: Some(self.path("home")), ..Surroundings::of_this_process(self.path("project")) }
    }

    pub(crate) fn builder(&self) -> RuntimeBuilder {
        Runtime::builder(Trust::Trusted, self.surroundings())
    }

    pub(crate) async fn host(&self) -> Runtime {
        self.builder().build().await.unwrap()
    }
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    #[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
    std::fs::write(path, content).unwrap();
}

pub(crate) fn pre_tool_use(entries: impl IntoIterator<Item = Value>) -> Value {
    json!({"hooks": {"PreToolUse": entries.into_iter().collect::<Vec<_>>()}})
}

/// A guard that blocks what has this word in its arguments, and says its own name.
pub(crate) fn guard(name: &str, word: &str) -> Value {
    let command = format!("case \"$CLAUDE_TOOL_INPUT\" in *{word}*) echo {name} >&2; exit 2;; esac");
    json!({"name": name, "command": command})
}

/// The reason for which a call is blocked.
pub(crate) async fn blocked(host: &Runtime, command: &str) -> Option<String> {
    match host.pre_tool_use(&bash(command), &cx()).await.verdict {
        PreToolUse::Blocked { reason, .. } => Some(reason),
        _ => None,
    }
}

pub(crate) fn said(host: &Runtime) -> String {
    host.diagnostics().iter().map(|said| said.to_string() + "\n").collect()
}

/// The component of one of the examples.
pub(crate) fn component(name: &str) -> Vec<u8> {
    let file = format!("{}/../example-plugins/{name}/{name}.wasm", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(file).unwrap()
}
