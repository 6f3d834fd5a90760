"""The conformance plugin in Python: does what a command says, as guest-sdk/conformance/README.md has it."""

import json
from dataclasses import dataclass
from typing import Any

from componentize_py_types import Err
from sdk.tacklebox import Answer, Context, Hook, Input, block, modify, plugin, proceed
from wit_world.imports import config, log, process, state

EVENTS = [
    "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SessionEnd",
    "Stop", "TurnStart", "TurnEnd", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Notification",
]  # fmt: skip


@dataclass
class Call:
    """What one call is about."""

    input: Input
    context: Context
    config: dict[str, Any]
    command: dict[str, Any]


PARTS = {
    "event": lambda call: call.input.event,
    "hook": lambda call: call.input.hook,
    "tool": lambda call: call.input.tool_name,
    "input": lambda call: call.input.tool_input,
    "output": lambda call: call.input.tool_output,
    "config": lambda call: call.config,
    "dispatch": lambda call: call.context.dispatch_id != "",
    "session": lambda call: call.context.session_id,
    "rootSession": lambda call: call.context.root_session_id,
    "turn": lambda call: call.context.turn,
    "cwd": lambda call: call.context.cwd,
    "project": lambda call: call.context.project_dir,
    "agentId": lambda call: call.context.agent_id,
    "agentType": lambda call: call.context.agent_type,
    "parentAgentId": lambda call: call.context.parent_agent_id,
    "agentDepth": lambda call: call.context.agent_depth,
    "toolUseId": lambda call: call.context.tool_use_id,
    "attempt": lambda call: call.context.attempt,
    "recheck": lambda call: call.context.recheck,
    "originalInput": lambda call: call.context.original_input,
    "changedBy": lambda call: call.context.changed_by,
    "extra": lambda call: call.context.extra,
}

TEXTS = {
    "input": lambda call: call.input.tool_input_text,
    "output": lambda call: call.input.tool_output,
    "extra": lambda call: call.context.extra_text,
    "originalInput": lambda call: call.context.original_input_text,
}


def change(call: Call) -> Answer:
    parts = {key: call.command[key] for key in ("input", "output", "context", "permission") if key in call.command}
    if "inputText" in call.command:
        parts["input"] = call.command["inputText"]
    return modify(**parts)


def fail(call: Call) -> Answer:
    raise Exception(call.command["text"])


def trap(call: Call) -> Answer:
    return call.command[None]


def spin(call: Call) -> Answer:
    while True:
        pass


def repeat(call: Call) -> Answer:
    return modify(output=call.command["text"] * call.command["times"])


def text(call: Call) -> Answer:
    return modify(output=named(TEXTS, "text", call.command["of"])(call) or "")


def get(call: Call) -> Answer:
    value: Any = call.input.tool_input
    for step in call.command["path"]:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and 0 <= step < len(value) else None
    return modify(input={"found": value})


def echo(call: Call) -> Answer:
    return modify(input={part: named(PARTS, "part", part)(call) for part in call.command["parts"]})


def write(call: Call) -> Answer:
    for level, message in call.command["lines"]:
        log.write(log.Level[level.upper()], message)
    return proceed()


def refusable(act, *args: Any) -> Any:
    """What came of it, or the refusal."""
    try:
        result = act(*args)
        return "ok" if result is None else result
    except Err as refusal:
        large = isinstance(refusal.value, state.Error_TooLarge)
        return {"tooLarge" if large else "full": refusal.value.value}


def one_step(what: str, key: str, value: Any = None) -> Any:
    match what:
        case "get":
            found = state.get(key)
            return None if found is None else found.decode()
        case "getBytes":
            found = state.get(key)
            return None if found is None else list(found)
        case "set":
            return refusable(state.set, key, value.encode())
        case "setBytes":
            return refusable(state.set, key, bytes(value))
        case "remove":
            return refusable(state.remove, key)
        case "add":
            total = refusable(state.add, key, int(value))
            return str(total) if isinstance(total, int) else total
    raise Exception(f"unknown step: {what}")


def steps(call: Call) -> Answer:
    return modify(input={"results": [one_step(*step) for step in call.command["steps"]]})


def fill(call: Call) -> Answer:
    value = b"x" * call.command["bytes"]
    for stored in range(call.command["count"]):
        result = refusable(state.set, f"{call.command['prefix']}{stored}", value)
        if result != "ok":
            return modify(input={"stored": stored, "error": result})
    return modify(input={"stored": call.command["count"], "error": None})


def start(program: str, args: list[str], stdin: str) -> Any:
    try:
        output = process.run(program, args, stdin.encode())
    except Err as error:
        match error.value:
            case process.Error_Denied():
                return "denied"
            case process.Error_NotFound():
                return "notFound"
            case process.Error_TimedOut():
                return "timedOut"
            case failed:
                return {"failed": failed.value}
    return {"exitCode": output.exit_code, "stdout": output.stdout.decode(), "stderr": output.stderr.decode()}


def run_program(call: Call) -> Answer:
    program = call.command["program"]
    result = {"available": process.available(program), "result": start(program, call.command["args"], call.command["stdin"])}
    return modify(input=result)


COMMANDS = {
    "continue": lambda call: proceed(),
    "block": lambda call: block(call.command["reason"]),
    "modify": change,
    "error": fail,
    "trap": trap,
    "spin": spin,
    "repeat": repeat,
    "text": text,
    "get": get,
    "echo": echo,
    "log": write,
    "state": steps,
    "fill": fill,
    "process": run_program,
}


def named(table: dict[str, Any], what: str, name: str) -> Any:
    if name not in table:
        raise Exception(f"unknown {what}: {name}")
    return table[name]


def run(input: Input, context: Context) -> Answer:
    settings = json.loads(config.get())
    command = settings if "do" in settings else input.tool_input
    return named(COMMANDS, "command", command["do"])(Call(input, context, settings, command))


def hook(event: str) -> Hook:
    if event != "PermissionRequest":
        return Hook(event)
    return Hook(event, matcher="bash|edit", condition="bash(git *)", timeout_ms=2500, once=True, on_error="pass")


Callback = plugin("conformance", "1.2.3", "does what it is told", [hook(event) for event in EVENTS], run)
