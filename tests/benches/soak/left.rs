//! What a process holds: open files, threads, memory; and which processes there are.

use std::fmt;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// Open files and threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) files: usize,
    pub(crate) threads: usize,
}

impl Held {
    pub(crate) fn now() -> Self {
        let count = |folder: &str| fs::read_dir(folder).unwrap().count();
        Self { files: count("/proc/self/fd"), threads: count("/proc/self/task") }
    }

    pub(crate) fn fits_in(&self, before: &Self) -> bool {
        self.files <= before.files && self.threads <= before.threads
    }
}

/// The processes in whose environment `name` has this value, but for those that are gone already.
pub(crate) fn processes_with(name: &str, value: &str) -> Vec<u32> {
    let mark = format!("{name}={value}");
    let all = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let marked = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    all.filter(marked).collect()
}

/// Looks at the memory of this process, all the time.
pub(crate) struct Memory {
    over: Arc<AtomicBool>,
    looking: JoinHandle<Vec<usize>>,
}

/// Resident memory over time, in bytes.
pub(crate) struct Seen(Vec<usize>);

/// What it came to.
pub(crate) struct Growth {
    early: usize,
    late: usize,
    most: f64,
}

impl Memory {
    pub(crate) fn watch() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let stop = over.clone();
        let looking = std::thread::spawn(move || {
            let mut seen = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                seen.push(resident());
                std::thread::sleep(LOOK);
            }
            seen
        });
        Self { over, looking }
    }

    pub(crate) fn stop(self) -> Seen {
        self.over.store(true, Ordering::Relaxed);
        Seen(self.looking.join().unwrap())
    }
}

impl Seen {
    /// From what stays after the first minute to what stays at the end: the least of half a minute each, since guests that
    /// take 64 MiB until they are refused come and go. A run of less than three minutes begins to count after a third of
    /// it, while caches and arenas still fill, and may grow by half.
    pub(crate) fn growth(&self) -> Growth {
        let a_minute = Duration::from_secs(60).div_duration_f64(LOOK) as usize;
        let short = self.0.len() < 3 * a_minute;
        let (from, window) = if short { (self.0.len() / 3, self.0.len() / 3) } else { (a_minute, a_minute / 2) };
        let early = least(&self.0[from..from + window]);
        let late = least(&self.0[self.0.len() - window..]);
        Growth { early, late, most: if short { 1.5 } else { 1.1 } }
    }
}

impl Growth {
    pub(crate) fn is_small(&self) -> bool {
        self.late as f64 <= self.early as f64 * self.most
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (early, late) = (self.early >> 20, self.late >> 20);
        let ratio = self.late as f64 / self.early as f64;
        write!(f, "resident memory {early} MiB -> {late} MiB: {ratio:.2}, at most {:.2}", self.most)
    }
}

fn least(seen: &[usize]) -> usize {
    seen.iter().copied().min().unwrap_or_else(resident)
}

fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<usize>().unwrap() << 10
}
