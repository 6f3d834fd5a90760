//! `tacklebox trust` and `untrust`: shows what a project would run, and keeps what a person says to it.

mod shown;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::Runtime;
use crate::plugin::Digest;
use crate::trust::{Brought, Root, TrustStore};

use super::exit::Exit;
use super::fault::Fault;
use super::{conduct, host, out};

use shown::Shown;

const EXAMPLES: &str = "\
Examples:
  See what the hooks of this project would run, and be asked:
    tacklebox trust
  The same in two steps, for a script; the digest is in the first one's answer:
    tacklebox trust --project ../app --json
    tacklebox trust --project ../app --digest 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

The digest covers every field of every hook, the bytes of its plugin, and the project's files that its command names.
What a script loads in turn is not covered. When something of it changes, the project is not trusted any more.
Exit codes: 0 trusted, or nothing to trust; 1 not trusted";

const EXAMPLES_OF_UNTRUST: &str = "\
Examples:
  Run no hooks of this project any more:
    tacklebox untrust";

/// What to trust.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    project: ProjectArgs,
    /// Trust it without asking, if what it brings has this digest
    #[arg(long, value_name = "SHA256", value_parser = digest)]
    digest: Option<Digest>,
    /// Print what it brings as JSON, and ask nothing
    #[arg(long)]
    json: bool,
}

/// What to forget.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES_OF_UNTRUST)]
pub(super) struct UntrustArgs {
    #[command(flatten)]
    project: ProjectArgs,
}

#[derive(Debug, clap::Args)]
struct ProjectArgs {
    /// The project [default: the current folder]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

fn digest(text: &str) -> Result<Digest, String> {
    Digest::parse(text).ok_or_else(|| "64 digits of a SHA-256 in lower case are expected".to_owned())
}

/// Shows, asks and trusts.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    conduct::run(trust(args))
}

async fn trust(args: Args) -> anyhow::Result<Exit> {
    let (shown, mut store) = look(args.project.project.as_deref()).await?;
    match args.json {
        true => out::json(&shown.json())?,
        false => out::person(&shown.page())?,
    }
    let agreed = match args.digest {
        Some(given) if given != shown.digest => return Err(another(given, &shown)),
        _ if shown.trusted => return Ok(Exit::Fine),
        Some(_) => true,
        None if args.json || !std::io::stdin().is_terminal() => return Err(unasked(&shown)),
        // On a thread of its own, so that a signal is heard while nobody answers.
        None => tokio::task::spawn_blocking(ask).await.context("nobody could be asked")??,
    };
    if !agreed {
        bail!("not trusted");
    }
    store.trust(&shown.project, shown.digest)?;
    if !args.json {
        out::person("trusted\n")?;
    }
    Ok(Exit::Fine)
}

/// Forgets.
pub(super) fn forget(args: UntrustArgs) -> anyhow::Result<Exit> {
    let surroundings = host::surroundings(args.project.project.as_deref())?;
    let root = Root::of(&surroundings).context("there is no project")?;
    let was = TrustStore::of_this_user(&surroundings).forget(root.real())?;
    out::person(if was { "not trusted any more\n" } else { "it was not trusted\n" })?;
    Ok(Exit::Fine)
}

/// What the project brings, and the store. Nothing of a project that is not trusted is run or compiled.
async fn look(project: Option<&Path>) -> anyhow::Result<(Shown, TrustStore)> {
    let surroundings = host::surroundings(project)?;
    let store = TrustStore::of_this_user(&surroundings);
    let root = Root::of(&surroundings).context("there is no project")?;
    let runtime = Runtime::builder(store.clone(), surroundings.clone()).build().await?;
    out::notes(&runtime.diagnostics());
    let brought = runtime.brought().unwrap_or_else(|| Brought::default().into());
    let trusted = brought.is_empty() || store.digest_of(root.real()) == Some(brought.digest());
    let shown = Shown::new(root.real().to_owned(), &brought, trusted, &runtime.dropped(), &surroundings);
    Ok((shown, store))
}

fn ask() -> anyhow::Result<bool> {
    let mut stderr = std::io::stderr().lock();
    write!(stderr, "trust this? [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("reading the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn another(given: Digest, shown: &Shown) -> anyhow::Error {
    let hint = "it may have changed since you looked: look again, then give the digest that is shown";
    Fault::new(format!("what the project brings has the digest {}, not {given}", shown.digest), hint).into()
}

fn unasked(shown: &Shown) -> anyhow::Error {
    let hint = format!("if you agree with what is shown: tacklebox trust --digest {}", shown.digest);
    Fault::new("not trusted: nobody can be asked, since stdin is no terminal or `--json` was given", hint).into()
}
