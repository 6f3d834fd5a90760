//! `tacklebox demo`: a scripted agent session through real hooks, real plugins and real files, told call by call.
//!
//! Owns the story. Everything that decides in it is what an embedder would use: [`Runtime`], its settings files, and
//! [`ToolGate`].

mod agent;
mod judge;
mod show;
mod story;
mod world;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::time::timeout;

use crate::bus::{Heard, Record, Records};
use crate::event::{Context, PromptInput, SessionEndInput, Stop, StopInput, ToolCall, TurnEndInput, UserPromptSubmit};
use crate::gate::{Passage, ToolGate};
use crate::policy::Trust;
use crate::runtime::Watching;
use crate::source::{Reach, Source, SourceKind};
use crate::surroundings::Surroundings;
use crate::{HookRuntime as _, Runtime};

use self::agent::{Person, Tools, rules};
use self::judge::ScriptedModel;
use self::show::Show;
use self::story::{STORY, Step};
use self::world::World;
use super::conduct;
use super::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  Look at a session:
    tacklebox demo
  The same for a program, a line a step:
    tacklebox demo --json";

/// How long a change of the settings may take to be seen; it takes a third of a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// How it is told.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Print a JSON value a step
    #[arg(long)]
    json: bool,
}

/// Plays the session and tells it.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let mut out = anstream::stdout();
    conduct::run(async { play(&mut out, args.json).await.map(|()| Exit::Fine) })
}

async fn play(out: &mut dyn Write, json: bool) -> anyhow::Result<()> {
    let world = World::lay().context("laying the demo's project")?;
    let mut session = Session::begin(&world).await?;
    let mut show = Show::new(out, json);
    show.opening(&world, &session.runtime)?;
    for step in STORY {
        session.take(step, &world, &mut show).await?;
    }
    show.closing()
}

/// A running agent session.
struct Session {
    runtime: Arc<Runtime>,
    gate: ToolGate,
    tools: Tools,
    person: Arc<Person>,
    news: Records,
    _watching: Watching,
    cx: Context,
}

impl Session {
    async fn begin(world: &World) -> anyhow::Result<Self> {
        let mut surroundings = Surroundings::of_this_process(world.project());
        let compile_cache = surroundings.compile_cache();
        surroundings.home = Some(world.home());
        let host = Runtime::builder(Trust::Trusted, surroundings).model(Arc::new(ScriptedModel)).guarded_reload();
        // Not the one of a home that is gone afterwards.
        let host = match compile_cache {
            Some(folder) => host.compile_cache_in(folder),
            None => host,
        };
        let runtime = Arc::new(host.build().await?);
        let redact = Source::Plugin("redact-secrets".into());
        runtime.load(redact, world.plugin("redact-secrets.wasm"), Reach::Everywhere).await?;
        let person = Arc::new(Person::default());
        let gate = ToolGate::new(runtime.clone(), Arc::new(rules)).prompt(person.clone());
        let cx = Context::new("demo").cwd(world.project());
        let (news, watching) = (runtime.listen(), runtime.watch()?);
        Ok(Self { runtime, gate, tools: Tools::new(world.project()), person, news, _watching: watching, cx })
    }

    async fn take(&mut self, step: &Step, world: &World, show: &mut Show<'_>) -> anyhow::Result<()> {
        match step {
            Step::Prompt { says } => {
                self.cx.turn += 1;
                let answer = self.runtime.user_prompt_submit(&PromptInput { prompt: (*says).into() }, &self.cx).await;
                let sent = match &answer.verdict {
                    UserPromptSubmit::Send { prompt, .. } => prompt.as_deref().unwrap_or(says),
                    UserPromptSubmit::Blocked { .. } | UserPromptSubmit::Untrusted => "",
                };
                show.prompt(self.cx.turn, says, sent, &answer.report)
            }
            Step::Call { why, tool, input } => {
                let call = ToolCall::new(*tool, input.iter().map(|(k, v)| ((*k).to_owned(), (*v).into())).collect());
                let passage = self.gate.pass(&call, &self.cx, &self.tools).await;
                show.call(why, &call, &passage, self.person.was_asked())
            }
            Step::SkillBegins { id } => {
                let loaded = self.runtime.load(Source::Skill((*id).into()), world.skill(id), Reach::Everywhere).await?;
                show.skill_begins(id, &loaded)
            }
            Step::SkillEnds { id } => {
                let dropped = self.runtime.unregister_all(Source::Skill((*id).into()));
                let hooks = dropped.hooks;
                dropped.ended().await;
                show.skill_ends(id, hooks, self.runtime.revision())
            }
            Step::Edit => {
                world.edit()?;
                show.edit()
            }
            Step::Reload { why } => {
                self.reloaded().await?;
                show.reload(why, &self.runtime)
            }
            Step::Stops { attempt, tokens } => {
                let input = StopInput { reason: "done".into(), attempt: *attempt };
                let answer = self.runtime.stop(&input, &self.cx).await;
                show.stops(&answer)?;
                match answer.verdict {
                    Stop::GoesOn { .. } => Ok(()),
                    Stop::Stops { .. } | Stop::Untrusted => self.end_turn(*tokens, show).await,
                }
            }
            Step::SessionEnds => {
                let answer = self.runtime.session_end(&SessionEndInput { reason: "exit".into() }, &self.cx).await;
                self.runtime.unregister_all(SourceKind::Plugin).ended().await;
                show.session_ends(&answer.report)
            }
        }
    }

    /// Waits until the watching has taken what was written.
    async fn reloaded(&mut self) -> anyhow::Result<()> {
        let reload = async {
            while let Some(heard) = self.news.next().await {
                if matches!(heard, Heard::Record(record) if matches!(*record, Record::Reloaded { .. })) {
                    return;
                }
            }
        };
        if timeout(PATIENCE, reload).await.is_err() {
            bail!("the settings were written, and are not read anew");
        }
        Ok(())
    }

    async fn end_turn(&self, (read, written): (u64, u64), show: &mut Show<'_>) -> anyhow::Result<()> {
        let input = TurnEndInput {
            turn_count: self.cx.turn,
            input_tokens: Some(read),
            output_tokens: Some(written),
            ..TurnEndInput::default()
        };
        let answer = self.runtime.turn_end(&input, &self.cx).await;
        show.turn_ends(self.cx.turn, &answer.report)
    }
}

/// Whether the tool ran.
fn has_run(passage: &Passage) -> bool {
    matches!(passage, Passage::Ran { .. })
}
