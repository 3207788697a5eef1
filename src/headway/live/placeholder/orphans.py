"""Jobs whose runner is dead: found by the mark they carry, by the log they write, by their session; and ended.

An orphan must not go on beside its second run, so nothing is run again before a search finds no more of them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Mapping

from headway.live.placeholder.roster import Session
from headway.model.record import field, mutable, record

MARK = "HEADWAY_LEASE"
_TICK = 1 / os.sysconf("SC_CLK_TCK")
_LONG = 5.0  # seconds after which a process that does not end is worth a word


def mark(store: str, lease: int) -> str:
    """What a job's environment says of its lease."""
    return f"{store}.{lease}"


@record
class Process:
    session: int
    started: float  # seconds since boot


@mutable
class Search:
    """Who is looked for: processes of some leases. Those that other leases left behind are none of its business."""

    store: str
    leases: Collection[int]
    logs: tuple[str, ...]  # what the path of a log begins with
    sessions: Mapping[int, Session] = field(default_factory=dict)  # when each was begun

    def end_all(self, pause: Callable[[float], None] = time.sleep) -> int:
        """Ends them; how many there were. Who forks while it is looked at may hide once, hence two empty searches."""
        ended = empty = 0
        begun, told = time.monotonic(), False
        while empty < 2:
            found = self.orphans()
            empty = 0 if found else empty + 1
            ended += sum(_kill(pid, process) for pid, process in found.items())
            if found:
                waited = time.monotonic() - begun
                if waited > _LONG and not told:
                    with contextlib.suppress(OSError):
                        print(f"headway: waiting for processes to end: {sorted(found)}", file=sys.stderr, flush=True)
                    told = True
                pause(0.01 if waited < _LONG else 0.5)
        return ended

    def orphans(self) -> dict[int, Process]:
        """Processes that carry such a mark or write such a log, and all of their sessions."""
        processes = dict(_processes())
        processes.pop(os.getpid(), None)
        sessions = {session for session in self.sessions if self._is_ours(session, processes)}
        found = {pid for pid in processes if self._is_wanted(pid)}
        sessions |= {processes[pid].session for pid in found} - {os.getsid(0)}
        return {pid: one for pid, one in processes.items() if pid in found or one.session in sessions}

    def _is_ours(self, session: int, processes: Mapping[int, Process]) -> bool:
        """Whether a session is the one that was noted, not another that got its number later."""
        before, after = self.sessions[session]
        leader = processes.get(session)
        if leader is not None:
            return before - 2 * _TICK <= leader.started <= after + 2 * _TICK
        return all(one.started >= before - 2 * _TICK for one in processes.values() if one.session == session)

    def _is_wanted(self, pid: int) -> bool:
        with contextlib.suppress(OSError):
            lease = _lease_of(pid, f"{MARK}={self.store}.".encode())
            return _writes(pid, self.logs) if lease is None else lease in self.leases
        return False


def _processes() -> list[tuple[int, Process]]:
    """All that live; zombies do not."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - names are all we need
    return [(pid, process) for pid in pids if (process := _process(pid)) is not None]


def _process(pid: int) -> Process | None:
    with contextlib.suppress(OSError):
        fields = _content(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        if fields[0] not in (b"Z", b"X"):
            return Process(int(fields[3]), int(fields[19]) * _TICK)
    return None


def _lease_of(pid: int, begin: bytes) -> int | None:
    """The lease that a process says it is of."""
    for entry in _content(f"/proc/{pid}/environ").split(b"\0"):
        if entry.startswith(begin) and entry[len(begin) :].isdigit():
            return int(entry[len(begin) :])
    return None


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - thousands of them
        return stream.read()


def _writes(pid: int, logs: tuple[str, ...]) -> bool:
    for number in (1, 2):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{number}").startswith(logs):  # noqa: PTH115
                return True
    return False


def _kill(pid: int, meant: Process) -> int:
    """Ends a process, if its number has not passed on to another."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        handle = os.pidfd_open(pid)
        try:
            now = _process(pid)
            if now is not None and now.started == meant.started:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                return 1
        finally:
            os.close(handle)
    return 0
