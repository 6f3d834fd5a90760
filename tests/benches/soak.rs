//! Minutes of everything at once: loads, unloads, reloads, traps, timeouts and calls from 32 tasks, and at the end nothing
//! may be left of it: `cargo bench -p tacklebox-tests --bench soak -- --seconds 300`.
//!
//! It runs in a process of its own, with a folder of its own for temporary files; this process looks at what that one
//! leaves behind.
#![expect(clippy::unwrap_used, reason = "a soak that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a soak says what it saw")]
#![expect(clippy::disallowed_methods, reason = "the program under test is this very one, and it lays its own files")]

#[path = "soak/left.rs"]
mod left;
#[path = "soak/tasks.rs"]
mod tasks;
#[path = "soak/world.rs"]
mod world;

use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use left::{Growth, Held, Memory, processes_with};
use tasks::Counts;
use world::World;

/// Says to the program that it is the one that is soaked; its value marks whatever it starts.
const MARK: &str = "TACKLEBOX_SOAK";

/// How long what is ended may take until it is gone.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let seconds = seconds();
    match std::env::var(MARK) {
        Ok(_) => soak(seconds),
        Err(_) => watch(seconds),
    }
}

/// `--seconds N`; five minutes without. Whatever else cargo passes is not for us.
fn seconds() -> u64 {
    let args: Vec<_> = std::env::args().collect();
    let at = args.iter().position(|arg| arg == "--seconds");
    at.map_or(300, |at| args[at + 1].parse().unwrap())
}

/// Runs the soak, and looks for what it leaves.
fn watch(seconds: u64) -> ExitCode {
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("soak-{}", std::process::id());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--seconds", &seconds.to_string()]).env(MARK, &mark).env("TMPDIR", folder.path());
    let status = command.status().unwrap();
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let left_over = until(|| processes_with(MARK, &mark), Vec::is_empty);
    println!("left behind: {} files, {} processes", files.len(), left_over.len());
    match status.success() && files.is_empty() && left_over.is_empty() {
        true => ExitCode::SUCCESS,
        false => {
            println!("{files:?} {left_over:?} {status}");
            ExitCode::FAILURE
        }
    }
}

fn soak(seconds: u64) -> ExitCode {
    // What libraries keep once and for all (a pool of threads, a pipe for signals) is there from here on.
    round(2);
    std::thread::sleep(Duration::from_secs(2));
    let before = Held::now();
    let Round { counts, grown } = round(seconds);
    let after = until(Held::now, |now| now.fits_in(&before));
    println!("{counts}");
    println!("{grown}");
    println!("files open {} -> {}, threads {} -> {}", before.files, after.files, before.threads, after.threads);
    match counts.wrong.is_empty() && grown.is_small() && after.fits_in(&before) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// What one host's life came to.
struct Round {
    counts: Counts,
    grown: Growth,
}

/// A host, its tasks, and the end of it all.
fn round(seconds: u64) -> Round {
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let memory = Memory::watch();
    let world = Arc::new(World::new());
    let counts = tokio.block_on(tasks::run(&world, Instant::now() + Duration::from_secs(seconds)));
    let grown = memory.stop().growth();
    tokio.shutdown_timeout(PATIENCE);
    Round { counts, grown }
}

/// What `look` sees as soon as it is good, or after [`PATIENCE`].
fn until<T>(look: impl Fn() -> T, good: impl Fn(&T) -> bool) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        let seen = look();
        if good(&seen) || Instant::now() >= end {
            return seen;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
