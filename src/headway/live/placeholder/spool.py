"""What has ended and is not in the store yet: written the moment a job is reaped, so that it is never run again."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from headway.live.ownership import own_file
from headway.model.messages import Finish, LeaseId

_LINE = (
    b'{"lease": %d, "exit_code": %s, "started": %.6f, "ended": %.6f,'
    b' "cpu_seconds": %.6f, "max_rss": %d, "reason": %s}\n'
)
_LARGE = 1 << 16  # bytes after which a spool that holds nothing new is emptied


def _line(finish: Finish) -> bytes:
    """An end as a line of JSON; put together by hand, since every job pays for it."""
    return _LINE % (
        finish.lease,
        b"null" if finish.exit_code is None else b"%d" % finish.exit_code,
        finish.started,
        finish.ended,
        finish.cpu_seconds,
        finish.max_rss,
        json.dumps(finish.reason).encode() if finish.reason else b'""',
    )


class Spool:
    """A file of JSON lines. A line that was cut off by a crash is a job whose end was not spooled."""

    def __init__(self, path: Path) -> None:
        self._file = own_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._size = path.read_bytes().rfind(b"\n") + 1
        self._unwritten = b""
        os.ftruncate(self._file, self._size)

    def add(self, finish: Finish) -> None:
        """Writes an end down; OSError if there is no room, and then it is written with the next."""
        lines = self._unwritten + _line(finish)
        self._unwritten = lines
        try:
            written = os.write(self._file, lines)
            if written < len(lines):
                written += os.write(self._file, lines[written:])
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size)  # never half a line that the next would be glued to
            raise
        self._size += len(lines)
        self._unwritten = b""

    def replay(self) -> Iterator[Finish]:
        """What was spooled; the store refuses what it has already."""
        with os.fdopen(os.dup(self._file), "rb") as stream:
            stream.seek(0)
            for line in stream:
                with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
                    said = json.loads(line)
                    yield Finish(LeaseId(said.pop("lease")), **said)

    def settled(self, idle: bool = False) -> None:
        """All of it is in the store: the file may be emptied, which is put off while there is work to do."""
        self._unwritten = b""
        if self._size and (idle or self._size > _LARGE):
            os.ftruncate(self._file, 0)
            self._size = 0
