//! What a dispatch costs beside what one would use instead: `cargo bench -p tacklebox-tests --bench dispatch`.
//!
//! Each case is measured by criterion; at the end the medians stand side by side.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

#[path = "dispatch/side_by_side.rs"]
mod side_by_side;

use side_by_side::Bench;
use tacklebox::event::{Context, EventName, Object, PreToolUse, ToolCall};
use tacklebox::hook::{CommandHook, FunctionHook, HookKind, HookSpec, Lifetime};
use tacklebox::matching::Matcher;
use tacklebox::plugin::Given;
use tacklebox::policy::Trust;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime, Runtime, RuntimeBuilder};

const GUARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../example-plugins/no-rm-rf/no-rm-rf.wasm");

/// What people write in their settings: it knows one spelling, of one program.
const GREP: &str =
    r#"printf %s "$CLAUDE_TOOL_INPUT" | grep -qE 'rm +-(rf|fr)' && { echo 'no rm -rf' >&2; exit 2; }; exit 0"#;

/// A host without hooks.
fn host(bench: &Bench) -> Runtime {
    let builder = Runtime::builder(Trust::Trusted, Surroundings::of_this_process(".")).without_settings();
    bench.tokio.block_on(builder.build()).unwrap()
}

/// A host with these hooks at PreToolUse.
fn host_with(bench: &Bench, hooks: Vec<HookSpec>) -> Runtime {
    let host = host(bench);
    host.register(Source::Sdk, Reach::Everywhere, hooks).unwrap();
    host
}

fn hook(name: &str, kind: impl Into<HookKind>) -> HookSpec {
    HookSpec::new(EventName::PreToolUse, name, kind.into())
}

fn call(command: &str) -> ToolCall {
    ToolCall::new("bash", Object::from_iter([("command".to_owned(), command.into())]))
}

/// A guard that stops `rm -rf`, three ways, asked about a command that is fine and one that is not.
fn guards(bench: &mut Bench) {
    let plugin = host(bench);
    bench.tokio.block_on(plugin.load(Source::Sdk, GUARD, Reach::Everywhere)).unwrap();
    let function = FunctionHook::gate("no rm -rf", |event, _, _| {
        !event.input.get("command").and_then(|value| value.as_str()).is_some_and(|command| command.contains("rm -rf"))
    });
    let hosts = [
        ("function in process", host_with(bench, vec![hook("guard", function)])),
        ("no-rm-rf.wasm", plugin),
        ("bash -c with grep", host_with(bench, vec![hook("guard", CommandHook::new(GREP))])),
    ];
    let cx = Context::new("s1").cwd(env!("CARGO_MANIFEST_DIR"));
    let (fine, bad) = (call("cargo build && ls target"), call("cd x && rm -rf y"));
    for (name, host) in &hosts {
        // Before it is timed: each of them is a guard.
        let stops = |call| bench.tokio.block_on(host.pre_tool_use(call, &cx)).verdict;
        assert!(matches!(stops(&fine), PreToolUse::Proceed { .. }), "{name}");
        assert!(matches!(stops(&bad), PreToolUse::Blocked { .. }), "{name}");
        bench.case("a guard that passes", name, async || drop(host.pre_tool_use(&fine, &cx).await));
    }
    for (name, host) in &hosts {
        bench.case("a guard that blocks", name, async || drop(host.pre_tool_use(&bad, &cx).await));
    }
}

/// What a fresh instance costs beside one that is kept for the session: the difference is what starting the plugin takes.
fn instances(bench: &mut Bench) {
    let (cx, fine) = (Context::new("s1"), call("cargo build && ls target"));
    for (name, lifetime) in [("fresh for each call", Lifetime::Call), ("kept for the session", Lifetime::Session)] {
        let host = host(bench);
        let loading = host.load_given(Source::Sdk, GUARD, Reach::Everywhere, Given::default().living(lifetime));
        bench.tokio.block_on(loading).unwrap();
        bench.case("an instance of no-rm-rf.wasm", name, async || drop(host.pre_tool_use(&fine, &cx).await));
    }
}

/// What hooks cost that are not asked.
fn nobody_asked(bench: &mut Bench) {
    let never = || FunctionHook::gate("never asked", |_, _, _| false);
    let of = |text: &'static str| {
        let hooks =
            (0..20).map(|at| HookSpec { matcher: Matcher::new(text).unwrap(), ..hook(&format!("hook-{at}"), never()) });
        hooks.collect::<Vec<_>>()
    };
    let hosts = [
        ("no hooks", host(bench)),
        ("20 hooks of another name", host_with(bench, of("write|edit"))),
        ("20 hooks of another pattern", host_with(bench, of("mcp__.*__write"))),
    ];
    let (cx, call) = (Context::new("s1"), call("cargo build && ls target"));
    for (name, host) in &hosts {
        bench.case("a dispatch that asks nobody", name, async || drop(host.pre_tool_use(&call, &cx).await));
    }
}

/// What coming and going costs.
fn coming_and_going(bench: &mut Bench) {
    let host = host(bench);
    let set = || (0..20).map(|at| hook(&format!("hook-{at}"), FunctionHook::gate("no", |_, _, _| true)));
    bench.case("a set comes and goes", "20 functions", async || {
        host.register(Source::Skill("s".to_owned()), Reach::Everywhere, set()).unwrap();
        host.unregister_all(Source::Skill("s".to_owned()));
    });
    bench.case("a set comes and goes", "no-rm-rf.wasm, compiled", async || {
        host.load(Source::Skill("s".to_owned()), GUARD, Reach::Everywhere).await.unwrap();
        host.unregister_all(Source::Skill("s".to_owned()));
    });
}

/// What the first loading of a plugin costs in a host.
fn loading(bench: &mut Bench) {
    let folder = tempfile::tempdir().unwrap();
    let load = async |host: RuntimeBuilder| {
        let host = host.build().await.unwrap();
        host.load(Source::Sdk, GUARD, Reach::Everywhere).await.unwrap();
    };
    let bare = || Runtime::builder(Trust::Trusted, Surroundings::default()).without_settings();
    let cached = || bare().compile_cache_in(folder.path().join("compiled"));
    bench.tokio.block_on(load(cached()));
    bench.case("a host loads no-rm-rf.wasm", "compiled", async || load(bare()).await);
    bench.case("a host loads no-rm-rf.wasm", "from the cache", async || load(cached()).await);
}

fn main() {
    let mut bench = Bench::new();
    guards(&mut bench);
    instances(&mut bench);
    nobody_asked(&mut bench);
    coming_and_going(&mut bench);
    loading(&mut bench);
    bench.finish();
    println!("\na call of a plugin includes its fresh sandbox; a `bash -c` includes its process and that of grep");
}
