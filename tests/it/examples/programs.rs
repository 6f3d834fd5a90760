//! The examples that run programs: their committed packages and settings, and programs of the tests' own on a `PATH` of
//! the tests' own.

use std::fs::{self, Permissions as Mode};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tacklebox::event::{Consent, Context, EventName, Object, PostToolUse, PreToolUse, ToolCall, ToolOutcome};
use tacklebox::hook::HookSpec;
use tacklebox::outcome::{Change, Outcome, Permission};
use tacklebox::permission::Permissions;
use tacklebox::policy::Trust;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime as _, InputView, Runtime, RuntimeBuilder};

use crate::agent::{Seen, bash, cx, hook, is_about, spy};
use crate::place::Place;

/// What a program may take on a busy machine, in seconds.
const PATIENCE: f64 = 60.0;

/// A project, a home, and a folder of programs that is all of `PATH`.
struct Machine(Place);

impl Machine {
    fn new() -> Self {
        let place = Place::new();
        fs::create_dir(place.path("bin")).unwrap();
        Self(place)
    }

    /// With an `rtk` that notes what it is asked, and goes on with this.
    fn with_rtk(script: &str) -> Self {
        let machine = Self::new();
        machine.program("rtk", &format!("echo \"$#:$1:$2\" >> \"$HOME/asked\"\n{script}"));
        machine
    }

    /// As the system has it: some temporary folders are links.
    fn at(&self, path: &str) -> PathBuf {
        self.0.path("").canonicalize().unwrap().join(path)
    }

    /// A shell script that is a program. Only what the shell itself can is there for it.
    fn program(&self, name: &str, script: &str) {
        // Beside it and then moved: a file that is being written cannot be run.
        let draft = format!("bin/{name}.draft");
        self.0.lay(&draft, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.at(&draft), Mode::from_mode(0o755)).unwrap();
        fs::rename(self.at(&draft), self.at("bin").join(name)).unwrap();
    }

    fn builder(&self) -> RuntimeBuilder {
        let env = [("PATH", self.at("bin")), ("HOME", self.at("home"))];
        let env = env.map(|(name, value)| (name.into(), value.into())).to_vec();
        let (home, project) = (Some(self.at("home")), Some(self.at("project")));
        Runtime::builder(Trust::Trusted, Surroundings { home, project, env, ..Surroundings::default() })
    }

    /// The example's package as it is committed, but for the time it has, and for its config where there is one.
    async fn load(&self, host: &Runtime, name: &str, grant: &[&str], config: Value, timeout: f64) {
        let (committed, package) = (example(name), self.at("packages").join(name));
        fs::create_dir_all(&package).unwrap();
        let component = format!("{name}.wasm");
        fs::copy(committed.join(&component), package.join(&component)).unwrap();
        let mut manifest = read(&committed.join("plugin.json"));
        let (event, matcher) = match name {
            "rtk-rewrite" => ("PreToolUse", "bash"),
            _ => ("PostToolUse", "write|edit"),
        };
        manifest["hooks"] = json!({event: [{"name": name, "matcher": matcher, "timeout": timeout}]});
        manifest["config"] = config;
        self.0.lay(&format!("packages/{name}/plugin.json"), manifest.to_string());
        let grant = grant.iter().fold(Permissions::default(), |all, program| all.running(*program));
        host.load_granted(Source::Plugin(name.into()), package, Reach::Everywhere, grant).await.unwrap();
    }

    async fn rtk_rewrite(&self, grant: &[&str]) -> Runtime {
        let host = self.builder().build().await.unwrap();
        self.load(&host, "rtk-rewrite", grant, json!({}), PATIENCE).await;
        host
    }

    async fn format_on_save(&self, grant: &[&str], config: Value) -> Runtime {
        let host = self.builder().build().await.unwrap();
        self.load(&host, "format-on-save", grant, config, PATIENCE).await;
        host
    }

    /// What a program noted in the home folder.
    fn noted(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.at("home").join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins").join(name)
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// What would run, and every warning.
async fn becomes(host: &Runtime, command: &str) -> (String, Vec<String>) {
    let answer = host.pre_tool_use(&bash(command), &cx()).await;
    let warnings = answer.report.warnings.iter().map(ToString::to_string).collect();
    match answer.verdict {
        PreToolUse::Proceed { input, consent: Consent::Unset, .. } => {
            let input = input.as_ref().and_then(|input| input["command"].as_str());
            (input.unwrap_or(command).to_owned(), warnings)
        }
        other => panic!("{command}: {other:?} {warnings:?}"),
    }
}

async fn runs_as(host: &Runtime, command: &str) -> String {
    let (command, warnings) = becomes(host, command).await;
    assert!(warnings.is_empty(), "{warnings:?}");
    command
}

fn written(tool: &str, path: &str) -> ToolOutcome {
    let call = ToolCall::new(tool, Object::from_iter([("file_path".to_owned(), path.into())]));
    ToolOutcome { call, output: "written".to_owned(), original: None }
}

/// What the model reads after the output, which stays as it was.
async fn told(host: &Runtime, tool: &str, path: &str) -> Option<String> {
    match host.post_tool_use(&written(tool, path), &cx()).await.verdict {
        PostToolUse::Shown { output: None, complaint: None, context } => context,
        other => panic!("{path:?}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rtk_is_asked_where_it_is_granted_and_the_table_answers_for_what_it_does_not_know() {
    let machine = Machine::with_rtk("case $2 in git*) printf 'rtk %s' \"$2\"; exit 3;; *) exit 1;; esac");
    let host = machine.rtk_rewrite(&["rtk"]).await;
    assert_eq!(runs_as(&host, "git log -3").await, "rtk git log -3");
    assert_eq!(runs_as(&host, " git status\n").await, "rtk git status");
    assert_eq!(runs_as(&host, "cargo test a").await, "cargo test --quiet a");
    assert_eq!(runs_as(&host, "echo hello").await, "echo hello");
    let asked = ["2:rewrite:git log -3", "2:rewrite:git status", "2:rewrite:cargo test a", "2:rewrite:echo hello"];
    assert_eq!(machine.noted("asked"), asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn rtk_is_not_asked_about_what_is_not_worth_it() {
    let machine = Machine::with_rtk("echo rtk git status");
    let host = machine.builder().build().await.unwrap();
    let rules = json!({"rules": ["make => make -s", "git push"]});
    machine.load(&host, "rtk-rewrite", &["rtk"], rules, PATIENCE).await;
    for command in ["git status | cat", "git status > x", "X=1 git status", "git 'status'", "git status $(ls)", "-x"] {
        assert_eq!(runs_as(&host, command).await, command);
    }
    for command in ["rtk git status", "/usr/bin/rtk git status", "sudo rtk ls", "git push origin", "make -s"] {
        assert_eq!(runs_as(&host, command).await, command);
    }
    assert_eq!(runs_as(&host, "make all").await, "make -s all");
    let long = format!("git log {}", "x".repeat(5_000));
    assert_eq!(runs_as(&host, &long).await, long);
    let read = ToolCall::new("read", Object::from_iter([("command".to_owned(), "git status".into())]));
    host.pre_tool_use(&read, &cx()).await;
    assert!(machine.noted("asked").is_empty(), "{:?}", machine.noted("asked"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_rtk_the_table_answers_and_nobody_is_warned() {
    let machine = Machine::with_rtk("printf 'rtk %s' \"$2\"");
    for grant in [&[][..], &["git"]] {
        let host = machine.rtk_rewrite(grant).await;
        let (command, warnings) = becomes(&host, "git status").await;
        assert_eq!((command.as_str(), warnings.len()), ("git status --short --branch", 0), "{warnings:?}");
    }
    assert!(machine.noted("asked").is_empty());
    let host = Machine::new().rtk_rewrite(&["rtk"]).await;
    assert_eq!(runs_as(&host, "git status").await, "git status --short --branch");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_rtk_that_fails_or_talks_nonsense_leaves_it_to_the_table() {
    for script in [
        "exit 1",
        "printf 'rtk %s' \"$2\"; exit 1",
        "exit 101",
        "echo 'error: unrecognized subcommand' >&2; exit 2",
        "kill -9 $$",
        "true",
        "echo",
        "echo \"$2\"",
        "echo 'rtk git status; rm -rf src'",
        "echo 'rtk git status'; echo 'rm -rf src'",
        "echo 'rtk run rm -rf src'",
        "echo 'rtk git status > src/lib.rs'",
        "echo 'rtk git $(id)'",
        "echo 'error: unrecognized subcommand'",
        "printf 'rtk git status \\377'",
        "x=rtk; while [ ${#x} -lt 9000 ]; do x=\"$x git\"; done; echo \"$x\"",
        "while :; do echo rtk git status; done",
    ] {
        let machine = Machine::with_rtk(script);
        let host = machine.rtk_rewrite(&["rtk"]).await;
        assert_eq!(runs_as(&host, "git status").await, "git status --short --branch", "{script}");
        assert_eq!(machine.noted("asked").len(), 1, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_rtk_says_is_denied_is_left_for_the_rule_that_denies_it() {
    let machine = Machine::with_rtk("exit 2");
    assert_eq!(runs_as(&machine.rtk_rewrite(&["rtk"]).await, "git status").await, "git status");
    assert_eq!(machine.noted("asked").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_rtk_that_never_ends_is_waited_for_once_in_a_session() {
    let machine = Machine::with_rtk("exec /bin/sleep 1000");
    let host = machine.builder().build().await.unwrap();
    machine.load(&host, "rtk-rewrite", &["rtk"], json!({}), 10.0).await;
    for _ in 0..3 {
        assert_eq!(runs_as(&host, "git status").await, "git status --short --branch");
    }
    assert_eq!(machine.noted("asked").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn guards_see_a_command_both_as_it_was_and_behind_rtk_and_either_can_be_refused() {
    let seen = Seen::default();
    let guard = |refused: &'static str| {
        hook(EventName::PreToolUse, "guard", move |event| match is_about(event, refused) {
            true => Outcome::block("not that"),
            false => Outcome::pass(),
        })
    };
    for (refused, passes) in [("git push", false), ("rtk git push", false), ("git pull", true)] {
        let machine = Machine::with_rtk("printf 'rtk %s' \"$2\"");
        let host = machine.rtk_rewrite(&["rtk"]).await;
        host.register(Source::Sdk, Reach::Everywhere, [spy(EventName::PreToolUse, "spy", &seen), guard(refused)])
            .unwrap();
        let verdict = host.pre_tool_use(&bash("git push"), &cx()).await.verdict;
        assert_eq!(matches!(verdict, PreToolUse::Proceed { .. }), passes, "{refused}: {verdict:?}");
        // Whoever refuses it as it was ends the chain; and rtk is not asked about its own word.
        let expected = if refused == "git push" { &[][..] } else { &["2:rewrite:git push"] };
        assert_eq!(machine.noted("asked"), expected, "{refused}");
    }
    assert!(seen.all().ends_with(&["git push".to_owned(), "rtk git push".to_owned()]), "{:?}", seen.all());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_of_the_command_is_none_of_what_rtk_made_of_it_and_rtk_approves_nothing() {
    let approves = |command: &'static str| {
        hook(EventName::PreToolUse, "approves", move |event| match is_about(event, command) {
            true => Outcome::Continue(Change { permission: Some(Permission::Allow), ..Change::default() }),
            false => Outcome::pass(),
        })
    };
    let consent = async |hooks: Vec<HookSpec>| {
        let machine = Machine::with_rtk("printf 'rtk %s' \"$2\"; exit 0");
        let host = machine.rtk_rewrite(&["rtk"]).await;
        host.register(Source::Sdk, Reach::Everywhere, hooks).unwrap();
        match host.pre_tool_use(&bash("git log"), &cx()).await.verdict {
            PreToolUse::Proceed { input: Some(input), consent, .. } if input["command"] == "rtk git log" => consent,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(consent(vec![]).await, Consent::Unset);
    assert_eq!(consent(vec![approves("git log")]).await, Consent::Unset);
    assert_eq!(consent(vec![approves("rtk git log")]).await, Consent::Allow);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_hook_wrote_is_no_question_for_rtk() {
    let machine = Machine::with_rtk("printf 'rtk %s' \"$2\"");
    let host = machine.rtk_rewrite(&["rtk"]).await;
    let writer = hook(EventName::PreToolUse, "writer", |_| crate::agent::rewrite("git log"));
    host.register(Source::Session("s1".into()), Reach::Everywhere, [writer]).unwrap();
    becomes(&host, "git status").await;
    assert_eq!(machine.noted("asked"), ["2:rewrite:git status"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_is_formatted_and_the_model_is_told_where_that_may_have_changed_it() {
    let machine = Machine::new();
    machine.program("rustfmt", "echo \"$# $*\" >> \"$HOME/ran\"; eval \"file=\\${$#}\"\nread line < \"$file\"; [ \"$line\" = formatted ] || { echo formatted > \"$file\"; echo \"$file\"; }");
    machine.program("tidy", "echo \"$*\" >> \"$HOME/ran\"");
    let config = json!({"formatters": {"html": ["tidy", "-m", "a b"]}});
    let host = machine.format_on_save(&["rustfmt"], config.clone()).await;
    for (tool, path) in [("write", "src.rs"), ("edit", "-x.RS")] {
        machine.0.lay(&format!("project/{path}"), "raw\n");
        let file = machine.at("project").join(path);
        let text = told(&host, tool, path).await.unwrap_or_default();
        let expected =
            format!("`{}` was formatted by `rustfmt` and may no longer be as written: read it again", file.display());
        assert_eq!((text, fs::read_to_string(&file).unwrap().as_str()), (expected, "formatted\n"));
        assert_eq!(told(&host, tool, path).await, None, "it lists nothing, so nothing has changed");
        let ran = format!("4 --edition 2024 -l {}", file.display());
        assert_eq!(machine.noted("ran"), [ran.as_str(), ran.as_str()]);
        fs::remove_file(machine.at("home/ran")).unwrap();
    }
    assert_eq!(told(&host, "read", "src.rs").await, None);
    assert!(machine.noted("ran").is_empty());
    // One of the user's own, which the committed package does not ask for.
    let text = told(&host, "write", "x.html").await.unwrap_or_default();
    assert!(text.ends_with("are not formatted: `tidy` may not be run"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_formatter_that_is_denied_missing_or_failing_loses_no_output_and_the_model_knows() {
    for (script, grant, part) in [
        (Some("true"), &[][..], "`ruff` may not be run"),
        (None, &["ruff"], "`ruff` is not there"),
        (Some("echo no good >&2; exit 1"), &["ruff"], "(exit code 1), and may have changed it: no good"),
        (Some("kill -9 $$"), &["ruff"], "(a signal), and may have changed it"),
        (Some("while :; do echo much; done"), &["ruff"], "it printed more than 1 MiB"),
        (Some("x=; while [ ${#x} -lt 9000 ]; do x=no$x; done; echo $x >&2; exit 2"), &["ruff"], "nonono"),
    ] {
        let machine = Machine::new();
        if let Some(script) = script {
            machine.program("ruff", script);
        }
        let text = told(&machine.format_on_save(grant, json!({})).await, "write", "a.py").await.unwrap_or_default();
        assert!(text.contains(part) && text.len() < 1_500, "{script:?}: {text}");
    }
    let machine = Machine::new();
    machine.program("ruff", "exec /bin/sleep 1000");
    let host = machine.builder().build().await.unwrap();
    machine.load(&host, "format-on-save", &["ruff"], json!({}), 10.0).await;
    let text = told(&host, "write", "a.py").await.unwrap_or_default();
    assert!(text.contains("took too long"), "{text}");
    // A config that does not fit is a failure of the plugin, and costs no output either.
    let host = machine.format_on_save(&["ruff"], json!({"formatter": {}})).await;
    assert_eq!(told(&host, "write", "a.py").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_is_an_option_or_leads_a_formatter_out_of_the_project() {
    let machine = Machine::new();
    machine.program("rustfmt", "for word; do case $word in /*) echo \"$word\" >> \"$HOME/ran\";; esac; done");
    let host = machine.format_on_save(&["rustfmt"], json!({})).await;
    let outside = machine.at("home/x.rs").display().to_string();
    for path in [
        "",
        "../x.rs",
        "a/../../x.rs",
        outside.as_str(),
        "a\0.rs",
        "a\nb.rs",
        "\n/etc/x.rs",
        "Makefile",
        ".rs",
        "a.rs/",
    ] {
        let answer = told(&host, "write", path).await;
        assert!(answer.is_none() || path == "a.rs/", "{path:?}: {answer:?}");
    }
    let mut none = written("write", "a.rs");
    none.call.input = Object::default();
    host.post_tool_use(&none, &cx()).await;
    let before = machine.noted("ran");
    assert!(before.iter().all(|path| path.ends_with("/project/a.rs")), "{before:?}");
    for path in ["-a.rs", "--config=x.rs", "--.rs", "a b.rs", "$(id).rs", "*.rs", "@a.rs", "../project/a.rs"] {
        told(&host, "write", path).await;
        let last = machine.noted("ran").pop().unwrap_or_default();
        assert_eq!(last, machine.at("project").join(path.trim_start_matches("../project/")).display().to_string());
    }
    // Where the agent stands, and not the project, is what a path starts from.
    fs::create_dir(machine.at("project/sub")).unwrap();
    host.post_tool_use(&written("write", "b.rs"), &Context::new("s1").cwd(machine.at("project/sub"))).await;
    assert_eq!(machine.noted("ran").pop().unwrap_or_default(), machine.at("project/sub/b.rs").display().to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn their_settings_and_packages_work_as_they_are_committed() {
    let machine = Machine::with_rtk("printf 'rtk %s' \"$2\"; exit 3");
    machine.program("rustfmt", "echo \"$*\" >> \"$HOME/ran\"");
    machine.program("clang-format", "echo \"$*\" >> \"$HOME/ran\"");
    let mut settings = json!({"hooks": {}});
    for (name, event) in [("rtk-rewrite", "PreToolUse"), ("format-on-save", "PostToolUse")] {
        let mut entries = read(&example(name).join("settings.json"))["hooks"][event].clone();
        entries[0]["plugin"] = json!(example(name).join(entries[0]["plugin"].as_str().unwrap()));
        entries[0]["timeout"] = json!(PATIENCE);
        settings["hooks"][event] = entries;
    }
    machine.0.user(&settings);
    let by_settings = machine.builder().build().await.unwrap();
    assert_eq!(runs_as(&by_settings, "git log").await, "rtk git log");
    assert_eq!(runs_as(&by_settings, "git fetch").await, "git fetch", "a rule of the config");
    assert!(told(&by_settings, "write", "a.c").await.is_some());
    assert_eq!(told(&by_settings, "write", "a.rs").await, None);
    let in_project = |path: &str| machine.at("project").join(path).display().to_string();
    let ran = [
        format!("-i --fallback-style=none {}", in_project("a.c")),
        format!("--edition 2021 -l {}", in_project("a.rs")),
    ];
    assert_eq!(machine.noted("ran"), ran);
    // Whole, and with nothing granted.
    let plugins = ["rtk-rewrite", "format-on-save"].map(|name| (name.to_owned(), json!({"path": example(name)})));
    machine.0.user(json!({"plugins": Object::from_iter(plugins)}));
    let whole = machine.builder().build().await.unwrap();
    assert_eq!(whole.hooks().len(), 2);
    assert_eq!(runs_as(&whole, "git status").await, "git status --short --branch");
    assert!(told(&whole, "write", "a.rs").await.unwrap_or_default().ends_with("`rustfmt` may not be run"));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_waterfall_a_hook_behind_it_sees_what_rtk_made_of_the_command() {
    let machine = Machine::with_rtk("printf 'rtk %s' \"$2\"");
    let host = machine.builder().input_view(InputView::Waterfall).build().await.unwrap();
    machine.load(&host, "rtk-rewrite", &["rtk"], json!({}), PATIENCE).await;
    let seen = Seen::default();
    host.register(Source::Session("s1".into()), Reach::Everywhere, [spy(EventName::PreToolUse, "spy", &seen)]).unwrap();
    becomes(&host, "git log").await;
    assert_eq!(seen.all(), ["rtk git log"]);
}
