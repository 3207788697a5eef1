"""Standard output and error as they are: closed, in another encoding, or a terminal that obeys control characters.

Names, commands and messages come from files that somebody else may have written. All that is printed for people goes
through `Shown`, which escapes what would command a terminal or change the order of its text: that rule is here only.
"""

from __future__ import annotations

import codecs
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

# What we draw with, for encodings that do not have it.
_PLAIN = dict(zip("│─┘┐┤└┌├┴┬┼→…▁▂▃▄▅▆▇█", "|-+++++++++>~._-=+*%#", strict=True))
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
# Line separators, and what sets the direction of text (Unicode's bidirectional controls).
_CONTROL |= {code: f"\\u{code:04x}" for code in (0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))}


class Shown(io.TextIOWrapper):
    """A stream for people: what is written to it commands no terminal."""

    def write(self, text: str) -> int:
        return super().write(harmless(text))

    def command(self, text: str) -> None:
        """Writes what is meant for the terminal itself."""
        super().write(text)


def prepare() -> None:
    """Makes both streams fit to print anything: no byte, and no character, makes them fail."""
    codecs.register_error("headway", _substitute)
    if sys.stdout is None:  # closed: as with other programs, that is an error as soon as there is something to print
        sys.stdout = _on(os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _on(os.O_WRONLY)
    sys.stdout, sys.stderr = _shown(sys.stdout), _shown(sys.stderr)


def harmless(text: str) -> str:
    """A text for people in which names from a file command no terminal."""
    return text if text.isprintable() else text.translate(_CONTROL)


def one_line(text: str) -> str:
    """The same on one line, for tables and lists."""
    return harmless(text).replace("\n", " ")


def clear_line() -> None:
    """What is written to standard error next begins at the beginning of an empty line of the terminal."""
    if isinstance(sys.stderr, Shown):
        sys.stderr.command("\r\x1b[K")


def write_content(data: bytes) -> None:
    """Writes the content of a file to standard output: as it is, but escaped if a terminal would read it."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        sys.stdout.write(data.decode("utf-8", "surrogateescape"))
    else:
        sys.stdout.buffer.write(data)
    sys.stdout.flush()


def _shown(stream: TextIO) -> Shown:
    if isinstance(stream, Shown):
        return stream
    encoding, lines = stream.encoding, stream.isatty() or stream is sys.stderr
    return Shown(stream.detach(), encoding, "headway", line_buffering=lines)  # type: ignore[attr-defined]


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
