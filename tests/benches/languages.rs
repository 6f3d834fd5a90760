//! What plugins of slow languages cost: `cargo bench -p tacklebox-tests --bench languages`.
//!
//! The conformance plugin of each language is loaded, compiled and from the cache, and called, in a fresh instance each time and
//! in one that is kept for the session. `scripts/guests.sh LANGUAGE ..` builds them, under `target/guests-work` or where
//! `TACKLEBOX_GUESTS` says; for some a component is committed. A language without either is skipped, and that is said.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]
#![expect(clippy::disallowed_methods, reason = "it finds what it measures by a variable")]

#[path = "dispatch/side_by_side.rs"]
mod side_by_side;

use std::path::{Path, PathBuf};
use std::time::Instant;

use side_by_side::Bench;
use tacklebox::event::{Context, Object, PreToolUse, ToolCall};
use tacklebox::hook::Lifetime;
use tacklebox::plugin::Given;
use tacklebox::policy::Trust;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime as _, Runtime};

/// A language, and its component.
struct Language {
    name: String,
    component: Option<PathBuf>,
}

impl Language {
    /// Every language that has a conformance plugin.
    fn all() -> Vec<Self> {
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest-sdk");
        let work = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/guests-work");
        let work = std::env::var_os("TACKLEBOX_GUESTS").map_or(work, PathBuf::from);
        let names = std::fs::read_dir(&sdk).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut all: Vec<_> = names
            .filter(|name| sdk.join(name).join("conformance").is_dir())
            .map(|name| {
                let built = work.join(&name).join("conformance/plugin.wasm");
                let committed = sdk.join(&name).join("conformance/conformance.wasm");
                Self { component: [built, committed].into_iter().find(|file| file.is_file()), name }
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

/// A host that keeps compiled code in this folder, with the component loaded.
async fn host(component: &Path, cache: &Path, lifetime: Lifetime) -> Runtime {
    let builder = Runtime::builder(Trust::Trusted, Surroundings::default()).without_settings();
    let host = builder.compile_cache_in(cache).build().await.unwrap();
    let given = Given::default().living(lifetime);
    host.load_given(Source::Sdk, component, Reach::Everywhere, given).await.unwrap();
    host
}

/// Has the plugin say that the call goes on.
async fn call(host: &Runtime, cx: &Context) {
    let call = ToolCall::new("probe", Object::from_iter([("do".to_owned(), "continue".into())]));
    let answer = host.pre_tool_use(&call, cx).await;
    assert!(matches!(answer.verdict, PreToolUse::Proceed { .. }), "{answer:?}");
}

fn measure(bench: &mut Bench, language: &str, component: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("compiled");
    let size = std::fs::metadata(component).unwrap().len();
    let group = format!("{language}, {} KiB", size.div_ceil(1024));
    let began = Instant::now();
    drop(bench.tokio.block_on(host(component, &cache, Lifetime::Call)));
    let compiled = began.elapsed();
    for (name, lifetime) in [("call, instance: session", Lifetime::Session), ("call, fresh instance", Lifetime::Call)] {
        let (host, cx) = (bench.tokio.block_on(host(component, &cache, lifetime)), Context::new("s1"));
        bench.case(&group, name, async || call(&host, &cx).await);
    }
    bench.case(&group, "load, from the cache", async || drop(host(component, &cache, Lifetime::Call).await));
    bench.keep(&group, "load, compiled (once)", compiled);
}

fn main() {
    let mut bench = Bench::new();
    for Language { name, component } in Language::all() {
        match component {
            Some(component) => measure(&mut bench, &name, &component),
            None => println!("SKIPPED: {name}: not built; `scripts/guests.sh {name}` does it"),
        }
    }
    bench.finish();
}
