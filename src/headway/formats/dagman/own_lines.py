"""Headway's own lines in a user's file: put in between two comments, and taken out again to the byte.

All of this is bytes: a file's encoding, line ends, and whether its last line has one, are the user's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from headway.model.errors import InputError, shown

VARIABLE = "JOBPRIORITY"  # the paper's name
USE = f"priority = $({VARIABLE})"  # what a submit file needs to heed it

END = -1
_BEGIN = b"# >>> headway prio >>>"
_END = b"# <<< headway prio <<<"
_SAYS = b" written by Headway, taken out by headway prio --undo"
_UNENDED = b" (the line above had no end)"
_BOM = b"\xef\xbb\xbf"
_OWN = re.compile(
    rb'(?:PRIORITY .+ \d+|Vars .+ %b="\d+"|%b)' % (VARIABLE.encode(), re.escape(USE.encode())), re.IGNORECASE
)
_BLANK = b" \t\r\n"


def with_own(text: bytes, own: Mapping[int, Sequence[str]]) -> bytes:
    """The text with own lines put in before each of these places, counted from 0; END is behind all lines."""
    mark = _BOM if text.startswith(_BOM) else b""
    there = _lines(text[len(mark) :])
    end = b"\r\n" if there and there[0].endswith(b"\r\n") else b"\n"
    new: list[bytes] = []
    last = 0
    for at in sorted(len(there) if at == END else at for at in own):
        new += there[last:at]
        begin = _BEGIN + _SAYS
        if new and not new[-1].endswith(b"\n"):
            new[-1] += end
            begin += _UNENDED
        lines = own[at] if at in own else own[END]
        new += [begin + end, *(line.encode("utf-8", "surrogateescape") + end for line in lines), _END + end]
        last = at
    return mark + b"".join(new + there[last:])


def without_own(path: str, text: bytes) -> bytes:
    """The text as it was before any lines were put in."""
    if _BEGIN not in text:
        return text
    mark = _BOM if text.startswith(_BOM) else b""
    kept: list[bytes] = []
    opened = 0
    ending = b""  # what the user's last line was given, if nothing follows
    for number, line in enumerate(_lines(text[len(mark) :]), 1):
        word = line.strip(_BLANK)
        if opened:
            if word == _END:
                opened = 0
            elif not _OWN.fullmatch(word):
                said = shown(word.decode("utf-8", "surrogateescape"))
                raise InputError(path, number, f"{said} stands among Headway's own lines.", "Move it below them.")
        elif word.startswith(_BEGIN):
            opened, ending = number, b""
            if word.endswith(_UNENDED):
                ending = b"\r\n" if line.endswith(b"\r\n") else b"\n"
        else:
            kept.append(line)
            ending = b""
    if opened:
        raise InputError(path, opened, "the end of Headway's own lines is missing.", "Remove what is left of them.")
    return mark + b"".join(kept).removesuffix(ending)


def sets_variable(text: bytes) -> bool:
    """Whether Headway's lines in a DAG file are those of the paper's style."""
    return _BEGIN in text and b'%b="' % VARIABLE.encode() in text


def _lines(text: bytes) -> list[bytes]:
    """The lines with their ends; as DAGMan has it, only a line feed ends one."""
    return re.findall(rb"[^\n]*\n|[^\n]+", text)
