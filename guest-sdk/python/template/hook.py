"""Keeps files that a tool generates from being written by hand."""

import json

from sdk.tacklebox import Answer, Context, Hook, Input, block, plugin, proceed
from wit_world.imports import config


def run(input: Input, context: Context) -> Answer:
    # What settings may say in `config`; without it, `.lock`.
    endings = json.loads(config.get()).get("endings", [".lock"])
    if input.path is not None and input.path.endswith(tuple(endings)):
        return block(f"`{input.path}` is written by its tool alone")
    return proceed()


Callback = plugin(
    name="plugin-name",
    version="0.1.0",
    description="Keeps files that a tool generates from being written by hand.",
    hooks=[Hook("PreToolUse", matcher="write|edit")],
    run=run,
)
