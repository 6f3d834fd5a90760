//! `tacklebox list`: every hook that is registered, and those that settings dropped.

use std::path::PathBuf;

use serde::Serialize;

use crate::Runtime;
use crate::diagnostic::{Place, printable};
use crate::event::EventName;
use crate::hook::HookSpec;
use crate::registry::Hook;
use crate::settings::Dropped;
use crate::source::Source;

use super::exit::Exit;
use super::host::HostArgs;
use super::style::{DIM, HEAD, WARNING};
use super::{conduct, out};

const EXAMPLES: &str = "\
Examples:
  The hooks of this project and of the user:
    tacklebox list
  Those that a plugin would bring as well, for a program:
    tacklebox list --plugin guard.wasm --json";

/// Which hooks.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    host: HostArgs,
    /// Print a JSON value a hook
    #[arg(long)]
    json: bool,
}

/// One hook.
#[derive(Debug, Serialize)]
struct Line {
    event: String,
    name: String,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    kind: &'static str,
    matcher: String,
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// Why it does not run, where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<String>,
}

/// Lists.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    conduct::run(list(args))
}

async fn list(args: Args) -> anyhow::Result<Exit> {
    let runtime = args.host.open().await?;
    let lines = lines(&runtime);
    out::notes(&runtime.diagnostics());
    if args.json {
        for line in lines {
            out::json(&line)?;
        }
    } else {
        out::person(&page(&lines, &runtime))?;
    }
    Ok(Exit::Fine)
}

/// All hooks, in the order of events, and among those of one event in the order in which they are asked.
fn lines(runtime: &Runtime) -> Vec<Line> {
    let registered = runtime.hooks().into_iter().map(|hook| {
        let switched_off = runtime.is_disabled(&hook).then(|| "disabled by user settings".to_owned());
        (hook.spec.event.clone(), Line::registered(&hook, switched_off))
    });
    let dropped = runtime.dropped().into_iter().map(|drop| (drop.spec.event.clone(), Line::dropped(&drop)));
    let mut lines: Vec<_> = registered.chain(dropped).collect();
    let order = |event: &EventName| EventName::BUILT_IN.iter().position(|one| one == event).unwrap_or(usize::MAX);
    lines.sort_by_key(|(event, _)| order(event));
    lines.into_iter().map(|(_, line)| line).collect()
}

impl Line {
    fn registered(hook: &Hook, dropped: Option<String>) -> Self {
        Self { generation: Some(hook.generation.0), dropped, ..Self::of(&hook.spec, &hook.source) }
    }

    fn dropped(drop: &Dropped) -> Self {
        Self { dropped: Some(drop.why.to_string()), ..Self::of(&drop.spec, &drop.source) }
    }

    fn of(spec: &HookSpec, source: &Source) -> Self {
        let Place { file, line, .. } = spec.place.clone();
        Self {
            event: spec.event.to_string(),
            name: spec.name.to_string(),
            source: source.to_string(),
            generation: None,
            kind: spec.kind.name().as_str(),
            matcher: if spec.matcher.is_everything() { "*" } else { spec.matcher.text() }.to_owned(),
            condition: spec.condition.as_ref().map(|condition| condition.text().to_owned()),
            file,
            line,
            dropped: None,
        }
    }

    fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{}:{line}", file.display()),
            (Some(file), None) => file.display().to_string(),
            (None, _) => "code".to_owned(),
        }
    }

    fn cells(&self) -> Vec<String> {
        let generation = self.generation.map_or_else(String::new, |generation| format!("gen {generation}"));
        let condition = self.condition.as_ref().map_or_else(String::new, |condition| format!("if {condition}"));
        let mut cells: Vec<_> =
            [&self.name, &self.source, &generation, self.kind, &self.matcher, &condition, &self.place()]
                .map(printable)
                .to_vec();
        if let Some(why) = &self.dropped {
            cells.push(format!("dropped: {}", printable(why)));
        }
        cells
    }
}

fn page(lines: &[Line], runtime: &Runtime) -> String {
    if lines.is_empty() {
        return format!("{DIM}no hooks{DIM:#}\n");
    }
    let mut page = String::new();
    let rows: Vec<_> = lines.iter().map(Line::cells).collect();
    let table = out::table(&rows, "  ");
    let mut event = "";
    for (line, row) in lines.iter().zip(table.lines()) {
        if line.event != event {
            page.push_str(&format!("{HEAD}{}{HEAD:#}\n", printable(&line.event)));
            event = &line.event;
        }
        match line.dropped {
            Some(_) => page.push_str(&format!("{DIM}{row}{DIM:#}\n")),
            None => page.push_str(&format!("{row}\n")),
        }
    }
    if !runtime.is_open() {
        page.push_str(&format!(
            "{WARNING}not trusted:{WARNING:#} the project brings hooks, so none of these runs until `tacklebox trust`\n"
        ));
    }
    page
}
