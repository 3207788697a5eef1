"""Names as drawings show them: in columns of a terminal, short enough, never like a line."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

Cells = list[str]  # one string a column; the second column of a wide character is empty
SPACE = "\0"  # one inside a name, which is no free space


def without_prefix(names: list[str]) -> list[str]:
    """Names without the beginning that all share, if it is long; it ends where a word does."""
    first, last = min(names), max(names)
    shared = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), 0)
    start = max(first.rfind(mark, 0, shared) for mark in "._-/: ") + 1
    return [f"…{name[start:]}" for name in names] if start >= 4 else names


def label(name: str, length: int) -> Cells:
    """A name in so many columns, its middle left out where it is longer: ends tell names apart."""
    cells = list(_cells(name if len(name) <= 400 else name[:200] + name[-200:]))
    if len(cells) <= length:
        return cells
    tail = length - 1 if cells[0] == "…" else (length - 1) * 2 // 3
    head, end = cells[: length - 1 - tail], cells[-tail:]
    if end[0] == "":  # half a wide character
        end[0] = "…"
    if head and unicodedata.east_asian_width(head[-1][:1] or " ") in "WF":
        head[-1] = "…"
    return [*head, "…", *end]


def _cells(name: str) -> Iterator[str]:
    """The columns of a name; what would look like a line, or like nothing, is a question mark."""
    for character in name:
        if not character.isprintable() or "\u2500" <= character <= "\u259f" or unicodedata.combining(character):
            yield "?"
        else:
            yield SPACE if character == " " else character
            if unicodedata.east_asian_width(character) in "WF":
                yield ""


def centred(label: Cells, width: int) -> Cells:
    """A label in the middle of so many columns."""
    spare = max(width - len(label), 0)
    return [SPACE] * (spare // 2) + label + [SPACE] * (spare - spare // 2)
