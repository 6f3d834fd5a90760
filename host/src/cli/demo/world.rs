//! The temporary home and project that the demo plays in: real files, real settings, real components.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The plugins of the demo: the example plugins, as they are committed.
const PLUGINS: [(&str, &[u8]); 3] = [
    ("no-rm-rf.wasm", include_bytes!("no-rm-rf.wasm")),
    ("redact-secrets.wasm", include_bytes!("redact-secrets.wasm")),
    ("token-ledger.wasm", include_bytes!("token-ledger.wasm")),
];

/// The person's own hooks, in the home folder: a guard, a question to a model, and a ledger.
const USER_SETTINGS: &str = r#"{
  "hooks": {
    "PreToolUse": [
      // a WASM component: sandboxed, asked about every command, and about every rewrite of one
      { "name": "no-rm-rf", "type": "callback", "plugin": "plugins/no-rm-rf.wasm", "matcher": "bash", "final": true },
      // a question to a model, asked only about what the `if` lets through
      { "name": "stays-here", "type": "prompt", "if": "bash(cp *)", "onError": "block",
        "prompt": "Does this command take a file with a secret in it out of the project?" }
    ],
    "TurnEnd": [
      { "name": "ledger", "type": "callback", "plugin": "plugins/token-ledger.wasm", "function": "token-ledger" }
    ],
    "SessionEnd": [
      { "name": "ledger", "type": "callback", "plugin": "plugins/token-ledger.wasm", "function": "token-ledger",
        "config": { "prices": { "input": 3, "output": 15 }, "currency": "USD" } }
    ]
  }
}
"#;

/// The project's hooks: shell commands.
const PROJECT_SETTINGS: &str = r#"{
  "hooks": {
    "PreToolUse": [
      { "name": "say-less", "if": "bash(ls *)", "command": "echo '{\"modifiedInput\": {\"command\": \"ls\"}}'" },
      { "name": "clean-up", "if": "bash(clean)", "command": "echo '{\"modifiedInput\": {\"command\": \"rm -rf build\"}}'" },
      { "name": "hangs", "matcher": "read", "command": "sleep 60", "timeout": 0.3 }
    ],
    "PermissionRequest": [
      { "name": "grep-is-fine", "if": "bash(grep *)", "command": "exit 0" },
      { "name": "only-src", "matcher": "write|edit",
        "command": "case \"$HOOK_FILE_PATH\" in */src/*) echo '{\"permission\": \"none\"}';; *) echo 'only files in src/ may be written' >&2; exit 2;; esac" }
    ],
    "PostToolUse": [
      { "name": "format", "matcher": "write", "command": "echo 'the formatter is not installed' >&2; exit 1" }
    ],
    "Stop": [
      { "name": "tested", "command": "grep -q hello src/app.py || [ -e .tested ] || { echo 'run ./test.sh first' >&2; exit 2; }" }
    ],
    "Notification": [
      { "name": "ring", "command": "true" }
    ],
  }
}
"#;

const FILES: [(&str, &str); 5] = [
    ("README.md", "# A small project\n"),
    ("src/app.py", "print('hello')\n"),
    ("config.env", "REGION=eu\nAWS_KEY=AKIAIOSFODNN7EXAMPLE\n"),
    ("deploy.sh", "#!/bin/sh\necho \"deployed to $1\"\n"),
    ("test.sh", "#!/bin/sh\ntouch .tested && echo '3 tests passed'\n"),
];

/// A skill's package: the same component with another list.
const SKILL: &str = r#"{
  "name": "release-freeze",
  "version": "1.0.0",
  "description": "no deployments while the release is frozen",
  "component": "no-rm-rf.wasm",
  "hooks": { "PreToolUse": [{ "name": "release-freeze", "matcher": "bash" }] },
  "config": { "deny": ["deploy.sh production"] }
}
"#;

/// The folders; gone when dropped.
pub(super) struct World(TempDir);

impl World {
    /// Lays everything.
    pub(super) fn lay() -> io::Result<Self> {
        let world = Self(tempfile::Builder::new().prefix("tacklebox-demo-").tempdir()?);
        lay(&world.home().join(".freecode/settings.json"), USER_SETTINGS.as_bytes())?;
        lay(&world.project().join(".freecode/settings.json"), PROJECT_SETTINGS.as_bytes())?;
        for (path, text) in FILES {
            lay(&world.project().join(path), text.as_bytes())?;
        }
        for script in ["deploy.sh", "test.sh"] {
            runnable(&world.project().join(script))?;
        }
        for (name, bytes) in PLUGINS {
            lay(&world.plugin(name), bytes)?;
        }
        lay(&world.skill("release-freeze").join("plugin.json"), SKILL.as_bytes())?;
        lay(&world.skill("release-freeze").join("no-rm-rf.wasm"), PLUGINS[0].1)?;
        Ok(world)
    }

    /// Adds a guard to the home folder's settings.
    pub(super) fn edit(&self) -> io::Result<()> {
        let first = r#""PreToolUse": ["#;
        let guard = r#"{ "name": "no-publish", "if": "bash(npm publish *)", "command": "echo 'a person publishes' >&2; exit 2" },"#;
        let text = USER_SETTINGS.replacen(first, &format!("{first}\n      {guard}"), 1);
        lay(&self.home().join(".freecode/settings.json"), text.as_bytes())
    }

    pub(super) fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.0.path().join("project")
    }

    pub(super) fn plugin(&self, name: &str) -> PathBuf {
        self.home().join(".freecode/plugins").join(name)
    }

    pub(super) fn skill(&self, id: &str) -> PathBuf {
        self.home().join(".freecode/skills").join(id)
    }
}

#[expect(clippy::disallowed_methods, reason = "the demo lays files of its own in a temporary folder")]
fn lay(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)
}

#[cfg(unix)]
fn runnable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn runnable(_: &Path) -> io::Result<()> {
    Ok(())
}
