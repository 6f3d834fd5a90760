//! The 32 tasks of a soak. Each knows which answer is right, and says so where it gets another.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tacklebox::event::{Context, EventName, Object, PreToolUse, ToolCall};
use tacklebox::hook::{CommandHook, HookSpec, OnError};
use tacklebox::outcome::Outcome;
use tacklebox::policy::Trust;
use tacklebox::report::Answer;
use tacklebox::source::{Reach, Source};
use tacklebox::{HookRuntime as _, Runtime};
use tokio::task::JoinSet;

use super::world::World;

/// What a task does, again and again.
#[derive(Clone, Copy)]
enum Job {
    /// The guard that is always there is asked.
    Calls,
    /// A shell command of the settings, which are written and read anew all the time, is asked.
    Commands,
    /// A plugin comes for this session, is asked, and goes.
    Loads,
    /// So does one that breaks in this way, and blocks.
    Breaks(&'static str),
    /// A command that never ends is ended.
    Sleeps,
    /// Settings are written and read anew; their guard is there all the time.
    Reloads,
}

/// How many of each; 32 together.
const JOBS: [(Job, usize); 9] = [
    (Job::Calls, 16),
    (Job::Commands, 4),
    (Job::Loads, 4),
    (Job::Breaks("panic"), 2),
    (Job::Breaks("recurse"), 1),
    (Job::Breaks("allocate"), 1),
    (Job::Breaks("spin"), 2),
    (Job::Sleeps, 1),
    (Job::Reloads, 1),
];

/// How often in a row a plugin may be too slow to load.
const MOST_TRIES: usize = 20;

impl Job {
    fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Commands => "commands",
            Self::Loads => "loads",
            Self::Breaks(deed) => deed,
            Self::Sleeps => "sleeps",
            Self::Reloads => "reloads",
        }
    }
}

/// What came of it all.
#[derive(Default)]
pub(crate) struct Counts {
    right: BTreeMap<&'static str, usize>,
    pub(crate) wrong: Vec<String>,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, count) in &self.right {
            writeln!(f, "{what:<12} {count:>9} right answers")?;
        }
        write!(f, "wrong answers: {}", self.wrong.len())?;
        self.wrong.iter().take(5).try_for_each(|wrong| write!(f, "\n  {wrong}"))
    }
}

/// What a task did: how often it was answered right, until it was over or answered wrong.
struct Done(Job, usize, Option<String>);

/// Runs all tasks until then, and shuts the host down.
pub(crate) async fn run(world: &Arc<World>, until: Instant) -> Counts {
    let host = Runtime::builder(Trust::Trusted, world.surroundings()).compile_cache_in(world.path("cache"));
    let host = Arc::new(host.build().await.unwrap());
    let watching = host.watch().unwrap();
    let guard = Source::Plugin("guard".into());
    host.load(guard, world.path("guard.wasm"), Reach::Everywhere).await.unwrap();
    let counts = all(world, &host, until).await;
    drop(watching);
    assert!(host.shutdown().await.ended, "something of the host's has not ended");
    counts
}

async fn all(world: &Arc<World>, host: &Arc<Runtime>, until: Instant) -> Counts {
    let mut tasks = JoinSet::new();
    for (job, tasks_of_it) in JOBS {
        for number in 0..tasks_of_it {
            let cx = Context::new(format!("{}-{number}", job.name()));
            let agent = Agent { host: host.clone(), world: world.clone(), cx };
            tasks.spawn(agent.does(job, until));
        }
    }
    let mut counts = Counts::default();
    while let Some(done) = tasks.join_next().await {
        counts.add(done.unwrap());
    }
    counts
}

impl Counts {
    fn add(&mut self, Done(job, right, wrong): Done) {
        *self.right.entry(job.name()).or_default() += right;
        self.wrong.extend(wrong.map(|wrong| format!("{}: {wrong}", job.name())));
    }
}

/// One task's agent, with a session of its own.
struct Agent {
    host: Arc<Runtime>,
    world: Arc<World>,
    cx: Context,
}

impl Agent {
    async fn does(self, job: Job, until: Instant) -> Done {
        let mut right = 0;
        while Instant::now() < until {
            match self.step(job, right).await {
                Ok(()) => right += 1,
                Err(wrong) => return Done(job, right, Some(wrong)),
            }
        }
        Done(job, right, None)
    }

    async fn step(&self, job: Job, times: usize) -> Result<(), String> {
        match job {
            Job::Calls => {
                self.is_refused("bash", "cd /tmp && rm -rf x", "rm -rf").await?;
                self.goes_on("bash", "ls -la").await
            }
            Job::Commands => {
                self.is_refused("shell", "forbidden", "it is forbidden").await?;
                self.goes_on("shell", "fine").await
            }
            Job::Loads => {
                self.load("block").await?;
                self.is_refused("bash", "ls", "misbehave blocks as it was told").await?;
                self.drop_all().await;
                self.goes_on("bash", "ls").await
            }
            Job::Breaks(deed) => {
                self.load(deed).await?;
                self.breaks().await?;
                self.breaks().await?;
                self.drop_all().await;
                Ok(())
            }
            Job::Sleeps => {
                self.register_sleeper();
                self.is_refused("other", "x", "timed out").await?;
                self.drop_all().await;
                Ok(())
            }
            Job::Reloads => {
                self.world.write_settings(times * 7 % 40);
                self.host.reload().await;
                self.is_refused("shell", "forbidden", "it is forbidden").await
            }
        }
    }

    fn register_sleeper(&self) {
        let mut sleeper = HookSpec::new(EventName::PreToolUse, "sleeper", CommandHook::new("sleep 1000 & wait").into());
        sleeper.timeout = Some(Duration::from_millis(100));
        sleeper.on_error = Some(OnError::Block);
        let (source, reach) = self.bound();
        self.host.register(source, reach, [sleeper]).unwrap();
    }

    async fn breaks(&self) -> Result<(), String> {
        let answer = self.ask("bash", "ls").await;
        let broke = answer.report.hooks.iter().any(|hook| matches!(hook.outcome, Some(Outcome::NoAnswer(_))));
        match answer.verdict {
            PreToolUse::Blocked { .. } if broke => Ok(()),
            _ => Err(format!("it did not break: {answer:?}")),
        }
    }

    fn bound(&self) -> (Source, Reach) {
        (Source::Session(self.cx.session.clone()), Reach::Session(self.cx.session.clone()))
    }

    /// On a machine that is busy otherwise a plugin may not get to describe itself in time: then it is not loaded, which is
    /// right, and loaded again.
    async fn load(&self, package: &str) -> Result<(), String> {
        let mut times = 0;
        loop {
            let (source, reach) = self.bound();
            match self.host.load(source, self.world.path(package), reach).await {
                Ok(_) => return Ok(()),
                Err(error) if times < MOST_TRIES && error.to_string().contains("timed out") => times += 1,
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    async fn drop_all(&self) {
        self.host.unregister_all(self.bound().0).ended().await;
    }

    async fn ask(&self, tool: &str, command: &str) -> Answer<PreToolUse> {
        let call = ToolCall::new(tool, Object::from_iter([("command".to_owned(), command.into())]));
        self.host.pre_tool_use(&call, &self.cx).await
    }

    async fn goes_on(&self, tool: &str, command: &str) -> Result<(), String> {
        let answer = self.ask(tool, command).await;
        match answer.verdict {
            PreToolUse::Proceed { .. } => Ok(()),
            _ => Err(format!("`{command}` does not go on: {answer:?}")),
        }
    }

    async fn is_refused(&self, tool: &str, command: &str, why: &str) -> Result<(), String> {
        let answer = self.ask(tool, command).await;
        match &answer.verdict {
            PreToolUse::Blocked { reason, .. } if reason.contains(why) => Ok(()),
            _ => Err(format!("`{command}` is not refused: {answer:?}")),
        }
    }
}
