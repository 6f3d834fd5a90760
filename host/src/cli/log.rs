//! What `-v` shows, on stderr: a line a hook, a line a dispatch, and what the library says besides. Twice, it says what
//! begins too, and in which session and dispatch.

use std::fmt::{self, Write as _};
use std::io::Write as _;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::diagnostic::printable;

use super::style::{DIM, HEAD, HINT, WARNING};

/// Begins to show it; says nothing at all where `-v` was not given.
pub(super) fn start(verbose: u8) {
    let (level, detail) = match verbose {
        0 => return,
        1 => (LevelFilter::DEBUG, Detail::Ends),
        _ => (LevelFilter::TRACE, Detail::BeginningsToo),
    };
    let only_ours = Targets::new().with_target("tacklebox", level);
    // A second start changes nothing, and there is none.
    let _ = tracing_subscriber::registry().with(Lines(detail).with_filter(only_ours)).try_init();
}

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// What a span came to.
    Ends,
    /// That one begins, and all of its fields.
    BeginningsToo,
}

/// Writes the lines.
struct Lines(Detail);

/// What is known of a span or an event, by name; every value safe to print on one line.
#[derive(Debug, Default)]
struct Fields(Vec<(&'static str, String)>);

impl Fields {
    fn get(&self, name: &str) -> &str {
        self.0.iter().rev().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// Whose span it is, as the beginning of a line.
    fn whose(&self) -> String {
        match self.get("hook") {
            "" => String::new(),
            hook => format!("{hook}: "),
        }
    }

    fn put(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), printable(value)));
    }

    fn all(&self) -> String {
        let mut all = String::new();
        for (name, value) in self.0.iter().filter(|(name, _)| *name != "message") {
            let _ = write!(all, " {name}={value}");
        }
        all
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, &format!("{value:.1}"));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, cx: Context<'_, S>) {
        let Some(span) = cx.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if self.0 == Detail::BeginningsToo {
            say(depth(&span), &format!("{DIM}{} begins:{}{DIM:#}", span.name(), fields.all()));
        }
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, cx: Context<'_, S>) {
        let Some(span) = cx.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, cx: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let (warning, message, rest) = (*event.metadata().level() <= Level::WARN, fields.get("message"), fields.all());
        let span = cx.event_span(event);
        let depth = span.as_ref().map_or(0, |span| depth(span) + 1);
        let whose = span.and_then(|span| span.extensions().get::<Fields>().map(Fields::whose)).unwrap_or_default();
        say(
            depth,
            &match warning {
                true => format!("{WARNING}warning:{WARNING:#} {message}{rest}"),
                false => format!("{whose}{message}{DIM}{rest}{DIM:#}"),
            },
        );
    }

    fn on_close(&self, id: Id, cx: Context<'_, S>) {
        let Some(span) = cx.span(&id) else { return };
        let extensions = span.extensions();
        let Some(fields) = extensions.get::<Fields>() else { return };
        let mut line = match span.name() {
            "hook" => hook(fields),
            "dispatch" => dispatch(fields),
            other => format!("{other} ends"),
        };
        if self.0 == Detail::BeginningsToo {
            line.push_str(&format!(" {DIM}({}){DIM:#}", fields.all().trim_start()));
        }
        say(depth(&span), &line);
    }
}

/// Under how many others a span stands.
fn depth<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> usize {
    span.scope().skip(1).count()
}

/// What a hook that was asked came to. One whose dispatch was dropped has no end.
fn hook(fields: &Fields) -> String {
    let [name, source, kind, outcome] = ["hook", "source", "kind", "outcome"].map(|name| fields.get(name));
    let again = if fields.get("recheck") == "true" { ", asked about a rewrite" } else { "" };
    match outcome {
        "" => format!("{name} ({source}, {kind}): {WARNING}left{WARNING:#}"),
        outcome => format!("{name} ({source}, {kind}): {outcome} in {} ms{again}", fields.get("millis")),
    }
}

/// What a dispatch came to.
fn dispatch(fields: &Fields) -> String {
    let [event, tool, decision, by] = ["event", "tool", "decision", "decided_by"].map(|name| fields.get(name));
    let about = if tool.is_empty() { String::new() } else { format!(" {tool}") };
    let by = if by.is_empty() { String::new() } else { format!(" by {by}") };
    let asked = match fields.get("asked") {
        "1" => "1 hook asked".to_owned(),
        asked => format!("{asked} hooks asked"),
    };
    match decision {
        "" => format!("{HEAD}{event}{about}{HEAD:#}: {WARNING}left{WARNING:#}"),
        decision => {
            format!("{HEAD}{event}{about}{HEAD:#}: {HINT}{decision}{HINT:#}{by}, {asked}, {} ms", fields.get("millis"))
        }
    }
}

fn say(depth: usize, line: &str) {
    // Where stderr is closed there is nobody to tell.
    let _ = writeln!(anstream::stderr().lock(), "{:1$}{line}", "", depth * 2);
}
