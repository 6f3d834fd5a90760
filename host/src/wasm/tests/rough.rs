//! The guests under `tests/guests/rough`: each breaks one limit on purpose, beside another plugin that keeps its answers.
//!
//! What the others' calls take meanwhile, and how far past its limit a call ends, is for the benchmark of neighbours to say.

#[path = "../../../../tests/guests/rough.rs"]
mod guests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use self::guests::{Expected, Rough, strangers};
use super::asking::{Asking, ECHO, guest, load, plugins};
use super::written;
use crate::outcome::{self, Outcome};
use crate::permission::Permissions;
use crate::plugin::{Code, Terms};
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::wasm::{Limits, LoadError, Owner, Plugins};

/// How long a call may take that is to end otherwise than by time.
const LONG: Duration = Duration::from_secs(120);
/// How often the other plugin is asked meanwhile.
const BESIDE: usize = 1_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/guests/rough")
}

async fn loaded(plugins: &Plugins, guest: Rough) -> Result<Arc<dyn Code>, LoadError> {
    let surroundings = Surroundings { env: vec![("PATH".into(), "/bin:/usr/bin".into())], ..Surroundings::default() };
    let granted = Permissions::default().running("sleep").running("true");
    let owner = Owner::new(Source::Sdk).on(Terms { granted, surroundings, ..Terms::default() });
    plugins.load(&guest.bytes(), owner, Limits::default()).await
}

/// Asks another plugin again and again; each answer must be its own.
async fn beside(other: Arc<dyn Code>) {
    for n in 0..BESIDE {
        let reason = Asking::bash(&format!("echo {n}")).within(LONG).reason(&*other).await;
        assert_eq!(reason, format!(r#"{{"command":"echo {n}"}}"#));
    }
}

/// Has it break its limit while another plugin is asked; then the next call of it works.
async fn misbehaves(guest: Rough, code: &dyn Code, other: &Arc<dyn Code>) {
    let beside = tokio::spawn(beside(Arc::clone(other)));
    let mut times = 0;
    while times == 0 || !beside.is_finished() {
        let asked = Asking::bash("bad").within(guest.time().unwrap_or(LONG)).of(code).await;
        assert!(guest.comes_to(&asked.outcome, asked.log.len()), "{guest:?}: {asked:?}");
        assert_eq!(asked.warnings.len(), usize::from(matches!(guest.expected(), Expected::Cut(_))), "{guest:?}");
        times += 1;
    }
    beside.await.unwrap();
    assert_eq!(Asking::bash("good").within(LONG).of(code).await.outcome, Outcome::pass());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_rough_guest_costs_its_call_alone_and_the_report_names_the_cause() {
    let plugins = plugins();
    let other = load(&plugins, &guest(ECHO)).await;
    for &guest in Rough::ALL {
        match (guest.expected(), loaded(&plugins, guest).await) {
            (Expected::Refused(why), Err(error)) => assert!(error.to_string().contains(why), "{guest:?}: {error}"),
            (Expected::WantsNonsense, Ok(code)) => assert_eq!(code.info().hooks[0].event, "NoSuchEvent"),
            (Expected::NoAnswer(_) | Expected::Told(_) | Expected::Cut(_), Ok(code)) => {
                misbehaves(guest, &*code, &other).await;
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
        .and_then(|mut file| std::io::Write::write_all(&mut file, &Rough::UnknownEvent.bytes()))
        .unwrap();
    let builder = crate::Runtime::builder(crate::policy::Trust::Trusted, Surroundings::default()).without_settings();
    let host = builder.build().await.unwrap();
    let error = host.load(Source::Sdk, &file, crate::source::Reach::Everywhere).await.unwrap_err();
    assert!(error.to_string().contains("NoSuchEvent"), "{error}");
    assert!(host.hooks().is_empty());
}

#[test]
fn every_file_of_the_rough_guests_is_one_of_them() {
    assert_eq!(strangers(&folder()), [""; 0]);
}
