"""A batch queue that serves a log fast, and checkpoints of it: `kernels.batch` behind the protocol of `sim.queue`."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from headway.engine.queue import HOUR, AllocationId, Policy
from headway.formats.swf import Log
from headway.model.errors import HeadwayError
from headway.model.messages import Seconds
from headway.model.record import record
from headway.sim.kernels import batch, batch_state, forecast
from headway.sim.kernels.batch_state import Jobs, State
from headway.sim.queue import News

Reals = NDArray[np.float64]
_OWN = 65_536  # requests of ours that may wait at once, and news of them
_RECENT = 1000  # ended jobs by which is judged how much of their requests jobs use


@record
class Shifts:
    """How much later (or earlier, below 0) jobs of the log started because of us, and who still has not."""

    jobs: int
    seconds: Seconds  # of all together
    most: Seconds
    held: int  # jobs that still wait, and without us had started
    held_seconds: Seconds  # for how long, of all together: they go on waiting, so it is the least


def prepare() -> None:
    """Compiles the kernels, by a log of one job: once in a while that takes some seconds."""
    one, two = array("d", [0.0]), array("q", [0])
    log = Log("one job", 1, one, array("d", [1.0]), array("q", [1]), array("d", [1.0]), two)
    queue = Replay(log, Policy("first come"), [0.0]).checkpoints[0.0].copied()
    queue.showstart(1, 1.0)
    queue.cancel(queue.submit(1, 1.0))
    mine = queue.submit(1, 1.0)
    queue.advance(math.inf)
    queue.end(mine)


class FastQueue:
    """A moment of a replay that goes on from there."""

    def __init__(self, jobs: Jobs, policy: Policy, state: State, recorded: bool = False) -> None:
        self._jobs, self._policy, self._state, self._recorded = jobs, policy, state, recorded
        self._last = len(jobs.submit) - 1
        self._future: tuple[float, forecast.Future] | None = None

    @property
    def now(self) -> Seconds:
        return float(self._state.times[batch_state.NOW])

    @property
    def come(self) -> int:
        """Jobs of the log that have come so far."""
        return int(self._state.counts[batch_state.COMES])

    @property
    def shifts(self) -> Shifts:
        counts, times = self._state.counts, self._state.times
        waiting = self._state.waiting[: counts[batch_state.WAITING], 0]
        since = self.now - self._jobs.starts[waiting[waiting < len(self._jobs.submit)]]
        held = since[since > 0]
        return Shifts(
            int(counts[batch_state.SHIFTED]),
            float(times[batch_state.SHIFT]),
            float(times[batch_state.MOST_SHIFT]),
            len(held),
            float(held.sum()),
        )

    def advance(self, until: Seconds) -> list[News]:
        self._future = None
        batch.advance(self._jobs, self._state, until, self._recorded)
        return self._told()

    def settle(self) -> list[News]:
        if self._state.counts[batch_state.UNSETTLED]:
            self._future = None
            batch.settle(self._jobs, self._state, self._recorded)
        return self._told()

    def submit(self, width: int, seconds: Seconds) -> AllocationId:
        if self._state.counts[batch_state.WAITING] >= len(self._state.waits) - 1:
            raise HeadwayError(f"more than {_OWN:,} requests wait at once.", "Group the jobs of the workflow.")
        self._last += 1
        self._future = None
        place = self._policy.place(width, self.now, self._jobs.processors)
        batch.enter(self._state, self._last, width, self._state.penalties.size - 1, float(seconds), place)
        return AllocationId(self._last)

    def cancel(self, wanted: AllocationId) -> None:
        self._future = None
        batch.withdraw(self._state, wanted)

    def end(self, ended: AllocationId) -> None:
        self._future = None
        batch.stop(self._jobs, self._state, ended)

    def showstart(self, width: int, seconds: Seconds, used: float = 1.0) -> Seconds | None:
        if not 0 < width <= self._jobs.processors:
            return None
        if self._future is None or self._future[0] != used:
            self._future = used, forecast.played(self._jobs, self._state, float(used))
        place = self._policy.place(width, self.now, self._jobs.processors)
        user = self._state.penalties.size - 1
        found = forecast.start(self._jobs, self._state, self._future[1], width, float(seconds), place, user)
        return float(found) - self.now

    def _told(self) -> list[News]:
        count = int(self._state.counts[batch_state.NEWS])
        if not count:
            return []
        self._state.counts[batch_state.NEWS] = 0
        return [News(AllocationId(int(one)), bool(began)) for one, began in self._state.news[:count]]


class Checkpoint:
    """A moment of a replay that is kept: only the rows that are in use, since there may be many thousand."""

    def __init__(self, jobs: Jobs, policy: Policy, queue: FastQueue) -> None:
        state = queue._state
        self._jobs, self._policy = jobs, policy
        self._rooms = len(state.waiting), len(state.running)
        waiting, running = int(state.counts[batch_state.WAITING]), int(state.counts[batch_state.RUNNING])
        self._state = _copied(state, waiting, running, 0)

    def copied(self) -> FastQueue:
        """A queue that goes on from there."""
        return FastQueue(self._jobs, self._policy, _copied(self._state, *self._rooms, _OWN))


class Replay:
    """A log served without us from beginning to end: when each job starts, and moments to begin at."""

    def __init__(self, log: Log, policy: Policy, moments: Sequence[Seconds] = ()) -> None:
        """`moments`: when checkpoints are taken; any order."""
        self.log, self.policy = log, policy
        self._jobs = _jobs(log, policy)
        queue = FastQueue(self._jobs, policy, _empty(self._jobs, policy), recorded=True)
        self.checkpoints: dict[Seconds, Checkpoint] = {}
        for moment in sorted(set(moments)):
            queue.advance(moment)
            self.checkpoints[moment] = Checkpoint(self._jobs, policy, queue)
        queue.advance(math.inf)
        self.starts: Reals = self._jobs.starts
        self._ends = self.starts + self._jobs.run
        self._by_end = np.argsort(self._ends, kind="stable")
        self._by_start = np.argsort(self.starts, kind="stable")

    @property
    def waits(self) -> Reals:
        return self.starts - self._jobs.submit

    def used(self, now: Seconds) -> float:
        """The median share of their requests that the last jobs to end had used."""
        count = int(np.searchsorted(self._ends[self._by_end], now, "right"))
        some = self._by_end[max(0, count - _RECENT) : count]
        return float(np.median(self._jobs.run[some] / self._jobs.request[some])) if len(some) else 1.0

    def past_waits(self, now: Seconds, least: int, most: int, count: int) -> Reals:
        """What the last jobs of some width to start before a moment had waited, the latest last."""
        started = int(np.searchsorted(self.starts[self._by_start], now, "left"))
        some = self._by_start[:started]
        widths = self._jobs.width[some]
        some = some[(widths >= least) & (widths <= most)][-count:]
        return self.starts[some] - self._jobs.submit[some]


def _jobs(log: Log, policy: Policy) -> Jobs:
    submit, width = np.array(log.submit), np.array(log.width)
    share = policy.fair_share
    return Jobs(
        submit,
        np.array(log.run),
        np.array(log.request),
        width,
        np.array(log.user),
        _places(policy, width, submit, log.processors),
        np.full(len(log), np.nan),
        log.processors,
        np.array([0.0, 1.0, 1.0] if share is None else [share.weight, share.interval, share.decay]),
        policy.beside,
    )


def _places(policy: Policy, width: NDArray[np.int64], submit: Reals, processors: int) -> Reals:
    """`Policy.place` of all jobs at once, to the last bit."""
    points = policy.percent * (100.0 * width / processors)
    return policy.hour * (submit / HOUR) - np.maximum(-policy.cap, np.minimum(policy.cap, points))


def _empty(jobs: Jobs, policy: Policy) -> State:
    """An idle machine at the log's first submission. Memory that nothing is written to costs nothing."""
    room, users = len(jobs.submit) + _OWN, int(jobs.user.max(initial=-1)) + 2
    most = min(jobs.processors, room) + 1  # who runs at once: no more than there are processors, or requests
    counts, times = np.zeros(10, np.int64), np.zeros(6)
    counts[batch_state.FREE], counts[batch_state.FRESH] = jobs.processors, -1
    times[batch_state.NOW] = times[batch_state.COUNTED] = jobs.submit[0] if len(jobs.submit) else 0.0
    depth = policy.fair_share.depth if policy.fair_share is not None else 0
    return State(
        counts,
        times,
        np.empty((room, 3), np.int64, order="F"),
        np.empty((room, 3), order="F"),
        np.empty((most, 3), np.int64, order="F"),
        np.empty((most, 3), order="F"),
        np.zeros((depth + 1, users)),
        np.zeros(users),
        np.empty((_OWN, 2), np.int64),
    )


def _copied(state: State, waiting: int, running: int, news: int) -> State:
    """The same with arrays of its own, and room for so many rows; only what is in use is written."""
    waits, runs = int(state.counts[batch_state.WAITING]), int(state.counts[batch_state.RUNNING])
    return State(
        state.counts.copy(),
        state.times.copy(),
        _part(state.waiting, waits, waiting),
        _part(state.waits, waits, waiting),
        _part(state.running, runs, running),
        _part(state.runs, runs, running),
        state.used.copy(),
        state.penalties.copy(),
        np.empty((news, 2), np.int64),
    )


Rows = TypeVar("Rows", bound=NDArray[Any])


def _part(rows: Rows, used: int, room: int) -> Rows:
    copy: Rows = np.empty((room, rows.shape[1]), rows.dtype, order="F")  # type: ignore[assignment]
    copy[:used] = rows[:used]
    return copy
