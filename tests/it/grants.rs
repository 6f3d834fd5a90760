//! What plugins are granted of programs and of approving, as an embedder and a settings file grant it, and what guests
//! that try for more come to.

use std::fs::{self, Permissions as Mode};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tacklebox::bus::{Heard, Record};
use tacklebox::event::{Context, PermissionRequest, PreToolUse};
use tacklebox::outcome::{Cause, Limit, Outcome};
use tacklebox::permission::{Folder, Permissions};
use tacklebox::policy::Trust;
use tacklebox::report::Report;
use tacklebox::source::{Reach, Scope, Source};
use tacklebox::surroundings::{Inherit, Surroundings};
use tacklebox::{HookRuntime as _, Runtime};
use tempfile::TempDir;

use crate::agent::{bash, cx};
use crate::program;

/// A machine of its own: a project, a folder of programs on `PATH`, and one beside it.
struct World {
    root: TempDir,
    path: Vec<PathBuf>,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["project/bin", "home", "bin", "elsewhere", "package"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let path = vec![root.path().join("bin")];
        fs::copy(escape(), root.path().join("package/escape.wasm")).unwrap();
        Self { root, path }
    }

    fn at(&self, name: &str) -> PathBuf {
        // As the system has it: some temporary folders are links.
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn lay(&self, name: &str, text: &str) {
        #[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
        fs::write(self.at(name), text).unwrap();
    }

    /// A shell script that is a program.
    fn program(&self, name: &str, script: &str) {
        // Beside it and then moved: a file that is being written cannot be run.
        let draft = format!("{name}.draft");
        self.lay(&draft, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.at(&draft), Mode::from_mode(0o755)).unwrap();
        fs::rename(self.at(&draft), self.at(name)).unwrap();
    }

    fn surroundings(&self) -> Surroundings {
        let path = std::env::join_paths(
            self.path.iter().map(PathBuf::as_path).chain([Path::new("/usr/bin"), Path::new("/bin")]),
        );
        let env = [
            ("PATH", path.unwrap()),
            ("HOME", self.at("home").into()),
            ("GITHUB_TOKEN", "ghp-secret".into()),
            ("DATABASE", "postgres://me:secret@host/db".into()),
            ("BASH_ENV", "/tmp/secret".into()),
            ("PLAIN", "plain".into()),
        ];
        let env = env.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let (home, project) = (Some(self.at("home")), Some(self.at("project")));
        Surroundings { home, project, env, ..Surroundings::default() }
    }

    async fn host(&self) -> Runtime {
        self.host_in(self.surroundings()).await
    }

    async fn host_in(&self, surroundings: Surroundings) -> Runtime {
        Runtime::builder(Trust::Trusted, surroundings).without_settings().build().await.unwrap()
    }

    /// The package: what it asks for, what it tries, and how long that may take.
    fn package(&self, asks: Value, tries: Value, timeout: f64) -> PathBuf {
        let hook = json!([{"name": "escape", "timeout": timeout}]);
        let manifest = json!({
            "name": "escape", "component": "escape.wasm", "permissions": asks, "config": {"try": tries},
            "hooks": {"PreToolUse": hook},
        });
        self.lay("package/plugin.json", &manifest.to_string());
        self.at("package")
    }

    /// A host whose plugin asks for just what it is granted.
    async fn granting(&self, programs: &[&str], tries: Value) -> Runtime {
        let package = self.package(json!({"run": programs}), tries, 60.0);
        let host = self.host().await;
        host.load_granted(skill(), package, Reach::Everywhere, running(programs)).await.unwrap();
        host
    }
}

fn escape() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/escape/escape.wasm")
}

fn skill() -> Source {
    Source::Skill("s".into())
}

fn running(programs: &[&str]) -> Permissions {
    programs.iter().fold(Permissions::default(), |all, name| all.running(*name))
}

/// What came of each try, and the report.
async fn told(host: &Runtime) -> (Vec<String>, Report) {
    told_in(host, "s1").await
}

async fn told_in(host: &Runtime, session: &str) -> (Vec<String>, Report) {
    let answer = host.pre_tool_use(&bash("ls"), &Context::new(session)).await;
    match answer.verdict {
        PreToolUse::Proceed { context, .. } => {
            (context.unwrap_or_default().lines().map(str::to_owned).collect(), answer.report)
        }
        other => panic!("{other:?} {:?}", answer.report),
    }
}

fn warnings(report: &Report) -> Vec<String> {
    report.warnings.iter().map(ToString::to_string).collect()
}

/// Polls until it is so; the bound is a busy machine's.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_runs_where_that_was_asked_for_and_granted_and_is_denied_else() {
    let world = World::new();
    world.program("bin/tool", "cat; echo \"$1 $#\"; pwd; echo oops >&2; exit 3");
    let tries =
        json!([["available", "tool"], ["pipe", "in ", "tool", "a b; $(c)"], ["available", "cat"], ["run", "cat"]]);
    let (came, report) = told(&world.granting(&["tool"], tries.clone()).await).await;
    let project = world.at("project");
    let expected = ["true", "3 in a b; $(c) 1", &format!("{}|oops", project.display()), "false", "denied"];
    assert_eq!(came, expected);
    let said = warnings(&report);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("plugin `escape` was denied `cat`: the permission `run` is not granted"), "{said:?}");
    for (asks, grants) in
        [(json!({}), &["tool"][..]), (json!({"run": ["tool"]}), &[]), (json!({"run": ["cat"]}), &["tool"])]
    {
        let package = world.package(asks.clone(), json!([["available", "tool"], ["run", "tool"]]), 60.0);
        let host = world.host().await;
        let loaded = host.load_granted(skill(), package, Reach::Everywhere, running(grants)).await.unwrap();
        assert_eq!(told(&host).await.0, ["false", "denied"], "{asks} {grants:?}");
        let said: Vec<_> = loaded.diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(said.iter().any(|line| line.contains("not asked for")), !grants.is_empty(), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bare_component_gets_what_it_is_granted_and_without_a_word_nothing() {
    let world = World::new();
    world.program("bin/tool", "echo ran");
    // Without a `plugin.json` it has no config of its own, so a settings entry tells it what to try.
    let settings = |grant: Value| {
        json!({"hooks": {"PreToolUse": [{
            "name": "escape", "type": "callback", "plugin": world.at("package/escape.wasm"), "grant": grant,
            "config": {"try": [["run", "tool"]]}, "timeout": 60,
        }]}})
    };
    fs::create_dir_all(world.at("home/.freecode")).unwrap();
    for (grant, expected) in
        [(json!({"run": ["tool"]}), "0 ran|"), (json!({}), "denied"), (json!({"run": "tool"}), "denied")]
    {
        world.lay("home/.freecode/settings.json", &settings(grant.clone()).to_string());
        let host = Runtime::builder(Trust::Trusted, world.surroundings()).build().await.unwrap();
        assert_eq!(told(&host).await.0, [expected], "{grant}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_is_told_to_those_who_listen() {
    let world = World::new();
    let host = world.granting(&[], json!([["run", "git"]])).await;
    let mut records = host.listen();
    told(&host).await;
    loop {
        if let Some(Heard::Record(record)) = records.next().await
            && let Record::Warning(said) = &*record
        {
            let said = said.to_string();
            assert!(said.contains("`escape`") && said.contains("`git`") && said.contains("`run`"), "{said}");
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_bare_name_runs_whatever_was_granted() {
    let world = World::new();
    world.program("bin/tool", "echo escaped");
    world.program("project/tool", "echo escaped");
    let path = world.at("bin/tool").display().to_string();
    let names = [
        path.as_str(),
        "./tool",
        "../bin/tool",
        "bin/tool",
        "tool/",
        "",
        ".",
        "..",
        "bin\\tool",
        "tool\0",
        " tool",
        "TOOL",
    ];
    let tries: Vec<_> = names.iter().map(|name| json!(["run", name])).collect();
    // Granted as well, past everything that checks a file.
    let package = world.package(json!({"run": names}), json!(tries), 60.0);
    let host = world.host().await;
    host.load_granted(skill(), package, Reach::Everywhere, running(&names)).await.unwrap();
    let (came, _) = told(&host).await;
    assert_eq!(came.len(), names.len());
    assert!(came.iter().all(|one| one == "denied" || one == "not-found"), "{came:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_argument_that_no_program_can_be_given_is_an_error_value() {
    let world = World::new();
    world.program("bin/tool", "echo \"$#\"");
    let tries = json!([["run", "tool", "a\0b"], ["run", "tool", "--help", ""]]);
    let (came, _) = told(&world.granting(&["tool"], tries).await).await;
    assert!(came[0].starts_with("failed: it does not start"), "{came:?}");
    assert_eq!(came[1], "0 2|");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_in_the_project_is_a_program_whichever_way_path_leads_there() {
    for way in ["project/bin", "by-link", "through", "relative", "empty", "dots", "file"] {
        let mut world = World::new();
        world.program("project/bin/tool", "echo escaped");
        symlink(world.at("project/bin"), world.at("by-link")).unwrap();
        world.program("elsewhere/tool", "echo escaped");
        symlink(world.at("elsewhere"), world.at("project/out")).unwrap();
        symlink(world.at("project/out"), world.at("through")).unwrap();
        world.path = match way {
            "relative" => vec!["project/bin".into(), "bin".into(), ".".into()],
            "empty" => vec!["".into()],
            "dots" => vec![world.at("home/../project/bin")],
            "file" => {
                symlink(world.at("project/bin/tool"), world.at("bin/tool")).unwrap();
                vec![world.at("bin")]
            }
            other => vec![world.at(other)],
        };
        let host = world.granting(&["tool"], json!([["available", "tool"], ["run", "tool"]])).await;
        assert_eq!(told(&host).await.0, ["false", "not-found"], "{way}");
    }
    // The next entry counts.
    let mut world = World::new();
    world.program("project/bin/tool", "echo escaped");
    world.program("bin/tool", "command -v helper || echo none");
    world.program("project/bin/helper", "true");
    world.path = vec![world.at("project/bin"), world.at("bin")];
    let host = world.granting(&["tool"], json!([["run", "tool"]])).await;
    assert_eq!(told(&host).await.0, ["0 none|"], "and what it starts in turn is not found there either");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_was_swapped_after_the_grant_is_denied_until_the_next_load() {
    let swaps: [fn(&World); 5] = [
        |world| world.program("bin/tool", "echo escaped"),
        |world| world.lay("bin/tool", "#!/bin/sh\necho escaped\n"),
        |world| {
            // Written in place, as large as it was, and its time set back.
            let before = fs::metadata(world.at("bin/tool")).unwrap().modified().unwrap();
            world.lay("bin/tool", "#!/bin/sh\necho right!\n");
            fs::File::options().write(true).open(world.at("bin/tool")).unwrap().set_modified(before).unwrap();
        },
        |world| world.program("first/tool", "echo escaped"),
        |world| {
            fs::remove_file(world.at("bin/tool")).unwrap();
            world.program("elsewhere/tool", "echo escaped");
            symlink(world.at("elsewhere/tool"), world.at("bin/tool")).unwrap();
        },
    ];
    for (nth, swap) in swaps.iter().enumerate() {
        let mut world = World::new();
        fs::create_dir(world.at("first")).unwrap();
        world.path = vec![world.at("first"), world.at("bin")];
        world.program("bin/tool", "echo granted");
        let host = world.granting(&["tool"], json!([["available", "tool"], ["run", "tool"]])).await;
        assert_eq!(told(&host).await.0, ["true", "0 granted|"], "{nth}");
        swap(&world);
        let (came, report) = told(&host).await;
        assert_eq!(came, ["false", "denied"], "{nth}");
        assert!(
            warnings(&report)[0].contains("not the program that was there when the permission `run`"),
            "{report:?}"
        );
        host.load_granted(skill(), world.at("package"), Reach::Everywhere, running(&["tool"])).await.unwrap();
        assert_eq!(told(&host).await.0[0], "true", "{nth}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_came_after_the_grant_is_denied_and_one_that_is_gone_is_not_found() {
    let world = World::new();
    world.program("bin/gone", "echo gone");
    let host = world.granting(&["late", "gone"], json!([["run", "late"], ["run", "gone"]])).await;
    assert_eq!(told(&host).await.0, ["not-found", "0 gone|"]);
    world.program("bin/late", "echo escaped");
    fs::remove_file(world.at("bin/gone")).unwrap();
    assert_eq!(told(&host).await.0, ["denied", "not-found"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_inherits_no_secret_whatever_commands_inherit() {
    let world = World::new();
    world.program("bin/tool", "env | tr '\\n' ' '");
    let package = world.package(json!({"run": ["tool"], "env": ["GITHUB_TOKEN"]}), json!([["run", "tool"]]), 60.0);
    let names = ["GITHUB_TOKEN", "DATABASE", "PATH", "PLAIN"].map(str::to_owned).to_vec();
    for inherit in [Inherit::LessSecrets, Inherit::All, Inherit::Only(names)] {
        let host = world.host_in(Surroundings { inherit, ..world.surroundings() }).await;
        // That the plugin itself may see a secret does not hand it to what it runs.
        let grant = running(&["tool"]).seeing("GITHUB_TOKEN");
        host.load_granted(skill(), &package, Reach::Everywhere, grant).await.unwrap();
        let (came, _) = told(&host).await;
        assert!(came[0].contains("PLAIN=plain"), "{came:?}");
        assert!(!came[0].contains("secret"), "{came:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_variable_makes_a_program_load_what_lies_where_it_runs() {
    let world = World::new();
    world.program("bin/tool", "env | sort | tr '\\n' ' '");
    let package = world.package(json!({"run": ["tool"]}), json!([["run", "tool"]]), 60.0);
    // An empty entry is the folder that a program runs in, and that is the project.
    let loading = [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "GCONV_PATH",
        "GIT_EXTERNAL_DIFF",
        "GIT_CONFIG_COUNT",
        "GIT_DIR",
        "NODE_OPTIONS",
        "NODE_PATH",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PERL5LIB",
        "PERL5OPT",
        "RUBYOPT",
        "RUBYLIB",
        "JAVA_TOOL_OPTIONS",
        "LUA_INIT",
        "MAKEFLAGS",
        "npm_config_script_shell",
        "PAGER",
        "EDITOR",
        "LESSOPEN",
        "RIPGREP_CONFIG_PATH",
        "RUSTC_WRAPPER",
        "CARGO_BUILD_RUSTC",
        "CDPATH",
        "BASH_ENV",
        "ENV",
        "IFS",
    ];
    for inherit in [Inherit::LessSecrets, Inherit::All, Inherit::Only(loading.map(str::to_owned).to_vec())] {
        let mut surroundings = Surroundings { inherit, ..world.surroundings() };
        surroundings.env.extend(loading.map(|name| (name.into(), ":steered".into())));
        let kept = ["LANG", "LC_ALL", "TZ", "CARGO_HOME", "PYTHONIOENCODING"];
        surroundings.env.extend(kept.map(|name| (name.into(), "kept".into())));
        let all = surroundings.inherit == Inherit::All;
        let host = world.host_in(surroundings).await;
        host.load_granted(skill(), &package, Reach::Everywhere, running(&["tool"])).await.unwrap();
        let (came, _) = told(&host).await;
        assert!(came[0].starts_with("0 ") && !came[0].contains("steered"), "{came:?}");
        assert!(!all || came[0].matches("=kept").count() == kept.len(), "{came:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_project_a_program_runs_in_an_empty_folder_that_is_gone_afterwards() {
    let world = World::new();
    world
        .program("bin/tool", "printf '%s %s' \"$(ls -A | wc -l)\" \"$(ls -ld . | cut -c1-10)\"; pwd > \"$HOME/where\"");
    let package = world.package(json!({"run": ["tool"]}), json!([["run", "tool"]]), 60.0);
    let host = world.host_in(Surroundings { project: None, ..world.surroundings() }).await;
    host.load_granted(skill(), package, Reach::Everywhere, running(&["tool"])).await.unwrap();
    assert_eq!(told(&host).await.0, ["0 0 drwx------|"]);
    let folder = fs::read_to_string(world.at("home/where")).unwrap();
    assert!(!Path::new(folder.trim()).exists(), "{folder}");
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_passed_as_they_are() {
    let world = World::new();
    world.program("bin/tool", "for a; do printf '<%s>' \"$a\"; done");
    let tries = json!([["run", "tool", "--exec=sh", "-c", "", "*", "$HOME", "`id`"], ["run", "tool", "a\0b"]]);
    let (came, _) = told(&world.granting(&["tool"], tries).await).await;
    assert_eq!(came[0], "0 <--exec=sh><-c><><*><$HOME><`id`>|");
    assert!(came[1].starts_with("failed: "), "{came:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_runs_eight_programs_and_the_next_call_eight_again() {
    let world = World::new();
    world.program("bin/tool", "echo ran");
    let tries = vec![json!(["run", "tool"]); 10];
    let host = world.granting(&["tool"], json!(tries)).await;
    for _ in 0..2 {
        let (came, _) = told(&host).await;
        assert_eq!(came[..8], ["0 ran|"; 8]);
        assert_eq!(came[8..], ["failed: a call may run 8 programs"; 2]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_past_the_cap_is_a_failure_and_a_program_that_goes_on_printing_is_ended() {
    let world = World::new();
    world.program("bin/fits", "head -c 1048576 /dev/zero");
    world.program("bin/much", "head -c 1048577 /dev/zero");
    world.program("bin/grumbles", "head -c 1048577 /dev/zero >&2");
    world.program("bin/endless", "echo $$ > pid; yes");
    let programs = ["fits", "much", "grumbles", "endless"];
    let host = world.granting(&programs, json!([["run", "much"], ["run", "grumbles"], ["run", "endless"]])).await;
    assert_eq!(told(&host).await.0, ["failed: it printed more than 1 MiB"; 3]);
    let pid = fs::read_to_string(world.at("project/pid")).unwrap();
    until("it is ended", || !lives(pid.trim())).await;
    let host = world.granting(&programs, json!([["run", "fits"]])).await;
    let answer = host.pre_tool_use(&bash("ls"), &cx()).await;
    let whole = Outcome::NoAnswer(Cause::Limit(Limit::Answer(1 << 20)));
    assert_eq!(answer.report.hooks[0].outcome, Some(whole), "all of it came, and with a word more it is no answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_reads_nothing_is_not_waited_for_and_one_that_reads_all_gets_all() {
    let world = World::new();
    world.program("bin/deaf", "exec <&-; echo deaf");
    world.program("bin/count", "wc -c | tr -d ' '");
    let host =
        world.granting(&["deaf", "count"], json!([["flood", "deaf"], ["flood", "count"], ["run", "count"]])).await;
    assert_eq!(told(&host).await.0, ["0 deaf|", "0 3145728|", "0 0|"]);
}

fn lives(pid: &str) -> bool {
    // A process that is dead and not yet reaped is still listed.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !matches!(stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next()), None | Some(Some('Z' | 'X')))
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_never_ends_is_gone_with_its_group_after_its_time_and_the_plugin_can_say_so() {
    let world = World::new();
    world.program("bin/stuck", "trap '' TERM; sleep 1000 & echo $$ $! > pids; wait; sleep 1000");
    let package = world.package(json!({"run": ["stuck"]}), json!([["run", "stuck"]]), 5.0);
    let host = world.host().await;
    host.load_granted(skill(), package, Reach::Everywhere, running(&["stuck"])).await.unwrap();
    assert_eq!(told(&host).await.0, ["timed-out"]);
    let pids = fs::read_to_string(world.at("project/pids")).unwrap();
    assert_eq!(pids.split_whitespace().count(), 2, "{pids}");
    until("both are gone", || pids.split_whitespace().all(|pid| !lives(pid))).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_takes_its_programs_with_it() {
    let world = World::new();
    world.program("bin/stuck", "echo $$ > pid.draft; mv pid.draft pid; sleep 1000");
    let host = std::sync::Arc::new(world.granting(&["stuck"], json!([["run", "stuck"]])).await);
    let asking = tokio::spawn({
        let host = host.clone();
        async move { host.pre_tool_use(&bash("ls"), &cx()).await }
    });
    until("it runs", || world.at("project/pid").exists()).await;
    let pid = fs::read_to_string(world.at("project/pid")).unwrap();
    assert!(lives(pid.trim()));
    host.unregister_all_now(skill());
    let answer = asking.await.unwrap();
    assert_eq!(answer.report.hooks[0].outcome, Some(Outcome::NoAnswer(Cause::Cancelled)));
    until("it is gone", || !lives(pid.trim())).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_leaves_behind_in_its_group_ends_with_it_and_a_daemon_keeps_nothing_waiting() {
    let world = World::new();
    world.program("bin/leaves", "sleep 1000 & echo $! > pid; echo done");
    let stays = "echo $$ > daemon; while [ -e daemon ]; do sleep 0.05; done";
    let daemon = format!("setsid sh -c '{stays}' & while ! [ -s daemon ]; do sleep 0.05; done; echo done");
    world.program("bin/daemon", &daemon);
    let host = world.granting(&["leaves", "daemon"], json!([["run", "leaves"], ["run", "daemon"]])).await;
    assert_eq!(told(&host).await.0, ["0 done|", "0 done|"]);
    let pid = fs::read_to_string(world.at("project/pid")).unwrap();
    until("it ends with its program", || !lives(pid.trim())).await;
    let daemon = fs::read_to_string(world.at("project/daemon")).unwrap();
    assert!(lives(daemon.trim()), "it left its group on purpose");
    fs::remove_file(world.at("project/daemon")).unwrap();
    until("it ends as it was told", || !lives(daemon.trim())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_runs_programs_has_30_seconds_unless_somebody_says() {
    let world = World::new();
    let manifest = |timeout: Value| {
        let mut hook = json!({"name": "escape"});
        if !timeout.is_null() {
            hook["timeout"] = timeout;
        }
        json!({"component": "escape.wasm", "permissions": {"run": ["git"]}, "hooks": {"PreToolUse": [hook]}})
            .to_string()
    };
    for (timeout, programs, expected) in
        [(Value::Null, &["git"][..], 30), (Value::Null, &[], 5), (json!(7), &["git"], 7), (Value::Null, &["jq"], 5)]
    {
        world.lay("package/plugin.json", &manifest(timeout));
        let host = world.host().await;
        host.load_granted(skill(), world.at("package"), Reach::Everywhere, running(programs)).await.unwrap();
        assert_eq!(host.hooks()[0].spec.time_limit(), Duration::from_secs(expected), "{programs:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_counts_where_that_was_asked_for_and_granted_and_its_source_may() {
    let world = World::new();
    let package = |asks: Value| {
        let hooks = json!({"PermissionRequest": [{"name": "escape", "timeout": 60}]});
        let manifest =
            json!({"component": "escape.wasm", "permissions": asks, "config": {"allow": true}, "hooks": hooks});
        world.lay("package/plugin.json", &manifest.to_string());
        world.at("package")
    };
    let approving = || Permissions::default().approving();
    for (asks, grant, counts) in [
        (json!({"approve": true}), approving(), true),
        (json!({"approve": true}), Permissions::default(), false),
        (json!({}), approving(), false),
        (json!({"approve": false}), approving(), false),
        (json!({"approve": "true"}), approving(), false),
    ] {
        let host = world.host().await;
        host.load_granted(skill(), package(asks.clone()), Reach::Everywhere, grant).await.unwrap();
        let verdict = host.permission_request(&bash("ls"), &cx()).await.verdict;
        assert_eq!(matches!(verdict, PermissionRequest::Allow { .. }), counts, "{asks}: {verdict:?}");
    }
    for (may, counts) in [(skill(), true), (Source::Sdk, false)] {
        let builder = Runtime::builder(Trust::Trusted, world.surroundings()).without_settings();
        let host = builder.sources_that_may_approve([may]).build().await.unwrap();
        let package = package(json!({"approve": true}));
        host.load_granted(skill(), package, Reach::Everywhere, approving()).await.unwrap();
        let verdict = host.permission_request(&bash("ls"), &cx()).await.verdict;
        assert_eq!(matches!(verdict, PermissionRequest::Allow { .. }), counts, "{verdict:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_grant_opens_the_state_of_another_plugin_or_session() {
    let world = World::new();
    world.program("bin/tool", "true");
    let host = world.granting(&["tool"], json!([["kept", "k"], ["keep", "k", "mine"], ["kept", "k"]])).await;
    assert_eq!(told_in(&host, "a").await.0, ["none", "ok", "mine"]);
    assert_eq!(told_in(&host, "a").await.0, ["mine", "ok", "mine"]);
    assert_eq!(told_in(&host, "b").await.0[0], "none");
    let other = Source::Skill("other".into());
    host.unregister_all(skill()).ended().await;
    host.load_granted(other, world.at("package"), Reach::Everywhere, running(&["tool"])).await.unwrap();
    assert_eq!(told_in(&host, "a").await.0[0], "none");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_entries_of_one_plugin_have_each_its_own_grant_and_a_smaller_one_holds_at_once() {
    let world = World::new();
    world.program("bin/tool", "echo ran");
    let entry = |name: &str, grant: Value| {
        json!({
            "name": name, "type": "callback", "plugin": world.at("package/escape.wasm"), "grant": grant, "timeout": 60,
            "config": {"try": [["run", "tool"]]},
        })
    };
    let settings = |grants: [Value; 2]| {
        let [a, b] = grants;
        world.lay(
            "home/.freecode/settings.json",
            &json!({"hooks": {"PreToolUse": [entry("a", a), entry("b", b)]}}).to_string(),
        );
    };
    fs::create_dir_all(world.at("home/.freecode")).unwrap();
    settings([json!({"run": ["tool"]}), json!({})]);
    let host = Runtime::builder(Trust::Trusted, world.surroundings()).build().await.unwrap();
    assert_eq!(told(&host).await.0.iter().filter(|line| *line == "0 ran|").count(), 1);
    assert_eq!(told(&host).await.0.iter().filter(|line| *line == "denied").count(), 1);
    // A broken file keeps no grant that the settings have taken back.
    world.lay("package/escape.wasm", "broken");
    settings([json!({}), json!({})]);
    host.reload().await;
    let answer = host.pre_tool_use(&bash("ls"), &cx()).await;
    let first = answer.report.hooks[0].outcome.as_ref();
    assert!(matches!(first, Some(Outcome::NoAnswer(Cause::CouldNotStart(_)))), "{first:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_grants_of_a_project_are_for_its_own_plugins() {
    let world = World::new();
    world.program("bin/tool", "echo ran");
    fs::copy(escape(), world.at("project/escape.wasm")).unwrap();
    let settings = |plugin: &Path| {
        json!({"hooks": {"PreToolUse": [{
            "name": "escape", "type": "callback", "plugin": plugin, "grant": {"run": ["tool"]}, "timeout": 60,
            "config": {"try": [["run", "tool"]]},
        }]}})
        .to_string()
    };
    fs::create_dir_all(world.at("project/.freecode")).unwrap();
    for (plugin, hooks) in [(world.at("project/escape.wasm"), 1), (world.at("package/escape.wasm"), 0)] {
        world.lay("project/.freecode/settings.json", &settings(&plugin));
        let host = Runtime::builder(Trust::Trusted, world.surroundings()).build().await.unwrap();
        let own = host.hooks().iter().filter(|hook| hook.source == Source::Settings(Scope::Project)).count();
        assert_eq!(own, hooks, "{}", plugin.display());
        if hooks == 1 {
            assert_eq!(told(&host).await.0, ["0 ran|"]);
        }
    }
}

#[test]
fn trust_shows_a_projects_grants_literally_and_a_change_of_them_is_not_trusted() {
    let world = program::World::new();
    world.lay("project/escape.wasm", &fs::read(escape()).unwrap());
    let settings = |grant: Value| {
        let hook = json!({"name": "e", "type": "callback", "plugin": "../escape.wasm", "grant": grant});
        json!({"hooks": {"PreToolUse": [hook]}}).to_string()
    };
    let grant =
        json!({"run": ["git", "jq"], "write": ["${project}/.git", "${project}/out"], "env": ["HOME"], "approve": true});
    world.lay("project/.freecode/settings.json", settings(grant).as_bytes());
    let said = world.run(&["trust"]);
    let page = format!("{}{}", said.out, said.err);
    for line in [
        "grants   run git",
        "grants   run jq",
        "grants   write ${project}/.git",
        "grants   write ${project}/out",
        "grants   env HOME",
        "grants   approve true",
        "beware   run git: runs other code",
        "beware   write ${project}/.git: can write what others run",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert_eq!(page.matches("beware").count(), 2, "{page}");
    let digest = world.run(&["trust", "--json"]).json()["digest"].as_str().unwrap().to_owned();
    assert_eq!(world.run(&["trust", "--digest", &digest]).code, Some(0));
    assert_eq!(world.run(&["trust", "--json"]).json()["trusted"], true);
    world.lay("project/.freecode/settings.json", settings(json!({"run": ["git", "jq", "sh"]})).as_bytes());
    assert_eq!(world.run(&["trust", "--json"]).json()["trusted"], false);
}

#[test]
fn inspect_shows_what_settings_grant_beside_what_is_asked_for() {
    let world = program::World::new();
    world.lay("project/package/escape.wasm", &fs::read(escape()).unwrap());
    let manifest =
        json!({"name": "e", "component": "escape.wasm", "permissions": {"run": ["git", "rg"], "http": ["a.example"]}});
    world.lay("project/package/plugin.json", manifest.to_string().as_bytes());
    let hook = json!({"name": "e", "type": "callback", "plugin": "../package", "grant": {"run": ["git"]}});
    let settings = json!({"hooks": {"PreToolUse": [hook]}}).to_string();
    world.lay("project/.freecode/settings.json", settings.as_bytes());
    let said = world.run(&["plugin", "inspect", "package"]);
    let row = |name: &str| {
        let row = said.out.lines().find(|line| line.trim_start().starts_with(name));
        row.unwrap_or_else(|| panic!("{name}: {}", said.out)).to_owned()
    };
    let run = row("run ");
    assert!(
        run.contains(r#"["git","rg"]"#) && run.contains(r#"["git"] by "#) && run.contains("settings.json:1"),
        "{run}"
    );
    assert!(row("http ").ends_with("none"), "{}", said.out);
    assert!(said.out.contains("run git: runs other code") && !said.out.contains("run rg: runs"), "{}", said.out);
    let json = world.run(&["plugin", "inspect", "package", "--json"]).json();
    assert_eq!(json["granted"][0]["permissions"], json!({"run": ["git"]}));
    assert_eq!(json["flags"], json!(["run git: runs other code"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_is_none_is_left_out_aloud() {
    let world = World::new();
    fs::create_dir_all(world.at("home/.freecode")).unwrap();
    let grant = json!({"http": ["https://example.com", "example.com"], "rum": []});
    let hook = json!({"name": "e", "type": "callback", "plugin": world.at("package/escape.wasm"), "grant": grant});
    world.lay("home/.freecode/settings.json", &json!({"hooks": {"PreToolUse": [hook]}}).to_string());
    let host = Runtime::builder(Trust::Trusted, world.surroundings()).build().await.unwrap();
    let said: Vec<_> = host.diagnostics().iter().map(ToString::to_string).collect();
    assert!(said.iter().any(|line| line.contains("`http`: `https://example.com` is no host")), "{said:?}");
    assert!(said.iter().any(|line| line.contains("unknown permission `rum` (hint: did you mean `run`?)")), "{said:?}");
    // A folder is granted by a typed word as well; one that is not there is said.
    let grant = Permissions::default().reading(Folder::project().below("nowhere").unwrap());
    let loaded = host.load_granted(skill(), escape(), Reach::Everywhere, grant).await.unwrap();
    assert!(
        loaded.diagnostics[0].to_string().contains("`${project}/nowhere` is granted and is not there"),
        "{loaded:?}"
    );
}
