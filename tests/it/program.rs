//! The program under test, in a home and a project of its own.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder that holds `project/` and `home/`.
pub(crate) struct World(TempDir);

/// What the program said, and how it ended.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        for folder in ["project", "home"] {
            std::fs::create_dir(world.path(folder)).unwrap();
        }
        world
    }

    /// With these settings in the project.
    pub(crate) fn with(settings: &str) -> Self {
        let world = Self::new();
        world.lay("project/.freecode/settings.json", settings.as_bytes());
        world
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    #[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
    pub(crate) fn lay(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "the tests' one door to the program")]
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tacklebox-under-test"));
        command.args(args).current_dir(self.path("project")).env("HOME", self.path("home")).env_remove("NO_COLOR");
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_CACHE_HOME");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        Said::of(self.command(args).output().unwrap())
    }

    pub(crate) fn feed(&self, args: &[&str], stdin: &[u8]) -> Said {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut to = child.stdin.take().unwrap();
        let stdin = stdin.to_owned();
        let writer = std::thread::spawn(move || to.write_all(&stdin));
        let said = Said::of(child.wait_with_output().unwrap());
        writer.join().unwrap().unwrap();
        said
    }
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
