"""The priority a submit description gives its jobs: where it says so itself, and where a line of ours must stand."""

from __future__ import annotations

from collections.abc import Iterator

from headway.formats.submit.description import (
    Assignment,
    Branch,
    Command,
    Description,
    Include,
    Queue,
    parse_description,
)
from headway.formats.world import World
from headway.model.record import record

_KEYS = ("priority", "prio", "my.jobprio")


@record
class OwnPriority:
    """A line that sets the priority, perhaps of an included file."""

    path: str
    line: int
    value: str
    comes_first: bool  # before the place for a line of ours


@record
class PriorityLines:
    """The line, counted from 1, before which a command still counts for every process (None: the end will do).

    That is the first queue statement, or what leads to it: the outermost `if` around it, the `include` that has it.
    """

    place: int | None
    own: tuple[OwnPriority, ...]


def priority_lines(path: str, text: str, world: World) -> PriorityLines:
    """What a submit description says of priority, and where it can be said."""
    description = parse_description(path, text, world)
    at = _place(description)
    own = (
        OwnPriority(found.value.path, found.line, found.value.text, at is None or command.line < at)
        for command in description.commands
        for found in _all(command)
        if isinstance(found, Assignment) and found.key in _KEYS
    )
    return PriorityLines(at, tuple(own))


def _place(description: Description) -> int | None:
    outermost, depth = None, 0
    for command in description.commands:
        if isinstance(command, Branch):
            outermost = command.line if command.word == "if" and not depth else outermost
            depth += (command.word == "if") - (command.word == "endif")
        elif any(isinstance(found, Queue) for found in _all(command)):
            return outermost if depth else command.line
    return None


def _all(command: Command) -> Iterator[Command]:
    """A command, or those of the file that it includes."""
    if not isinstance(command, Include) or command.description is None:
        yield command
        return
    for inner in command.description.commands:
        yield from _all(inner)
