//! Plays a case: lays its files, starts the program, and hands it one line after the other.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::case::{Case, expanded};
use crate::expect::short;
use crate::sandboxed;

/// Plays it, and checks each verdict before the next line is sent.
pub(crate) fn case(case: &Case) -> anyhow::Result<()> {
    let world = World::lay(case)?;
    let mut program = world.start(case)?;
    let mut seen = Vec::new();
    for (n, run) in case.runs.iter().enumerate() {
        let line = run.line(&world.root())?;
        let (verdict, took) = program.ask(&line).with_context(|| format!("run {n}"))?;
        let warnings = verdict.get("warnings").and_then(Value::as_array).into_iter().flatten();
        seen.extend(warnings.filter_map(Value::as_str).map(str::to_owned));
        if !case.players.is_empty() {
            sandboxed::check_spoken(&verdict)?;
        }
        run.expect.check(&verdict, took, &seen).with_context(|| format!("run {n}: {}", short(&verdict)))?;
    }
    program.end()
}

/// A folder that holds `project/` and `home/`.
struct World(TempDir);

impl World {
    fn lay(case: &Case) -> anyhow::Result<Self> {
        let world = Self(tempfile::tempdir()?);
        for folder in ["project", "home"] {
            std::fs::create_dir(world.root().join(folder))?;
        }
        for (path, content) in &case.files {
            let path = world.root().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
            let text = match expanded(content)? {
                Value::String(text) => text,
                value => value.to_string(),
            };
            write(&path, &text)?;
        }
        for path in &case.players {
            std::fs::copy(
                Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/player/player.wasm"),
                world.root().join(path),
            )?;
        }
        Ok(world)
    }

    /// Free of links: what a hook prints as its folder is compared with it.
    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn start(&self, case: &Case) -> anyhow::Result<Program> {
        let root = self.root();
        #[expect(clippy::disallowed_methods, reason = "the tests' one door to the program")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_tacklebox-under-test"));
        command.args(["run", "--batch", "-", "--trust", "--project"]).arg(root.join("project"));
        command.current_dir(&root).env("HOME", root.join("home")).envs(case.env());
        if !case.players.is_empty() {
            // The player is compiled once, and not for each case.
            command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("sandboxed"));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Program::of(command.spawn()?)
    }
}

#[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::write(path, text)
}

/// The program, waiting for lines.
struct Program {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    complaints: JoinHandle<String>,
}

impl Program {
    fn of(mut child: Child) -> anyhow::Result<Self> {
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut stderr = child.stderr.take().context("no stderr")?;
        let complaints = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        Ok(Self { child, to, from, complaints })
    }

    fn ask(&mut self, line: &Value) -> anyhow::Result<(Value, Duration)> {
        let to = self.to.as_mut().context("stdin is closed")?;
        let began = Instant::now();
        to.write_all(format!("{line}\n").as_bytes()).context("the program does not read")?;
        to.flush()?;
        let mut answer = String::new();
        self.from.read_line(&mut answer)?;
        let took = began.elapsed();
        ensure!(!answer.is_empty(), "the program ended without an answer");
        let verdict = serde_json::from_str(&answer).with_context(|| format!("no JSON: {answer:?}"))?;
        Ok((verdict, took))
    }

    /// Closes its stdin; then it must end well and in time, having said nothing on stderr.
    fn end(mut self) -> anyhow::Result<()> {
        drop(self.to.take());
        let until = Instant::now() + Duration::from_secs(10);
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if Instant::now() > until => {
                    self.child.kill()?;
                    bail!("the program did not end");
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let mut more = String::new();
        self.from.read_to_string(&mut more)?;
        let complaints = self.complaints.join().unwrap_or_default();
        ensure!(more.is_empty(), "an answer too many: {more}");
        ensure!(complaints.is_empty(), "stderr is not empty: {complaints}");
        ensure!(status.success(), "the program ended with {status}");
        Ok(())
    }
}
