"""The keeper: a process above the runner that inherits the runner's jobs if it dies, and notes how they end.

It has nothing to do while its runner lives, and costs a job nothing. Linux gives the children of a process that dies to
the nearest ancestor that has asked for them; so what the runner has not waited for itself, the keeper can: exit code,
signal, and use of resources are known as exactly as if the runner lived (docs/decisions/0008).
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from headway.live.home import Home
from headway.live.placeholder.orphans import is_dead, marked, process, processes
from headway.live.placeholder.roster import NEVER, STARTING, USAGE, Entry, Roster
from headway.model.errors import HeadwayError

_PR_SET_CHILD_SUBREAPER = 36
_MOMENT = 0.001  # seconds
_TRIES = 100  # moments that a job which was being started has to become recognizable


def keep(home: Home, become_runner: Callable[[], int]) -> int:
    """Makes this process, a fresh child in a session of its own, the keeper of a runner; its exit code in the end."""
    try:
        lock = home.locked()
        if lock is None:
            return 0
        lock.close()  # the runner takes it again: it is held by the process that does the work
    except (OSError, HeadwayError):
        pass  # the runner will say what is wrong
    runner = os.fork()
    if runner == 0:
        os.setsid()  # whatever is done to the process group of one is not done to the other
        return become_runner()
    return Keeper(home.folder, runner).run()


class Keeper:
    """The parent of one runner."""

    def __init__(self, folder: Path, runner: int) -> None:
        self._runner = runner
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle in range(3):
            os.dup2(nothing, handle)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        self._folder = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        os.chdir("/")
        self._roster: Roster | None = None
        _inherit_orphans()

    def run(self) -> int:
        """Waits for the runner, and then for the jobs that it has left; ends as the runner did."""
        status = self._wait_for_runner()
        if status:
            self._see_jobs_to_their_end()
        if os.WIFSIGNALED(status):
            os.kill(os.getpid(), signal.SIGKILL)  # our parent learns that the runner was killed
        return os.waitstatus_to_exitcode(status)

    def _wait_for_runner(self) -> int:
        while True:
            pid = self._next()
            if pid == self._runner:
                return os.waitpid(pid, 0)[1]
            self._reap(pid)  # a daemon that a job has left; or a job, of a runner that is just dying

    def _next(self) -> int:
        """The next child that has ended; it is not waited for yet."""
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        return 0 if found is None else found.si_pid

    def _see_jobs_to_their_end(self) -> None:
        roster = self._opened()
        if roster is None:
            return
        self._recognize(roster)
        with contextlib.suppress(ChildProcessError):
            while any(self._is_mine(entry) for entry in roster.left()):
                self._reap(self._next())

    def _is_mine(self, entry: Entry) -> bool:
        return entry.keeper == os.getpid() and entry.pid > 0 and entry.known != USAGE

    def _opened(self) -> Roster | None:
        if self._roster is None:
            self._roster = Roster.beside(self._folder)
        return self._roster

    def _reap(self, pid: int) -> None:
        """Waits for a child that has ended, and notes it if it is a job; what it left in its group ends with it."""
        roster = self._opened()
        entry = None if roster is None else roster.of(pid)
        if roster is not None and entry is None and self._is_runner_dying(roster):
            self._recognize(roster)
            entry = roster.of(pid)
        if entry is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        if roster is not None and entry is not None:
            cpu = usage.ru_utime + usage.ru_stime
            roster.end(entry.place, status, time.time(), usage.ru_maxrss * 1024, cpu)

    def _is_runner_dying(self, roster: Roster) -> bool:
        """Whether the runner was killed while it started a job: its children come to us a moment before its own end."""
        if not any(entry.pid == STARTING for entry in roster.left()):
            return False
        time.sleep(_MOMENT)
        one = process(self._runner)
        return one is None or one.is_dead

    def _recognize(self, roster: Roster) -> None:
        """Finds the process of a job that the runner was starting when it died."""
        for entry in roster.left():
            if entry.pid == STARTING and entry.keeper == os.getpid():
                roster.began(entry.place, self._pid(roster, entry), time.clock_gettime(time.CLOCK_BOOTTIME))

    def _pid(self, roster: Roster, starting: Entry) -> int:
        """The child that nobody has noted; NEVER if there is none. Until it is the job's program it has no mark."""
        known = {entry.pid for entry in roster.left()} | {self._runner}
        found = list[int]()
        for _ in range(_TRIES):
            found = [
                pid
                for pid, one in processes()
                if one.parent == os.getpid() and pid not in known
                if one.session in (pid, self._runner) and one.is_of((starting.before, math.inf))
            ]
            own = [pid for pid in found if marked(pid).endswith(b".%d" % starting.lease) or is_dead(pid)]
            if own or not found:
                return own[0] if own else NEVER
            time.sleep(_MOMENT)
        return found[0]


def _inherit_orphans() -> None:
    """Asks Linux for the orphans of this process's descendants. Where that cannot be, there is no keeping."""
    try:
        import _ctypes  # every run pays for it, and ctypes takes four times as long to import

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
        _ctypes.call_function(prctl, (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    except (ImportError, OSError, AttributeError):
        return
