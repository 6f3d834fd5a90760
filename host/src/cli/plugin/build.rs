//! `tacklebox plugin build`: finds a language's own toolchain, has it build the project, and shows what came of it.
//!
//! Owns the one door through which tools are started here. They are started in the project's folder with this process's own
//! environment, as if the person had typed what is said on stderr; nothing is downloaded but by them.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, ensure};
use serde::Serialize;

use crate::diagnostic::{printable, printable_path};
use crate::surroundings::Surroundings;
use crate::wasm::naming_language;

use super::super::exit::Exit;
use super::super::fault::Fault;
use super::super::style::{DIM, HEAD};
use super::super::{host, out};
use super::inspect::named;
use super::inspected::Inspected;
use super::language::{COMPONENT, Language, Project, Shape};

const EXAMPLES: &str = "\
Examples:
  Build the project in this folder, and test what came of it:
    tacklebox plugin build
    tacklebox plugin test plugin.wasm cases.json
  Build another one:
    tacklebox plugin build my-guard

Building runs what a project brings: its build scripts, the tools in its .venv and node_modules. Build what you trust.";

/// What is built.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// The project
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Its language [default: as its files tell]
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<String>,
    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

/// What came of it.
#[derive(Debug, Serialize)]
struct Built {
    file: PathBuf,
    language: &'static str,
    kind: &'static str,
    size: usize,
    imports: Vec<String>,
}

/// Builds. What is no plugin in the end is a fault.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let workshop = Workshop::of(&args.folder)?;
    let language = args.lang.as_deref().map(Language::named).transpose()?;
    let project = Project::of_folder(&args.folder, language)?;
    project.build(&workshop)?;
    if project.shape == Shape::Typed {
        workshop.name_language(project.language.title())?;
    }
    let file = args.folder.join(COMPONENT);
    let inspected = Inspected::at(&file)?;
    if let Some(unfit) = inspected.unfit() {
        return Err(unfit.into());
    }
    let built = Built::of(file, project.language, inspected);
    match args.json {
        true => out::json(&built)?,
        false => out::person(&built.page())?,
    }
    Ok(Exit::Fine)
}

impl Built {
    fn of(file: PathBuf, language: Language, inspected: Inspected) -> Self {
        let inspection = inspected.inspection;
        let (kind, _) = named(&inspection.kind);
        Self { file, language: language.name(), kind, size: inspection.size, imports: inspection.imports }
    }

    fn page(&self) -> String {
        let imports = match self.imports.as_slice() {
            [] => "nothing".to_owned(),
            some => some.iter().map(|name| printable(name)).collect::<Vec<_>>().join(", "),
        };
        let rows = [["kind", self.kind], ["size", &format!("{} bytes", self.size)], ["imports", &imports]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        format!("{HEAD}{}{HEAD:#}\n{}", printable_path(&self.file), out::table(&rows, "  "))
    }
}

/// A project's folder, and the tools that this machine has for it.
pub(super) struct Workshop {
    folder: PathBuf,
    machine: Surroundings,
}

/// A tool and what it is told.
pub(super) struct Step {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(&'static str, &'static str)>,
}

impl Step {
    /// This tool.
    pub(super) fn new(program: &Path) -> Self {
        Self { program: program.to_owned(), args: Vec::new(), env: Vec::new() }
    }

    /// With this variable in its environment.
    pub(super) fn env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    /// Told this as well.
    pub(super) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    fn ensure(&self, status: ExitStatus) -> anyhow::Result<()> {
        ensure!(status.success(), "`{}` failed: {status}", printable_path(&self.program));
        Ok(())
    }

    fn line(&self) -> String {
        let words = [self.program.as_os_str()].into_iter().chain(self.args.iter().map(OsString::as_os_str));
        let variables = self.env.iter().map(|(name, value)| format!("{name}={value}"));
        variables.chain(words.map(|word| printable(&word.to_string_lossy()))).collect::<Vec<_>>().join(" ")
    }
}

impl Workshop {
    /// That of the project in `folder`.
    pub(super) fn of(folder: &Path) -> anyhow::Result<Self> {
        let machine = host::surroundings(Some(folder))?;
        Ok(Self { folder: machine.project.clone().unwrap_or_else(|| folder.to_owned()), machine })
    }

    /// The project's folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A variable of the environment, where it says something.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.machine.env.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// The first of these programs that is there: in the project's own `.venv` or `node_modules`, else on the PATH.
    pub(super) fn find(&self, names: &[&str], install: &str) -> anyhow::Result<PathBuf> {
        let own = [".venv/bin", "node_modules/.bin"].map(|folder| self.folder.join(folder));
        let path = self.variable("PATH").map(std::env::split_paths).into_iter().flatten();
        // A relative entry would be whatever folder the program happens to stand in.
        let folders: Vec<_> = own.into_iter().chain(path.filter(|folder| folder.is_absolute())).collect();
        let mut all = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        match all.find(|file| is_program(file)) {
            Some(program) => Ok(program),
            None => Err(Fault::new(format!("`{}` is not on the PATH", names.join("` or `")), install).into()),
        }
    }

    /// Runs a tool, which is said; its messages go where ours go.
    ///
    /// # Errors
    ///
    /// Where it cannot be started or fails: it has said why.
    pub(super) fn run(&self, step: Step) -> anyhow::Result<String> {
        let (status, stdout) = self.tell(&step)?;
        step.ensure(status)?;
        Ok(stdout)
    }

    /// The same with a tool that says on stdout what is wrong.
    pub(super) fn check(&self, step: Step) -> anyhow::Result<()> {
        let (status, stdout) = self.tell(&step)?;
        let _ = anstream::stderr().lock().write_all(stdout.as_bytes());
        step.ensure(status)
    }

    fn tell(&self, step: &Step) -> anyhow::Result<(ExitStatus, String)> {
        // Where stderr is closed there is nobody to tell.
        let _ = writeln!(anstream::stderr().lock(), "{DIM}$ {}{DIM:#}", step.line());
        self.start(step, Stdio::inherit())
    }

    /// What a tool answers; nothing where it is not there or does not know.
    pub(super) fn ask(&self, step: Step) -> Option<String> {
        let (status, stdout) = self.start(&step, Stdio::null()).ok()?;
        status.success().then_some(stdout)
    }

    /// A text that a tool made.
    pub(super) fn read(&self, name: &str) -> anyhow::Result<String> {
        let from = self.folder.join(name);
        std::fs::read_to_string(&from).with_context(|| printable_path(&from))
    }

    /// Writes a text for the tools, in the project's folder `build`.
    #[expect(clippy::disallowed_methods, reason = "a person asked for a build of this project")]
    pub(super) fn lay(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let to = self.folder.join(name);
        let place = || printable_path(&to);
        std::fs::create_dir_all(to.parent().unwrap_or(&self.folder)).with_context(place)?;
        std::fs::write(&to, text).with_context(place)
    }

    /// Has the component say what it was written in, which few tools write down and most interpreters hide.
    #[expect(clippy::disallowed_methods, reason = "a person asked for a build of this project")]
    fn name_language(&self, title: &str) -> anyhow::Result<()> {
        let file = self.folder.join(COMPONENT);
        let place = || printable_path(&file);
        match naming_language(&std::fs::read(&file).with_context(place)?, title) {
            Some(named) => std::fs::write(&file, named).with_context(place),
            None => Ok(()),
        }
    }

    /// Copies what a tool made to a file of the project.
    pub(super) fn keep(&self, made: &Path, name: &str) -> anyhow::Result<()> {
        let to = self.folder.join(name);
        std::fs::copy(made, &to).with_context(|| format!("{} to {}", made.display(), to.display()))?;
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "the one door to the tools that build plugins")]
    fn start(&self, step: &Step, stderr: Stdio) -> anyhow::Result<(ExitStatus, String)> {
        let mut command = Command::new(&step.program);
        command.args(&step.args).envs(step.env.iter().copied()).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        let child = command.spawn().with_context(|| printable_path(&step.program))?;
        let output = child.wait_with_output()?;
        Ok((output.status, String::from_utf8_lossy(&output.stdout).into_owned()))
    }
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}
