"""Python scripts that build a `headway.Workflow`: run in a child (`World.build`), which answers in flat scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from headway.formats import flat
from headway.formats.shellwords import NotPlainError
from headway.formats.world import World
from headway.model.errors import InputError
from headway.model.workflow import Group, Workflow


def parse(path: str, world: World, arguments: Sequence[str] = ()) -> Workflow:
    """The workflow that a script builds when it is given these arguments."""
    try:
        answer = json.loads(world.build(path, arguments))
        workflow = _workflow(path, answer["flat"])
        workflow.name = _text(path, answer["name"]) or workflow.name
        workflow.files = {_text(path, name): int(size) for name, size in answer["files"].items()}
        workflow.throttles = {_text(path, name): int(most) for name, most in answer["throttles"].items()}
        workflow.final = _alone(path, answer["final"])
        workflow.provisioner = _alone(path, answer["provisioner"])
        workflow.services = [group for text in answer["services"] if (group := _alone(path, text)) is not None]
        workflow.warnings += map(str, answer["warnings"])
        workflow.warnings += [f"not kept of what the script builds: {what}." for what in answer["lost"]]
    except (ValueError, KeyError, TypeError, AttributeError, NotPlainError):
        raise InputError(path, 1, "the script's workflow cannot be understood.", "Use the Python API.") from None
    if not len(workflow.groups):
        raise InputError(path, 1, "the workflow has no jobs.", "Add some: workflow.job(name, command)")
    return workflow


def _workflow(path: str, text: str) -> Workflow:
    return flat.from_text(path, _text(path, text), 1)


def _alone(path: str, text: str | None) -> Group | None:
    return None if text is None else _workflow(path, text).groups.groups[0]


def _text(path: str, text: str) -> str:
    """A text that can stand in a file: no NUL, nothing that has no bytes."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InputError(path, 1, "a name or command has a character that no file can hold.", "Use UTF-8.") from None
    if "\0" in text:
        raise InputError(path, 1, "a name or command holds a NUL.", "Leave it out.")
    return text
