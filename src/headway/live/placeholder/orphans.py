"""Jobs whose runner is dead: found by the mark they carry, by the log they write, by their session; and ended.

An orphan must not go on beside its second run, so nothing is run again before a search finds no more of them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MARK = "HEADWAY_LEASE"


def mark(store: str, lease: int) -> str:
    """What a job's environment says of its lease."""
    return f"{store}.{lease}"


def end_orphans(store: str, logs: Path, pause: Callable[[float], None] = time.sleep) -> int:
    """Ends every process of this store's jobs; how many there were."""
    ended = 0
    while True:
        found = list(_orphans(f"{MARK}={store}.".encode(), os.fsencode(logs) + b"/"))
        if not found:
            return ended
        for pid in found:
            ended += _kill(pid)
        pause(0.01)


def _orphans(marked: bytes, logs: bytes) -> Iterator[int]:
    """Processes that carry the mark or write such a log, and all of their sessions."""
    mine = os.getpid()
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal() and entry.name != str(mine)]
    sessions: set[int] = set()
    session_of: dict[int, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError):
            session_of[pid] = _session(pid)
            if _is_marked(pid, marked) or _writes(pid, logs):
                sessions.add(session_of[pid])
                yield pid
    for pid, session in session_of.items():
        if session in sessions and session != os.getsid(0):
            yield pid


def _session(pid: int) -> int:
    """The session of a process that is not a zombie."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    if fields[0] in (b"Z", b"X"):
        raise ValueError("dead")
    return int(fields[3])


def _is_marked(pid: int, marked: bytes) -> bool:
    return any(entry.startswith(marked) for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))


def _writes(pid: int, logs: bytes) -> bool:
    for number in (1, 2):
        with contextlib.suppress(OSError):
            if os.readlink(os.fsencode(f"/proc/{pid}/fd/{number}")).startswith(logs):  # noqa: PTH115
                return True
    return False


def _kill(pid: int) -> int:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        handle = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return 1
        finally:
            os.close(handle)
    return 0
