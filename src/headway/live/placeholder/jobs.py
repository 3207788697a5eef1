"""The jobs that run here: started in sessions of their own, waited for by pidfd, ended when they must be."""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import time
from collections.abc import Collection, Mapping
from heapq import heappop, heappush
from itertools import islice

from headway.live.failpoint import here
from headway.live.home import Home
from headway.live.placeholder.halves import Looks, looks, remove_halves
from headway.live.placeholder.orphans import MARK, Search, mark
from headway.live.placeholder.outputs import Output, Outputs
from headway.live.placeholder.roster import Roster
from headway.live.placeholder.spawn import spawn
from headway.live.spec import Spec
from headway.model.messages import Finish, Lease, LeaseId, WorkflowId
from headway.model.record import mutable, record
from headway.model.states import Kind

_MARK = MARK.encode()
STOPPED = "stopped"  # by its user: it runs again another time
CALLED_OFF = "called off"  # by the rules of its workflow, or by its user
OVER = "over"  # a service whose workflow has ended
_MEANT: dict[str, int | None] = {STOPPED: None, CALLED_OFF: None, OVER: 0}  # and how such a job is said to have ended
_BESIDE = (Kind.SERVICE, Kind.PROVISIONER)
LATELY = 0.01  # seconds for which we need not look again whether all is in its place
GRACE = 5.0  # seconds between asking a job to end and ending it
# What is wrong with this machine just now, not with the job: the job waits until it is better.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}


class NoRoomError(Exception):
    """A job cannot be started now, and that is not its fault."""


@mutable
class Running:
    """One job under way."""

    lease: Lease
    pid: int
    started: float
    place: int  # in the roster
    output: Output
    reason: str = ""  # why it was told to end, if it was
    before: Mapping[str, Looks | None] | None = None  # what its outputs looked like, if it declares any
    is_nested: bool = False  # a workflow runs in its place
    halted: bool = False  # which is to begin nothing new


@record
class Ended:
    """One job that runs no more: what the system says of it."""

    job: Running
    at: float
    status: int
    max_rss: int  # bytes
    cpu_seconds: float

    @property
    def is_well(self) -> bool:
        return not self.status and not self.job.reason


class Jobs:
    """What runs, by pidfd."""

    def __init__(self, home: Home, store: str, server: str | None, roster: Roster, poll: select.epoll) -> None:
        self._home = home
        self._same = {b"HEADWAY_STORE": os.fsencode(server or home.folder), b"HEADWAY_HOME": os.fsencode(home.folder)}
        self._store = store
        self._roster = roster
        self._poll = poll
        self._place = ""  # where this process is
        self.running: dict[int, Running] = {}
        self._over: list[int] = []  # handles of jobs that have ended
        self.slots = 1  # cores there are
        self.named: Mapping[str, int] = {}  # and other resources
        self.busy = 0  # cores in use
        self.memory = 0  # bytes that running jobs have asked for
        self.typical = 0.0  # seconds a job takes, lately
        self.ended = 0  # jobs
        self._alarms: list[tuple[float, int, int, int]] = []  # when, pidfd, pid, signal
        self._outputs = Outputs(home.logs)
        self._told_to_end: dict[int, str] = {}  # and ended; their logs

    # --- begin -----------------------------------------------------------------------------------------------------

    def start(self, lease: Lease, directory: str, given: Mapping[bytes, bytes]) -> Finish | None:
        """Starts a job; if it cannot be started, that is how it ended. NoRoomError: not now."""
        spec = Spec.read(lease.spec)
        nested = spec.subdag is not None
        if spec.subdag is not None:
            spec = spec.with_command(self._nested(spec.subdag, lease))
        own = {os.fsencode(name): os.fsencode(value) for name, value in spec.environment}
        environment = {  # in bytes: the system would have each name and value encoded for every job
            **given,
            **own,
            **self._same,
            _MARK: mark(self._store, lease.id).encode(),
            b"HEADWAY_JOB": os.fsencode(lease.name),
            b"HEADWAY_ATTEMPT": b"%d" % lease.attempt,
        }
        before_it = looks(spec, directory) if spec.outputs else None
        here("spawn.before")
        started, before = time.time(), time.clock_gettime(time.CLOCK_BOOTTIME)
        try:
            pid, output = self._spawned(spec, directory, environment)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                raise NoRoomError(f"a job cannot be started: {error.strerror}.") from None
            self._home.verify()  # a job whose folder is gone with all the rest has not failed
            self._outputs.explain(self._log(lease), f"headway: this job cannot be started: {error}\n")
            return Finish(lease.id, 127, started, time.time(), reason=f"cannot be started: {error}")
        place = self._roster.note(pid, before, time.clock_gettime(time.CLOCK_BOOTTIME))
        here("spawn.after")
        try:
            handle = os.pidfd_open(pid)
        except OSError as error:  # too many open files: what has just begun is taken back
            _signal(pid, signal.SIGKILL)
            os.wait4(pid, 0)
            self._roster.strike(place)
            self._outputs.drop(output)
            raise NoRoomError(f"a job cannot be watched: {error.strerror}.") from None
        self.running[handle] = Running(lease, pid, started, place, output, before=before_it, is_nested=nested)
        self.busy += lease.cores
        self.memory += lease.memory
        self._poll.register(handle, select.EPOLLIN)
        if lease.time is not None:
            heappush(self._alarms, (time.monotonic() + lease.time, handle, pid, signal.SIGTERM))
        return None

    def _nested(self, file: str, lease: Lease) -> str:
        """The command that runs a workflow in a job's place, in the same store; on a retry, what failed of it."""
        words = [sys.executable, "-P", "-m", "headway", "run", file]  # the store is in its environment
        words += ["--in-place-of", f"{lease.workflow}.{lease.job}", "--edited", "rerun", "--slots", str(self.slots)]
        for name, count in self.named.items():
            words += ["--resource", f"{name}={count}"]
        from shlex import join

        return join([*words, *(["--retry"] if lease.attempt > 1 else [])])

    def _spawned(self, spec: Spec, directory: str, environment: Mapping[bytes, bytes]) -> tuple[int, Output]:
        """The pid of a new job, and where it writes. What somebody has removed of that is made again."""
        place = os.path.join(directory, spec.directory) if spec.directory else directory  # noqa: PTH118 - a hot path
        if place != self._place:
            self._place = ""
            self._home.verify(LATELY)  # another folder may have taken the place of one that was moved
            os.chdir(place)
            self._place = place
        while True:
            output = self._outputs.take()
            try:
                return spawn(spec, environment, output.path), output
            except FileNotFoundError:
                if not self._outputs.is_lost(output):
                    self._outputs.give_back(output)
                    raise
                self._outputs.drop(output)
                self._home.verify()
            except (OSError, ValueError):
                self._outputs.give_back(output)
                raise

    def move(self, before: str, home: str | None) -> None:
        """The folder of the store was moved: what jobs beside it write is where it is now."""
        now = "" if home is None else os.path.dirname(home)  # noqa: PTH120 - paths of outputs are text
        for job in self.running.values() if now else ():
            job.before = {
                f"{now}{path.removeprefix(before)}" if path.startswith(f"{before}/") else path: look
                for path, look in (job.before or {}).items()
            }

    def forget_place(self) -> None:
        """A job may have put another folder where we are: the next job that comes after it looks anew."""
        self._place = ""

    # --- end -------------------------------------------------------------------------------------------------------

    def reap(self, handle: int) -> Ended:
        """A job has ended. What it left behind in its process group ends with it; the rest is for `settled` to do."""
        job = self.running.pop(handle)
        _signal(job.pid, signal.SIGKILL)  # while its leader is not reaped, the number is its own
        _, status, usage = os.wait4(job.pid, 0)
        here("reap.before-spool")
        self._over.append(handle)
        self.busy -= job.lease.cores
        self.memory -= job.lease.memory
        return Ended(job, time.time(), status, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)

    def settled(self, ended: Ended) -> Finish:
        """How a job ended, once its output is in its place and what it left half-written is gone."""
        job = ended.job
        self._roster.strike(job.place)
        code: int | None = os.waitstatus_to_exitcode(ended.status)
        if job.halted and code and not job.reason:
            job.reason = STOPPED
        if job.reason:
            code = _MEANT.get(job.reason, code or -signal.SIGTERM)
        if code != 0 and job.before is not None:
            again = code is not None and not job.lease.final
            if not again or job.lease.kind == Kind.JOB:  # a node's POST script may yet say that all is well
                remove_halves(job.before, again)
        self._outputs.settle(job.output, log := self._log(job.lease), keep=code != 0)
        if job.reason:
            self._told_to_end[job.lease.id] = os.path.realpath(log)
        self.ended += 1
        self.typical += (ended.at - job.started - self.typical) / min(self.ended, 8)
        return Finish(job.lease.id, code, job.started, ended.at, ended.max_rss, ended.cpu_seconds, job.reason)

    def tidy(self) -> None:
        """What can wait until no slot waits for us, but must be done before we wait ourselves."""
        self._outputs.tidy()
        for handle in self._over:
            self._poll.unregister(handle)  # first: a job that is just being started may still hold a copy
            os.close(handle)
        self._over.clear()

    def sweep(self) -> None:
        """Ends what jobs that were told to end left in other sessions, before they can be run again."""
        if self._told_to_end:
            Search(self._store, self._told_to_end, tuple(self._told_to_end.values())).end_all()
            self._told_to_end.clear()

    def stop(self, workflow: WorkflowId) -> None:
        """Ends the jobs of a workflow: they are asked first, and run again another time."""
        for handle, job in self.running.items():
            if job.lease.workflow == workflow:
                self._end(handle, job, STOPPED)

    def halt(self, workflow: WorkflowId) -> None:
        """Workflows that run in place of a workflow's jobs are to begin nothing new.

        A job that thereby does not come to its end has not failed: it goes on another time.
        """
        for job in self.running.values():
            if job.lease.workflow == workflow and job.is_nested:
                job.halted = True

    def halted(self) -> set[str]:
        """The marks of jobs that are to begin nothing new."""
        return {mark(self._store, job.lease.id) for job in self.running.values() if job.halted}

    def end(self, leases: Collection[LeaseId]) -> None:
        """Ends attempts that their store wants ended."""
        for handle, job in self.running.items():
            if job.lease.id in leases:
                self._end(handle, job, CALLED_OFF)

    def names(self, workflow: WorkflowId) -> list[str]:
        """A few of the jobs of a workflow that run, the longest first."""
        mine = (job.lease.name for job in self.running.values() if job.lease.workflow == workflow)
        return list(islice(mine, 4))

    def beside(self, workflow: WorkflowId) -> int:
        """How many services of a workflow run."""
        return sum(job.lease.workflow == workflow and job.lease.kind in _BESIDE for job in self.running.values())

    def dismiss(self, workflow: WorkflowId) -> None:
        """Ends the services of a workflow that has ended."""
        for handle, job in self.running.items():
            if job.lease.workflow == workflow and job.lease.kind in _BESIDE:
                self._end(handle, job, OVER)

    def _end(self, handle: int, job: Running, reason: str) -> None:
        """Asks a job's whole process group to end, and makes sure of it after a while. One that has ended has ended."""
        if job.reason or os.waitid(os.P_PIDFD, handle, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        job.reason = reason
        _signal(job.pid, signal.SIGTERM)
        heappush(self._alarms, (time.monotonic() + GRACE, handle, job.pid, signal.SIGKILL))

    def output(self, lease: int) -> str | None:
        """Where a job that runs writes."""
        return next((job.output.path for job in self.running.values() if job.lease.id == lease), None)

    def _log(self, lease: Lease) -> str:
        return self._home.log(lease.workflow, lease.job, lease.attempt)

    # --- time ------------------------------------------------------------------------------------------------------

    def next_alarm(self) -> float | None:
        return self._alarms[0][0] if self._alarms else None

    def ring(self) -> None:
        """Alarms that are due: time limits, and jobs that did not end when asked."""
        while self._alarms and self._alarms[0][0] <= time.monotonic():
            _, handle, pid, number = heappop(self._alarms)
            job = self.running.get(handle)
            if job is None or job.pid != pid:
                continue
            if number == signal.SIGKILL:
                _signal(pid, signal.SIGKILL)
            else:
                self._end(handle, job, "time limit")


def _signal(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return
