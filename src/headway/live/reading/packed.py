"""Files packed with gzip or xz, for `live.reading.files`; imported when there is one.

A small packed file can unpack to more than any disk holds. What is unpacked is limited by the size of the packed file:
a large DAG packs to a fiftieth; one whose every line is long and the same but for a number, to a four-hundredth.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from headway.model.errors import InputError, UsageError, shown
from headway.model.quantities import size

VARIABLE = "HEADWAY_MOST_UNPACKED"
_TIMES = 200
_ALWAYS = 256 * 1024 * 1024  # bytes that may be unpacked from a file however small
_PIECE = 1024 * 1024

_checked: set[tuple[int, ...]] = set()  # files that are known to stay within the limit


def unpacked(path: str, stream: io.BufferedReader, is_gzip: bool) -> IO[bytes]:
    """What a packed file holds; reading it raises OSError where it is broken, as with other files."""
    if stream.seekable():
        _check(path, stream, is_gzip)
    return io.BufferedReader(_Unpacked(path, stream, is_gzip))


def _check(path: str, stream: io.BufferedReader, is_gzip: bool) -> None:
    """Unpacks everything once, keeping nothing: readers are slower than that, and would take in lines for minutes."""
    found = os.fstat(stream.fileno())
    identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    if identity in _checked:
        return
    piece = memoryview(bytearray(_PIECE))
    with Path(path).open("rb") as again, _Unpacked(path, again, is_gzip) as trial, suppress(OSError):
        while trial.readinto(piece):  # what is broken is told when it is read, with its line
            pass
    _checked.add(identity)


class _Unpacked(io.RawIOBase):
    def __init__(self, path: str, stream: io.BufferedReader, is_gzip: bool) -> None:
        inside = gzip.GzipFile(fileobj=stream) if is_gzip else lzma.LZMAFile(stream)  # noqa: SIM115 - closed with this
        self.inside = cast(io.BufferedIOBase, inside)
        self.path, self.stream, self.total = path, stream, 0
        self.limit = _limit()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            count = self.inside.readinto(buffer)
        except (EOFError, lzma.LZMAError, zlib.error) as error:
            raise OSError(str(error)) from None
        self.total += count
        if self.total > self.limit and (self.limit != _ALWAYS or self.total > _TIMES * self.stream.tell()):
            raise self._too_large()
        return count

    def _too_large(self) -> InputError:
        most = f"{self.limit:,} bytes" + (f" and {_TIMES} times its packed size" if self.limit == _ALWAYS else "")
        fix = f"If that is meant, set {VARIABLE} to what it may be, such as 20G."
        return InputError(self.path, 1, f"the file unpacks to more than {most}.", fix)

    def close(self) -> None:
        self.inside.close()
        self.stream.close()
        super().close()


def _limit() -> int:
    text = os.environ.get(VARIABLE)
    try:
        return size(text) if text else _ALWAYS
    except ValueError as expected:
        raise UsageError(f"{VARIABLE}={shown(str(text))} is not {expected}.") from None
