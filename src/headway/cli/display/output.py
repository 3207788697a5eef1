"""What a job printed, as `headway logs` passes it on: the bytes as they are; a terminal obeys only colours in them."""

from __future__ import annotations

import codecs
import re
import sys

from headway.cli.display.terminal import Shown

# Colours and other looks of text; and to the beginning of the line, as progress bars do it.
_OBEYED = re.compile("(\x1b\\[[0-9;:]*m|[\r\b])")
_BEGUN = re.compile("\x1b(?:\\[[0-9;:]{0,40})?$")


class JobOutput:
    """Standard output for the bytes of a job, which come in pieces."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._held = ""  # the beginning of what may be a colour

    def write(self, data: bytes) -> None:
        if (terminal := _terminal()) is not None:
            text = self._held + self._decoder.decode(data)
            begun = _BEGUN.search(text)
            self._held = begun[0] if begun else ""
            _show(terminal, text[: len(text) - len(self._held)])
        else:
            sys.stdout.buffer.write(data)
        sys.stdout.flush()

    def __enter__(self) -> JobOutput:
        return self

    def __exit__(self, *_: object) -> None:
        """Writes what was held back, and ends colours."""
        if (terminal := _terminal()) is not None:
            _show(terminal, self._held + self._decoder.decode(b"", final=True))
            terminal.command("\x1b[m")
            terminal.flush()


def _terminal() -> Shown | None:
    return sys.stdout if isinstance(sys.stdout, Shown) and sys.stdout.isatty() else None


def _show(terminal: Shown, text: str) -> None:
    for at, part in enumerate(_OBEYED.split(text)):
        if at % 2:
            terminal.command(part)
        else:
            terminal.write(part)
