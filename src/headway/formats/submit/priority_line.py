"""The priority a submit description gives its jobs: where it says so itself, and where a line of ours must stand."""

from __future__ import annotations

from collections.abc import Iterator

from headway.formats.submit.description import Assignment, Branch, Command, Description, Include, Queue

_KEYS = ("priority", "prio", "my.jobprio")


def place(description: Description) -> int | None:
    """The line, counted from 1, before which a command still counts for every process; None: the end will do.

    That is the first queue statement, or what leads to it: the outermost `if` around it, the `include` that has it.
    """
    outermost, depth = None, 0
    for command in description.commands:
        if isinstance(command, Branch):
            outermost = command.line if command.word == "if" and not depth else outermost
            depth += (command.word == "if") - (command.word == "endif")
        elif _queues(command):
            return outermost if depth else command.line
    return None


def own_priorities(description: Description) -> list[tuple[int, Assignment]]:
    """Each line that sets the priority, and on which line of the outermost file it comes to bear."""
    return [
        (command.line, found)
        for command in description.commands
        for found in _all(command)
        if isinstance(found, Assignment) and found.key in _KEYS
    ]


def _queues(command: Command) -> bool:
    return any(isinstance(found, Queue) for found in _all(command))


def _all(command: Command) -> Iterator[Command]:
    """A command, or those of the file that it includes."""
    if not isinstance(command, Include) or command.description is None:
        yield command
        return
    for inner in command.description.commands:
        yield from _all(inner)
