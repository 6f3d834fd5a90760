//! The guests under `rough`: each breaks one limit on purpose, where the tool's command begins with `b`; and what has to come of
//! each. A guest without an expectation does not compile; a file that is no guest here is found by [`strangers`].
//!
//! Compiled into the sandbox's own tests and into the benchmark of neighbours. Whoever includes it has `outcome` in scope, which
//! is the library's, and `written`, which makes components of text.

use std::path::Path;
use std::time::Duration;

use super::outcome::{Cause, Limit, Outcome};
use super::written::{binary, importing, text};

macro_rules! guests {
    ($($name:ident = $file:literal,)*) => {
        /// A guest.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Rough { $($name,)* }

        impl Rough {
            pub(super) const ALL: &[Self] = &[$(Self::$name,)*];

            /// What it does, in words joined by `-`.
            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$name => $file,)* }
            }

            fn source(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("rough/", $file, ".wat")),)* }
            }
        }
    };
}

guests! {
    Spins = "spins",
    Recurses = "recurses",
    Allocates = "allocates",
    GrowsTables = "grows-tables",
    Returns50Mb = "returns-50-mb",
    FloodsTheLog = "floods-the-log",
    FillsState = "fills-state",
    NeverReturns = "never-returns",
    StartsPrograms = "starts-programs",
    Sleeps = "sleeps",
    Panics = "panics",
    CorruptsMemory = "corrupts-memory",
    InvalidJson = "invalid-json",
    LyingDescribe = "lying-describe",
    UnknownEvent = "unknown-event",
    Registers10000Hooks = "registers-10000-hooks",
}

/// What comes of it.
pub(super) enum Expected {
    /// It is not loaded, and the message says this.
    Refused(&'static str),
    /// It is loaded, and refused by whoever registers what it wants.
    WantsNonsense,
    /// It is no answer, for such a reason.
    NoAnswer(fn(&Cause) -> bool),
    /// It is stopped with an error value, and says so as context.
    Told(&'static str),
    /// It goes on, with so many lines of log and a warning.
    Cut(usize),
}

/// How long a call may take that is to reach this limit.
const SHORT: Duration = Duration::from_millis(300);

impl Rough {
    /// How long its call may take, where it is meant to take that long.
    pub(super) fn time(self) -> Option<Duration> {
        match self {
            Self::Spins | Self::Sleeps => Some(SHORT),
            // What it started is ended a tenth earlier, so that it can say so.
            Self::NeverReturns => Some(Duration::from_secs(2)),
            _ => None,
        }
    }

    /// What has to come of it.
    pub(super) fn expected(self) -> Expected {
        use Expected::{Cut, NoAnswer, Refused, Told, WantsNonsense};
        match self {
            Self::Spins | Self::Sleeps => NoAnswer(|cause| *cause == Cause::TimedOut(SHORT)),
            Self::Recurses => NoAnswer(|cause| *cause == Cause::Limit(Limit::Stack(512 << 10))),
            Self::Allocates => NoAnswer(|cause| *cause == Cause::Limit(Limit::Memory(64 << 20))),
            Self::GrowsTables => NoAnswer(|cause| *cause == Cause::Limit(Limit::Table(20_000))),
            Self::Returns50Mb => NoAnswer(|cause| *cause == Cause::Limit(Limit::Answer(1 << 20))),
            Self::FloodsTheLog => Cut(100),
            Self::FillsState => Told("1"),
            Self::NeverReturns => Told("2"),
            Self::StartsPrograms => Told("3"),
            Self::Panics => NoAnswer(|cause| match cause {
                Cause::Trapped { backtrace, .. } => backtrace[0] == "a_function_that_panics",
                _ => false,
            }),
            Self::CorruptsMemory => NoAnswer(|cause| matches!(cause, Cause::NotAnAnswer(_) | Cause::Trapped { .. })),
            Self::InvalidJson => NoAnswer(|cause| matches!(cause, Cause::NotAnAnswer(why) if why.contains("JSON"))),
            Self::LyingDescribe => Refused("`describe`: "),
            Self::UnknownEvent => WantsNonsense,
            Self::Registers10000Hooks => Refused("wants 10000 hooks"),
        }
    }

    /// Whether this, with so many lines of log, is what has to come of its call.
    pub(super) fn comes_to(self, outcome: &Outcome, log: usize) -> bool {
        match (self.expected(), outcome) {
            (Expected::NoAnswer(is_right), Outcome::NoAnswer(cause)) => is_right(cause),
            (Expected::Told(told), Outcome::Continue(change)) => change.context.as_deref() == Some(told),
            // The host ended the program, and on a busy machine there was no time to say so.
            (Expected::Told(_), Outcome::NoAnswer(Cause::TimedOut(_))) => self == Self::NeverReturns,
            (Expected::Cut(lines), outcome) => *outcome == Outcome::pass() && log == lines,
            _ => false,
        }
    }

    /// The component.
    pub(super) fn bytes(self) -> Vec<u8> {
        let run = format!(
            "(local $n i32)
            (if (i32.ne (i32.load8_u offset=12 (i32.load offset=24 (local.get $in))) (i32.const 98))
              (then (return (call $continue))))
            {}",
            self.section("run")
        );
        let text = text(&run).replace("(;MORE;)", self.section("more"));
        let text = text.replace("(;DESCRIBE;)", self.section("describe"));
        match self {
            Self::Sleeps => {
                let functions = [
                    ("subscribe", r#"(func $clock "subscribe-duration")"#, "(param i64) (result i32)"),
                    ("block-on", r#"(func $poll "[method]pollable.block")"#, "(param i32)"),
                ];
                importing(&text, self.section("imports"), &functions)
            }
            _ => binary(&text),
        }
    }

    /// What stands in its file under this head; nothing where it has none.
    fn section(self, head: &str) -> &'static str {
        let parts = self.source().split(";; == ").skip(1).filter_map(|part| part.split_once('\n'));
        parts.filter(|(name, _)| *name == head).map(|(_, text)| text).next().unwrap_or_default()
    }
}

/// The files in this folder that are no guest here.
pub(super) fn strangers(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    files.filter(|file| !Rough::ALL.iter().any(|guest| format!("{}.wat", guest.name()) == *file)).collect()
}
