//! What settings files come to: what is read, what is skipped, and what is said about it.

use std::time::Duration;

use super::*;
use crate::event::{CustomClass, CustomEvent, EventName};
use crate::hook::{CommandHook, HookEnv, HookKind, OnCut, Shell};
use crate::matching::{Condition, Matcher};
use crate::wire::field::{FIELDS, On, Shape};

fn parsed_in(scope: Scope, text: &str) -> Parsed {
    let file = FileRef { path: "/p/.freecode/settings.json".into(), scope };
    let surroundings = Surroundings { home: Some("/h".into()), project: Some("/p".into()), ..Surroundings::default() };
    let deploy = CustomEvent::new("Deploy", CustomClass { gate: true, ..CustomClass::default() });
    parse(text.as_bytes(), &file, &Events::with([deploy]), &surroundings)
}

fn parsed(text: &str) -> Parsed {
    parsed_in(Scope::User, text)
}

/// One entry under an event.
fn entry(event: &str, entry: &str) -> Parsed {
    parsed(&format!("{{\"hooks\": {{\"{event}\": [{entry}]}}}}"))
}

/// One command hook under `PreToolUse`, with these fields.
fn with(fields: &str) -> Parsed {
    entry("PreToolUse", &format!("{{\"name\": \"h\", \"command\": \"true\", {fields}}}"))
}

fn said(parsed: &Parsed) -> Vec<String> {
    parsed.diagnostics.iter().map(ToString::to_string).collect()
}

fn names(parsed: &Parsed) -> Vec<&str> {
    parsed.hooks.iter().map(|hook| hook.name.as_str()).collect()
}

#[track_caller]
fn only(parsed: &Parsed) -> &HookSpec {
    match parsed.hooks.as_slice() {
        [hook] => hook,
        other => panic!("{} hooks; said: {:?}", other.len(), said(parsed)),
    }
}

#[track_caller]
fn command(parsed: &Parsed) -> &CommandHook {
    match &only(parsed).kind {
        HookKind::Command(command) => command,
        other => panic!("a {}", other.name()),
    }
}

/// Exactly these warnings, each holding these words.
#[track_caller]
fn says(parsed: &Parsed, expected: &[&str]) {
    let said = said(parsed);
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (line, words) in said.iter().zip(expected) {
        assert!(line.contains(words), "{line:?} does not say {words:?}");
        assert!(!line.ends_with('.'), "{line}");
    }
}

#[test]
fn flat_and_nested_shapes_mix_and_keep_their_order() {
    let parsed = parsed(
        r#"{ // guards
        "hooks": {"PreToolUse": [
            {"name": "flat", "matcher": "edit", "command": "1"},
            {"matcher": "bash", "if": "bash(git *)", "timeout": 7, "once": false, "hooks": [
                {"type": "command", "command": "2"},
                {"name": "own", "command": "3", "matcher": "write", "timeout": 8},
            ]},
            {"command": "4"},
        ]}}"#,
    );
    says(&parsed, &[]);
    assert_eq!(names(&parsed), ["flat", "user/PreToolUse-1-0", "own", "user/PreToolUse-2"]);
    let [flat, first, own, last] = parsed.hooks.as_slice() else { panic!() };
    assert!(flat.named && !first.named && own.named && !last.named);
    assert_eq!(first.matcher, Matcher::new("bash").unwrap());
    assert_eq!(own.matcher, Matcher::new("write").unwrap());
    assert_eq!(own.condition, Some(Condition::new("bash(git *)").0));
    assert_eq!((first.timeout, own.timeout), (Some(Duration::from_secs(7)), Some(Duration::from_secs(8))));
    assert_eq!(last.matcher, Matcher::everything());
    assert_eq!(own.place.to_string(), "/p/.freecode/settings.json:6: PreToolUse[1.hooks[1]]: hook `own`");
    assert_eq!(first.place.line, Some(5));
}

#[test]
fn one_bad_entry_never_costs_another() {
    let good = r#"{"name": "good", "command": "true"}"#;
    for (bad, words) in [
        ("\"text\"", "must be an object, found a string"),
        ("7", "must be an object, found a number"),
        ("null", "must be an object, found null"),
        ("[]", "must be an object, found a list"),
        ("{}", "neither `command` nor `type`"),
        (r#"{"name": "empty-one"}"#, "hook `empty-one`: neither `command` nor `type`"),
        (r#"{"url": "http://x"}"#, "hint: add `\"type\": \"http\"`"),
        (r#"{"text": "x"}"#, "hint: add `\"type\": \"inject\"`"),
        (r#"{"type": "command"}"#, "needs `command`"),
        (r#"{"type": "command", "command": " "}"#, "`command` is empty"),
        (r#"{"command": "a\u0000b"}"#, "holds a NUL"),
        (r#"{"command": ["true"]}"#, "`command` must be a string, found a list"),
        (r#"{"command": "true", "args": "x"}"#, "`args` must be a list of strings, found a string"),
        (r#"{"command": "true", "args": ["x", 1]}"#, "`args` must be a list of strings, found a number in it"),
        (r#"{"command": "true", "matcher": {"tools": ["Edit"]}}"#, "`matcher` must be a string, found an object"),
        (r#"{"command": "true", "matcher": null}"#, "`matcher` must be a string, found null"),
        (r#"{"command": "true", "if": ["bash"]}"#, "`if` must be a string, found a list"),
        (r#"{"command": "true", "once": "yes"}"#, "`once` must be true or false, found a string"),
        (r#"{"name": "odd-one", "type": "telepathy"}"#, "hook `odd-one`: unknown type `telepathy`"),
        (r#"{"type": "Command", "command": "true"}"#, "hint: did you mean `command`?"),
        (r#"{"type": 7, "command": "true"}"#, "`type` must be a string, found a number"),
        (r#"{"type": "prompt"}"#, "a hook of type `prompt` needs `prompt`"),
        (r#"{"type": "prompt", "prompt": "x", "model": 3}"#, "`model` must be a string, found a number"),
        (r#"{"type": "http", "url": "x"}"#, "this version does not run hooks of type `http`"),
        (r#"{"type": "agent"}"#, "this version does not run hooks of type `agent`"),
        (r#"{"type": "function"}"#, "registered from code"),
        (r#"{"type": "callback"}"#, "needs `plugin`"),
        (r#"{"type": "callback", "plugin": 1}"#, "`plugin` must be a string"),
        (r#"{"type": "callback", "plugin": "a", "function": 1}"#, "`function` must be a string"),
        (r#"{"type": "callback", "plugin": "a", "config": []}"#, "`config` must be an object, found a list"),
        (r#"{"type": "callback", "plugin": "${CLAUDE_PLUGIN_ROOT}/a"}"#, "has no value here"),
        (r#"{"type": "inject", "text": "x"}"#, "`PreToolUse` takes no hook of type `inject`"),
        (r#"{"command": "true", "dialect": "claude"}"#, "cannot run a hook of the dialect `claude`"),
        (r#"{"command": "true", "dialect": "freecod"}"#, "hint: did you mean `freecode`?"),
        (r#"{"command": "true", "dialect": 1}"#, "`dialect` must be a string"),
        (r#"{"matcher": "bash", "hooks": []}"#, "`hooks` is empty"),
        (r#"{"matcher": "bash", "hooks": {"command": "true"}}"#, "`hooks` must be a list, found an object"),
        (r#"{"matcher": {"type": "always"}, "hooks": [{"command": "true"}]}"#, "PreToolUse[0.hooks[0]]"),
        (r#"{"hooks": [{"hooks": [{"command": "true"}]}]}"#, "a group inside a group is not read"),
        (r#"{"hooks": ["true"]}"#, "PreToolUse[0.hooks[0]]: a hook must be an object, found a string"),
    ] {
        let parsed = entry("PreToolUse", &format!("{bad}, {good}"));
        assert_eq!(names(&parsed), ["good"], "{bad}");
        says(&parsed, &[words]);
        let place = &parsed.diagnostics.first().unwrap().place;
        assert!(place.file.is_some() && place.line == Some(1) && place.event.is_some() && place.index.is_some());
    }
}

#[test]
fn what_stands_around_hooks_is_skipped_alone() {
    let stop = r#""Stop": [{"name": "good", "command": "true"}]"#;
    for (beside, words) in [
        (r#""_PreToolUse_DISABLED": "why""#, "unknown event `_PreToolUse_DISABLED`"),
        (r#""preToolUse": [{"matcher": {}}]"#, "its entries (1) are skipped (hint: did you mean `PreToolUse`?"),
        (r#""Zzz": []"#, "hint: valid events are PreToolUse, PermissionRequest"),
        (r#""PostToolUse": {"name": "x"}"#, "PostToolUse: must be a list of hooks, found an object"),
        (r#""PostToolUse": null"#, "must be a list of hooks, found null"),
    ] {
        let parsed = parsed(&format!("{{\"hooks\": {{{beside}, {stop}}}}}"));
        assert_eq!(names(&parsed), ["good"], "{beside}");
        says(&parsed, &[words]);
    }
    says(&parsed(r#"{"hooks": {"$schema": "x", "description": "d", "Deploy": [{"command": "true"}]}}"#), &[]);
}

#[test]
fn a_timeout_is_in_seconds_and_bounded() {
    for (written, seconds, words) in [
        ("2", Some(2.0), &[][..]),
        ("0.5", Some(0.5), &[]),
        ("300", Some(300.0), &[]),
        ("301", Some(300.0), &["`301` seconds, more than the longest"]),
        ("600", Some(300.0), &["more than the longest"]),
        ("5000", Some(300.0), &["hint: milliseconds? `timeout` is in seconds: write 5"]),
        ("1e400", None, &["must be more than 0 seconds and finite, found `1e400`"]),
        ("1e300", Some(300.0), &["milliseconds?"]),
        ("1e-300", None, &["more than 0"]),
        ("0", None, &["more than 0"]),
        ("-0.0", None, &["more than 0"]),
        ("-1", None, &["more than 0"]),
        ("\"30\"", None, &["found a string; the default is taken (hint: write the number without quotes)"]),
        ("\"30s\"", None, &["found a string; the default is taken"]),
        ("null", None, &["found null"]),
        ("true", None, &["found a boolean"]),
        ("[1]", None, &["found a list"]),
    ] {
        let parsed = with(&format!("\"timeout\": {written}"));
        assert_eq!(only(&parsed).timeout, seconds.map(Duration::from_secs_f64), "{written}");
        says(&parsed, words);
    }
}

#[test]
fn a_missing_answer_means_what_any_spelling_of_it_says() {
    for (fields, meaning, words) in [
        (r#""onError": "pass""#, Some(OnError::Pass), &[][..]),
        (r#""onError": "block""#, Some(OnError::Block), &[]),
        (r#""onError": "deny""#, None, &["`onError` must be `pass` or `block`, found `deny`"]),
        (r#""onError": true"#, None, &["found a boolean"]),
        (r#""onFailure": "block""#, Some(OnError::Block), &[]),
        (r#""onFailure": "continue""#, Some(OnError::Pass), &[]),
        (r#""onFailure": "stop""#, None, &["`onFailure` must be `continue` or `block`"]),
        (r#""failClosed": true"#, Some(OnError::Block), &[]),
        (r#""failClosed": false"#, Some(OnError::Pass), &[]),
        (r#""continueOnError": true"#, Some(OnError::Pass), &[]),
        (r#""continueOnError": false"#, Some(OnError::Block), &[]),
        (r#""continueOnError": "true""#, None, &["`continueOnError` must be true or false"]),
        (r#""failClosed": true, "onError": "block""#, Some(OnError::Block), &[]),
        (r#""failClosed": true, "onError": "pass""#, Some(OnError::Pass), &["the opposite of `onError`"]),
    ] {
        let parsed = with(fields);
        assert_eq!(only(&parsed).on_error, meaning, "{fields}");
        says(&parsed, words);
    }
}

#[test]
fn a_files_own_default_is_for_hooks_that_do_not_say() {
    let hooks = r#""hooks": {"Stop": [{"command": "1"}, {"command": "2", "onError": "pass"}]}"#;
    let parsed_with = |top: &str| parsed(&format!("{{{top} {hooks}}}"));
    let meanings = |parsed: &Parsed| parsed.hooks.iter().map(|hook| hook.on_error).collect::<Vec<_>>();
    let block = parsed_with(r#""onError": "block","#);
    assert_eq!(meanings(&block), [Some(OnError::Block), Some(OnError::Pass)]);
    assert_eq!(block.default_on_error, Some(OnError::Block));
    let bad = parsed_with(r#""onError": "maybe","#);
    assert_eq!(meanings(&bad), [None, Some(OnError::Pass)]);
    says(&bad, &["`onError` must be `pass` or `block`, found `maybe`"]);
}

#[test]
fn an_environment_keeps_names_or_sets_variables_but_not_ours() {
    let keep = |names: &[&str]| HookEnv::Keep(names.iter().map(|n| (*n).to_owned()).collect());
    for (written, expected, words) in [
        (r#"["A", "B"]"#, keep(&["A", "B"]), &[][..]),
        (
            r#"["A", 1, "HOOK_EVENT", "X=Y", ""]"#,
            keep(&["A"]),
            &["found a number", "`HOOK_EVENT` is set by the host", "`X=Y` is no name", "`` is no name"],
        ),
        (r#"{"A": "1"}"#, HookEnv::Set(vec![("A".into(), "1".into())]), &[]),
        (r#"{"CLAUDE_CWD": "/"}"#, HookEnv::Set(vec![]), &["`CLAUDE_CWD` is set by the host; it is left out"]),
        (
            r#"{"A": 1, "B": "x\u0000"}"#,
            HookEnv::Set(vec![]),
            &["`A` must be a string, found a number", "`B` holds a NUL"],
        ),
        ("\"A\"", HookEnv::default(), &["`env` must be a list of names or a map of strings, found a string"]),
        ("null", HookEnv::default(), &["found null"]),
    ] {
        let parsed = with(&format!("\"env\": {written}"));
        assert_eq!(command(&parsed).env, expected, "{written}");
        says(&parsed, words);
    }
}

#[test]
fn words_fall_back_aloud() {
    let good = with(r#""shell": "powershell", "onCut": "block""#);
    assert_eq!((command(&good).shell, command(&good).on_cut), (Shell::Powershell, OnCut::Block));
    says(&good, &[]);
    let bad = with(r#""shell": "pwoershell", "onCut": 1"#);
    assert_eq!((command(&bad).shell, command(&bad).on_cut), (Shell::Bash, OnCut::Block));
    says(
        &bad,
        &["hint: did you mean `powershell`?", "`onCut` must be `run` or `block`, found a number; `block` is taken"],
    );
    let args = with(r#""args": ["-x"], "shell": "bash""#);
    assert_eq!(command(&args).args, Some(vec!["-x".to_owned()]));
    says(&args, &["`shell` is ignored"]);
}

#[test]
fn a_test_that_does_not_apply_is_ignored_aloud_and_the_hook_runs() {
    for (event, fields, words) in [
        ("Stop", r#""matcher": "bash""#, &["`matcher` is ignored: `Stop` has none"][..]),
        ("Stop", r#""matcher": {}"#, &["`matcher` is ignored"]),
        ("Stop", r#""matcher": """#, &[]),
        ("Stop", r#""matcher": "*""#, &[]),
        ("PostToolUseFailure", r#""matcher": "bash""#, &["`matcher` is ignored"]),
        ("PostToolUseFailure", r#""if": "bash(git *)""#, &[]),
        ("UserPromptSubmit", r#""if": "bash""#, &["`if` is ignored: `UserPromptSubmit` is not about a tool"]),
        ("PreToolUse", r#""once": true"#, &["`once` on the gate `PreToolUse`"]),
        ("Deploy", r#""once": true"#, &["`once` on the gate `Deploy`"]),
        ("SessionStart", r#""once": true"#, &[]),
        ("PreToolUse", r#""once": false"#, &[]),
    ] {
        let parsed = entry(event, &format!("{{\"name\": \"h\", \"command\": \"true\", {fields}}}"));
        only(&parsed);
        says(&parsed, words);
    }
}

#[test]
fn fields_that_do_nothing_here_are_said() {
    for (fields, words) in [
        (r#""mather": "edit""#, &["unknown field `mather` (hint: did you mean `matcher`?)"][..]),
        (r#""zzz": 1, "yyy": 2"#, &["unknown field `zzz`", "unknown field `yyy`"]),
        (r#""statusMessage": "s", "id": 1, "$schema": "x", "version": 1, "description": "d""#, &[]),
        (r#""async": true"#, &["`async` is not supported yet: the hook runs in the foreground"]),
        (r#""async": false, "asyncRewake": false"#, &[]),
        (r#""asyncRewake": true"#, &["runs in the foreground"]),
        (r#""maxAttempts": 3"#, &["`maxAttempts` means nothing on `PreToolUse`"]),
        (r#""maxAttempts": 0"#, &["`maxAttempts` must be a whole number from 1"]),
        (r#""grant": {}"#, &["`grant` means nothing on a hook of type `command`"]),
        (r#""text": "x""#, &["`text` means nothing on a hook of type `command`"]),
        (r#""prompt": "x""#, &["`prompt` means nothing on a hook of type `command`"]),
        (r#""timeout": 1, "timeout": 2"#, &["`timeout` is written twice; the last one counts"]),
        (r#""final": "yes""#, &["`final` must be true or false, found a string; false is taken"]),
    ] {
        let parsed = with(fields);
        only(&parsed);
        says(&parsed, words);
    }
}

#[test]
fn a_group_is_checked_like_a_hook() {
    let group = |fields: &str| entry("PreToolUse", &format!("{{{fields}, \"hooks\": [{{\"command\": \"true\"}}]}}"));
    for (fields, words) in [
        (r#""description": "d", "id": "x""#, &[][..]),
        (r#""macher": "bash""#, &["PreToolUse[0]: unknown field `macher` (hint: did you mean `matcher`?)"]),
        (r#""command": "other""#, &["`command` beside `hooks` is not read (hint: put it on a hook inside `hooks`)"]),
        (r#""name": "n""#, &["`name` beside `hooks` is not read"]),
        (r#""async": true"#, &["PreToolUse[0.hooks[0]]: hook `user/PreToolUse-0-0`: `async` is not supported yet"]),
        (r#""hooks": [{"command": "first"}]"#, &["`hooks` is written twice"]),
    ] {
        let parsed = group(fields);
        assert!(!parsed.hooks.is_empty());
        says(&parsed, words);
    }
    assert_eq!(group(r#""hooks": [{"command": "first"}]"#).hooks.len(), 2, "a guard is not lost to a repeated key");
    assert_eq!(only(&group(r#""failClosed": true"#)).on_error, Some(OnError::Block));
}

#[test]
fn names_that_are_none_make_a_nameless_hook() {
    for (name, words) in [("7", "found a number"), ("\"\"", "found an empty one"), ("\"  \"", "found an empty one")] {
        let parsed = entry("Stop", &format!("{{\"name\": {name}, \"command\": \"true\"}}"));
        assert_eq!(only(&parsed).name.as_str(), "user/Stop-0");
        assert!(!only(&parsed).named);
        says(&parsed, &[words]);
    }
    let taken = entry("Stop", r#"{"command": "1"}, {"name": "user/Stop-0", "command": "2"}"#);
    assert_eq!(names(&taken), ["user/Stop-0'", "user/Stop-0"]);
    let project =
        parsed_in(Scope::Project, r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "1"}, {"command": "2"}]}]}}"#);
    assert_eq!(names(&project), ["project/PreToolUse-0-0", "project/PreToolUse-0-1"]);
}

#[test]
fn a_repeated_event_or_hooks_key_loses_no_guard() {
    let twice = parsed(
        r#"{"hooks": {"Stop": [{"command": "1"}], "Stop": [{"command": "2"}]}, "hooks": {"Stop": [{"command": "3"}]}}"#,
    );
    assert_eq!(names(&twice), ["user/Stop-0", "user/Stop-1", "user/Stop-2"]);
    says(&twice, &["`hooks` is written twice; the hooks of both", "`Stop` is written twice; the hooks of both"]);
}

#[test]
fn only_the_users_final_is_final() {
    let text = r#"{"hooks": {"Stop": [{"name": "a", "command": "true", "final": true}]}}"#;
    for (scope, is_final) in [(Scope::User, true), (Scope::Project, false), (Scope::Local, false)] {
        let parsed = parsed_in(scope, text);
        assert_eq!(only(&parsed).is_final, is_final);
        says(&parsed, &[]);
    }
}

#[test]
fn a_project_names_only_plugins_that_it_brings() {
    for (path, scope, expected) in [
        ("guard.wasm", Scope::Project, Some("/p/.freecode/guard.wasm")),
        ("../plugins/guard", Scope::Project, Some("/p/plugins/guard")),
        ("${CLAUDE_PROJECT_DIR}/a.wasm", Scope::Project, Some("/p/a.wasm")),
        ("/p/a.wasm", Scope::Project, Some("/p/a.wasm")),
        ("../../a.wasm", Scope::Project, None),
        ("/p2/a.wasm", Scope::Project, None),
        ("~/a.wasm", Scope::Project, None),
        ("${CLAUDE_PROJECT_DIR}/../a.wasm", Scope::Local, None),
        ("~/a.wasm", Scope::User, Some("/h/a.wasm")),
        ("../../a.wasm", Scope::User, Some("/a.wasm")),
    ] {
        let text =
            format!(r#"{{"hooks": {{"Stop": [{{"type": "callback", "plugin": "{path}", "config": {{"a": 1}}}}]}}}}"#);
        let parsed = parsed_in(scope, &text);
        match expected {
            None => says(&parsed, &["is outside: a project may name only what it brings itself; this hook is skipped"]),
            Some(expected) => match &only(&parsed).kind {
                HookKind::Callback(callback) => {
                    assert_eq!(callback.plugin, Path::new(expected));
                    assert_eq!(callback.config.get("a"), Some(&1.into()));
                }
                other => panic!("a {}", other.name()),
            },
        }
    }
}

#[test]
fn a_fixed_text_goes_where_somebody_reads_it() {
    for event in EventName::BUILT_IN {
        let parsed = entry(event.as_str(), r#"{"name": "j", "type": "inject", "text": "be brief"}"#);
        let taken = matches!(event, EventName::UserPromptSubmit | EventName::SessionStart | EventName::SubagentStart);
        assert_eq!(parsed.hooks.len(), usize::from(taken), "{event}");
        assert_eq!(parsed.diagnostics.is_empty(), taken, "{event}");
    }
}

#[test]
fn the_rest_of_the_file_is_the_agents() {
    for (text, words) in [
        (r#"{"model": "x", "permissions": {}, "env": {}, "tools": {}, "$schema": "x", "enabledPlugins": {}}"#, &[][..]),
        ("{}", &[]),
        (r#"{"hook": {}}"#, &["`hook` is not read (hint: did you mean `hooks`?)"]),
        (r#"{"Hooks": {}}"#, &["hint: did you mean `hooks`?"]),
        (r#"{"disable": []}"#, &["hint: did you mean `disabled`?"]),
        (r#"{"disableAllHook": true}"#, &["hint: did you mean `disableAllHooks`?"]),
        (r#"{"plugin": {}}"#, &["hint: did you mean `plugins`?"]),
        (r#"{"plugins": {"a": {}}}"#, &["the plugin `a` is not loaded: `path` is missing"]),
        (r#"{"plugins": []}"#, &["`plugins` must map names to objects, found a list"]),
        (r#"{"Stop": [{"command": "true"}]}"#, &["the event `Stop` stands outside of `hooks`"]),
        (r#"{"hooks": []}"#, &["`hooks` must map event names to lists, found a list"]),
        (r#"{"hooks": null}"#, &["found null"]),
        (r#"{"disabled": "a"}"#, &["`disabled` must be a list of hook names, found a string"]),
        (r#"{"disabled": ["a", 1, null]}"#, &["`disabled` holds a number", "`disabled` holds null"]),
        (r#"{"disableAllHooks": "no"}"#, &["`disableAllHooks` must be true or false"]),
        (r#"{"disableAllHooks": true, "disableAllHooks": false}"#, &["`disableAllHooks` is written twice"]),
    ] {
        let parsed = parsed(text);
        assert!(parsed.readable && !parsed.disable_all, "{text}");
        says(&parsed, words);
    }
    assert!(parsed(r#"{"disableAllHooks": true}"#).disable_all);
    assert_eq!(parsed(r#"{"disabled": ["a", 1]}"#).disabled.len(), 1);
}

#[test]
fn a_file_that_is_no_settings_says_so_once() {
    for text in ["", "{", "[]", "null", "{ not json", "\"hooks\"", "# hooks\n{}"] {
        let parsed = parsed(text);
        assert!(!parsed.readable && parsed.hooks.is_empty(), "{text}");
        says(&parsed, &["no hook of this file is read"]);
    }
}

/// Whether a value of this JSON is right for a shape.
fn fits(shape: Shape, value: &serde_json::Value) -> bool {
    match shape {
        Shape::Text => value.is_string(),
        Shape::Flag => value.is_boolean(),
        Shape::Seconds => value.as_f64().is_some_and(|n| n > 0.0 && n <= 300.0),
        Shape::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        Shape::Texts => value.as_array().is_some_and(|list| list.iter().all(|one| one.is_string())),
        Shape::Env => {
            fits(Shape::Texts, value) || value.as_object().is_some_and(|map| map.values().all(|v| v.is_string()))
        }
        Shape::Object => value.is_object(),
        Shape::Grant | Shape::Limits => value.as_object().is_some_and(|said| said.is_empty()),
        Shape::Count | Shape::Any => true,
    }
}

#[test]
fn every_field_says_when_its_value_is_of_the_wrong_type() {
    let values = ["null", "true", "7", "-1", "\"odd\"", "\"\"", "[]", "[1]", "{}", "{\"a\": 1}"];
    for field in FIELDS.iter().filter(|field| matches!(field.on, On::Every | On::Kind(_))) {
        for value in values {
            let fine = fits(field.shape, &serde_json::from_str(value).unwrap());
            let kind = match field.on {
                On::Kind(kind) => kind.as_str(),
                _ => "command",
            };
            let text = format!(
                r#"{{"type": "{kind}", "command": "true", "plugin": "a", "text": "x", "prompt": "x", "{}": {value}}}"#,
                field.name
            );
            let parsed = entry(if kind == "inject" { "SessionStart" } else { "PostToolUse" }, &text);
            let named =
                said(&parsed).iter().any(|line| line.contains(field.name) && !line.contains("means nothing on"));
            assert!(fine || named, "{}: {value}: {:?}", field.name, said(&parsed));
        }
    }
}

#[test]
fn no_cut_and_no_stray_byte_makes_it_panic() {
    let text = r#"{"hooks": {"PreToolUse": [{"name": "é", "command": "a\n", "timeout": 1e400, "env": {"A": "b"},},
        {"matcher": "x", "hooks": [{"type": "inject", "text": "\ud83d\ude00"}]}]}, "disabled": ["é"], // end
        "plugins": {"deep": [[[[{}]]]]}}"#;
    let file = FileRef { path: "s.json".into(), scope: Scope::Project };
    let read = |bytes: &[u8]| parse(bytes, &file, &Events::default(), &Surroundings::default());
    for end in 0..text.len() {
        read(text.as_bytes().get(..end).unwrap());
        for byte in [b'{', b'"', b'\\', b'[', b',', 0, 0xff, b'-'] {
            let mut bytes = text.as_bytes().to_vec();
            *bytes.get_mut(end).unwrap() = byte;
            read(&bytes);
        }
    }
}

#[test]
fn a_flood_of_bad_entries_is_not_a_flood_of_warnings() {
    let many = "1,".repeat(10_000);
    let parsed = entry("Stop", &format!("{many} {{\"name\": \"good\", \"command\": \"true\"}}"));
    assert_eq!(names(&parsed), ["good"]);
    assert_eq!(parsed.diagnostics.len(), 101);
    assert!(said(&parsed).last().unwrap().contains("9900 more warnings"));
}
