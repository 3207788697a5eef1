"""Jobs whose runner is dead: found by the mark they carry, by the log they write, by their session; and ended.

An orphan must not go on beside its second run, so nothing is run again before a search finds no more of them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Callable, Collection, Mapping

from headway.model.record import field, mutable, record

MARK = "HEADWAY_LEASE"
NO_PIDFD = (errno.ENOSYS, errno.EPERM)  # a kernel before Linux 5.3; a sandbox that refuses what it does not know
_TICK = 1 / os.sysconf("SC_CLK_TCK")
Session = tuple[float, float]  # when it was begun, between these two times since boot
_LONG = 5.0  # seconds after which a process that does not end is worth a word


def mark(store: str, lease: int) -> str:
    """What a job's environment says of its lease."""
    return f"{store}.{lease}"


@record
class Process:
    session: int
    started: float  # seconds since boot
    parent: int = 0
    is_dead: bool = False  # and nobody has waited for it yet

    def is_of(self, session: Session) -> bool:
        """Whether it was started in a span of time."""
        before, after = session
        return before - 2 * _TICK <= self.started <= after + 2 * _TICK


@mutable
class Search:
    """Who is looked for: processes of some leases. Those that other leases left behind are none of its business."""

    store: str
    leases: Collection[int]
    logs: tuple[str, ...]  # what the path of a log begins with
    sessions: Mapping[int, Session] = field(default_factory=dict)  # when each was begun
    spared: Collection[int] = ()  # sessions of jobs that go on
    spared_logs: Collection[str] = ()

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
                    from headway.live.home.folder import say

                    say(f"waiting for processes to end: {sorted(found)}")
                    told = True
                pause(0.01 if waited < _LONG else 0.5)
        return ended

    def orphans(self) -> dict[int, Process]:
        """Processes that carry such a mark or write such a log, and all of their sessions."""
        living = {pid: one for pid, one in processes() if not one.is_dead}
        for own in (os.getpid(), os.getppid()):  # a run inside a job has the job's mark, and so has its runner
            living.pop(own, None)
        living = {pid: one for pid, one in living.items() if one.session not in self.spared}
        sessions = {session for session in self.sessions if self._is_ours(session, living)}
        found = {pid for pid in living if self._is_wanted(pid)}
        sessions |= {living[pid].session for pid in found} - {os.getsid(0)}
        return {pid: one for pid, one in living.items() if pid in found or one.session in sessions}

    def _is_ours(self, session: int, living: Mapping[int, Process]) -> bool:
        """Whether a session is the one that was noted, not another that got its number later."""
        span = self.sessions[session]
        leader = living.get(session)
        if leader is not None:
            return leader.is_of(span)
        return all(one.started >= span[0] - 2 * _TICK for one in living.values() if one.session == session)

    def _is_wanted(self, pid: int) -> bool:
        with contextlib.suppress(OSError):
            lease = _lease_of(pid, f"{MARK}={self.store}.".encode())
            return self._writes(pid) if lease is None else lease in self.leases
        return False

    def _writes(self, pid: int) -> bool:
        """Whether a process writes such a log."""
        for number in (1, 2):
            with contextlib.suppress(OSError):
                path = os.readlink(f"/proc/{pid}/fd/{number}")  # noqa: PTH115
                if path.startswith(self.logs) and path not in self.spared_logs:
                    return True
        return False


def processes() -> list[tuple[int, Process]]:
    """All there are, dead ones that nobody has waited for included."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - names are all we need
    return [(pid, one) for pid in pids if (one := process(pid)) is not None]


def is_dead(pid: int) -> bool:
    one = process(pid)
    return one is None or one.is_dead


def process(pid: int) -> Process | None:
    """A process, dead ones that nobody has waited for included; None if there is none."""
    with contextlib.suppress(OSError):
        fields = _content(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        return Process(int(fields[3]), int(fields[19]) * _TICK, int(fields[1]), fields[0] in (b"Z", b"X"))
    return None


def marked(pid: int) -> bytes:
    """The mark of a process; empty if it has none, or is another user's."""
    with contextlib.suppress(OSError):
        for entry in _content(f"/proc/{pid}/environ").split(b"\0"):
            if entry.startswith(MARK.encode() + b"="):
                return entry
    return b""


def _lease_of(pid: int, begin: bytes) -> int | None:
    """The lease that a process says it is of."""
    for entry in _content(f"/proc/{pid}/environ").split(b"\0"):
        if entry.startswith(begin) and entry[len(begin) :].isdigit():
            return int(entry[len(begin) :])
    return None


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - thousands of them
        return stream.read()


def _kill(pid: int, meant: Process) -> int:
    """Ends a process, if its number has not passed on to another."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        try:
            handle = os.pidfd_open(pid)
        except (AttributeError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in NO_PIDFD:
                raise
            handle = None
        try:
            now = process(pid)
            if now is not None and not now.is_dead and now.started == meant.started:
                if handle is None:
                    os.kill(pid, signal.SIGKILL)
                else:
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                return 1
        finally:
            if handle is not None:
                os.close(handle)
    return 0
