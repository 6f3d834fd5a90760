//! Cases measured by criterion, with their medians side by side at the end: as multiples of the cheapest of their group, since a
//! ratio within one run says more than a time of one machine.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use criterion::Criterion;

/// Criterion, the runtime that waits, and the times of each group.
pub(crate) struct Bench {
    pub(crate) criterion: Criterion,
    pub(crate) tokio: tokio::runtime::Runtime,
    times: BTreeMap<String, Vec<(&'static str, Duration)>>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let criterion = Criterion::default()
            .sample_size(20)
            .warm_up_time(Duration::from_millis(500))
            .measurement_time(Duration::from_secs(2))
            .configure_from_args();
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { criterion, tokio, times: BTreeMap::new() }
    }

    /// Measures one case of a group, and keeps its median.
    pub(crate) fn case(&mut self, group: &str, name: &'static str, run: impl AsyncFn()) {
        let (tokio, mut samples) = (&self.tokio, Vec::new());
        self.criterion.bench_function(&format!("{group}/{name}"), |bencher| {
            bencher.iter_custom(|times| {
                let start = Instant::now();
                tokio.block_on(async {
                    for _ in 0..times {
                        run().await;
                    }
                });
                samples.push(start.elapsed() / u32::try_from(times).unwrap());
                start.elapsed()
            });
        });
        samples.sort();
        if let Some(median) = samples.get(samples.len() / 2) {
            self.keep(group, name, *median);
        }
    }

    /// Keeps what a case of a group took.
    pub(crate) fn keep(&mut self, group: &str, name: &'static str, took: Duration) {
        self.times.entry(group.to_owned()).or_default().push((name, took));
    }

    pub(crate) fn finish(&mut self) {
        self.criterion.final_summary();
        for (group, cases) in &self.times {
            println!("\n{group}");
            let cheapest = cases.iter().map(|(_, time)| time.as_secs_f64()).fold(f64::INFINITY, f64::min);
            for (name, time) in cases {
                println!("  {name:<32} {:>12} {:>10.1} x", format!("{time:.1?}"), time.as_secs_f64() / cheapest);
            }
        }
    }
}
