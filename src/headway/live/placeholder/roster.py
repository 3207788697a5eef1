"""The sessions of the jobs that run, in a file that is mapped into memory.

Noting a job costs no system call, and what is noted outlives a runner that is killed. It tells a job that cleared its
environment and writes to files of its own from any other process.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from pathlib import Path

from headway.live.ownership import own_file

_PLACES = 1024  # jobs beyond that many at once are not noted; their mark still tells them
_HEAD = 256
_ENTRY = struct.Struct("=qdd")  # pid, and its start between these two times since boot
_SIZE = _HEAD + _PLACES * _ENTRY.size
_NOBODY = bytes(_ENTRY.size)

Session = tuple[float, float]


class Roster:
    """Made anew by each runner, after it has read what the last one left."""

    def __init__(self, path: Path) -> None:
        handle = own_file(path, os.O_RDWR | os.O_CREAT)
        try:
            os.posix_fallocate(handle, 0, _SIZE)  # a page without room on disk would kill who writes to it
            self._memory = mmap.mmap(handle, _SIZE)
            self._head = _identity(handle)
        finally:
            os.close(handle)
        self._free = list(range(_HEAD + (_PLACES - 1) * _ENTRY.size, _HEAD - 1, -_ENTRY.size))

    def left(self) -> dict[int, Session]:
        """The sessions that a runner left which died; none after a restart of the machine, or in a copied folder."""
        if self._memory[:_HEAD] != self._head:
            return {}
        entries = _ENTRY.iter_unpack(self._memory[_HEAD:])
        return {pid: (before, after) for pid, before, after in entries if pid}

    def clear(self) -> None:
        """What was left has been seen to."""
        self._memory[_HEAD:] = bytes(_SIZE - _HEAD)
        self._memory[:_HEAD] = self._head

    def note(self, pid: int, before: float, after: float) -> int:
        """Writes a job down; its place, by which it is struck out."""
        if not self._free:
            return 0
        place = self._free.pop()
        _ENTRY.pack_into(self._memory, place, pid, before, after)
        return place

    def strike(self, place: int) -> None:
        if place:
            self._memory[place : place + _ENTRY.size] = _NOBODY
            self._free.append(place)


def _identity(handle: int) -> bytes:
    """Of this file while this machine runs: process ids mean nothing elsewhere."""
    boot = namespace = ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - no path, a name
    file = os.fstat(handle)
    return f"{boot} {namespace} {file.st_dev} {file.st_ino}".encode()[:_HEAD].ljust(_HEAD, b"\0")
