"""What has ended and is not in the store yet: written the moment a job is reaped, so that it is never run again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from headway.model.messages import Finish, LeaseId

_LARGE = 1 << 16  # bytes after which a spool that holds nothing new is emptied


class Spool:
    """A file of JSON lines. A line that was cut off by a crash is a job whose end was not spooled."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._file).st_size

    def add(self, finish: Finish) -> None:
        self._size += os.write(self._file, (json.dumps(asdict(finish)) + "\n").encode())

    def replay(self) -> Iterator[Finish]:
        """What was spooled; the store refuses what it has already."""
        with os.fdopen(os.dup(self._file), "rb") as stream:
            stream.seek(0)
            for line in stream:
                if line.endswith(b"\n"):
                    said = json.loads(line)
                    yield Finish(LeaseId(said.pop("lease")), **said)

    def settled(self, idle: bool = False) -> None:
        """All of it is in the store: the file may be emptied, which is put off while there is work to do."""
        if self._size and (idle or self._size > _LARGE):
            os.ftruncate(self._file, 0)
            self._size = 0
