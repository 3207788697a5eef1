"""A job under way, and one that has ended."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Mapping

from headway.live.placeholder.outputs import Output
from headway.live.placeholder.partial_outputs import Looks
from headway.live.placeholder.roster import HALTED, LENT, NESTED, Over
from headway.model.messages import Lease
from headway.model.record import mutable, record

STOPPED = "stopped"  # by its user: it runs again another time
CALLED_OFF = "called off"  # by the rules of its workflow, or by its user
OVER = "over"  # a service whose workflow has ended
TIME_LIMIT = "time limit"
TAKEN = "taken"  # by another placeholder, which has its lease now
OUT_OF_TIME = "the time of its placeholder was over"
DISMISSED = "its placeholder was told to end"  # by its user, by the queue that it runs in, or as the host goes down
REASONS = ("", STOPPED, CALLED_OFF, OVER, TIME_LIMIT, TAKEN, OUT_OF_TIME, DISMISSED)  # by the roster's number
GIVEN_BACK = "given back"  # before it began
LOST = "lost: its runner died"


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
    is_lent: bool = False  # a run inside it waits for this runner
    is_adopted: bool = False  # it is not our child

    @property
    def told(self) -> int:
        """What the next runner must know of it, as a number."""
        flags = self.halted * HALTED | self.is_lent * LENT | self.is_nested * NESTED
        return REASONS.index(self.reason) | flags


@record
class Ended:
    """One job that runs no more: what the system says of it."""

    job: Running
    at: float
    status: int | None  # None: not known
    max_rss: int  # bytes
    cpu_seconds: float

    @property
    def is_well(self) -> bool:
        return self.status == 0 and not self.job.reason


def is_over(handle: int) -> bool:
    """Whether the process of a handle has ended."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(0))


def ended_as(job: Running, over: Over | None) -> Ended:
    """The end of a job that is not our child."""
    if over is None:
        return Ended(job, time.time(), None, 0, 0.0)
    return Ended(job, over.at, over.status, over.max_rss, over.cpu_seconds)


def status_of(pid: int) -> int:
    """How a child has ended, as wait(2) says it; it is not waited for."""
    found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    if found is None:
        return 0
    if found.si_code == os.CLD_EXITED:
        return found.si_status << 8
    return found.si_status | (0x80 if found.si_code == os.CLD_DUMPED else 0)


def signal_group(pid: int, number: int) -> None:
    """Sends a signal to a job's process group, if there is still one."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return
