"""Handles that can be polled for the end of a process: pidfds, or pipes where the kernel has none (before Linux 5.3).

Without pidfds the end of a child is known by SIGCHLD, and for that of another process /proc is looked at.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal

from headway.live.placeholder.orphans import NO_PIDFD, process

_LOOK = 0.1  # seconds between two looks for processes that are not our children

_children: dict[int, int] = {}  # by process: what is closed when it has ended
_others: dict[int, tuple[int, float]] = {}  # the same, with when the process was started


def handle_of(pid: int, is_child: bool = True) -> int:
    """A handle that can be read once a process has ended. ProcessLookupError: it is nobody's number."""
    try:
        return os.pidfd_open(pid)
    except AttributeError:
        pass
    except OSError as error:
        if error.errno not in NO_PIDFD:
            raise
    return _child(pid) if is_child else _other(pid)


def _child(pid: int) -> int:
    handle, _children[pid] = os.pipe()
    if signal.getsignal(signal.SIGCHLD) is not _notice_children:
        signal.signal(signal.SIGCHLD, _notice_children)
    _notice_children()  # it may have ended before anybody listened
    return handle


def _notice_children(number: int = 0, frame: object = None) -> None:
    for pid in list(_children):
        with contextlib.suppress(ChildProcessError):  # somebody has waited for it already
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
        if (other := _children.pop(pid, -1)) >= 0:  # else the signal came at this very place, and this was done there
            os.close(other)


def _other(pid: int) -> int:
    one = process(pid)
    if one is None:
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
    handle, other = os.pipe()
    _others[pid] = other, one.started
    if signal.getsignal(signal.SIGALRM) is not _notice_others:
        signal.signal(signal.SIGALRM, _notice_others)
    signal.setitimer(signal.ITIMER_REAL, _LOOK, _LOOK)
    _notice_others()
    return handle


def _notice_others(number: int = 0, frame: object = None) -> None:
    for pid, (other, started) in list(_others.items()):
        one = process(pid)
        is_over = one is None or one.started != started or one.is_dead
        if is_over and _others.pop(pid, None) is not None:
            os.close(other)
    if not _others:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
