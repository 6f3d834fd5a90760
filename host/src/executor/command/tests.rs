//! Commands as they run: real processes of this machine, and what becomes of their groups.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::*;
use crate::event::{Context, Event, Object, PromptInput};
use crate::hook::{HookEnv, HookKind, HookSpec, OnCut, OnError};
use crate::id::DispatchId;
use crate::life::SessionLife;
use crate::outcome::{Block, Change, Said};
use crate::surroundings::Surroundings;

/// One asking with everything at its plainest, to be bent by the tests.
struct Asking {
    hook: CommandHook,
    event: Event,
    cx: Context,
    surroundings: Surroundings,
    on_error: Option<OnError>,
    limit: Duration,
    recheck: bool,
    life: Option<SessionLife>,
    project: tempfile::TempDir,
}

impl Asking {
    fn new(command: &str) -> Self {
        let project = tempfile::tempdir().unwrap();
        let surroundings = Surroundings {
            project: Some(project.path().to_owned()),
            home: Some("/".into()),
            env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            ..Surroundings::default()
        };
        let event = about(EventName::PreToolUse, "bash", json!({"command": "ls"}));
        let (cx, limit) = (Context::new("s-42").cwd(project.path()), Duration::from_secs(30));
        Self {
            hook: CommandHook::new(command),
            event,
            cx,
            surroundings,
            on_error: None,
            limit,
            recheck: false,
            life: None,
            project,
        }
    }

    fn on(mut self, event: Event) -> Self {
        self.event = event;
        self
    }

    fn limit(mut self, millis: u64) -> Self {
        self.limit = Duration::from_millis(millis);
        self
    }

    fn with(mut self, bend: impl FnOnce(&mut Self)) -> Self {
        bend(&mut self);
        self
    }

    async fn run(&self) -> Asked {
        let mut spec = HookSpec::new(self.event.name.clone(), "h", HookKind::Command(self.hook.clone()));
        spec.on_error = self.on_error;
        let ask = Ask {
            hook: &spec,
            event: &self.event,
            cx: &self.cx,
            life: &self.life.clone().unwrap_or_else(|| self.cx.session.clone().into()),
            dispatch: &DispatchId::fresh(),
            commands: None,
            recheck: self.recheck,
            surroundings: &self.surroundings,
            time_limit: self.limit,
            lease: &crate::ask::Lease::default(),
        };
        run(&self.hook, &ask).await
    }

    /// The number that the command wrote into the file `pid`.
    async fn pid(&self) -> i32 {
        pid_in(self.project.path()).await
    }
}

fn about(name: EventName, tool: &str, input: Value) -> Event {
    Event { tool: tool.into(), ..Event::plain(name, input.as_object().unwrap().clone()) }
}

async fn pid_in(project: &Path) -> i32 {
    for _ in 0..500 {
        match std::fs::read_to_string(project.join("pid")).ok().and_then(|pid| pid.trim().parse().ok()) {
            Some(pid) => return pid,
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("the command wrote no number");
}

fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

#[tokio::test]
async fn after_the_end_of_its_session_no_process_is_started() {
    let life = SessionLife::from("s-42");
    life.end();
    let asking = Asking::new("touch started").with(|asking| asking.life = Some(life));
    assert_eq!(asking.run().await.outcome, Outcome::NoAnswer(Cause::SessionEnded));
    assert!(!asking.project.path().join("started").exists());
}

async fn dies(pid: i32, within: Duration) -> bool {
    let start = Instant::now();
    while lives(pid) {
        if start.elapsed() > within {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

fn context(asked: &Asked) -> &str {
    match &asked.outcome {
        Outcome::Continue(Change { context: Some(context), .. }) => context,
        other => panic!("no context: {other:?}"),
    }
}

fn block(asked: &Asked) -> &Block {
    match &asked.outcome {
        Outcome::Block(block) => block,
        other => panic!("no block: {other:?}"),
    }
}

async fn says(command: &str) -> String {
    context(&Asking::new(command).run().await).to_owned()
}

#[tokio::test]
async fn a_command_passes_speaks_blocks_or_breaks() {
    assert_eq!(Asking::new("exit 0").run().await, Asked::from(Outcome::pass()));
    assert_eq!(says("echo hello").await, "hello");
    assert_eq!(says("printf 'a\\377b'").await, "a\u{fffd}b");
    let table = [
        ("echo out; echo no >&2; exit 2", "no", Said::ByExitCode),
        ("echo because; exit 2", "because", Said::ByExitCode),
        ("exit 1", "Exit code 1", Said::ByExitCode),
        ("echo '{\"block\": false, \"reason\": \"mine\"}'; exit 1", "mine\nExit code 1", Said::ByExitCode),
        ("kill -9 $$", "Killed by signal 9", Said::ByBreaking),
        ("printf '\\n  {\"block\": true, \"reason\": \"ws\"}  \\n'", "ws", Said::Explicitly),
        ("exec >&- 2>&-; exit 3", "Exit code 3", Said::ByExitCode),
    ];
    for (command, reason, said) in table {
        let asked = Asking::new(command).run().await;
        assert_eq!(block(&asked), &Block::new(reason, said));
    }
    let asked = Asking::new("no-such-program-here").run().await;
    assert!(block(&asked).reason.contains("127") && block(&asked).said == Said::ByBreaking);
}

#[tokio::test]
async fn json_changes_the_input_and_a_wrong_key_is_a_warning() {
    let asked = Asking::new(r#"echo '{"modifiedInput": {"command": "rtk ls"}, "context": "rewrote"}'"#).run().await;
    let input = json!({"command": "rtk ls"}).as_object().cloned();
    let change = Change { input, context: Some("rewrote".into()), ..Change::default() };
    assert_eq!(asked, Asked::from(Outcome::Continue(change)));
    let asked = Asking::new(r#"echo '{"modifiedInput": "rm"}'"#).run().await;
    assert_eq!((asked.outcome, asked.warnings.len()), (Outcome::pass(), 1));
}

#[tokio::test]
async fn on_error_block_makes_broken_json_no_answer() {
    let asked = Asking::new("echo '{not json'").run().await;
    assert_eq!(context(&asked), "{not json");
    let asked = Asking::new("echo '{not json'").with(|a| a.on_error = Some(OnError::Block)).run().await;
    assert!(matches!(asked.outcome, Outcome::NoAnswer(Cause::NotAnAnswer(_))));
}

#[tokio::test]
async fn the_payload_is_in_the_environment_and_stdin_is_empty() {
    let command = r#"[ "$CLAUDE_TOOL_NAME" = bash ] && [ "$CLAUDE_TOOL_INPUT" = '{"command":"ls"}' ] &&
        [ -z "$(cat)" ] && [ "$CLAUDE_SESSION_ID" = s-42 ] && basename "$PWD""#;
    let asking = Asking::new(command).with(|a| {
        std::fs::create_dir(a.project.path().join("sub")).unwrap();
        a.cx.cwd = Some("sub".into());
    });
    assert_eq!(context(&asking.run().await), "sub");
}

#[tokio::test]
async fn a_script_that_demands_every_variable_it_names_runs() {
    let command = "set -eu; echo $HOOK_RECHECK $HOOK_AGENT_DEPTH $CLAUDE_PROJECT_DIR/$CLAUDE_CWD >/dev/null; echo ok";
    assert_eq!(says(command).await, "ok");
}

#[tokio::test]
async fn args_run_without_a_shell() {
    let words = |command: &str, args: &[&str]| {
        Asking::new(command).with(|a| a.hook.args = Some(args.iter().map(|&a| a.into()).collect()))
    };
    assert_eq!(context(&words("/bin/echo", &["a  b", "$HOME"]).run().await), "a  b $HOME");
    assert_eq!(context(&words("echo", &["found in PATH"]).run().await), "found in PATH");
    for (program, env) in [("/no/such", "`/no/such` was not found"), ("no-such", "`no-such` was not found")] {
        let asked = words(program, &[]).run().await;
        assert_eq!(asked.outcome, Outcome::NoAnswer(Cause::CouldNotStart(env.into())));
    }
}

#[tokio::test]
async fn a_script_that_cannot_run_says_why() {
    let table = [
        ("#!/no/interpreter\n", 0o755, "the interpreter of `", "` was not found"),
        ("#!/bin/sh\r\nexit 0\n", 0o755, "the interpreter of `", "` was not found"),
        ("#!/bin/sh\nexit 0\n", 0o644, "`", "Permission denied (os error 13)"),
    ];
    for (text, mode, start, end) in table {
        let asking = Asking::new("./guard.sh").with(|a| {
            let script = a.project.path().join("guard.sh");
            let mut file = std::fs::File::create(&script).unwrap();
            std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            a.hook.args = Some(Vec::new());
        });
        let Outcome::NoAnswer(Cause::CouldNotStart(why)) = asking.run().await.outcome else { panic!("{text}") };
        assert!(why.starts_with(start) && why.ends_with(end), "{why}");
    }
}

#[tokio::test]
async fn without_a_shell_on_the_path_it_could_not_start() {
    let nowhere = |a: &mut Asking| a.surroundings.env = vec![("PATH".into(), "/nowhere".into())];
    for (shell, name) in [(crate::hook::Shell::Bash, "bash"), (crate::hook::Shell::Powershell, "pwsh")] {
        let asked = Asking::new("echo").with(nowhere).with(|a| a.hook.shell = shell).run().await;
        assert_eq!(asked.outcome, Outcome::NoAnswer(Cause::CouldNotStart(format!("`{name}` was not found"))));
    }
}

#[tokio::test]
async fn a_folder_that_is_gone_does_not_stop_the_guard() {
    let asked = Asking::new("pwd -P >&2; exit 2").with(|a| a.cx.cwd = Some("gone".into())).run().await;
    assert!(block(&asked).reason.starts_with('/') && asked.warnings.len() == 1);
    let all_gone = |a: &mut Asking| {
        a.cx.cwd = Some("/gone\0".into());
        a.surroundings.project = Some("/gone/too".into());
    };
    let asked = Asking::new("pwd >&2; exit 2").with(all_gone).run().await;
    assert_eq!((block(&asked).reason.as_str(), asked.warnings.len()), ("/", 1));
}

#[tokio::test]
async fn nul_in_a_payload_does_not_stop_the_guard() {
    let event = about(EventName::PostToolUse, "wri\0te", json!({"path": "a\u{0}b", "k\u{0}": "\u{0}"}));
    let event = Event { output: Some("x\0y".into()), ..event };
    let asked = Asking::new("echo \"$CLAUDE_TOOL_NAME$CLAUDE_TOOL_OUTPUT\" >&2; exit 2").on(event).run().await;
    assert_eq!(block(&asked).reason, "wri\u{fffd}tex\u{fffd}y");
}

#[tokio::test]
async fn a_large_input_is_cut_in_the_environment_and_whole_in_the_file() {
    let content = format!("{}FORBIDDEN", "x".repeat(300_000));
    let event = about(EventName::PreToolUse, "write", json!({"path": "a.txt", "content": content}));
    let command = r#"grep -q FORBIDDEN "$CLAUDE_TOOL_INPUT_FILE" || exit 3
        case "$CLAUDE_TOOL_INPUT" in *FORBIDDEN*) exit 4;; *'"path":"a.txt"'*'[output truncated]"}') echo seen;; esac"#;
    let asked = Asking::new(command).on(event.clone()).run().await;
    assert_eq!((context(&asked), asked.cut), ("seen", true));
    let asked = Asking::new("exit 0").on(event).with(|a| a.hook.on_cut = OnCut::Block).run().await;
    assert_eq!(block(&asked).said, Said::Explicitly);
    let asked = Asking::new("exit 0").with(|a| a.hook.on_cut = OnCut::Block).run().await;
    assert_eq!(asked, Asked::from(Outcome::pass()));
}

#[tokio::test]
async fn prompts_and_outputs_are_capped_in_the_environment_and_whole_in_files() {
    let prompt = PromptInput { prompt: "é".repeat(40_000) }.payload();
    let command = r#"export LC_ALL=C.UTF-8; printf %s "$HOOK_PROMPT" | wc -m; wc -m < "$HOOK_PROMPT_FILE"
        case "$CLAUDE_TOOL_INPUT" in *'[output truncated]","promptLength":40000}') echo cut;; esac"#;
    let asked = Asking::new(command).on(Event::plain(EventName::UserPromptSubmit, prompt)).run().await;
    assert_eq!((context(&asked), asked.cut), ("30000\n40000\ncut", true));
    let event = about(EventName::PostToolUse, "bash", json!({}));
    let event = Event { output: Some("o".repeat(30_001).into()), ..event };
    let asked = Asking::new("echo ${#CLAUDE_TOOL_OUTPUT}; wc -c < $CLAUDE_TOOL_OUTPUT_FILE").on(event).run().await;
    assert_eq!((context(&asked), asked.cut), ("30000\n30001", true));
}

#[tokio::test]
async fn whatever_of_the_payload_is_huge_the_guard_starts() {
    let keys: Object = (0..50_000).map(|i| (format!("key{i}"), json!(i))).collect();
    let mut event = Event { tool: "t".repeat(1 << 20).into(), ..Event::plain(EventName::PostToolUse, keys) };
    event.output = Some("\u{1f600}".repeat(100_000).into());
    let asked = Asking::new("echo \"$CLAUDE_TOOL_INPUT\" >&2; exit 2").on(event).run().await;
    assert_eq!((block(&asked).reason.as_str(), asked.cut), ("{}", true));
}

#[tokio::test]
async fn where_all_of_it_is_too_big_ours_shrink() {
    // Near the system's limit of 2 MiB, so that a value of 96 KiB is too much and one of 4 KiB is not.
    let host: Vec<_> = (0..16).map(|i| (format!("V{i:02}").into(), "v".repeat(126_000).into())).collect();
    let event = about(EventName::PreToolUse, "write", json!({"content": "x".repeat(95_000)}));
    let asking =
        Asking::new("echo ${#CLAUDE_TOOL_INPUT} >&2; exit 2").on(event).with(|a| a.surroundings.env.extend(host));
    let asked = asking.run().await;
    assert_eq!((block(&asked).reason.as_str(), asked.cut), ("4096", true));
    let asked = asking.with(|a| a.hook.on_cut = OnCut::Block).run().await;
    assert_eq!(block(&asked).said, Said::Explicitly);
}

#[tokio::test]
async fn twenty_megabytes_take_less_than_two_seconds() {
    let content = "a line about as long as those that people write, with a \"quoted\" word in it\n".repeat(275_000);
    let event = about(EventName::PreToolUse, "write", json!({"content": content, "path": "a"}));
    let asking = Asking::new("wc -c < \"$CLAUDE_TOOL_INPUT_FILE\"").on(event);
    let mut times = Vec::new();
    // The best of some, since the other tests keep the machine busy.
    while times.len() < 5 && times.iter().all(|time| *time >= Duration::from_secs(2)) {
        let start = Instant::now();
        let asked = asking.run().await;
        times.push(start.elapsed());
        assert!(context(&asked).parse::<usize>().unwrap() > 20_000_000);
    }
    assert!(times.iter().any(|time| *time < Duration::from_secs(20)), "{times:?}");
}

#[tokio::test]
async fn ten_thousand_levels_do_not_stop_the_guard() {
    let mut value = json!("FORBIDDEN");
    for _ in 0..10_000 {
        value = Value::Array(vec![value]);
    }
    let event = Event::plain(EventName::PreToolUse, Object::from_iter([("deep".to_owned(), value)]));
    // Dropping such a value recurses, in whoever made it.
    std::mem::forget(Arc::clone(&event.input));
    let command = "grep -q FORBIDDEN \"$CLAUDE_TOOL_INPUT_FILE\" && { echo found >&2; exit 2; }";
    assert_eq!(block(&Asking::new(command).on(event).run().await).reason, "found");
}

#[tokio::test]
async fn private_files_are_private_and_gone_afterwards() {
    let command = r#"stat -c %a "$CLAUDE_TOOL_INPUT_FILE" "$(dirname "$CLAUDE_TOOL_INPUT_FILE")"
        echo "$CLAUDE_TOOL_INPUT_FILE"; echo "[$CLAUDE_TOOL_OUTPUT_FILE$HOOK_PROMPT_FILE$CLAUDE_ENV_FILE]""#;
    let said = says(command).await;
    let lines: Vec<_> = said.lines().collect();
    assert_eq!((lines[0], lines[1], lines[3]), ("600", "700", "[]"));
    assert!(!Path::new(lines[2]).parent().unwrap().exists());
}

#[tokio::test]
async fn exports_of_a_session_start_come_back() {
    let event = || about(EventName::SessionStart, "SessionStart", json!({"sessionId": "s"}));
    let command = "echo \"export A='1 2'\" >> $CLAUDE_ENV_FILE; echo 'B=$(id)' >> $CLAUDE_ENV_FILE; echo hi";
    let asked = Asking::new(command).on(event()).run().await;
    assert_eq!((context(&asked), asked.warnings.len()), ("hi", 1));
    assert_eq!(asked.exports, [("A".to_owned(), "1 2".to_owned())]);
    let piped = "rm $CLAUDE_ENV_FILE; mkfifo $CLAUDE_ENV_FILE";
    assert_eq!(Asking::new(piped).on(event()).run().await, Asked::from(Outcome::pass()));
}

#[tokio::test]
async fn output_is_kept_to_a_cap_and_never_stops_the_command() {
    let asked = Asking::new("head -c 8388608 /dev/zero | tr '\\0' x; head -c 8388608 /dev/zero >&2").run().await;
    assert_eq!((context(&asked).len(), asked.warnings.len()), (crate::process::OUTPUT_CAP, 1));
    let asked = Asking::new("printf '{'; head -c 2000000 /dev/zero | tr '\\0' x").run().await;
    assert!(matches!(asked.outcome, Outcome::NoAnswer(Cause::NotAnAnswer(_))));
}

#[tokio::test]
async fn a_child_left_behind_is_not_waited_for_and_lives_on() {
    // It prints after the command has exited, which must not end it either.
    let asking = Asking::new("(sleep 0.5; echo late; echo $BASHPID > pid; exec sleep 20) & echo done");
    let start = Instant::now();
    assert_eq!(context(&asking.run().await), "done");
    assert!(start.elapsed() < Duration::from_secs(10));
    let pid = asking.pid().await;
    assert!(lives(pid));
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_timeout_ends_the_grandchildren_too_and_at_once() {
    let asking = Asking::new("sleep 300 & echo $! > pid; sleep 300").limit(1000);
    let start = Instant::now();
    let asked = asking.run().await;
    assert_eq!(asked.outcome, Outcome::NoAnswer(Cause::TimedOut(Duration::from_secs(1))));
    assert!(start.elapsed() < Duration::from_millis(2900), "{:?}", start.elapsed());
    assert!(!lives(asking.pid().await));
}

#[tokio::test]
async fn who_is_stopped_ends_at_once_too() {
    let asking = Asking::new("kill -STOP $$").limit(500);
    let start = Instant::now();
    assert!(matches!(asking.run().await.outcome, Outcome::NoAnswer(Cause::TimedOut(_))));
    assert!(start.elapsed() < Duration::from_millis(2400), "{:?}", start.elapsed());
}

#[tokio::test]
async fn who_ignores_the_request_is_killed() {
    let asking = Asking::new("(trap '' TERM; echo $BASHPID > pid; sleep 300; sleep 300) & exec sleep 300").limit(1000);
    let start = Instant::now();
    asking.run().await;
    assert!(start.elapsed() >= Duration::from_millis(2900) && start.elapsed() < Duration::from_secs(30));
    assert!(!lives(asking.pid().await));
}

#[tokio::test]
async fn a_dropped_asking_ends_the_group() {
    let asking = Asking::new("sleep 300 & echo $! > pid; sleep 300");
    let pid = tokio::select! {
        asked = asking.run() => panic!("{asked:?}"),
        pid = asking.pid() => pid,
    };
    assert!(dies(pid, Duration::from_secs(2)).await);
}

#[test]
fn a_runtime_that_goes_down_kills_at_once() {
    let asking = Asking::new("trap '' TERM; sleep 300 & echo $! > pid; sleep 300");
    let project = asking.project.path().to_owned();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.spawn(async move { asking.run().await });
    // A child that ignores SIGTERM would have two seconds, were it not for the runtime's end.
    let pid = runtime.block_on(pid_in(&project));
    drop(runtime);
    let start = Instant::now();
    while lives(pid) {
        assert!(start.elapsed() < Duration::from_millis(1900), "it lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_at_once_each_get_their_own_answer() {
    let asked = futures_util::future::join_all((0..200).map(|i| async move {
        let event = about(EventName::PreToolUse, &format!("tool-{i}"), json!({}));
        let asked = Asking::new("echo $CLAUDE_TOOL_NAME").on(event).limit(120_000).run().await;
        context(&asked) == format!("tool-{i}")
    }));
    assert!(asked.await.into_iter().all(|right| right));
}

#[tokio::test]
async fn a_permission_request_is_approved_by_silence() {
    let event = about(EventName::PermissionRequest, "bash", json!({"command": "ls"}));
    let asked = Asking::new("true").on(event).run().await;
    let permission = Some(crate::outcome::Permission::Allow);
    assert_eq!(asked.outcome, Outcome::Continue(Change { permission, ..Change::default() }));
}

#[tokio::test]
async fn a_shell_is_not_steered_by_the_hosts_environment() {
    let asking = Asking::new("echo \"[$BASH_ENV$ENV]\"; stolen 2>/dev/null; echo \"$MARK\"").with(|a| {
        let trap = a.project.path().join("trap.sh");
        std::io::Write::write_all(&mut std::fs::File::create(&trap).unwrap(), b"echo trapped").unwrap();
        a.surroundings.env.extend([
            ("BASH_ENV".into(), trap.clone().into()),
            ("ENV".into(), trap.into()),
            ("BASH_FUNC_stolen%%".into(), "() { echo stolen; }".into()),
        ]);
        a.hook.env = HookEnv::Set(vec![("MARK".into(), "mine".into()), ("CLAUDE_TOOL_NAME".into(), "x".into())]);
    });
    let asked = asking.run().await;
    assert_eq!((context(&asked), asked.warnings.len()), ("[]\nmine", 1));
}
