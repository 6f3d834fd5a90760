//! The program from outside: what it prints, where, and how it ends.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::program::World;

const GUARD: &str = r#"{"hooks": {"PreToolUse": [
  {"name": "guard", "matcher": "bash", "command": "echo not here >&2; exit 2"},
  {"name": "never", "matcher": "edit", "if": "edit(*.md)", "command": "exit 0"}
]}}"#;

fn of_the_repository(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join(path).to_string_lossy().into_owned()
}

const CALL: [&str; 5] = ["PreToolUse", "--tool", "bash", "--input", r#"{"command": "rm -rf /"}"#];

fn call<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command][..], &CALL, more].concat()
}

#[test]
fn a_block_is_two_and_says_who_and_why() {
    let said = World::with(GUARD).run(&call("run", &["--trust"]));
    assert_eq!((said.code, said.err.as_str()), (Some(2), ""));
    for part in ["PreToolUse: block", "not here", "guard (project)"] {
        assert!(said.out.contains(part), "{}", said.out);
    }
    assert!(!said.out.contains('\u{1b}'), "no colours where no terminal reads");
}

#[test]
fn the_verdict_is_one_json_value_for_those_who_ask() {
    let said = World::with(GUARD).run(&call("run", &["--trust", "--json"]));
    let verdict = said.json();
    assert_eq!(said.code, Some(2));
    assert_eq!((&verdict["decision"], &verdict["reason"]), (&json!("block"), &json!("not here")));
    let hook = &verdict["hooks"][0];
    assert_eq!(
        (&hook["name"], &hook["source"], &hook["kind"]),
        (&json!("guard"), &json!("project"), &json!("command"))
    );
    assert!(hook["millis"].is_f64(), "{hook}");
    assert!(verdict.get("modifiedInput").is_none() && verdict.get("stop").is_none(), "{verdict}");
}

/// A hook that hands back all that it was given, numbers as they are written.
const ECHO: &str = r#"{"hooks": {"PreToolUse": [
  {"name": "echo", "command": "printf '{\"modifiedInput\":{\"seen\":%s}}' \"$CLAUDE_TOOL_INPUT\""}
]}}"#;

#[test]
fn a_number_passes_to_the_last_bit_there_and_back() {
    // A quicker reader takes the first three for their neighbours.
    let numbers = "[0.10793126209409987,23.308445025757262,939167018948.5865,5e-324,9007199254740993,-0.0]";
    let input = format!(r#"{{"numbers":{numbers}}}"#);
    let said = World::with(ECHO).run(&["run", "PreToolUse", "--tool", "t", "--trust", "--json", "--input", &input]);
    let whole = format!(r#""input":{{"numbers":{numbers},"seen":{{"numbers":{numbers}}}}}"#);
    assert!(said.out.contains(&whole), "{}{}", said.out, said.err);
}

#[test]
fn an_allow_is_zero_an_ask_three_a_deny_two() {
    let asks = r#"{"hooks": {"PermissionRequest": [{"name": "a", "command": "echo '{\"permission\": \"WORD\"}'"}]}}"#;
    for (word, code) in [("allow", 0), ("ask", 3), ("deny", 2), ("none", 0)] {
        let world = World::with(&asks.replace("WORD", word));
        let said = world.run(&["run", "PermissionRequest", "--tool", "bash", "--trust"]);
        assert_eq!(said.code, Some(code), "{word}: {}", said.out);
    }
}

#[test]
fn without_trust_nothing_of_a_project_runs() {
    let world =
        World::with(r#"{"hooks": {"PreToolUse": [{"command": "touch ran"}], "TurnEnd": [{"command": "touch ran"}]}}"#);
    let gate = world.run(&call("run", &["--json"]));
    assert_eq!((gate.code, &gate.json()["decision"]), (Some(2), &json!("untrusted")));
    assert!(gate.json()["reason"].as_str().unwrap().contains("`tacklebox trust`"));
    let observed = world.run(&["run", "TurnEnd"]);
    assert_eq!(observed.code, Some(0));
    assert!(observed.out.contains("untrusted"), "{}", observed.out);
    assert!(!world.path("project/ran").exists());
}

#[test]
fn without_trust_a_projects_plugin_is_not_even_loaded() {
    let world = World::with(r#"{"hooks": {"Stop": [{"type": "callback", "plugin": "broken.wasm", "name": "p"}]}}"#);
    world.lay("project/.freecode/broken.wasm", b"no wasm");
    let said = world.run(&["run", "Stop", "--json"]);
    assert_eq!((said.code, &said.json()["decision"]), (Some(2), &json!("untrusted")));
    let trusted = world.run(&["run", "Stop", "--json", "--trust"]).json();
    assert!(trusted["warnings"][0].as_str().unwrap().contains("no WASM file"), "{trusted}");
}

#[test]
fn a_project_that_brings_nothing_needs_no_trust() {
    let world = World::new();
    world.lay("home/.freecode/settings.json", GUARD.as_bytes());
    assert_eq!(world.run(&call("run", &[])).code, Some(2));
    assert_eq!(World::new().run(&call("run", &[])).code, Some(0));
}

#[test]
fn a_plugin_beside_the_settings_is_asked() {
    let plugin = of_the_repository("example-plugins/no-rm-rf/no-rm-rf.wasm");
    let world = World::new();
    let verdict = world.run(&call("run", &["--plugin", &plugin, "--json"])).json();
    assert_eq!((&verdict["decision"], &verdict["hooks"][0]["source"]), (&json!("block"), &json!("session:cli")));
    let verdict = world.run(&call("run", &["--plugin", &plugin, "--source", "skill:x", "--json"])).json();
    assert_eq!(verdict["hooks"][0]["source"], "skill:x");
}

#[test]
fn a_plugin_that_spins_is_ended_and_blocks() {
    let plugin = of_the_repository("tests/guests/misbehave/misbehave.wasm");
    let world = World::new();
    let settings = json!({"hooks": {"PreToolUse": [
        {"name": "m", "type": "callback", "plugin": plugin, "timeout": 0.3, "config": {"do": "spin"}}
    ]}});
    world.lay("home/.freecode/settings.json", settings.to_string().as_bytes());
    let said = world.run(&call("run", &["--json"]));
    let verdict = said.json();
    assert_eq!((said.code, &verdict["hooks"][0]["outcome"]), (Some(2), &json!("failed")), "{verdict}");
    assert!(verdict["hooks"][0]["error"].is_string(), "{verdict}");
}

#[test]
fn wrong_usage_is_one_and_says_what_would_be_right() {
    let world = World::new();
    for (args, part) in [
        (vec!["run"], "EVENT"),
        (vec!["explain"], "EVENT"),
        (vec!["rum"], "run"),
        (vec!["run", "PreTooluse", "--tool", "x"], "did you mean `PreToolUse`?"),
        (vec!["run", "PreToolUse"], "give its `tool`"),
        (vec!["run", "PreToolUse", "--tool", "x", "--input", "{"], "`--input`: not JSON"),
        (vec!["run", "PreToolUse", "--tool", "x", "--input", "[]"], "expected a JSON object, found a list"),
        (vec!["run", "PreToolUse", "--tool", "x", "--input", "@none.json"], "none.json"),
        (vec!["run", "Stop", "--batch", "-"], "cannot be used with"),
        (vec!["run", "Stop", "--source", "team"], "names no source"),
        (vec!["run", "Stop", "--plugin", "none.wasm"], "none.wasm"),
        (vec!["run", "Stop", "--project", "none"], "none"),
        (vec!["run", "PostToolUse", "--tool", "x", "--input", "-", "--output", "-"], "@FILE"),
        (vec!["run", "--batch", "none.jsonl"], "none.jsonl"),
        (vec!["check", "none.json"], "none.json"),
    ] {
        let said = world.run(&args);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{args:?}: {}", said.err);
        assert!(said.err.contains(part), "{args:?}: {}", said.err);
    }
}

#[test]
fn help_is_short_or_has_examples_and_is_fine() {
    let world = World::new();
    for command in [&[][..], &["run"], &["list"], &["explain"], &["check"], &["plugin", "inspect"], &["completions"]] {
        let short = world.run(&[command, &["-h"]].concat());
        let long = world.run(&[command, &["--help"]].concat());
        assert_eq!((short.code, long.code), (Some(0), Some(0)), "{command:?}");
        assert!(!short.out.contains("Examples:") && long.out.contains("Examples:"), "{command:?}");
    }
    assert!(world.run(&["--version"]).out.starts_with("tacklebox "));
}

#[test]
fn input_and_output_come_from_files_and_stdin() {
    let world = World::with(
        r#"{"hooks": {"PostToolUse": [{"name": "g", "command": "echo \"$CLAUDE_TOOL_INPUT $CLAUDE_TOOL_OUTPUT\""}]}}"#,
    );
    world.lay("project/call.json", br#"{"path": "a"}"#);
    let args = ["run", "PostToolUse", "--tool", "read", "--input", "@call.json", "--output", "-", "--trust", "--json"];
    let verdict = world.feed(&args, b"secret").json();
    assert_eq!(verdict["additionalContext"], "{\"path\":\"a\"} secret", "{verdict}");
    let args = ["run", "Stop", "--input", "-", "--json"];
    assert_eq!(world.feed(&args, br#"{"attempt": "x"}"#).code, Some(1));
}

#[test]
fn a_batch_answers_each_line_and_outlives_bad_ones() {
    let world = World::with(GUARD);
    let lines = b"{\"event\":\"PreToolUse\",\"tool\":\"bash\",\"extra\":1}\n{\n\n{\"event\":\"Pretool\"}\n\xff\xfe\n\
        {\"event\":\"PreToolUse\"}\n{\"event\":\"Stop\"}";
    let said = world.feed(&["run", "--batch", "-", "--trust"], lines);
    let answers = said.lines();
    assert_eq!((said.code, said.err.as_str(), answers.len()), (Some(1), "", 6), "{}", said.out);
    assert_eq!(answers[0]["decision"], "block");
    assert!(answers[0]["warnings"][0].as_str().unwrap().contains("`extra`"), "{}", answers[0]);
    for (n, part) in [(1, "not JSON"), (2, "is no event"), (3, "not UTF-8"), (4, "none is named")] {
        assert!(answers[n]["error"].as_str().unwrap().contains(part), "{}", answers[n]);
    }
    assert_eq!(answers[5]["decision"], "allow");
}

#[test]
fn a_batch_without_a_bad_line_is_fine_and_says_load_warnings_once() {
    let world = World::with(r#"{"hooks": {"Stopp": [], "Stop": [{"name": "g", "command": "exit 2"}]}}"#);
    world.lay("project/batch.jsonl", b"{\"event\":\"Stop\"}\n{\"event\":\"Stop\"}\n");
    let said = world.run(&["run", "--batch", "batch.jsonl", "--trust"]);
    let answers = said.lines();
    assert_eq!((said.code, said.err.as_str(), answers.len()), (Some(0), "", 2));
    assert!(answers[0]["warnings"][0].as_str().unwrap().contains("Stopp"), "{}", answers[0]);
    assert_eq!(answers[1]["warnings"], json!([]));
}

#[test]
fn a_line_of_twenty_megabytes_is_a_line() {
    let world = World::with(GUARD);
    let line = json!({"event": "PreToolUse", "tool": "bash", "input": {"command": "x".repeat(20_000_000)}});
    let said = world.feed(&["run", "--batch", "-", "--trust"], format!("{line}\n").as_bytes());
    assert_eq!((said.code, &said.lines()[0]["reason"]), (Some(0), &json!("not here")));
}

#[test]
fn a_line_that_nests_too_deep_is_an_error_and_no_crash() {
    let line = format!("{{\"event\":\"Stop\",\"input\":{}", "{\"a\":".repeat(100_000));
    let said = World::new().feed(&["run", "--batch", "-"], line.as_bytes());
    assert!(said.lines()[0]["error"].as_str().unwrap().contains("deeper"), "{}", said.out);
}

#[test]
fn explain_runs_nothing_and_names_the_test() {
    let world = World::with(
        r#"{"hooks": {"PreToolUse": [
        {"name": "hit", "matcher": "bash", "if": "bash(rm *)", "command": "touch ran"},
        {"name": "miss", "matcher": "edit", "command": "touch ran"}]}}"#,
    );
    let said = world.run(&call("explain", &["--json", "--trust"]));
    let lines = said.lines();
    assert_eq!((said.code, &lines[0]["asked"], &lines[1]["asked"]), (Some(0), &json!(true), &json!(false)));
    assert!(lines[0]["because"].as_str().unwrap().contains("rm -rf /"), "{}", lines[0]);
    let page = world.run(&call("explain", &[])).out;
    assert!(page.contains("not asked") && page.contains("not trusted"), "{page}");
    assert!(!world.path("project/ran").exists());
}

#[test]
fn list_shows_every_hook_and_every_drop() {
    let world = World::with(
        r#"{"disabled": ["off"], "hooks": {"Stop": [{"name": "off", "command": "exit 0"},
            {"name": "same", "command": "exit 0"}], "PreToolUse": [{"name": "g", "if": "bash(git *)", "command": "exit 0"}]}}"#,
    );
    world.lay("home/.freecode/settings.json", br#"{"hooks": {"Stop": [{"name": "same", "command": "exit 1"}]}}"#);
    let lines = world.run(&["list", "--json"]).lines();
    let named = |name: &str| lines.iter().filter(|line| line["name"] == name).collect::<Vec<_>>();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!((&named("g")[0]["if"], &named("g")[0]["matcher"]), (&json!("bash(git *)"), &json!("*")));
    assert_eq!((&named("g")[0]["line"], &named("g")[0]["generation"]), (&json!(2), &json!(1)));
    assert!(named("off")[0]["dropped"].as_str().unwrap().contains("disabled"));
    assert_eq!(named("same").iter().filter(|line| line.get("dropped").is_some()).count(), 1);
    let page = world.run(&["list"]);
    assert!(page.out.contains("settings.json:2") && page.out.contains("dropped: replaced by"), "{}", page.out);
    assert!(page.err.contains("warning: "), "what was said at loading is on stderr: {}", page.err);
}

#[test]
fn check_finds_what_is_wrong_and_where() {
    let world =
        World::with("{\"hooks\": {\n\"PreToolUse\": [{\"name\": \"g\", \"comand\": \"x\", \"type\": \"command\"}]}}");
    let said = world.run(&["check"]);
    assert_eq!(said.code, Some(1));
    assert!(said.out.contains("settings.json:2: PreToolUse[0]"), "{}", said.out);
    assert!(said.out.contains("hint: did you mean `command`?"), "{}", said.out);
    let lines = world.run(&["check", "--json"]).lines();
    assert!(lines.iter().all(|line| line["line"] == 2 && line["severity"] == "warning"), "{lines:?}");
    assert_eq!(World::with(GUARD).run(&["check"]).code, Some(0));
    assert_eq!(World::new().run(&["check", "--json"]).out, "");
}

#[test]
fn check_looks_into_broken_files_without_falling_over() {
    let world = World::new();
    world.lay("project/empty.wasm", b"");
    world.lay("project/text.wasm", b"hello");
    world.lay("project/module.wasm", b"\0asm\x01\0\0\0");
    world.lay("project/cut.wasm", b"\0asm\x0d\0\x01\0\x07\xff");
    world.lay("project/bytes.json", b"{\"a\": \"\xe9\"}");
    world.lay("project/deep.json", "[".repeat(100_000).as_bytes());
    world.lay("project/package/plugin.json", br#"{"component": "../text.wasm"}"#);
    for (file, part) in [
        ("empty.wasm", "empty"),
        ("text.wasm", "no WASM file"),
        ("module.wasm", "core module"),
        ("cut.wasm", "cut short"),
        ("bytes.json", "not UTF-8"),
        ("deep.json", "not JSON"),
        ("package", "inside the package"),
        ("package/plugin.json", "inside the package"),
    ] {
        let said = world.run(&["check", file]);
        assert_eq!((said.code, said.err.as_str()), (Some(1), ""), "{file}: {}", said.out);
        assert!(said.out.contains(part), "{file}: {}", said.out);
    }
}

#[test]
fn what_is_shipped_has_nothing_wrong() {
    let examples =
        ["ask-policy", "format-on-save", "no-rm-rf", "protect-hooks", "redact-secrets", "rtk-rewrite", "token-ledger"];
    let files = examples.map(|name| of_the_repository(&format!("example-plugins/{name}/settings.json")));
    let said = World::new().run(&[&["check"], files.each_ref().map(String::as_str).as_slice()].concat());
    assert_eq!(said.code, Some(0), "{}", said.out);
}

#[test]
fn the_schema_is_json() {
    let schema = World::new().run(&["check", "--schema"]).json();
    assert!(schema["properties"]["hooks"]["properties"]["PreToolUse"].is_object());
}

#[test]
fn inspect_shows_what_a_plugin_could_do() {
    let world = World::new();
    let plugin = of_the_repository("example-plugins/no-rm-rf/no-rm-rf.wasm");
    let seen = world.run(&["plugin", "inspect", &plugin, "--json"]).json();
    assert_eq!((&seen["kind"], &seen["interface"]), (&json!("plugin"), &json!("0.1.0")));
    assert_eq!(seen["digest"].as_str().unwrap().len(), 64);
    assert!(seen.get("described").is_none(), "nothing ran");
    let described = world.run(&["plugin", "inspect", &plugin, "--json", "--describe"]).json();
    assert_eq!(described["described"]["hooks"][0]["event"], "PreToolUse");
}

#[test]
fn inspect_says_what_a_plugin_was_made_with_where_it_tells() {
    let world = World::new();
    let plugin = of_the_repository("example-plugins/no-rm-rf/no-rm-rf.wasm");
    let said = world.run(&["plugin", "inspect", &plugin]);
    let line = said.out.lines().find(|line| line.trim_start().starts_with("made with")).unwrap();
    assert!(line.contains("Rust, by ") && line.contains("rustc 1.85.1, "), "{line}");
    let made = world.run(&["plugin", "inspect", &plugin, "--json"]).json()["made"].clone();
    assert_eq!(made["languages"][0]["name"], "Rust");
    assert!(made["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "wit-bindgen-rust"), "{made}");
    for (language, title) in [("c", "C"), ("cpp", "C++")] {
        let plugin = of_the_repository(&format!("guest-sdk/{language}/conformance/conformance.wasm"));
        let made = world.run(&["plugin", "inspect", &plugin, "--json"]).json()["made"].clone();
        assert_eq!(made["languages"][0]["name"], title, "{made}");
    }
    // What nobody wrote into it is not made up.
    world.lay("project/module.wasm", b"\0asm\x01\0\0\0");
    assert!(!world.run(&["plugin", "inspect", "module.wasm"]).out.contains("made with"));
}

#[test]
fn what_a_file_says_of_its_makers_cannot_write_on_the_terminal() {
    let world = World::new();
    let producers = b"\x09producers\x01\x08language\x01\x05\x1b[2J\x07\x06\xe2\x80\xae1\n2";
    let section = [&[0, u8::try_from(producers.len()).unwrap()], &producers[..]].concat();
    world.lay("project/module.wasm", &[b"\0asm\x01\0\0\0", &section[..]].concat());
    let said = world.run(&["plugin", "inspect", "module.wasm"]);
    assert!(said.out.contains("made with  \\u{1b}[2J\\u{7} \\u{202e}1\\u{a}2\n"), "{:?}", said.out);
}

#[test]
fn inspect_names_a_wasi_command_and_what_it_imports() {
    let player = of_the_repository("tests/guests/player/player.wasm");
    let world = World::new();
    let said = world.run(&["plugin", "inspect", &player, "--json"]);
    let seen = said.json();
    assert_eq!((said.code, &seen["kind"]), (Some(0), &json!("WASI command (core module)")), "{seen}");
    let permission = |name: &str| {
        let imports = seen["imports"].as_array().unwrap();
        imports.iter().find(|import| import["name"] == name).map(|import| import["permission"].clone())
    };
    assert_eq!(permission("wasi_snapshot_preview1::environ_get"), Some(json!("env")));
    assert_eq!(permission("wasi_snapshot_preview1::fd_write"), Some(json!("needs none")));
    let described = world.run(&["plugin", "inspect", &player, "--describe"]);
    assert_eq!(described.code, Some(1));
    assert!(described.err.contains("a WASI command has no `describe`"), "{}", described.err);
}

#[test]
fn inspect_puts_requested_and_granted_side_by_side() {
    let world = World::new();
    let plugin = std::fs::read(of_the_repository("example-plugins/no-rm-rf/no-rm-rf.wasm")).unwrap();
    world.lay("project/package/guard.wasm", &plugin);
    world.lay(
        "project/package/plugin.json",
        br#"{"name": "p", "component": "guard.wasm", "permissions": {"read": ["${project}"]},
            "hooks": {"PreToolUse": [{"name": "h", "matcher": "bash"}]}}"#,
    );
    let said = world.run(&["plugin", "inspect", "package"]);
    let row = said.out.lines().find(|line| line.trim_start().starts_with("read ")).unwrap();
    assert!(row.contains("${project}") && row.ends_with("none"), "{row}");
    assert!(said.out.contains("PreToolUse  h  bash"), "{}", said.out);
}

#[test]
fn inspect_refuses_what_is_no_plugin() {
    let world = World::new();
    world.lay("project/text.wasm", b"hello");
    world.lay("project/module.wasm", b"\0asm\x01\0\0\0");
    world.lay("project/folder/readme", b"");
    for (file, part) in [("text.wasm", "no WASM file"), ("module.wasm", "core module"), ("folder", "plugin.json")] {
        let said = world.run(&["plugin", "inspect", file]);
        assert_eq!(said.code, Some(1), "{file}");
        assert!(said.err.contains(part), "{file}: {}", said.err);
    }
}

#[test]
fn names_from_outside_cannot_write_on_the_terminal() {
    let world = World::with(
        r#"{"hooks": {"Stop": [{"name": "a\u001b[2Jb\n  blocked", "command": "printf 'x\\033[2Jy' >&2; exit 2"}]}}"#,
    );
    for args in
        [&["run", "Stop", "--trust"][..], &["list"], &["explain", "Stop"], &["run", "Stop", "--trust", "--json"]]
    {
        let said = world.run(args);
        assert!(!said.out.contains('\u{1b}') && !said.err.contains('\u{1b}'), "{args:?}: {}", said.out);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let world = World::with(GUARD);
    let mut child = world.command(&["check", "--schema"]).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.len()), (Some(0), 0));
    // A decision stands all the same.
    let mut child = world.command(&call("run", &["--trust"])).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.len()), (Some(2), 0));
}

#[test]
fn a_signal_ends_the_hooks_that_run() {
    let world = World::with(
        r#"{"hooks": {"Stop": [{"name": "slow", "command": "trap 'touch ended; exit' TERM; echo > began; sleep 60 & wait"}]}}"#,
    );
    let mut child = world.command(&["run", "Stop", "--trust"]).spawn().unwrap();
    wait_for(&world.path("project/began"));
    #[expect(clippy::disallowed_methods, reason = "the tests' one way to send a signal")]
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    assert!(world.path("project/ended").exists(), "it was told, and had the time to hear it");
}

fn wait_for(path: &Path) {
    let until = Instant::now() + Duration::from_secs(10);
    while !path.exists() {
        assert!(Instant::now() < until, "{} does not come", path.display());
        std::thread::yield_now();
    }
}

#[test]
fn verbose_tells_on_stderr_and_leaves_stdout_alone() {
    let world = World::with(r#"{"hooks": {"Stopp": []}}"#);
    let said = world.run(&["run", "Stop", "--json", "--trust", "-v"]);
    assert!(said.err.contains("Stopp"), "{}", said.err);
    assert_eq!(said.json()["decision"], "allow");
}

#[test]
fn completions_for_the_common_shells() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = World::new().run(&["completions", shell]);
        assert!(said.code == Some(0) && said.out.contains("explain"), "{shell}");
    }
}

#[test]
fn what_one_run_compiles_the_next_one_takes_until_it_is_cleared() {
    let world = World::new();
    let guard = of_the_repository("example-plugins/no-rm-rf/no-rm-rf.wasm");
    let empty = world.run(&["cache", "--json"]).json();
    let folder = world.path("home/.cache/tacklebox/compiled");
    assert_eq!(empty, json!({"folder": folder.to_str().unwrap(), "entries": 0, "bytes": 0}));
    for from in ["Compiler", "Cache"] {
        let said = world.run(&call("run", &["--plugin", &guard, "-v"]));
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.lines().any(|line| line.contains("code of") && line.contains(from)), "{}", said.err);
    }
    let full = world.run(&["cache"]);
    assert!(full.out.contains("1 entry, ") && full.out.contains("KiB"), "{}", full.out);
    let cleared = world.run(&["cache", "clear", "--json"]).json();
    assert_eq!((&cleared["entries"], &cleared["cleared"]), (&json!(1), &json!(true)));
    assert!(world.run(&["cache", "clear"]).out.starts_with("removed 0 entries, 0 bytes from "));
}

#[test]
fn programs_that_start_at_once_share_one_cache() {
    let world = World::new();
    let guard = of_the_repository("example-plugins/no-rm-rf/no-rm-rf.wasm");
    let running: Vec<_> = (0..4).map(|_| world.command(&call("run", &["--plugin", &guard])).spawn().unwrap()).collect();
    for program in running {
        assert_eq!(program.wait_with_output().unwrap().status.code(), Some(2));
    }
    assert_eq!(world.run(&["cache", "--json"]).json()["entries"], 1);
}

#[test]
fn a_cache_that_others_can_open_is_named_and_left_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let folder = world.path("home/.cache/tacklebox/compiled");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    let said = world.run(&["cache", "clear"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("open to others") && said.err.contains("hint:"), "{}", said.err);
    let guard = of_the_repository("example-plugins/no-rm-rf/no-rm-rf.wasm");
    assert_eq!(world.run(&call("run", &["--plugin", &guard])).code, Some(2));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}
