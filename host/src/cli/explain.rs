//! `tacklebox explain EVENT`: for each hook of the event whether it would be asked, and which test decided.

use serde::Serialize;

use crate::Runtime;
use crate::diagnostic::printable;
use crate::report::Explained;

use super::announcement::Announcement;
use super::exit::Exit;
use super::host::HostArgs;
use super::moment::Moment;
use super::run::SaidArgs;
use super::style::{DIM, HEAD, WARNING};
use super::{conduct, out};

const EXAMPLES: &str = "\
Examples:
  Why does a guard not see a call?
    tacklebox explain PreToolUse --tool bash --input '{\"command\": \"sudo rm -rf /\"}'
  The same for a program:
    tacklebox explain Stop --json";

/// As `run`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("event", |event| event.required(true)))]
pub(super) struct Args {
    #[command(flatten)]
    said: SaidArgs,
    #[command(flatten)]
    host: HostArgs,
    /// Print a JSON value a hook
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line {
    hook: String,
    source: String,
    generation: u64,
    asked: bool,
    because: String,
}

/// Explains.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let said = args.said.announcement()?;
    conduct::run(explain(said, args.host, args.json))
}

async fn explain(said: Announcement, host: HostArgs, json: bool) -> anyhow::Result<Exit> {
    let (moment, cx, _) = Moment::of(said)?;
    let runtime = host.open().await?;
    let event = moment.event(&cx);
    let lines = runtime.explain(&event, &cx);
    out::notes(&runtime.diagnostics());
    if json {
        for line in lines {
            out::json(&Line::from(line))?;
        }
    } else {
        out::person(&page(&format!("{} {}", event.name, event.tool), &lines, &runtime))?;
    }
    Ok(Exit::Fine)
}

impl From<Explained> for Line {
    fn from(line: Explained) -> Self {
        Self {
            hook: line.hook.to_string(),
            source: line.source.to_string(),
            generation: line.generation.0,
            asked: line.asked,
            because: line.because,
        }
    }
}

fn page(title: &str, lines: &[Explained], runtime: &Runtime) -> String {
    let mut page = format!("{HEAD}{}{HEAD:#}\n", printable(title));
    if !runtime.is_open() {
        page.push_str(&format!(
            "  {WARNING}not trusted:{WARNING:#} the project brings hooks, so none is asked until `tacklebox trust`\n"
        ));
    }
    let rows: Vec<_> = lines
        .iter()
        .map(|line| {
            let asked = if line.asked { "asked" } else { "not asked" };
            let [name, source, because] = [line.hook.as_str(), &line.source.to_string(), &line.because].map(printable);
            vec![asked.to_owned(), name, source, because]
        })
        .collect();
    match rows.is_empty() {
        true => page.push_str(&format!("  {DIM}no hook is registered for this event{DIM:#}\n")),
        false => page.push_str(&out::table(&rows, "  ")),
    }
    page
}
