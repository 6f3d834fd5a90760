//! A host with a guard that behaves, and a guest beside it that does not: who is asked what, and whether they answer right.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tacklebox::event::{Context, Object, PreToolUse, ToolCall};
use tacklebox::limits::LimitsSaid;
use tacklebox::outcome::{Cause, Limit, Outcome};
use tacklebox::permission::Permissions;
use tacklebox::plugin::Given;
use tacklebox::policy::Trust;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime as _, Runtime};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::measured::{Call, Calls, Measured, Round};
use super::rough::{Expected, Rough};
use super::waiting::Wait;

const GUARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../example-plugins/no-rm-rf/no-rm-rf.wasm");

/// How many calls of the guard make a round.
const CALLS: usize = 1_000;

/// How long a call of a guest may take that reaches another limit before: the default.
const USUAL: Duration = Duration::from_secs(5);

/// The processor time of the guest that is to use it up.
const PROCESSOR: Duration = Duration::from_millis(200);

/// A guest, and the limit of time that it has.
pub(crate) struct Trial {
    guest: Rough,
    by: Clock,
}

/// What ends its call, where nothing else does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    Wall,
    Processor,
}

impl Trial {
    /// Each guest, and the one that spins once more, to use up its processor time.
    pub(crate) fn all() -> Vec<Self> {
        let by_the_wall = Rough::ALL.iter().map(|&guest| Self { guest, by: Clock::Wall });
        by_the_wall.chain([Self { guest: Rough::Spins, by: Clock::Processor }]).collect()
    }

    pub(crate) fn name(&self) -> &'static str {
        if self.by == Clock::Processor { "spins-by-processor-time" } else { self.guest.name() }
    }

    /// How long its call may take.
    fn limit(&self) -> Duration {
        if self.by == Clock::Processor { PROCESSOR } else { self.timeout() }
    }

    fn timeout(&self) -> Duration {
        self.guest.time().filter(|_| self.by == Clock::Wall).unwrap_or(USUAL)
    }

    fn given(&self) -> Given {
        let granted = Permissions::default().running("sleep").running("true");
        let processor = (self.by == Clock::Processor).then_some(PROCESSOR);
        Given::granting(granted).within(LimitsSaid { processor, ..LimitsSaid::default() })
    }

    /// Whether this is what has to come of its call.
    fn comes_to(&self, outcome: &Outcome, log: usize) -> bool {
        match self.by {
            Clock::Wall => self.guest.comes_to(outcome, log),
            Clock::Processor => *outcome == Outcome::NoAnswer(Cause::Limit(Limit::Processor(PROCESSOR))),
        }
    }

    /// Writes its package: asked about the tool `rough`, where it is a hook at all.
    fn lay(&self, folder: &Path) -> PathBuf {
        let package = folder.join(self.name());
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("plugin.wasm"), self.guest.bytes()).unwrap();
        let mut manifest = json!({
            "name": self.name(), "component": "plugin.wasm", "permissions": {"run": ["sleep", "true"]},
            "hooks": {"PreToolUse": [{"name": "rough", "matcher": "rough", "timeout": self.timeout().as_secs_f64()}]},
        });
        if matches!(self.guest.expected(), Expected::WantsNonsense) {
            manifest.as_object_mut().unwrap().remove("hooks");
        }
        std::fs::write(package.join("plugin.json"), manifest.to_string()).unwrap();
        package
    }
}

/// Where they live: an async runtime with a host that keeps compiled code.
pub(crate) struct Street {
    tokio: tokio::runtime::Runtime,
    host: Arc<Runtime>,
    rounds: usize,
    folder: TempDir,
}

impl Street {
    pub(crate) fn new(workers: usize, rounds: usize) -> Self {
        let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let builder = Runtime::builder(Trust::Trusted, Surroundings::of_this_process(folder.path()));
        let builder = builder.without_settings().compile_cache_in(folder.path().join("compiled"));
        let host = tokio.block_on(builder.build()).unwrap();
        tokio.block_on(host.load(Source::Sdk, GUARD, Reach::Everywhere)).unwrap();
        Self { tokio, host: Arc::new(host), rounds, folder }
    }

    /// Measures what this one costs.
    ///
    /// # Errors
    ///
    /// Where anybody answered wrong.
    pub(crate) fn measure(&self, trial: &Trial) -> Result<Measured, String> {
        let guest = Arc::new(Guest::moves_in(self, trial)?);
        // What the first calls find cold is not measured.
        self.tokio.block_on(self.undisturbed())?;
        let mut rounds = Vec::new();
        for _ in 0..self.rounds {
            let alone = self.tokio.block_on(self.undisturbed())?;
            let beside_a_thread = beside_a_thread(|| self.tokio.block_on(self.undisturbed()))?;
            let (beside, guest) = self.tokio.block_on(self.disturbed(&guest))?;
            rounds.push(Round { alone, beside_a_thread, beside, guest });
        }
        self.tokio.block_on(guest.moves_out());
        Ok(Measured::of(trial.name(), &rounds, trial.limit()))
    }

    async fn undisturbed(&self) -> Result<Calls, String> {
        tokio::spawn(guarded(self.host.clone())).await.unwrap()
    }

    /// The guard's calls, and those of the guest that is called all the while.
    async fn disturbed(&self, guest: &Arc<Guest>) -> Result<(Calls, Calls), String> {
        let (over, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
        let rough = tokio::spawn(guest.clone().again_and_again(begun.clone(), over.clone()));
        begun.notified().await;
        let beside = tokio::spawn(guarded(self.host.clone())).await.unwrap();
        over.store(true, Ordering::Relaxed);
        let rough = rough.await.unwrap()?;
        Ok((beside?, rough))
    }
}

/// Does it while a thread counts, which takes a processor and nothing else.
fn beside_a_thread<T>(work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })
}

/// Asks the guard a thousand times, and looks at each answer.
async fn guarded(host: Arc<Runtime>) -> Result<Calls, String> {
    let cx = Context::new("neighbour");
    let (fine, bad) = (call("bash", "cargo build && ls target"), call("bash", "cd x && rm -rf y"));
    let mut took = Vec::with_capacity(CALLS);
    for n in 0..CALLS {
        let (call, is_bad) = if n % 2 == 0 { (&fine, false) } else { (&bad, true) };
        let (before, began) = (Wait::so_far(), Instant::now());
        let answer = host.pre_tool_use(call, &cx).await;
        took.push(Call { took: began.elapsed(), waited: Wait::so_far().since(&before) });
        let is_right = match &answer.verdict {
            PreToolUse::Proceed { .. } => !is_bad,
            PreToolUse::Blocked { reason, .. } => is_bad && reason.contains("rm -rf"),
            _ => false,
        };
        if !is_right {
            return Err(format!("the guard answered wrong: {answer:?}"));
        }
    }
    Ok(Calls(took))
}

fn call(tool: &str, command: &str) -> ToolCall {
    ToolCall::new(tool, Object::from_iter([("command".to_owned(), command.into())]))
}

/// A guest that lives beside the guard.
struct Guest {
    host: Arc<Runtime>,
    trial: Trial,
    package: PathBuf,
}

impl Guest {
    fn moves_in(street: &Street, trial: &Trial) -> Result<Self, String> {
        let trial = Trial { guest: trial.guest, by: trial.by };
        let package = trial.lay(street.folder.path());
        let guest = Self { host: street.host.clone(), trial, package };
        street.tokio.block_on(guest.load())?;
        Ok(guest)
    }

    fn source(&self) -> Source {
        Source::Plugin(self.trial.name().into())
    }

    /// Loads it; one that is refused has to be, and for its reason.
    async fn load(&self) -> Result<(), String> {
        let loaded = self.host.load_given(self.source(), &self.package, Reach::Everywhere, self.trial.given()).await;
        let is_right = match (&loaded, self.trial.guest.expected()) {
            (Err(error), Expected::Refused(why)) => error.to_string().contains(why),
            (Err(error), Expected::WantsNonsense) => error.to_string().contains("NoSuchEvent"),
            (Ok(_), Expected::NoAnswer(_) | Expected::Told(_) | Expected::Cut(_)) => true,
            _ => false,
        };
        if is_right { Ok(()) } else { Err(format!("{}: {loaded:?}", self.trial.name())) }
    }

    async fn moves_out(&self) {
        self.host.unregister_all(self.source()).ended().await;
    }

    /// Has it misbehave until it is enough; at least once.
    async fn again_and_again(self: Arc<Self>, begun: Arc<Notify>, over: Arc<AtomicBool>) -> Result<Calls, String> {
        let mut took = Vec::new();
        begun.notify_one();
        while took.is_empty() || !over.load(Ordering::Relaxed) {
            let began = Instant::now();
            match self.trial.guest.expected() {
                Expected::Refused(_) | Expected::WantsNonsense => self.load().await?,
                Expected::NoAnswer(_) | Expected::Told(_) | Expected::Cut(_) => self.misbehaves().await?,
            }
            took.push(Call { took: began.elapsed(), waited: Duration::ZERO });
        }
        // It is none the worse for it.
        if !matches!(self.trial.guest.expected(), Expected::Refused(_) | Expected::WantsNonsense) {
            let answer = self.host.pre_tool_use(&call("rough", "good"), &Context::new("rough")).await;
            if !matches!(answer.verdict, PreToolUse::Proceed { .. }) {
                return Err(format!("{}: the next call does not work: {answer:?}", self.trial.name()));
            }
        }
        Ok(Calls(took))
    }

    async fn misbehaves(&self) -> Result<(), String> {
        let answer = self.host.pre_tool_use(&call("rough", "bad"), &Context::new("rough")).await;
        let hook = answer.report.hooks.first();
        match hook.and_then(|hook| hook.outcome.as_ref().map(|outcome| (outcome, hook.log.len()))) {
            Some((outcome, log)) if self.trial.comes_to(outcome, log) => Ok(()),
            _ => Err(format!("{}: {answer:?}", self.trial.name())),
        }
    }
}
