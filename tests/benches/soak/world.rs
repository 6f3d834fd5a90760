//! The files of a soak: a home, a project with settings, and a package for each way to misbehave.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tacklebox::surroundings::Surroundings;
use tempfile::TempDir;

/// What the guest that misbehaves is told to do, each with a package of its own.
pub(crate) const DEEDS: [&str; 5] = ["block", "panic", "recurse", "allocate", "spin"];

/// The folder; gone when dropped.
pub(crate) struct World(TempDir);

impl World {
    pub(crate) fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        for folder in ["home", "project/.freecode", "cache"] {
            fs::create_dir_all(world.path(folder)).unwrap();
        }
        fs::copy(of_the_repository("example-plugins/no-rm-rf/no-rm-rf.wasm"), world.path("guard.wasm")).unwrap();
        for deed in DEEDS {
            world.lay_package(deed);
        }
        world.write_settings(0);
        world
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings { home: Some(self.path("home")), ..Surroundings::of_this_process(self.path("project")) }
    }

    /// The guard over `shell`, and so many hooks beside it that never match.
    pub(crate) fn write_settings(&self, others: usize) {
        let guard = json!({"name": "no-forbidden", "matcher": "shell",
            "command": "case \"$CLAUDE_TOOL_INPUT\" in *forbidden*) echo 'it is forbidden' >&2; exit 2;; esac"});
        let other = |n| json!({"name": format!("other-{n}"), "matcher": "nothing-that-is-called", "command": "exit 2"});
        let hooks: Vec<_> = [guard].into_iter().chain((0..others).map(other)).collect();
        let text = json!({"hooks": {"PreToolUse": hooks}}).to_string();
        // As an editor saves: no reader finds half of it.
        let new = self.path("project/.freecode/settings.new");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.path("project/.freecode/settings.json")).unwrap();
    }

    fn lay_package(&self, deed: &str) {
        let folder = self.path(deed);
        fs::create_dir(&folder).unwrap();
        fs::copy(of_the_repository("tests/guests/misbehave/misbehave.wasm"), folder.join("misbehave.wasm")).unwrap();
        let timeout = if deed == "spin" { 0.2 } else { 20.0 };
        let manifest = json!({
            "name": deed, "version": "1.0.0", "description": "misbehaves", "component": "misbehave.wasm",
            "hooks": {"PreToolUse": [{"name": "misbehave", "matcher": "bash", "timeout": timeout}]},
            "config": {"do": deed},
        });
        fs::write(folder.join("plugin.json"), manifest.to_string()).unwrap();
    }
}

fn of_the_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(path)
}
