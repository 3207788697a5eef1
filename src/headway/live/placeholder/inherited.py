"""Jobs that a runner has left to its keeper: found in the roster, waited for, and noted there as they end."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time

from headway.live.placeholder.orphans import is_dead, marked, process, processes
from headway.live.placeholder.roster import NEVER, STARTING, USAGE, Entry, Roster

_MOMENT = 0.001  # seconds
_TRIES = 100  # moments that a job which was being started has to become recognizable


class Inherited:
    """The children of a keeper, but for its runner."""

    def __init__(self, folder: int, runner: int) -> None:
        self._folder, self._runner = folder, runner
        self._roster: Roster | None = None

    def see_to_their_end(self) -> None:
        roster = self._opened()
        if roster is None:
            return
        self._recognize(roster)
        with contextlib.suppress(ChildProcessError):
            while any(self._is_mine(entry) for entry in (self._opened() or roster).left()):
                self.reap(next_ended())

    def _is_mine(self, entry: Entry) -> bool:
        return entry.keeper == os.getpid() and entry.pid > 0 and entry.known != USAGE

    def _opened(self) -> Roster | None:
        """The roster; another one if a runner had to write it again."""
        if self._roster is None or not self._roster.is_at("roster", self._folder):
            self._roster = Roster.beside(self._folder) or self._roster
        return self._roster

    def reap(self, pid: int) -> None:
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


def next_ended() -> int:
    """The next child that has ended; it is not waited for yet."""
    found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    return 0 if found is None else found.si_pid
