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
# Without a shape though their categories are those of letters, marks and what is not assigned: fillers, a joiner of
# marks, and variation selectors, in which whole texts can be hidden.
_SHAPELESS = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0, *range(0xFE00, 0xFE0E)}
_SHAPELESS_PLANE = range(0xE0000, 0xE1000)  # tags, more variation selectors, and room for others of the kind
_ORDINARY = "\n\t\u200c\u200d"  # the last two join letters and emoji, or keep letters apart
_ESCAPED = {"Cc", "Cf", "Zl", "Zp"}  # controls, formats (invisible, or they set the direction), ends of lines


class _Escapes(dict[int, int | str]):
    """A table for `str.translate`: what each character is shown as."""

    def __missing__(self, code: int) -> int | str:
        found = _escape(code)
        if code < 0x10000:
            self[code] = found
        return found


def _escape(code: int) -> int | str:
    character = chr(code)
    if code not in _SHAPELESS and code not in _SHAPELESS_PLANE:
        if character.isprintable() or character in _ORDINARY:
            return code
        from unicodedata import category  # a plain run prints nothing that needs it

        if category(character) not in _ESCAPED:
            return code
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_ESCAPES = _Escapes()


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


def lend_screen() -> None:
    """For a program that draws on the terminal itself: the streams that it takes for it are standard output.

    What it shows of names must have gone through `harmless`.
    """
    screen = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", "replace")
    sys.__stdout__ = sys.__stderr__ = screen  # type: ignore[misc]


def harmless(text: str) -> str:
    """A text for people in which names from a file command no terminal, and nothing is hidden.

    Escaped are control characters, ends of lines other than a newline, and by Unicode's category all that is not seen
    itself: directions of text, U+FEFF, tags, and the like. So is what has no shape though its category says otherwise.
    Two joiners (U+200C, U+200D) and two variation selectors (U+FE0E, U+FE0F) stay: Persian, Hindi and emoji need them.
    The flags of England, Scotland and Wales are spelled in tags, and are shown as a black flag and its tags.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_ESCAPES)


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
