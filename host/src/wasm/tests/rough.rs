//! The guests under `tests/guests/rough`: each breaks one limit on purpose, where the tool's command begins with `b`.
//!
//! A guest without an expectation does not compile, and a file that is no guest here fails a test.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::asking::{Asking, ECHO, binary, guest, importing, load, plugins, text};
use crate::outcome::{Cause, Limit, Outcome};
use crate::permission::Permissions;
use crate::plugin::{Code, Terms};
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::wasm::{Limits, LoadError, Owner, Plugins};

macro_rules! guests {
    ($($name:ident = $file:literal,)*) => {
        /// A guest.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Rough { $($name,)* }

        impl Rough {
            const ALL: &[Self] = &[$(Self::$name,)*];

            fn file(self) -> &'static str {
                match self { $(Self::$name => concat!($file, ".wat"),)* }
            }

            fn source(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("../../../../tests/guests/rough/", $file, ".wat")),)* }
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
enum Expected {
    /// It is not loaded, for such a reason.
    Refused(fn(&LoadError) -> bool),
    /// It is loaded, and refused by whoever registers what it wants.
    WantsNonsense,
    /// It is no answer within so long, for such a reason.
    NoAnswer(Duration, fn(&Cause) -> bool),
    /// It is stopped with an error value, and says so as context.
    Told(&'static str),
    /// It goes on, with so many lines of log and a warning.
    Cut(usize),
}

const LONG: Duration = Duration::from_secs(120);
const SHORT: Duration = Duration::from_millis(300);

fn expected(guest: Rough) -> Expected {
    use Expected::{Cut, NoAnswer, Refused, Told, WantsNonsense};
    match guest {
        Rough::Spins | Rough::Sleeps => NoAnswer(SHORT, |cause| *cause == Cause::TimedOut(SHORT)),
        Rough::Recurses => NoAnswer(LONG, |cause| *cause == Cause::Limit(Limit::Stack(512 << 10))),
        Rough::Allocates => NoAnswer(LONG, |cause| *cause == Cause::Limit(Limit::Memory(64 << 20))),
        Rough::GrowsTables => NoAnswer(LONG, |cause| *cause == Cause::Limit(Limit::Table(20_000))),
        Rough::Returns50Mb => NoAnswer(LONG, |cause| *cause == Cause::Limit(Limit::Answer(1 << 20))),
        Rough::FloodsTheLog => Cut(100),
        Rough::FillsState => Told("1"),
        Rough::NeverReturns => Told("2"),
        Rough::StartsPrograms => Told("3"),
        Rough::Panics => NoAnswer(LONG, |cause| match cause {
            Cause::Trapped { backtrace, .. } => backtrace[0] == "a_function_that_panics",
            _ => false,
        }),
        Rough::CorruptsMemory => NoAnswer(LONG, |cause| matches!(cause, Cause::NotAnAnswer(_) | Cause::Trapped { .. })),
        Rough::InvalidJson => NoAnswer(LONG, |cause| matches!(cause, Cause::NotAnAnswer(why) if why.contains("JSON"))),
        Rough::LyingDescribe => Refused(|error| matches!(error, LoadError::Describe(_))),
        Rough::UnknownEvent => WantsNonsense,
        Rough::Registers10000Hooks => Refused(|error| *error == LoadError::TooManyHooks(10_000)),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/guests/rough")
}

/// What stands in a guest's file under this head; nothing where it has none.
fn section(guest: Rough, head: &str) -> &'static str {
    let parts = guest.source().split(";; == ").skip(1).filter_map(|part| part.split_once('\n'));
    parts.filter(|(name, _)| *name == head).map(|(_, text)| text).next().unwrap_or_default()
}

fn bytes(guest: Rough) -> Vec<u8> {
    let run = format!(
        "(local $n i32)
        (if (i32.ne (i32.load8_u offset=12 (i32.load offset=24 (local.get $in))) (i32.const 98))
          (then (return (call $continue))))
        {}",
        section(guest, "run")
    );
    let text = text(&run).replace("(;MORE;)", section(guest, "more"));
    let text = text.replace("(;DESCRIBE;)", section(guest, "describe"));
    match guest {
        Rough::Sleeps => {
            let functions = [
                ("subscribe", r#"(func $clock "subscribe-duration")"#, "(param i64) (result i32)"),
                ("block-on", r#"(func $poll "[method]pollable.block")"#, "(param i32)"),
            ];
            importing(&text, section(guest, "imports"), &functions)
        }
        _ => binary(&text),
    }
}

async fn loaded(plugins: &Plugins, guest: Rough) -> Result<Arc<dyn Code>, LoadError> {
    let surroundings = Surroundings { env: vec![("PATH".into(), "/bin:/usr/bin".into())], ..Surroundings::default() };
    let granted = Permissions::default().running("sleep").running("true");
    let owner = Owner::new(Source::Sdk).on(Terms { granted, surroundings, ..Terms::default() });
    plugins.load(&bytes(guest), owner, Limits::default()).await
}

/// Asks another plugin again and again; each answer must be its own.
async fn beside(other: &dyn Code) {
    for n in 0..50 {
        let reason = Asking::bash(&format!("echo {n}")).within(LONG).reason(other).await;
        assert_eq!(reason, format!(r#"{{"command":"echo {n}"}}"#));
    }
}

/// Has it break its limit beside another plugin; then the next call of both works.
async fn misbehaves(code: &dyn Code, other: &dyn Code, limit: Duration) -> crate::ask::Asked {
    let (bad, began) = (Asking::bash("bad").within(limit), Instant::now());
    let timed = async {
        let asked = bad.of(code).await;
        (asked, began.elapsed())
    };
    let ((asked, took), ()) = tokio::join!(timed, beside(other));
    println!("limit {limit:?}, ended after {took:?}");
    assert_eq!(Asking::bash("good").within(LONG).of(code).await.outcome, Outcome::pass());
    asked
}

#[tokio::test(flavor = "multi_thread")]
async fn each_rough_guest_costs_its_call_alone_and_the_report_names_the_cause() {
    let plugins = plugins();
    let other = load(&plugins, &guest(ECHO)).await;
    for &guest in Rough::ALL {
        let code = loaded(&plugins, guest).await;
        match (expected(guest), code) {
            (Expected::Refused(is_right), Err(error)) => assert!(is_right(&error), "{guest:?}: {error}"),
            (Expected::WantsNonsense, Ok(code)) => assert_eq!(code.info().hooks[0].event, "NoSuchEvent"),
            (Expected::NoAnswer(limit, is_right), Ok(code)) => match misbehaves(&*code, &*other, limit).await.outcome {
                Outcome::NoAnswer(cause) => assert!(is_right(&cause), "{guest:?}: {cause:?}"),
                answer => panic!("{guest:?}: {answer:?}"),
            },
            (Expected::Told(expected), Ok(code)) => {
                match misbehaves(&*code, &*other, Duration::from_secs(5)).await.outcome {
                    Outcome::Continue(change) => assert_eq!(change.context.as_deref(), Some(expected), "{guest:?}"),
                    // The host ended the program, and on a busy machine there was no time to say so.
                    Outcome::NoAnswer(Cause::TimedOut(_)) if guest == Rough::NeverReturns => {}
                    answer => panic!("{guest:?}: {answer:?}"),
                }
            }
            (Expected::Cut(lines), Ok(code)) => {
                let asked = misbehaves(&*code, &*other, LONG).await;
                assert_eq!((asked.outcome, asked.log.len()), (Outcome::pass(), lines), "{guest:?}");
                assert_eq!(asked.warnings.len(), 1, "{guest:?}");
            }
            (_, code) => panic!("{guest:?}: {:?}", code.map(|code| code.info().clone())),
        }
    }
}

#[tokio::test]
async fn a_plugin_that_wants_an_event_that_does_not_exist_is_not_registered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("unknown-event.wasm");
    std::fs::File::create(&file)
        .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes(Rough::UnknownEvent)))
        .unwrap();
    let builder = crate::Runtime::builder(crate::policy::Trust::Trusted, Surroundings::default()).without_settings();
    let host = builder.build().await.unwrap();
    let error = host.load(Source::Sdk, &file, crate::source::Reach::Everywhere).await.unwrap_err();
    assert!(error.to_string().contains("NoSuchEvent"), "{error}");
    assert!(host.hooks().is_empty());
}

#[test]
fn every_file_of_the_rough_guests_is_one_of_them() {
    let files = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<_> = files.collect();
    let mut known: Vec<_> = Rough::ALL.iter().map(|guest| guest.file().to_owned()).collect();
    files.sort();
    known.sort();
    assert_eq!(files, known);
}
