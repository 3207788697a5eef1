"""Packed files, .gz and .xz: imported when there is one."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from typing import IO, cast


def unpacked(stream: io.BufferedReader, is_gzip: bool) -> IO[bytes]:
    """What a packed file holds; reading it raises OSError where it is broken, as with other files."""
    inside = gzip.GzipFile(fileobj=stream) if is_gzip else lzma.LZMAFile(stream)  # noqa: SIM115 - closed with what it is in
    return io.BufferedReader(_Unpacked(cast(io.BufferedIOBase, inside)))


class _Unpacked(io.RawIOBase):
    def __init__(self, inside: io.BufferedIOBase) -> None:
        self.inside = inside

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            return self.inside.readinto(buffer)
        except (EOFError, lzma.LZMAError, zlib.error) as error:
            raise OSError(str(error)) from None

    def close(self) -> None:
        self.inside.close()
        super().close()
