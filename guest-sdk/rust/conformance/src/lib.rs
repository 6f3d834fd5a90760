//! The conformance plugin in Rust: does what a command says, as `guest-sdk/conformance/README.md` has it.

use tacklebox_sdk::{
    Answer, Context, Error, Event, Failure, Hook, Info, Input, Permission, Plugin, Value, log, process,
    serde_json::{self, Map},
    state,
};

type Object = Map<String, Value>;

struct Conformance;
tacklebox_sdk::export!(Conformance);

impl Plugin for Conformance {
    fn info() -> Info {
        let events = [
            Event::PreToolUse,
            Event::PermissionRequest,
            Event::PostToolUse,
            Event::PostToolUseFailure,
            Event::UserPromptSubmit,
            Event::SessionStart,
            Event::SessionEnd,
            Event::Stop,
            Event::TurnStart,
            Event::TurnEnd,
            Event::PreCompact,
            Event::PostCompact,
            Event::SubagentStart,
            Event::SubagentStop,
            Event::Notification,
        ];
        events.into_iter().fold(Info::new("conformance", "1.2.3", "does what it is told"), |info, event| {
            let whole = event == Event::PermissionRequest;
            let hook = Hook::on(event, "conformance");
            info.hook(if whole { with_every_field(hook) } else { hook })
        })
    }

    fn run(input: &Input, cx: &Context) -> Result<Answer, Error> {
        let config = tacklebox_sdk::config::<Object>()?;
        let arguments = input.json()?;
        let command = if config.contains_key("do") { &config } else { arguments };
        match text(command, "do")?.as_str() {
            "continue" => Ok(Answer::pass()),
            "block" => Ok(Answer::block(text(command, "reason")?)),
            "modify" => modify(command),
            "error" => Err(Error::new(text(command, "text")?)),
            "trap" => panic!("as it was told"),
            "spin" => loop {
                std::hint::black_box(());
            },
            "repeat" => Ok(Answer::modify().output(text(command, "text")?.repeat(count(command, "times")?)).into()),
            "echo" => echo(command, input, cx, &config),
            "text" => Ok(Answer::modify().output(raw(&text(command, "of")?, input, cx)?).into()),
            "get" => Ok(said(vec![("found", at(arguments, list(command, "path")).unwrap_or_default())])),
            "log" => write_log(list(command, "lines")),
            "state" => state_steps(list(command, "steps")),
            "fill" => fill(command),
            "process" => start(command),
            other => Err(Error::new(format!("unknown command: {other}"))),
        }
    }
}

fn with_every_field(hook: Hook) -> Hook {
    hook.matcher("bash|edit").condition("bash(git *)").timeout_ms(2500).once().on_error(Failure::Pass)
}

fn modify(command: &Object) -> Result<Answer, Error> {
    let mut change = Answer::modify();
    if let Some(input) = command.get("input") {
        change = change.input(input.clone());
    }
    if let Some(text) = command.get("inputText").and_then(Value::as_str) {
        change.input = Some(text.to_owned());
    }
    change.output = command.get("output").and_then(Value::as_str).map(str::to_owned);
    change.context = command.get("context").and_then(Value::as_str).map(str::to_owned);
    change.permission = match command.get("permission").and_then(Value::as_str) {
        None => None,
        Some("allow") => Some(Permission::Allow),
        Some("ask") => Some(Permission::Ask),
        Some("deny") => Some(Permission::Deny),
        Some(other) => return Err(Error::new(format!("unknown permission: {other}"))),
    };
    Ok(change.into())
}

fn echo(command: &Object, input: &Input, cx: &Context, config: &Object) -> Result<Answer, Error> {
    let mut out = Object::new();
    for part in list(command, "parts") {
        let part = part.as_str().unwrap_or_default();
        out.insert(part.to_owned(), one_part(part, input, cx, config)?);
    }
    Ok(Answer::modify().input(Value::Object(out)).into())
}

fn one_part(part: &str, input: &Input, cx: &Context, config: &Object) -> Result<Value, Error> {
    let some = |text: &Option<String>| text.as_ref().map_or(Value::Null, |text| text.as_str().into());
    Ok(match part {
        "event" => input.event.name().into(),
        "hook" => input.hook.as_str().into(),
        "tool" => input.tool_name.as_str().into(),
        "input" => input.json()?.clone().into(),
        "output" => some(&input.tool_output),
        "config" => config.clone().into(),
        "dispatch" => (!cx.dispatch_id.is_empty()).into(),
        "session" => cx.session_id.as_str().into(),
        "rootSession" => cx.root_session_id.as_str().into(),
        "turn" => cx.turn.into(),
        "cwd" => some(&cx.cwd),
        "project" => some(&cx.project_dir),
        "agentId" => some(&cx.agent_id),
        "agentType" => some(&cx.agent_type),
        "parentAgentId" => some(&cx.parent_agent_id),
        "agentDepth" => cx.agent_depth.into(),
        "toolUseId" => some(&cx.tool_use_id),
        "attempt" => cx.attempt.map_or(Value::Null, Value::from),
        "recheck" => cx.recheck.into(),
        "originalInput" => match &cx.original_input {
            Some(text) => serde_json::from_str(text)?,
            None => Value::Null,
        },
        "changedBy" => cx.changed_by.iter().map(|name| Value::from(name.as_str())).collect(),
        "extra" => cx.extra()?.into(),
        other => return Err(Error::new(format!("unknown part: {other}"))),
    })
}

fn raw(of: &str, input: &Input, cx: &Context) -> Result<String, Error> {
    Ok(match of {
        "input" => input.tool_input.clone(),
        "output" => input.tool_output.clone().unwrap_or_default(),
        "extra" => cx.extra.clone(),
        "originalInput" => cx.original_input.clone().unwrap_or_default(),
        other => return Err(Error::new(format!("unknown text: {other}"))),
    })
}

fn at(arguments: &Object, path: &[Value]) -> Option<Value> {
    let Some((Value::String(first), rest)) = path.split_first() else { return None };
    let found = rest.iter().try_fold(arguments.get(first)?, |value, step| match step {
        Value::String(key) => value.get(key),
        other => value.get(usize::try_from(other.as_u64()?).ok()?),
    });
    found.cloned()
}

fn write_log(lines: &[Value]) -> Result<Answer, Error> {
    for line in lines {
        let level = match line[0].as_str() {
            Some("trace") => log::Level::Trace,
            Some("debug") => log::Level::Debug,
            Some("info") => log::Level::Info,
            Some("warn") => log::Level::Warn,
            Some("error") => log::Level::Error,
            _ => return Err(Error::new("unknown level")),
        };
        log::write(level, line[1].as_str().unwrap_or_default());
    }
    Ok(Answer::pass())
}

fn state_steps(steps: &[Value]) -> Result<Answer, Error> {
    let mut results = Vec::new();
    for one in steps {
        results.push(step(one)?);
    }
    Ok(said(vec![("results", results.into())]))
}

fn step(step: &Value) -> Result<Value, Error> {
    let (key, value) = (step[1].as_str().unwrap_or_default(), &step[2]);
    let text = value.as_str().unwrap_or_default();
    let done = |done: Result<(), state::Error>| done.map_or_else(|error| refused(&error), |()| "ok".into());
    Ok(match step[0].as_str().unwrap_or_default() {
        "get" => match state::get(key) {
            Some(value) => utf8(value)?.into(),
            None => Value::Null,
        },
        "getBytes" => state::get(key).map_or(Value::Null, Value::from),
        "set" => done(state::set(key, text.as_bytes())),
        "setBytes" => done(state::set(key, &bytes(value))),
        "remove" => {
            state::remove(key);
            "ok".into()
        }
        "add" => match state::add(key, text.parse().map_err(|_| Error::new("no whole number"))?) {
            Ok(sum) => sum.to_string().into(),
            Err(error) => refused(&error),
        },
        other => return Err(Error::new(format!("unknown step: {other}"))),
    })
}

fn bytes(value: &Value) -> Vec<u8> {
    let numbers = value.as_array().into_iter().flatten();
    numbers.filter_map(|number| u8::try_from(number.as_u64()?).ok()).collect()
}

fn refused(error: &state::Error) -> Value {
    match error {
        state::Error::TooLarge(limit) => object(vec![("tooLarge", (*limit).into())]),
        state::Error::Full(limit) => object(vec![("full", (*limit).into())]),
    }
}

fn fill(command: &Object) -> Result<Answer, Error> {
    let (prefix, value) = (text(command, "prefix")?, vec![b'x'; count(command, "bytes")?]);
    let mut stored = 0_u64;
    let mut error = Value::Null;
    for n in 0..count(command, "count")? {
        if let Err(why) = state::set(&format!("{prefix}{n}"), &value) {
            error = refused(&why);
            break;
        }
        stored += 1;
    }
    Ok(said(vec![("stored", stored.into()), ("error", error)]))
}

fn start(command: &Object) -> Result<Answer, Error> {
    let program = text(command, "program")?;
    let args: Vec<_> = list(command, "args").iter().filter_map(Value::as_str).collect();
    let available = process::available(&program);
    let result = match process::run(&program, &args, text(command, "stdin")?.as_bytes()) {
        Ok(output) => object(vec![
            ("exitCode", output.exit_code.map_or(Value::Null, Value::from)),
            ("stdout", utf8(output.stdout)?.into()),
            ("stderr", utf8(output.stderr)?.into()),
        ]),
        Err(process::Error::Denied) => "denied".into(),
        Err(process::Error::NotFound) => "notFound".into(),
        Err(process::Error::TimedOut) => "timedOut".into(),
        Err(process::Error::Failed(why)) => object(vec![("failed", why.into())]),
    };
    Ok(said(vec![("available", available.into()), ("result", result)]))
}

/// An answer that is an object.
fn said(pairs: Vec<(&str, Value)>) -> Answer {
    Answer::modify().input(object(pairs)).into()
}

/// Not by `json!`, which is written out at every place and makes a component half as large again.
fn object(pairs: Vec<(&str, Value)>) -> Value {
    let mut object = Object::new();
    for (key, value) in pairs {
        object.insert(key.to_owned(), value);
    }
    object.into()
}

fn utf8(bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|_| Error::new("not UTF-8"))
}

fn text(command: &Object, key: &str) -> Result<String, Error> {
    let text = command.get(key).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| Error::new(format!("the command has no string `{key}`")))
}

fn count(command: &Object, key: &str) -> Result<usize, Error> {
    let number = command.get(key).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| Error::new(format!("the command has no number `{key}`")))
}

fn list<'a>(command: &'a Object, key: &str) -> &'a [Value] {
    command.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
