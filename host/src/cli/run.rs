//! `tacklebox run`: one announcement, or a batch of them.

use std::io::Read as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};

use crate::diagnostic::{Diagnostic, Place};
use crate::event::Decision;

use super::announcement::{Announcement, absolute, event, object};
use super::batch::Changes;
use super::exit::Exit;
use super::fault::Fault;
use super::host::{self, HostArgs};
use super::moment::Moment;
use super::records::RecordFile;
use super::verdict::VerdictJson;
use super::{batch, conduct, out, view};

const EXAMPLES: &str = "\
Examples:
  Ask the hooks of this project about a call:
    tacklebox run PreToolUse --tool bash --input '{\"command\": \"rm -rf /\"}'
  The same, whatever the project brings, without having looked at it:
    tacklebox run PreToolUse --tool bash --input '{\"command\": \"rm -rf /\"}' --trust
  Ask one plugin, without the project's settings in the way:
    tacklebox run PreToolUse --tool bash --input '{\"command\": \"ls\"}' --plugin guard.wasm --project /tmp
  Arguments and outputs may come from files or from stdin:
    tacklebox run PostToolUse --tool read --input @call.json --output - --trust < secrets.txt
  Events without a tool take their payload as input:
    tacklebox run UserPromptSubmit --input '{\"prompt\": \"hello\"}' --json
  Many announcements in one process, so that sessions carry over:
    tacklebox run --batch calls.jsonl --trust
  Keep a line of each dispatch, who ran and what was decided, without any contents:
    tacklebox run --batch calls.jsonl --trust --records records.jsonl
  The same as long as somebody writes lines, with settings and plugins as they are by then:
    tacklebox run --batch - --watch

A line of a batch: {\"event\", \"tool\", \"input\", \"output\", \"session\", \"cwd\", \"turn\", \"agentId\", \"agentType\", \"agentDepth\"}
Exit codes: 0 allowed, 2 blocked, denied or a gate without trust, 3 ask, 1 a fault or a bad line of a batch";

/// What is announced, or where announcements come from.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("event", |event| event.required_unless_present("batch")))]
pub(super) struct Args {
    #[command(flatten)]
    said: SaidArgs,
    /// Announce what each line of this file says (`-`: stdin); a verdict a line, as JSON
    #[arg(long, value_name = "FILE", conflicts_with_all = ["event", "tool", "input", "output", "session", "cwd"])]
    batch: Option<PathBuf>,
    /// Append a JSON line a dispatch to this file, with digests instead of contents
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    /// With `--batch`: take changes of settings and plugins as they come. What they would take from a gate stays in force
    /// until the end of the batch; what there is to say of them is among the next verdict's warnings
    #[arg(long, requires = "batch")]
    watch: bool,
    #[command(flatten)]
    host: HostArgs,
    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,
}

/// One announcement.
#[derive(Debug, clap::Args)]
pub(super) struct SaidArgs {
    /// The event: PreToolUse, UserPromptSubmit, Stop, ..
    pub(super) event: Option<String>,
    /// The tool
    #[arg(long)]
    pub(super) tool: Option<String>,
    /// The tool's arguments, or the event's payload: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON")]
    pub(super) input: Option<String>,
    /// What the tool printed, or its error: text, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "TEXT")]
    output: Option<String>,
    /// The session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The folder in which the agent works [default: the project]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

/// Announces.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let records = RecordFile::open(args.records.as_deref())?;
    match &args.batch {
        Some(file) => {
            let lines = batch::open(file)?;
            let changes = if args.watch { Changes::Taken } else { Changes::Left };
            conduct::run(batch::run(lines, args.host, records, changes))
        }
        None => {
            let said = args.said.announcement()?;
            conduct::run(once(said, args.host, records, args.json))
        }
    }
}

async fn once(said: Announcement, host: HostArgs, records: RecordFile, json: bool) -> anyhow::Result<Exit> {
    let (moment, cx, doubts) = Moment::of(said)?;
    let runtime = host.open_with(|builder| records.of(builder)).await?;
    let before: Vec<_> = host::said(&runtime.diagnostics()).into_iter().chain(doubts).collect();
    let answered = moment.announce(&runtime, &cx).await;
    let exit = Exit::of(&answered.report.event, answered.summary.decision.unwrap_or(Decision::Allow));
    let written = match json {
        true => out::json(&VerdictJson::new(answered, before)),
        false => out::person(&view::verdict(&answered, &before)),
    };
    if let Some(problem) = records.close() {
        out::notes(&[Diagnostic::warning(Place::default(), problem)]);
    }
    // The decision stands, whether or not anybody reads the words.
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(exit),
    }
}

impl SaidArgs {
    /// What they announce.
    pub(super) fn announcement(self) -> anyhow::Result<Announcement> {
        if self.input.as_deref() == Some("-") && self.output.as_deref() == Some("-") {
            let hint = "give one of them as `@FILE`";
            return Err(Fault::new("`--input` and `--output` cannot both be read from stdin", hint).into());
        }
        let Some(name) = &self.event else { bail!("no event is named") };
        let mut said = Announcement::new(event(name)?, self.session.as_deref());
        said.tool = self.tool;
        said.cx.cwd = self.cwd.as_deref().map(absolute);
        if let Some(input) = self.input {
            said.input = object(&bytes(input, "--input")?).context("`--input`")?;
        }
        if let Some(output) = self.output {
            said.output = Some(String::from_utf8_lossy(&bytes(output, "--output")?).into_owned());
        }
        Ok(said)
    }
}

/// The text itself, what the file says that it names after `@`, or all of stdin for `-`.
fn bytes(text: String, argument: &str) -> anyhow::Result<Vec<u8>> {
    if text == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).with_context(|| format!("`{argument}`: stdin"))?;
        return Ok(bytes);
    }
    match text.strip_prefix('@') {
        Some(file) => std::fs::read(file).with_context(|| format!("`{argument}`: {file}")),
        None => Ok(text.into_bytes()),
    }
}
