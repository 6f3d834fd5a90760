//! What was measured of a plugin: for a person a few lines, for a program one JSON value.

use std::time::Duration;

use serde::Serialize;

use crate::diagnostic::printable;
use crate::hook::HookSpec;
use crate::report::Word;

use super::super::super::out;
use super::super::loaded::{About, LoadedPlugin};

/// All of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Figures {
    #[serde(flatten)]
    about: About,
    event: String,
    hook: String,
    /// What it answered last.
    answer: &'static str,
    cold_load_millis: f64,
    cached_load_millis: f64,
    /// An instance for each call.
    fresh: Calls,
    /// One that is kept for the session; a WASI command's cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<Calls>,
    warnings: Vec<String>,
}

/// Calls, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Calls {
    calls: usize,
    /// The first one: it finds everything cold, and makes the instance that is kept.
    first_micros: f64,
    p50_micros: f64,
    p99_micros: f64,
    calls_per_second: f64,
}

impl Calls {
    /// Of what each took, in their order; the first one counts for the others only where it is alone.
    pub(super) fn new(took: Vec<Duration>) -> Self {
        let first = took.first().copied().unwrap_or_default();
        let calls = took.len();
        let mut rest = if calls > 1 { took[1..].to_vec() } else { took };
        rest.sort();
        let within = |percent: usize| {
            let at = (rest.len() * percent).div_ceil(100).max(1) - 1;
            micros(rest.get(at).copied().unwrap_or_default())
        };
        let all = rest.iter().sum::<Duration>().as_secs_f64();
        Self {
            calls,
            first_micros: micros(first),
            p50_micros: within(50),
            p99_micros: within(99),
            calls_per_second: if all > 0.0 { (rest.len() as f64 / all).round() } else { 0.0 },
        }
    }

    fn row(&self, name: &str) -> Vec<String> {
        let times = [self.first_micros, self.p50_micros, self.p99_micros].map(short);
        let [first, p50, p99] = times;
        vec![name.to_owned(), first, p50, p99, format!("{:.0}", self.calls_per_second), self.calls.to_string()]
    }
}

impl Figures {
    /// Of this plugin, with no calls yet but those in fresh instances, whose last answer is `word`.
    pub(super) fn new(plugin: &LoadedPlugin, spec: &HookSpec, cold: Duration, (word, fresh): (Word, Calls)) -> Self {
        Self {
            about: plugin.about(),
            event: spec.event.to_string(),
            hook: spec.told_name().to_owned(),
            answer: word.as_str(),
            cold_load_millis: millis(cold),
            cached_load_millis: millis(plugin.loading),
            fresh,
            session: None,
            warnings: Vec::new(),
        }
    }

    /// The same, with what calls of a kept instance took.
    pub(super) fn kept(self, session: Option<Calls>) -> Self {
        Self { session, ..self }
    }

    /// The same, with what may not be as was thought.
    pub(super) fn with(self, warnings: Vec<String>) -> Self {
        Self { warnings, ..self }
    }

    /// For a person.
    pub(super) fn page(&self) -> String {
        let asked = printable(&format!("`{}` on {}: {}", self.hook, self.event, self.answer));
        let head = self.about.line(format!("{} KiB", self.about.size.div_ceil(1024)));
        let mut page = format!("{head}{asked}\n\n");
        let load = |name: &str, millis: f64| vec![name.to_owned(), short(millis * 1000.0)];
        page.push_str(&out::table(
            &[load("load, compiled", self.cold_load_millis), load("load, from the cache", self.cached_load_millis)],
            "  ",
        ));
        let head = ["", "first", "p50", "p99", "calls/s", "calls"].map(str::to_owned).to_vec();
        let fresh = self.fresh.row("call, fresh instance");
        let kept = self.session.map(|session| session.row("call, instance: session"));
        page.push('\n');
        page.push_str(&out::table(&[head, fresh].into_iter().chain(kept).collect::<Vec<_>>(), "  "));
        self.warnings.iter().for_each(|warning| page.push_str(&format!("\nwarning: {}\n", printable(warning))));
        page
    }
}

fn micros(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e7).round() / 10.0
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1000.0
}

fn short(micros: f64) -> String {
    match micros {
        ..1000.0 => format!("{micros:.0} µs"),
        ..1_000_000.0 => format!("{:.1} ms", micros / 1000.0),
        _ => format!("{:.1} s", micros / 1_000_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_stands_by_itself_and_counts_for_no_other() {
        let took = [1000].into_iter().chain(1..=100).map(Duration::from_micros).collect();
        let calls = Calls::new(took);
        assert_eq!((calls.calls, calls.first_micros, calls.p50_micros, calls.p99_micros), (101, 1000.0, 50.0, 99.0));
        assert_eq!(calls.calls_per_second, 19802.0);
        let one = Calls::new(vec![Duration::from_micros(7)]);
        assert_eq!((one.calls, one.first_micros, one.p50_micros, one.p99_micros), (1, 7.0, 7.0, 7.0));
    }

    #[test]
    fn times_are_short() {
        assert_eq!([12.4, 1500.0, 2_500_000.0].map(short), ["12 µs", "1.5 ms", "2.5 s"]);
    }
}
