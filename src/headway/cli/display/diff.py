"""Unified diffs of bytes, quick on long files too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff

_CONTEXT = 3
_MOST_LINES = 2000  # between the first difference and the last: more of them are shown as one piece
_NO_END = "\\ No newline at end of file"


def unified(path: str, before: bytes, after: bytes) -> Iterator[str]:
    """The lines of a diff that `patch -p0` can apply, with their ends."""
    old, new = _lines(before), _lines(after)
    head = _alike(old, new)
    tail = min(_alike(old[head:][::-1], new[head:][::-1]), len(old) - head, len(new) - head)
    first = max(head - _CONTEXT, 0)
    last = max(tail - _CONTEXT, 0)
    some_old, some_new = old[first : len(old) - last], new[first : len(new) - last]
    yield f"--- {path}\n"
    yield f"+++ {path}\n"
    if len(some_old) + len(some_new) > _MOST_LINES:
        yield _hunk(first, len(some_old), first, len(some_new))
        yield from _marked(" ", old[first:head])
        yield from _marked("-", old[head : len(old) - tail])
        yield from _marked("+", new[head : len(new) - tail])
        yield from _marked(" ", old[len(old) - tail : len(old) - last])
        return
    for line in list(unified_diff(some_old, some_new, n=_CONTEXT))[2:]:
        if line.startswith("@@"):
            yield _moved(line, first)
        else:
            yield from _marked(line[0], [line[1:]])


def _lines(text: bytes) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text.decode("utf-8", "surrogateescape"))


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        count += 1
    return count


def _marked(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{_NO_END}\n"


def _hunk(old: int, old_size: int, new: int, new_size: int) -> str:
    return f"@@ -{old + bool(old_size)},{old_size} +{new + bool(new_size)},{new_size} @@\n"


def _moved(line: str, by: int) -> str:
    """A hunk's heading, so many lines further down."""
    return re.sub(r"([-+])(\d+)", lambda number: f"{number[1]}{int(number[2]) + by}", line)
