"""What stands where in a DAG file: its inline descriptions, what it says of priorities, and the files it names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from headway.formats.dagman.node_lines import opens
from headway.formats.dagman.own_lines import VARIABLE
from headway.formats.dagman.words import NODES, Lines, WordError, canonical, tokens, unquoted
from headway.model.errors import InputError
from headway.model.record import field, mutable, record

_VARIABLE = re.compile(rf"\s{VARIABLE}\s*=", re.IGNORECASE)
_WORTH = frozenset((*NODES, "SUBMIT_DESCRIPTION", "SPLICE", "INCLUDE", "PRIORITY", "VARS"))


@record
class Block:
    """A submit description in the DAG file itself, from the line that opens it to the one that closes it."""

    opening: int
    closing: int
    is_special: bool  # of a node without a priority: FINAL, PROVISIONER, SERVICE


@mutable
class Outline:
    blocks: list[Block] = field(default_factory=list)
    priorities: list[int] = field(default_factory=list)  # lines that say PRIORITY
    variables: list[int] = field(default_factory=list)  # lines that set the variable of the paper
    files: list[str] = field(default_factory=list)  # submit files, splices, included files
    is_broken_off: bool = False  # the last line ends in a backslash


def outline(path: str, text: bytes) -> Outline:
    """The outline of a file."""
    found = Outline()
    lines = Lines(decoded(text))
    try:
        for _, words, line in lines.commands():
            keyword = canonical(words[0])
            if keyword in _WORTH:
                _note(keyword, tokens(line) if keyword != "VARS" else words, line, lines, found)
    except WordError as error:
        raise InputError(path, lines.number, error.what, error.fix) from None
    found.is_broken_off = lines.broken_off
    return found


def _note(keyword: str, words: list[str], line: str, lines: Lines, found: Outline) -> None:
    if keyword == "PRIORITY":
        found.priorities.append(lines.number)
    elif keyword == "VARS":
        if _VARIABLE.search(line):
            found.variables.append(lines.number)
    elif keyword == "INCLUDE":
        found.files += map(unquoted, words[1:2])
    else:
        words = words[1:] if keyword == "SUBDAG" else words
        if len(words) < 3:
            return
        if keyword not in ("SUBDAG", "SPLICE") and opens(words[2]):
            opening = lines.number
            lines.block(words[2])
            is_special = keyword not in ("JOB", "SUBMIT_DESCRIPTION")
            found.blocks.append(Block(opening, lines.number, is_special))
        else:
            folder = next((words[at + 1] for at in range(3, len(words) - 1) if words[at].upper() == "DIR"), "")
            found.files.append(posixpath.join(unquoted(folder), unquoted(words[2])))


def declaration(text: bytes, node: str) -> int:
    """The line that declares a node; 0 if none does."""
    lines = Lines(decoded(text))
    for _, words, _ in lines.commands():
        if len(words) > 1 and words[1] == node and canonical(words[0]) == "JOB":
            return lines.number
    return 0


def decoded(text: bytes) -> Iterator[str]:
    """The lines of a file as its readers see them."""
    whole = text.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    return (f"{line}\n" for line in whole.split("\n"))
