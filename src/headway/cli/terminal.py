"""Standard output and error as they are: closed, in another encoding, or a terminal that obeys control characters."""

from __future__ import annotations

import codecs
import os
import sys
from typing import TextIO

# What we draw with, for encodings that do not have it.
_PLAIN = dict(zip("│─┘┐┤└┌├┴┬┼→…▁▂▃▄▅▆▇█", "|-+++++++++>~._-=+*%#", strict=True))
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def prepare() -> None:
    """Makes both streams fit to print anything: no byte, and no character, makes them fail."""
    codecs.register_error("headway", _substitute)
    if sys.stdout is None:  # closed: as with other programs, that is an error as soon as there is something to print
        sys.stdout = _on(os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _on(os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="headway")  # type: ignore[union-attr]


def harmless(text: str) -> str:
    """A text for people in which names from a file command no terminal."""
    return text if text.isprintable() else text.translate(_CONTROL)


def one_line(text: str) -> str:
    """The same on one line, for tables and lists."""
    return harmless(text).replace("\n", " ")


def _on(way: int) -> TextIO:
    return os.fdopen(os.open(os.devnull, way), "w", encoding="utf-8")


def _substitute(error: UnicodeError) -> tuple[str | bytes, int]:
    """A byte that was no UTF-8 goes out as it came in; a character that the encoding lacks becomes a simpler one."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) & 0xFF]), error.start + 1
    return _PLAIN.get(character, "?"), error.start + 1
