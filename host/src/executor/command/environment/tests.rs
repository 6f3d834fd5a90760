//! What a command finds in its environment, and what is kept from it.

use serde_json::json;

use std::os::unix::ffi::OsStringExt as _;

use super::*;
use crate::event::{Agent, Context, Event, EventName};
use crate::hook::{CommandHook, HookKind, HookSpec};
use crate::id::DispatchId;
use crate::surroundings::Inherit;

fn host(vars: &[(&str, &str)], inherit: Inherit) -> Surroundings {
    let env = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
    Surroundings { project: Some("/p".into()), env, inherit, ..Surroundings::default() }
}

async fn environment(own: HookEnv, surroundings: &Surroundings, event: &Event, cx: &Context) -> Environment {
    let hook = HookSpec::new(event.name.clone(), "h", HookKind::Command(CommandHook::new("true")));
    let ask = Ask {
        hook: &hook,
        event,
        cx,
        life: &cx.session.clone().into(),
        dispatch: &DispatchId::fresh(),
        commands: None,
        recheck: true,
        surroundings,
        time_limit: std::time::Duration::from_secs(1),
        lease: &crate::ask::Lease::default(),
    };
    let payload = Payload::of(event).await.unwrap();
    Environment::of(&own, &ask, &payload, super::super::payload::VALUE_LIMIT)
}

fn event() -> Event {
    Event::plain(EventName::PreToolUse, json!({"file_path": "a/../b"}).as_object().unwrap().clone())
}

fn value<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.vars.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value.to_str().unwrap())
}

#[tokio::test]
async fn the_four_steps() {
    let vars = [
        ("PATH", "/bin"),
        ("GITHUB_TOKEN", "t"),
        ("BASH_ENV", "/x"),
        ("ENV", "/x"),
        ("BASH_FUNC_ls%%", "() { :; }"),
        ("CLAUDE_TOOL_NAME", "forged"),
        ("CLAUDE_PLUGIN_ROOT", "forged"),
        ("HOOK_PROMPT", "forged"),
        ("HOOK_MINE", "not ours"),
    ];
    let keep = |names: &[&str]| HookEnv::Keep(names.iter().map(|&name| name.into()).collect());
    let set = |name: &str, value: &str| HookEnv::Set(vec![(name.into(), value.into())]);
    let only = |name: &str| Inherit::Only(vec![name.into()]);
    let table = [
        (keep(&[]), Inherit::LessSecrets, "PATH", Some("/bin")),
        (keep(&[]), Inherit::LessSecrets, "GITHUB_TOKEN", None),
        (keep(&["GITHUB_TOKEN"]), Inherit::LessSecrets, "GITHUB_TOKEN", Some("t")),
        (keep(&[]), Inherit::All, "GITHUB_TOKEN", Some("t")),
        (keep(&[]), only("PATH"), "HOOK_MINE", None),
        (keep(&["HOOK_MINE"]), only("PATH"), "HOOK_MINE", Some("not ours")),
        (keep(&[]), only("BASH_ENV"), "BASH_ENV", None),
        (keep(&[]), Inherit::All, "BASH_ENV", None),
        (keep(&[]), Inherit::All, "ENV", None),
        (keep(&[]), Inherit::All, "BASH_FUNC_ls%%", None),
        (keep(&[]), Inherit::All, "CLAUDE_TOOL_NAME", Some("PreToolUse")),
        (keep(&["CLAUDE_PLUGIN_ROOT"]), Inherit::All, "CLAUDE_PLUGIN_ROOT", None),
        (keep(&["HOOK_PROMPT"]), Inherit::All, "HOOK_PROMPT", None),
        (keep(&["ABSENT"]), Inherit::All, "ABSENT", None),
        (set("PATH", "/mine"), Inherit::LessSecrets, "PATH", Some("/mine")),
        (set("A", "x\0y"), Inherit::LessSecrets, "A", Some("x\u{fffd}y")),
        (set("HOOK_EVENT", "Stop"), Inherit::LessSecrets, "HOOK_EVENT", Some("PreToolUse")),
        (set("CLAUDE_ENV_FILE", "/etc/x"), Inherit::LessSecrets, "CLAUDE_ENV_FILE", None),
    ];
    for (own, inherit, name, wanted) in table {
        let surroundings = host(&vars, inherit.clone());
        let got = environment(own.clone(), &surroundings, &event(), &Context::new("s")).await;
        assert_eq!(value(&got, name), wanted, "{own:?} {inherit:?} {name}");
    }
}

#[tokio::test]
async fn names_that_the_system_refuses_are_left_out_with_a_warning() {
    let own = HookEnv::Set(["", "A=B", "A\0"].map(|name| (name.to_owned(), "x".to_owned())).into());
    let got = environment(own, &host(&[("", "x"), ("N\0", "x")], Inherit::All), &event(), &Context::new("s")).await;
    assert_eq!(got.warnings.len(), 3);
    assert!(got.vars.iter().all(|(name, _)| is_name(name)));
}

#[tokio::test]
async fn bytes_of_the_host_that_are_not_utf8_are_inherited() {
    let odd = OsString::from_vec(b"a\xffb".to_vec());
    let mut surroundings = host(&[], Inherit::LessSecrets);
    surroundings.env.push(("ODD".into(), odd.clone()));
    let got = environment(HookEnv::default(), &surroundings, &event(), &Context::new("s")).await;
    assert!(got.vars.contains(&("ODD".into(), odd)));
}

#[tokio::test]
async fn every_name_of_ours_has_its_value() {
    let agent = Agent { id: Some("a-2".into()), kind: Some("reviewer".into()), parent: Some("a-1".into()), depth: 1 };
    let cx = Context { agent, root_session: "root".into(), ..Context::new("s").cwd("/p/sub") };
    let mut event = event();
    event.output = Some("out".into());
    event.attempt = Some(3);
    let got = environment(HookEnv::default(), &host(&[], Inherit::All), &event, &cx).await;
    let table = [
        ("CLAUDE_SESSION_ID", "s"),
        ("CLAUDE_TOOL_NAME", "PreToolUse"),
        ("CLAUDE_TOOL_INPUT", r#"{"file_path":"a/../b"}"#),
        ("CLAUDE_TOOL_OUTPUT", "out"),
        ("CLAUDE_CWD", "/p/sub"),
        ("CLAUDE_AGENT_ID", "a-2"),
        ("CLAUDE_AGENT_TYPE", "reviewer"),
        ("CLAUDE_PROJECT_DIR", "/p"),
        ("HOOK_EVENT", "PreToolUse"),
        ("HOOK_SESSION_ID", "s"),
        ("HOOK_ROOT_SESSION_ID", "root"),
        ("HOOK_TOOL_NAME", "PreToolUse"),
        ("HOOK_PARENT_AGENT_ID", "a-1"),
        ("HOOK_AGENT_DEPTH", "1"),
        ("HOOK_ATTEMPT", "3"),
        ("HOOK_RECHECK", "1"),
        ("HOOK_FILE_PATH", "/p/sub/b"),
    ];
    for (name, wanted) in table {
        assert_eq!(value(&got, name), Some(wanted), "{name}");
    }
    for name in ["HOOK_DISPATCH_ID", "CLAUDE_TOOL_INPUT_FILE", "CLAUDE_TOOL_OUTPUT_FILE"] {
        assert!(value(&got, name).is_some(), "{name}");
    }
    assert!(got.vars.iter().all(|(name, _)| OUR_VARIABLES.iter().any(|ours| *ours == name)) && !got.cut);
}
