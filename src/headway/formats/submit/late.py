"""What of a submit description is known only when an attempt begins: marks that stand for it until then.

A mark is set between two characters that no file has there. What it stands for is the same wherever it is asked for
again: it follows from the attempt itself, so nothing has to be kept beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

from headway.model.errors import ModelError, shown

EDGE = "\x02"
CLUSTER = f"{EDGE}CLUSTER{EDGE}"  # the number of a submission
WORKFLOW = f"{EDGE}WORKFLOW{EDGE}"  # the number of the whole workflow
_MARK = re.compile(f"{EDGE}([A-Z_]+)(?::([0-9a-f]+):([^{EDGE}]*))?{EDGE}")
_PLAIN = re.compile(r"[\w.+/:=@%^~-]*")

Draw = Callable[[str, int], int]  # a number below another, by what is to be told apart


def choice(where: str, items: Sequence[str]) -> str:
    """A mark for one of these words."""
    for item in items:
        if not _PLAIN.fullmatch(item):
            what = f"$RANDOM_CHOICE cannot choose {shown(item)} here."
            raise ModelError(what, "Let it choose a word without blanks and quotes, and use $CHOICE for the text.")
    return f"{EDGE}CHOICE:{crc32(where.encode()):x}:{'|'.join(items)}{EDGE}"


def integer(where: str, least: int, most: int, step: int = 1) -> str:
    """A mark for a number of a range."""
    return f"{EDGE}INTEGER:{crc32(where.encode()):x}:{least}|{most}|{step}{EDGE}"


def filled(text: str, known: Mapping[str, Callable[[], object]], draw: Draw) -> str:
    """A text with what its marks stand for; those that nobody knows stay."""

    def value(mark: re.Match[str]) -> str:
        kind, where, given = mark[1], mark[2], mark[3]
        if kind == "CHOICE" and where:
            items = given.split("|")
            return str(items[draw(where, len(items))])
        if kind == "INTEGER" and where:
            least, most, step = map(int, given.split("|"))
            return str(least + step * draw(where, (most - least) // step + 1))
        return str(known[kind]()) if kind in known else str(mark[0])

    return _MARK.sub(value, text)
