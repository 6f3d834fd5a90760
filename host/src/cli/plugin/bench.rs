//! `tacklebox plugin bench`: what a plugin costs, as its author wants to know it: loading it, and calling it in fresh instances and
//! in one that is kept for the session.
//!
//! As `plugin test` does, it asks the plugin itself: what a host adds to a call is not its author's to change. The compile cache
//! is one of its own, so that loading is measured cold and from the cache whatever was loaded before.
//!
//! - `figures`: what was measured, and how it is told

mod figures;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::json;

use crate::event::EventName;
use crate::hook::{HookKind, HookSpec, Lifetime};
use crate::outcome::Outcome;
use crate::report::Word;
use crate::session::PluginStates;
use crate::wasm::{CompileCache, Plugins};

use self::figures::{Calls, Figures};
use super::super::announcement::{Announcement, object};
use super::super::exit::Exit;
use super::super::fault::Fault;
use super::super::moment::Moment;
use super::super::run::SaidArgs;
use super::super::{conduct, out};
use super::loaded::{Happening, LoadedPlugin};

const EXAMPLES: &str = "\
Examples:
  What does a call of this plugin cost?
    tacklebox plugin bench guard.wasm
  The same for what it is really asked, one JSON value for a program:
    tacklebox plugin bench guard.wasm --tool bash --input '{\"command\": \"rm -rf /\"}' --json
  Another event than its first, in a package with settings of its own:
    tacklebox plugin bench ./redact PostToolUse --tool bash --output @log.txt --config '{\"extra\": []}'

Exit codes: 0 measured, 1 where it cannot be loaded or a call has no answer";

/// The longest that calls of one kind are made, however many are wanted.
const LONGEST: Duration = Duration::from_secs(10);

/// Which plugin, and what it is asked.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// A component, or a folder with a plugin.json
    file: PathBuf,
    #[command(flatten)]
    said: SaidArgs,
    /// The plugin's own name for its hook [default: its only one of the event]
    #[arg(long, value_name = "NAME")]
    hook: Option<String>,
    /// What the hook reads as its config, a JSON object [default: that of plugin.json]
    #[arg(long, value_name = "JSON")]
    config: Option<String>,
    /// How many calls to make of each kind; they end after ten seconds
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..))]
    calls: u32,
    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

/// Measures.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    conduct::run(bench(args))
}

async fn bench(args: Args) -> anyhow::Result<Exit> {
    let folder = tempfile::tempdir().context("no folder for compiled code")?;
    let cold = load(&args.file, folder.path()).await?.loading;
    let plugin = load(&args.file, folder.path()).await?;
    let (moment, cx, doubts) = Moment::of(announced(&plugin, args.said)?)?;
    let event = moment.event(&cx);
    let mut spec = plugin.hook(&event.name, args.hook.as_deref())?;
    if let (HookKind::Callback(callback), Some(config)) = (&mut spec.kind, &args.config) {
        callback.config = object(config.as_bytes()).context("`--config`")?;
    }
    let happening = Happening { event: &event, cx: &cx, project: None, recheck: false };
    let fresh = calls(&plugin, &living(&spec, Lifetime::Call), &happening, args.calls).await?;
    let kept = match plugin.is_command() {
        false => Some(calls(&plugin, &living(&spec, Lifetime::Session), &happening, args.calls).await?.1),
        true => None,
    };
    let figures = Figures::new(&plugin, &spec, cold, fresh).kept(kept).with(doubts);
    match args.json {
        true => out::json(&figures)?,
        false => out::person(&figures.page())?,
    }
    Ok(Exit::Fine)
}

/// Into a sandbox of its own: nothing of a former loading is there, but for the cache.
async fn load(file: &Path, cache: &Path) -> anyhow::Result<LoadedPlugin> {
    let plugins = Plugins::new(PluginStates::default())?.caching_in(CompileCache::at(cache.join("compiled")));
    LoadedPlugin::load(file, &plugins).await
}

/// What was said; where nothing was, what most plugins are asked.
fn announced(plugin: &LoadedPlugin, mut said: SaidArgs) -> anyhow::Result<Announcement> {
    if said.event.is_none() {
        let events = plugin.events();
        let first = events.iter().find(|event| **event == EventName::PreToolUse).or(events.first());
        let Some(event) = first else {
            let hint = "name an event: `plugin bench FILE EVENT --hook NAME`";
            return Err(Fault::new("the plugin says of no event that it wants to be asked about it", hint).into());
        };
        said.event = Some(event.to_string());
    }
    let (tool, input) = (said.tool.is_none(), said.input.is_none());
    let mut announced = said.announcement()?;
    if tool && announced.event.class().tool {
        announced.tool = Some("bash".to_owned());
        if input {
            announced.input.insert("command".to_owned(), json!("ls"));
        }
    }
    Ok(announced)
}

fn living(spec: &HookSpec, instance: Lifetime) -> HookSpec {
    let mut spec = spec.clone();
    if let HookKind::Callback(callback) = &mut spec.kind {
        callback.instance = Some(instance);
    }
    spec
}

/// Asks again and again; says how the last answer was meant.
async fn calls(
    plugin: &LoadedPlugin,
    spec: &HookSpec,
    happening: &Happening<'_>,
    most: u32,
) -> anyhow::Result<(Word, Calls)> {
    let (mut took, mut word, began) = (Vec::new(), Word::Skipped, Instant::now());
    for _ in 0..most {
        let start = Instant::now();
        let asked = plugin.ask(spec, happening).await;
        took.push(start.elapsed());
        if let Outcome::NoAnswer(cause) = &asked.outcome {
            let message = format!("call {} has no answer: {cause}", took.len());
            return Err(Fault::new(message, "`--tool`, `--input` and `--config` say what it is asked").into());
        }
        word = Word::of(&asked.outcome);
        if began.elapsed() > LONGEST {
            break;
        }
    }
    Ok((word, Calls::new(took)))
}
