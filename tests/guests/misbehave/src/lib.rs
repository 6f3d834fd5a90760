//! A plugin that does what its config names, on every event: `{"do": "spin"}`. For tests of the host.

use serde::Deserialize;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use tacklebox_sdk::{Answer, Context, Error, Event, Hook, Info, Input, Modification, Plugin};
use tacklebox_sdk::{bindings, config, log, process, serde_json, state};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// One of the words in `run`.
    #[serde(rename = "do")]
    deed: String,
    /// What `rewrite` and `output` answer.
    #[serde(default)]
    to: String,
}

struct Misbehave;

tacklebox_sdk::export!(Misbehave);

impl Plugin for Misbehave {
    fn info() -> Info {
        Info::new("misbehave", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"))
            .hook(Hook::on(Event::PreToolUse, "misbehave").matcher("bash").condition("bash(*)").timeout_ms(1000))
            .hook(Hook::on(Event::PostToolUse, "misbehave-after"))
    }

    fn run(input: &Input, cx: &Context) -> Result<Answer, Error> {
        let Config { deed, to } = config()?;
        Ok(match deed.as_str() {
            // Loops for ever.
            "spin" => spin(),
            // Calls itself until the stack is full.
            "recurse" => Answer::block(recurse(0).to_string()),
            // Takes memory until it is refused, then traps as Rust does.
            "allocate" => allocate(),
            "panic" => a_function_that_panics(),
            "err" => return Err(Error::new("misbehave failed as it was told")),
            // Blocks with a reason of 3 MB.
            "huge" => Answer::block("x".repeat(3_000_000)),
            // Writes 10,000 lines, and then 1 MiB in one.
            "log-flood" => log_flood(),
            // Rewrites the input to text that is not JSON, and to JSON that is no object.
            "invalid-json" => raw_input("{\"command\": ".into()),
            "not-object" => raw_input("[1]".into()),
            "continue" => Answer::pass(),
            "block" => Answer::block("misbehave blocks as it was told"),
            // All that it was given, as one JSON object, as context.
            "echo" => context(echo(input, cx)),
            // Adds 1 to a number in the state, or in memory, and gives it as context.
            "state" => context(state::add("calls", 1)?.to_string()),
            "remember" => context((REMEMBERED.fetch_add(1, Ordering::Relaxed) + 1).to_string()),
            // Runs a program that nobody grants, and gives what came of it as context.
            "process" => context(process()),
            "allow" => Answer::modify().allow().into(),
            "ask" => Answer::modify().ask().into(),
            "deny" => Answer::modify().deny().into(),
            // Rewrites the input to `{"command": to}`, or the output to `to`.
            "rewrite" => raw_input(object(&[("command", text(&to))])),
            "output" => Answer::modify().output(to).into(),
            other => return Err(Error::new(format!("misbehave cannot `{other}`"))),
        })
    }
}

static REMEMBERED: AtomicU32 = AtomicU32::new(0);

fn context(text: String) -> Answer {
    Answer::modify().context(text).into()
}

fn raw_input(text: String) -> Answer {
    Modification { input: Some(text), ..Answer::modify() }.into()
}

fn spin() -> ! {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns).wrapping_add(1);
    }
}

/// Keeps nothing in linear memory, so that the engine's stack is what overflows.
#[inline(never)]
fn recurse(depth: u64) -> u64 {
    if depth == u64::MAX { depth } else { recurse(depth + 1).rotate_left(3) ^ depth }
}

fn allocate() -> ! {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1_u8; 1024 * 1024]));
    }
}

#[inline(never)]
fn a_function_that_panics() -> ! {
    panic!("misbehave panics as it was told")
}

fn log_flood() -> Answer {
    for line in 0..10_000 {
        log::info(format_args!("line {line}"));
    }
    log::warn("x".repeat(1024 * 1024));
    Answer::pass()
}

fn process() -> String {
    match process::run("misbehave-no-such-program", &["--version"], b"") {
        Ok(_) => "ran".into(),
        Err(process::Error::Denied) => "denied".into(),
        Err(process::Error::NotFound) => "not-found".into(),
        Err(process::Error::TimedOut) => "timed-out".into(),
        Err(process::Error::Failed(why)) => why,
    }
}

/// By hand, since a JSON writer would be a third of this component.
fn echo(input: &Input, cx: &Context) -> String {
    let changed_by: Vec<String> = cx.changed_by.iter().map(text).collect();
    let input = object(&[
        ("event", text(&input.event.to_string())),
        ("hook", text(&input.hook)),
        ("toolName", text(&input.tool_name)),
        ("toolInput", input.tool_input.clone()),
        ("toolOutput", option(&input.tool_output)),
    ]);
    let context = object(&[
        ("dispatchId", text(&cx.dispatch_id)),
        ("sessionId", text(&cx.session_id)),
        ("rootSessionId", text(&cx.root_session_id)),
        ("turn", cx.turn.to_string()),
        ("cwd", option(&cx.cwd)),
        ("projectDir", option(&cx.project_dir)),
        ("agentId", option(&cx.agent_id)),
        ("agentType", option(&cx.agent_type)),
        ("parentAgentId", option(&cx.parent_agent_id)),
        ("agentDepth", cx.agent_depth.to_string()),
        ("toolUseId", option(&cx.tool_use_id)),
        ("attempt", cx.attempt.map_or("null".into(), |attempt| attempt.to_string())),
        ("recheck", cx.recheck.to_string()),
        ("originalInput", option(&cx.original_input)),
        ("changedBy", format!("[{}]", changed_by.join(","))),
        ("extra", cx.extra.clone()),
    ]);
    object(&[("input", input), ("context", context), ("config", bindings::tacklebox::hooks::config::get())])
}

#[inline(never)]
fn text(text: &String) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

#[inline(never)]
fn option(value: &Option<String>) -> String {
    value.as_ref().map_or("null".into(), text)
}

/// The values are JSON already.
#[inline(never)]
fn object(entries: &[(&str, String)]) -> String {
    let entries: Vec<String> = entries.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", entries.join(","))
}
