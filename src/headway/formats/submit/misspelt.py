"""Names in a submit description that are nearly a command: HTCondor takes them for macros, and nothing heeds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from headway.formats.submit.commands import KNOWN
from headway.formats.submit.description import Assignment, Branch, Command, Description, Include, Queue, Value
from headway.model.errors import shown
from headway.model.near_misses import is_one_slip

_RESOURCES = frozenset(("request_gpu",))  # resources of one's own that may well have this name


def misspelt(description: Description, unknown: Iterable[Value]) -> Iterator[tuple[Value, str]]:
    """Those of these values whose name is nearly a command and that nothing refers to, and what is said of each."""
    for value in unknown:
        command = _meant(value.name.lower())
        if command is not None and not _is_used(value.name.lower(), description.commands):
            yield value, f"{shown(value.name)} is no submit command, and nothing uses it. Is {command} meant?"


@lru_cache(4096)
def _meant(key: str) -> str | None:
    word = key.replace("_", "")
    if key in _RESOURCES or not word.isalpha():
        return None
    return next((name for name in sorted(KNOWN) if is_one_slip(word, name.replace("_", ""))), None)


def _is_used(key: str, commands: Iterable[Command]) -> bool:
    """Whether one of these commands refers to a macro of this name; of a file that is not read yet it may be so."""
    reference = re.compile(rf"(?<![\w.]){re.escape(key)}(?![\w.])", re.IGNORECASE)
    for command in commands:
        if isinstance(command, Assignment):
            texts: tuple[str, ...] = (command.value.text,) if "$" in command.value.text else ()
        elif isinstance(command, Branch):
            texts = (command.condition,)
        elif isinstance(command, Queue):
            texts = (command.text, *(command.items or ()))
        elif isinstance(command, Include):
            if command.description is None or _is_used(key, command.description.commands):
                return True
            texts = (command.target,)
        else:
            continue
        if any(map(reference.search, texts)):
            return True
    return False
