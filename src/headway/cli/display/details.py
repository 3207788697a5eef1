"""What `headway show --job` says of one job, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headway.cli.display.terminal import harmless

MOST_SHOWN = 20  # commands of one node's processes that are printed


def details_text(answer: Mapping[str, Any]) -> str:
    """One job for people."""
    return harmless("\n".join(f"{name:<12} {value}".rstrip() for name, value in _rows(answer)))


def _rows(answer: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """What is known, a line each."""
    for key, value in answer.items():
        if key == "warnings":
            yield from (("warning:", warning) for warning in value)
        elif key == "commands":
            yield from _different(value)
        elif isinstance(value, Mapping):
            yield from ((key, f"{name} = {content}") for name, content in _leaves(value))
        elif isinstance(value, list):
            yield key, " ".join(value) or "-"
        elif value is not None and (key, value) not in (("kind", "job"), ("processes", 1)):
            yield key, value


def _different(commands: list[str]) -> Iterator[tuple[str, object]]:
    """The commands of a node's processes, where they are not all the same."""
    if len(set(commands)) > 1:
        yield from (("", command) for command in commands[:MOST_SHOWN])
        if len(commands) > MOST_SHOWN:
            yield "", f"… {len(commands) - MOST_SHOWN:,} more"


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from ((f"{name} {inner}", content) for inner, content in _leaves(value))
        elif isinstance(value, list | tuple):
            yield name, " ".join(str(item) for item in value if item is not None)
        elif value is not None:
            yield name, "yes" if value is True else value
