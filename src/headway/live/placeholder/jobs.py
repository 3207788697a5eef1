"""The jobs that run here: started in sessions of their own, waited for by handles, ended when they must be."""

from __future__ import annotations

import errno
import math
import os
import select
import signal
import time
from collections.abc import Collection, Mapping
from heapq import heappop, heappush
from itertools import islice

from headway.live.failpoint import failpoint
from headway.live.home.folder import Home
from headway.live.placeholder.exits import handle_of
from headway.live.placeholder.launch import Launch, nested_command, spread_command
from headway.live.placeholder.orphans import MARK, Search, mark
from headway.live.placeholder.outputs import Outputs, tail_of
from headway.live.placeholder.partial_outputs import keep_changed, looks, remove_halves
from headway.live.placeholder.roster import STATUS, Entry, Roster
from headway.live.placeholder.running import (
    CALLED_OFF,
    DISMISSED,
    LOST,
    OUT_OF_TIME,
    OVER,
    STOPPED,
    TAKEN,
    TIME_LIMIT,
    Ended,
    Running,
    ended_as,
    is_over,
    signal_group,
    status_of,
)
from headway.live.store.spec import Spec, with_services
from headway.model.messages import NODES, Finish, Lease, LeaseId, Seconds, WorkflowId
from headway.model.record import replace
from headway.model.states import Kind

_MARK = MARK.encode()
# How a job that was told to end is said to have ended.
_MEANT: dict[str, int | None] = {
    STOPPED: None,
    CALLED_OFF: None,
    OVER: 0,
    TAKEN: None,
    OUT_OF_TIME: None,
    DISMISSED: None,
}
BESIDE = (Kind.SERVICE, Kind.PROVISIONER)
SHORT = 0.008  # seconds: jobs of this length or less are worth prefetching
SEEN = 8  # jobs after which that can be told
GRACE = 5.0  # seconds between asking a job to end and ending it
# What is wrong with this machine just now, not with the job: the job waits until it is better.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}


class NoRoomError(Exception):
    """A job cannot be started now, and that is not its fault."""


class Jobs:
    """What runs, by the handle that tells of its end."""

    def __init__(self, home: Home, store: str, server: str | None, roster: Roster, poll: select.epoll) -> None:
        self._home = home
        place = os.path.dirname(server) if server and "://" not in server else server  # noqa: PTH120 - of a file
        self._same = {b"HEADWAY_STORE": os.fsencode(place or home.folder), b"HEADWAY_HOME": os.fsencode(home.folder)}
        self._store = store
        self.roster = roster
        self._poll = poll
        self.running: dict[int, Running] = {}
        self._over: list[int] = []  # handles of jobs that have ended
        self.slots = 1  # cores there are
        self.named: Mapping[str, int] = {}  # and other resources
        self.launcher: list[str] = []  # what starts a command on several hosts at once
        self.busy = 0  # cores in use
        self.memory = 0  # bytes that running jobs have asked for
        self.typical = 0.0  # seconds a job takes, lately
        self.ended = 0  # jobs
        self._alarms: list[tuple[float, int, int, int]] = []  # when, handle, pid, signal
        self.launch = Launch(home, roster, Outputs(home.logs, self._log))
        self._told_to_end: dict[int, str] = {}  # and ended; their logs
        self.warnings: list[str] = []  # that somebody should be told
        self.tells_tails = False  # the last lines of what failed travel with its end: its log is on another host

    # --- begin -----------------------------------------------------------------------------------------------------

    def start(self, lease: Lease, directory: str, given: Mapping[bytes, bytes], now: Seconds) -> Finish | None:
        """Starts a job; if it cannot be started, that is how it ended. NoRoomError: not now."""
        spec = Spec.read(lease.spec)
        nested = spec.subdag is not None
        if spec.subdag is not None:
            spec = spec.with_command(nested_command(spec.subdag, lease, self.slots, self.named))
        for name, count in lease.named:
            if name == NODES:
                spec = spec.with_command(spread_command(spec.command, self.launcher, count, lease.cores))
        own = {os.fsencode(name): os.fsencode(value) for name, value in spec.environment}
        if b"PATH" in own:  # the other, which a job is given, has them already
            own[b"PATH"] = os.fsencode(with_services(os.fsdecode(own[b"PATH"])))
        environment = {  # in bytes: the system would have each name and value encoded for every job
            **given,
            **own,
            **self._same,
            _MARK: mark(self._store, lease.id).encode(),
            b"HEADWAY_JOB": os.fsencode(lease.name),
            b"HEADWAY_ATTEMPT": b"%d" % lease.attempt,
        }
        before_it = looks(spec, directory) if spec.outputs else None
        failpoint("spawn.before")
        started = time.time()
        try:
            pid, output, place = self.launch.started(lease, spec, directory, environment, started, before_it)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                raise NoRoomError(f"a job cannot be started: {error.strerror}.") from None
            self._home.verify()  # a job whose folder is gone with all the rest has not failed
            self.launch.outputs.explain(self._log(lease), f"headway: this job cannot be started: {error}\n")
            return Finish(lease.id, 127, started, time.time(), reason=f"cannot be started: {error}")
        self.roster.began(place, pid, time.clock_gettime(time.CLOCK_BOOTTIME))
        failpoint("spawn.after")
        try:
            handle = handle_of(pid)
        except OSError as error:  # too many open files: what has just begun is taken back
            signal_group(pid, signal.SIGKILL)
            os.wait4(pid, 0)
            self.roster.strike(place)
            self.launch.outputs.drop(output)
            raise NoRoomError(f"a job cannot be watched: {error.strerror}.") from None
        job = Running(lease, pid, started, place, output, before=before_it, is_nested=nested)
        self._watch(handle, job, lease.time, now)
        return None

    def _watch(self, handle: int, job: Running, left: Seconds | None, now: Seconds) -> None:
        """A job is under way; `left`: seconds after which it is over its time."""
        self.running[handle] = job
        self.busy += job.lease.cores
        self.memory += job.lease.memory
        self._poll.register(handle, select.EPOLLIN)
        if left is not None:
            heappush(self._alarms, (now + left, handle, job.pid, signal.SIGTERM))

    # --- take over ---------------------------------------------------------------------------------------------------

    def adopt(self, entry: Entry, lease: Lease, directory: str, now: Seconds) -> Ended | None:
        """Goes on with an attempt of a runner that died; how it ended, if it has."""
        from headway.live.placeholder.adoption import end_of, taken_over

        job, over = taken_over(self.roster, self.launch.outputs, entry, lease, directory)
        if over is None:
            try:
                handle = handle_of(entry.pid, is_child=False)
            except ProcessLookupError:  # it has ended this moment
                over = end_of(self.roster, entry.place, None)
            else:
                taken = time.clock_gettime(time.CLOCK_BOOTTIME) - entry.before
                self._watch(handle, job, None if lease.time is None else max(0.0, lease.time - taken), now)
                if job.reason:
                    heappush(self._alarms, (now + GRACE, handle, job.pid, signal.SIGKILL))
                return None
        return ended_as(job, over)

    @property
    def are_short(self) -> bool:
        """Whether jobs take so little that it pays to prefetch the next ones."""
        return self.typical <= SHORT and self.ended >= SEEN

    @property
    def has_seen_enough(self) -> bool:
        """Whether it is known what jobs take."""
        return self.ended >= SEEN

    # --- end -------------------------------------------------------------------------------------------------------

    def reap(self, handle: int) -> Ended:
        """A job has ended. What it left behind in its process group ends with it; the rest is for `settled` to do."""
        job = self.running.pop(handle)
        self._over.append(handle)
        self.busy -= job.lease.cores
        self.memory -= job.lease.memory
        if job.is_adopted:
            from headway.live.placeholder.adoption import end_of

            return ended_as(job, end_of(self.roster, job.place, handle))
        if self.typical > SHORT or self.ended < SEEN:
            # Its status is noted before it is waited for: until then its keeper can learn it too.
            self.roster.end(job.place, status_of(job.pid), time.time(), known=STATUS)
        signal_group(job.pid, signal.SIGKILL)  # while its leader is not reaped, the number is its own
        _, status, usage = os.wait4(job.pid, 0)
        at, cpu = time.time(), usage.ru_utime + usage.ru_stime
        self.roster.end(job.place, status, at, usage.ru_maxrss * 1024, cpu)
        failpoint("reap.before-spool")
        return Ended(job, at, status, usage.ru_maxrss * 1024, cpu)

    def settled(self, ended: Ended) -> Finish:
        """How a job ended, once its output is in its place and what it left half-written is gone."""
        job = ended.job
        # A run inside a job may have lost its runner just when it came to it: that is no failure of the job.
        if ended.status is None or (ended.status and job.is_adopted and job.is_nested and not job.reason):
            return self._unknown(ended)
        code: int | None = os.waitstatus_to_exitcode(ended.status)
        if job.halted and code and not job.reason:
            job.reason = STOPPED
        if job.reason:
            code = _MEANT.get(job.reason, code or -signal.SIGTERM)
        if code != 0 and job.before is not None and job.reason != TAKEN:
            again = code is not None and not job.lease.is_final(code)
            if not again or job.lease.kind == Kind.JOB:  # a node's POST script may yet say that all is well
                remove_halves(job.before, again)
        self.launch.outputs.settle(job.output, job.lease, keep=code != 0)
        if job.reason:
            self._told_to_end[job.lease.id] = os.path.realpath(self._log(job.lease))
        self.ended += 1
        self.typical += (ended.at - job.started - self.typical) / min(self.ended, 8)
        finish = Finish(job.lease.id, code, job.started, ended.at, ended.max_rss, ended.cpu_seconds, job.reason)
        return replace(finish, tail=tail_of(self._log(job.lease))) if code and self.tells_tails else finish

    def _unknown(self, ended: Ended) -> Finish:
        """A job of which nobody knows how it ended: it runs again."""
        job = ended.job
        if job.before is not None:
            self.warnings += keep_changed(job.before)
        self.launch.outputs.settle(job.output, job.lease, keep=True)
        return Finish(job.lease.id, None, job.started, ended.at, reason=LOST)

    def tidy(self) -> None:
        """What can wait until no slot waits for us, but must be done before we wait ourselves."""
        self.launch.outputs.tidy()
        for handle in self._over:
            self._poll.unregister(handle)  # first: a job that is just being started may still hold a copy
            os.close(handle)
        self._over.clear()

    def sweep(self) -> None:
        """Ends what jobs that were told to end left in other sessions, before they can be run again."""
        if self._told_to_end:
            Search(self._store, self._told_to_end, tuple(self._told_to_end.values())).end_all()
            self._told_to_end.clear()

    def stop(self, workflow: WorkflowId, now: Seconds) -> None:
        """Ends the jobs of a workflow: they are asked first, and run again another time."""
        for handle, job in self.running.items():
            if job.lease.workflow == workflow:
                self._end(handle, job, STOPPED, now)

    def end(self, leases: Collection[LeaseId], now: Seconds, reason: str = CALLED_OFF) -> None:
        """Ends attempts that their store wants ended."""
        for handle, job in self.running.items():
            if job.lease.id in leases:
                self._end(handle, job, reason, now)

    def names(self, workflow: WorkflowId) -> list[str]:
        """A few of the jobs of a workflow that run, the longest first."""
        mine = (job.lease.name for job in self.running.values() if job.lease.workflow == workflow)
        return list(islice(mine, 4))

    def has(self, workflow: WorkflowId) -> bool:
        """Whether any job of a workflow runs."""
        for job in self.running.values():  # noqa: SIM110 - a hot path: most often it is the first
            if job.lease.workflow == workflow:
                return True
        return False

    def count(self, workflow: WorkflowId) -> int:
        """How many jobs of a workflow run."""
        return sum(job.lease.workflow == workflow for job in self.running.values())

    def beside(self, workflow: WorkflowId) -> int:
        """How many services of a workflow run."""
        return sum(job.lease.workflow == workflow and job.lease.kind in BESIDE for job in self.running.values())

    def dismiss(self, workflow: WorkflowId, now: Seconds) -> None:
        """Ends the services of a workflow that has ended."""
        for handle, job in self.running.items():
            if job.lease.workflow == workflow and job.lease.kind in BESIDE:
                self._end(handle, job, OVER, now)

    def _end(self, handle: int, job: Running, reason: str, now: Seconds) -> None:
        """Asks a job's whole process group to end, and makes sure of it after a while. One that has ended has ended."""
        if job.reason or is_over(handle):
            return
        job.reason = reason
        self.roster.tell(job.place, job.told)
        signal_group(job.pid, signal.SIGTERM)
        heappush(self._alarms, (now + GRACE, handle, job.pid, signal.SIGKILL))

    def output(self, lease: int) -> str | None:
        """Where a job that runs writes."""
        return next((job.output.path for job in self.running.values() if job.lease.id == lease), None)

    def _log(self, lease: Lease) -> str:
        return self._home.log(lease.workflow, lease.job, lease.attempt)

    # --- time ------------------------------------------------------------------------------------------------------

    def next_alarm(self) -> float:
        return self._alarms[0][0] if self._alarms else math.inf

    def ring(self, now: Seconds) -> None:
        """Alarms that are due: time limits, and jobs that did not end when asked."""
        while self._alarms and self._alarms[0][0] <= now:
            _, handle, pid, number = heappop(self._alarms)
            job = self.running.get(handle)
            if job is None or job.pid != pid:
                continue
            if number == signal.SIGKILL:
                signal_group(pid, signal.SIGKILL)
            else:
                self._end(handle, job, TIME_LIMIT, now)
