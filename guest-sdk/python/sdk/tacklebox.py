"""What makes a plugin in Python short: what came, with its JSON read, and the three answers. Whatever is raised becomes the plugin's
error, where the component would break off.

It imports none of the host's functions, so that a plugin has those alone that its own source names.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from componentize_py_types import Err
from wit_world.imports import types

_PERMISSIONS = {"allow": types.Permission.ALLOW, "ask": types.Permission.ASK, "deny": types.Permission.DENY}
_FAILURES = {"block": types.Failure.BLOCK, "pass": types.Failure.PASS}


class Input:
    """What happened."""

    event: str
    """The event's name as in settings: `PreToolUse`, `SessionStart`, ..."""
    hook: str
    """The name this hook is registered under; one plugin may register many."""
    tool_name: str
    """The tool's name; on an event without a tool, the event's name."""
    tool_input_text: str
    """The tool's arguments, or the event's payload, as text as it came."""
    tool_output: str | None
    """What the tool printed, or why it failed, where the event has it."""

    def __init__(self, raw: types.HookInput):
        self.event, self.hook, self.tool_name = raw.event, raw.hook, raw.tool_name
        self.tool_input_text, self.tool_output = raw.tool_input, raw.tool_output

    @cached_property
    def tool_input(self) -> dict[str, Any]:
        """The tool's arguments, or the event's payload. Read when first asked for."""
        return _object(f"the input of `{self.tool_name}`", self.tool_input_text)

    @property
    def path(self) -> str | None:
        """The path that the tool works on: the first string of `file_path`, `filePath` and `path`."""
        found = (self.tool_input.get(key) for key in ("file_path", "filePath", "path"))
        return next((path for path in found if isinstance(path, str)), None)


class Context:
    """Where it happened."""

    dispatch_id: str
    """Unique for this dispatch; all hooks of one event see the same."""
    session_id: str
    root_session_id: str
    """The session at the root of this agent's tree."""
    turn: int
    cwd: str | None
    project_dir: str | None
    agent_id: str | None
    agent_type: str | None
    parent_agent_id: str | None
    agent_depth: int
    """0 in the main agent, 1 in its sub-agents, and so on."""
    tool_use_id: str | None
    attempt: int | None
    """Stop: 1, 2, .. within one turn."""
    recheck: bool
    """This input is another hook's rewrite; a block counts, a rewrite does not."""
    changed_by: list[str]
    """After a tool ran: the hooks that changed its arguments."""
    original_input_text: str | None
    extra_text: str

    def __init__(self, raw: types.HookContext):
        parts = dict(vars(raw))
        self.original_input_text, self.extra_text = parts.pop("original_input"), parts.pop("extra")
        vars(self).update(parts)

    @cached_property
    def original_input(self) -> dict[str, Any] | None:
        """After a tool ran: its arguments as the model gave them."""
        return None if self.original_input_text is None else _object("the original input", self.original_input_text)

    @cached_property
    def extra(self) -> dict[str, Any]:
        """On tools with a command argument: `commands` that the host sees in it, and whether it could read all of it (`parsed`)."""
        return _object("`extra`", self.extra_text)


@dataclass(frozen=True)
class Answer:
    """One of `proceed()`, `block(..)` and `modify(..)`."""

    _lowered: types.HookResult


def proceed() -> Answer:
    """No opinion."""
    return Answer(types.HookResult_Continue())


def block(reason: str) -> Answer:
    """It must not happen, and why; the model reads it."""
    return Answer(types.HookResult_Block(_text("a reason", reason)))


def modify(
    *,
    input: dict[str, Any] | str | None = None,
    output: str | None = None,
    context: str | None = None,
    permission: str | None = None,
) -> Answer:
    """It happens otherwise. Each event takes the parts that it can honour.

    `input` is merged into the tool's arguments; a string is taken as JSON that is written already. `output` replaces the tool's
    output, or the prompt. `context` is for the model. `permission` is `allow`, `ask` or `deny`: on PermissionRequest the answer; on
    PreToolUse deny blocks, ask and allow say what to do about a prompt.
    """
    if input is not None and not isinstance(input, str):
        input = json.dumps(input, ensure_ascii=False, allow_nan=False)
    parts = (("an input", input), ("an output", output), ("a context", context))
    texts = (None if text is None else _text(what, text) for what, text in parts)
    return Answer(types.HookResult_Modify(types.Modification(*texts, permission=_one(_PERMISSIONS, permission))))


@dataclass
class Hook:
    """A hook that the plugin wants. Its name is the plugin's, where none is given; `on_error` is `block` or `pass`."""

    event: str
    name: str | None = None
    matcher: str | None = None
    condition: str | None = None
    timeout_ms: int | None = None
    once: bool = False
    on_error: str | None = None


def plugin(
    name: str, version: str, description: str, hooks: list[Hook], run: Callable[[Input, Context], Answer]
) -> type:
    """A plugin: `Callback = plugin(..)`, by this name, at the end of `hook.py`.

    What `run` raises is the plugin's error, which is no answer: on a gate that blocks.
    """
    if not callable(run):
        raise TypeError("`run` is no function")
    registrations = [_registration(name, hook) for hook in hooks]
    info = types.PluginInfo(_text("`name`", name), _text("`version`", version), _text("`description`", description), registrations)

    class Callback:
        def describe(self) -> types.PluginInfo:
            return info

        def run(self, input: types.HookInput, context: types.HookContext) -> types.HookResult:
            try:
                return _answered(run(Input(input), Context(context)))
            # All of them: what is not an `Err` breaks the component off, be it `SystemExit`.
            except BaseException as error:
                raise Err(_said(error)) from None

    return Callback


def _registration(plugin: str, hook: Hook) -> types.HookRegistration:
    return types.HookRegistration(
        event=_text("`event`", hook.event),
        name=plugin if hook.name is None else _text("`name`", hook.name),
        matcher=hook.matcher,
        condition=hook.condition,
        timeout_ms=hook.timeout_ms,
        once=hook.once,
        on_error=_one(_FAILURES, hook.on_error),
    )


def _answered(answer: Any) -> types.HookResult:
    if isinstance(answer, Answer):
        return answer._lowered
    raise Exception("`run` returned none of proceed(), block(reason) and modify(..)")


def _object(what: str, text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"{what} is no JSON object")
    return value


def _one(known: dict[str, Any], word: str | None) -> Any:
    if word is not None and word not in known:
        raise ValueError(f"`{word}` is none of {', '.join(known)}")
    return None if word is None else known[word]


def _text(what: str, text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{what} is no string")
    return _whole(text)


def _whole(text: str) -> str:
    """A text that the host takes: half a character, which Python allows, would break the call off."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _said(error: BaseException) -> str:
    try:
        if isinstance(error, Err):
            return _whole(error.value if isinstance(error.value, str) else repr(error.value))
        # A plain `Exception` is how a plugin says something; the name of any other says a part of it.
        return _whole((str(error) or "an error without a text") if type(error) is Exception else f"{type(error).__name__}: {error}")
    except BaseException:
        return "something was raised that has no text"
