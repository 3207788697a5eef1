"""Pipes, terminals and devices as workflows: `headway show <(command)`, `headway show -`.

They can be read but once, and readers look twice: at the beginning, to find out the format, and then at all of it. So
what was read of one is kept until the workflow is there.
"""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

STDIN = "/dev/stdin"  # what - stands for


class _Source:
    """What was read of a stream so far, and the stream."""

    def __init__(self, path: str) -> None:
        self.raw = Path(path).open("rb", buffering=0)  # noqa: SIM115 - closed by `forget`
        self.kept = bytearray()
        self.ended = False

    def more(self, size: int) -> None:
        piece = b"" if self.ended else self.raw.read(size)
        self.ended = not piece
        self.kept += piece or b""


class _Replay(io.RawIOBase):
    """A stream from its beginning, however much of it was read before."""

    def __init__(self, source: _Source) -> None:
        self.source = source
        self.at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self.at == len(self.source.kept):
            self.source.more(len(buffer))
        piece = self.source.kept[self.at : self.at + len(buffer)]
        buffer[: len(piece)] = piece
        self.at += len(piece)
        return len(piece)


_sources: dict[str, _Source] = {}


def opened(path: str) -> BinaryIO | io.BufferedReader:
    """A file or stream from its beginning."""
    if not is_stream(path):
        return Path(path).open("rb")
    if path not in _sources:
        _sources[path] = _Source(path)
    return io.BufferedReader(_Replay(_sources[path]))


def forget() -> None:
    """Lets go of what was kept: who reads a pipe again later wants what comes next."""
    for source in _sources.values():
        source.raw.close()
    _sources.clear()


def is_stream(path: str) -> bool:
    """Whether this is a pipe, a terminal or another device."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def folder(path: str) -> str:
    """Where what a file names is looked for: in its own folder; for a stream, where Headway was called."""
    beside_devices = is_stream(path) or path.startswith("/dev/")
    return os.getcwd() if beside_devices else os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH109, PTH120
