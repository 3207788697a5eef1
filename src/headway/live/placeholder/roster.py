"""The attempts that run, in a file that is mapped into memory.

Writing to it costs no system call and needs no room on disk, and what is written outlives a runner that is killed.
Each attempt has a place with all that the next runner needs to take it over: which lease, which process, where it
writes, and in the end how it ended. It keeps the place until its end is in the spool or in the store.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import struct
from collections.abc import Collection, Iterator
from pathlib import Path

from headway.live.home.ownership import own_file
from headway.model.messages import LeaseId
from headway.model.record import record

_HEAD = 256
_MAGIC = b"headway roster 2 "
# A place is written from its beginning to its end: what says that a part of it is there is the last of that part.
# Over: status, when, bytes, CPU seconds, how much of this is known.
_OVER = struct.Struct("=qdqdq")
# Begun: how much is known of its end, what it was told, lease, boot time before its start, time of its start, output,
# which outputs were there, keeper, cores, boot time after its start, pid.
_AT_KNOWN, _AT_TOLD, _AT_AFTER, _AT_PID = 32, 40, 104, 112
_BEGUN = struct.Struct("=qqqddqQqqdq")
_BEGAN = struct.Struct("=dq")
SIZE = 120  # of a place
_CHUNK = 1024  # places by which the file grows
_MOST = 1 << 20  # places; a file with more is none of ours
_NUMBER = struct.Struct("=q")
_PIDS = struct.Struct(f"={_AT_PID}xq")

STARTING = -1  # instead of a pid: the runner is about to start it, or was when it died
NEVER = -2  # it was not started

# What is known of an end.
NOTHING, STATUS, USAGE = range(3)

# What an attempt was told, beside the reason it was told to end (a number below _FLAG).
_FLAG = 16
HALTED, LENT, NESTED = _FLAG, _FLAG << 1, _FLAG << 2
_REASONS = 6


@record
class Over:
    """How an attempt ended."""

    status: int
    at: float
    max_rss: int = 0  # bytes; 0: not known
    cpu_seconds: float = 0.0


@record
class Entry:
    """One attempt, as a runner noted it."""

    place: int
    known: int
    told: int
    lease: LeaseId
    before: float  # seconds since boot before it was started
    started: float
    output: int
    existed: int  # a bit for each of its first declared outputs that was there before
    keeper: int  # who sees to its end if its runner dies
    cores: int
    after: float  # seconds since boot when it had been started
    pid: int

    @property
    def reason(self) -> int:
        return self.told % _FLAG

    @property
    def is_sane(self) -> bool:
        """Whether a runner can have written this."""
        times = (self.before, self.after, self.started)
        numbers = (self.output, self.cores, self.keeper, self.told)
        return (
            NEVER <= self.pid < 1 << 23
            and self.lease > 0
            and all(math.isfinite(time) and time >= 0 for time in times)
            and all(0 <= number < 1 << 40 for number in numbers)
            and self.reason < _REASONS
            and NOTHING <= self.known <= USAGE
        )


def output_of(text: bytes, lease: LeaseId) -> int | None:
    """Where an attempt that runs writes, by the bytes of a roster on another host; None: it is not there."""
    for place in range(_HEAD, len(text) - SIZE + 1, SIZE):
        known, _, noted, _, _, output, *_, pid = _BEGUN.unpack_from(text, place + _AT_KNOWN)
        if noted == lease and pid > 0 and known == NOTHING:
            return int(output)
    return None


class Roster:
    """Places for attempts. A file that cannot be read as one is set aside, and `remark` says so."""

    def __init__(self, path: Path) -> None:
        self.remark = ""
        if path.exists() and not path.is_file():
            self.remark = _set_aside(path, "is no file")
        self._open(path)
        if not self._is_readable():
            self.close()
            self.remark = _set_aside(path, "makes no sense")
            self._open(path)
        self._free: list[int] = []
        self._mark_free(_HEAD)

    def _open(self, path: Path) -> None:
        self._file = own_file(path, os.O_RDWR | os.O_CREAT)
        self._head = _identity(self._file)
        self._size = min(max(os.fstat(self._file).st_size, _HEAD + _CHUNK * SIZE), _HEAD + _MOST * SIZE)
        self._map()

    def _map(self) -> None:
        os.posix_fallocate(self._file, 0, self._size)  # a page without room on disk would kill who writes to it
        self._memory = mmap.mmap(self._file, self._size)

    def _is_readable(self) -> bool:
        head = self._memory[:_HEAD]
        if head != self._head:
            return head.startswith(_MAGIC) or not head.strip(b"\0")
        return (self._size - _HEAD) % SIZE == 0 and all(entry.is_sane for entry in self._entries())

    def _mark_free(self, first: int) -> None:
        self._free += [place for place, pid in reversed(self._pids(first)) if not pid]

    def close(self) -> None:
        self._memory.close()
        os.close(self._file)

    @classmethod
    def beside(cls, folder: int) -> Roster | None:
        """The roster of another process, by a handle of its folder; None if there is none that can be read."""
        self = cls.__new__(cls)
        try:
            self._file = os.open("roster", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=folder)
        except OSError:
            return None
        self._head, self._size, self._free = _identity(self._file), os.fstat(self._file).st_size, []
        if self._size < _HEAD + SIZE:
            os.close(self._file)
            return None
        self._memory = mmap.mmap(self._file, self._size)
        return self

    # --- where it is -------------------------------------------------------------------------------------------------

    def is_at(self, path: str, folder: int | None = None) -> bool:
        """Whether its file still has this name, below a folder's handle if there is one."""
        try:
            found = os.stat(path, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(found, os.fstat(self._file))

    def rewrite(self, path: Path) -> None:
        """Goes on in a new file of this name, with the same places. OSError: it cannot, and goes on as before."""
        aside = path.with_name(f".{path.name}")
        aside.unlink(missing_ok=True)
        file = own_file(aside, os.O_RDWR | os.O_CREAT)
        try:
            os.posix_fallocate(file, 0, self._size)
            memory, head = mmap.mmap(file, self._size), _identity(file)
            memory[:] = head + self._memory[_HEAD:]
            aside.replace(path)
        except BaseException:
            os.close(file)
            raise
        self.close()
        self._file, self._memory, self._head = file, memory, head

    # --- what was left -----------------------------------------------------------------------------------------------

    def left(self) -> list[Entry]:
        """What a runner left that died; nothing after a restart of the machine, or in a copied folder."""
        return list(self._entries()) if self.is_current else []

    def starts(self) -> dict[LeaseId, float]:
        """When each attempt in it began, also one from before a restart of the machine."""
        if not (self.is_current or self.is_of_before):
            return {}
        return {entry.lease: entry.started for entry in self._entries() if entry.is_sane and entry.pid != NEVER}

    @property
    def is_current(self) -> bool:
        """Whether it is of this folder, since the machine was started."""
        return self._memory[:_HEAD] == self._head

    @property
    def is_of_before(self) -> bool:
        """Whether the machine was started again since it was written."""
        head, boot = self._memory[:_HEAD], len(_MAGIC) + 36
        return head.startswith(_MAGIC) and head[:boot] != self._head[:boot]

    def _entries(self) -> Iterator[Entry]:
        for place, pid in self._pids(_HEAD):
            if pid:
                yield self.entry(place)

    def _pids(self, first: int) -> list[tuple[int, int]]:
        """Every place from one on, and the pid there."""
        count = (self._size - first) // SIZE
        found = _PIDS.iter_unpack(self._memory[first : first + count * SIZE])
        return [(first + at * SIZE, pid) for at, (pid,) in enumerate(found)]

    def entry(self, place: int) -> Entry:
        known, told, lease, *rest = _BEGUN.unpack_from(self._memory, place + _AT_KNOWN)
        return Entry(place, known, told, LeaseId(lease), *rest)

    def of(self, pid: int) -> Entry | None:
        """The attempt of a process whose end is not fully known."""
        return next((one for one in self._entries() if one.pid == pid and one.known != USAGE), None)

    def clear(self, keep: Collection[int] = ()) -> None:
        """All but some places are free."""
        if not self.is_current:
            self._memory[_HEAD:] = bytes(self._size - _HEAD)
            self._memory[:_HEAD] = self._head
        for entry in list(self._entries()):
            if entry.place not in keep:
                self._write(entry.place + _AT_PID, 0)
        self._free.clear()
        self._mark_free(_HEAD)

    # --- one attempt -------------------------------------------------------------------------------------------------

    def begin(
        self, lease: int, before: float, started: float, output: int, existed: int, keeper: int, cores: int, told: int
    ) -> int:
        """Notes an attempt that is about to start; its place. OSError: there is no room for another."""
        if not self._free:
            self._grow()
        place = self._free.pop()
        values = (NOTHING, told, lease, before, started, output, existed, keeper, cores, 0.0, STARTING)
        _BEGUN.pack_into(self._memory, place + _AT_KNOWN, *values)
        return place

    def began(self, place: int, pid: int, after: float) -> None:
        """Its process."""
        _BEGAN.pack_into(self._memory, place + _AT_AFTER, after, pid)

    def tell(self, place: int, told: int) -> None:
        """What it was told."""
        self._write(place + _AT_TOLD, told)

    def end(self, place: int, status: int, at: float, max_rss: int = 0, cpu: float = 0.0, known: int = USAGE) -> None:
        """How it ended."""
        _OVER.pack_into(self._memory, place, status, at, max_rss, cpu, known)

    def over(self, place: int) -> Over | None:
        """How it ended, if that is known."""
        *found, known = _OVER.unpack_from(self._memory, place)
        return None if known == NOTHING else Over(*found)

    def is_whole(self, place: int) -> bool:
        """Whether all of its end is known."""
        return self._number(place + _AT_KNOWN) == USAGE

    def strike(self, place: int) -> None:
        """Its end is written elsewhere."""
        _NUMBER.pack_into(self._memory, place + _AT_PID, 0)
        self._free.append(place)

    def _grow(self) -> None:
        """Adds places at the end, so that a process that has mapped the file sees the same as before."""
        if self._size >= _HEAD + _MOST * SIZE:
            raise OSError(28, "No space left on device")
        before = self._size
        os.posix_fallocate(self._file, before, _CHUNK * SIZE)
        self._size += _CHUNK * SIZE
        self._memory.close()
        self._map()
        self._mark_free(before)

    def _number(self, offset: int) -> int:
        return int(_NUMBER.unpack_from(self._memory, offset)[0])

    def _write(self, offset: int, number: int) -> None:
        _NUMBER.pack_into(self._memory, offset, number)


def _identity(handle: int) -> bytes:
    """Of this file while this machine runs: process ids mean nothing elsewhere."""
    boot = namespace = ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - no path, a name
    file = os.fstat(handle)
    return _MAGIC + f"{boot} {namespace} {file.st_dev} {file.st_ino}".encode()[: _HEAD - len(_MAGIC)].ljust(
        _HEAD - len(_MAGIC), b"\0"
    )


def _set_aside(path: Path, why: str) -> str:
    from headway.live.placeholder.aside import set_aside  # hardly a run needs it, and each would wait for it

    return set_aside(path, why)
