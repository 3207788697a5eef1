"""A workflow that is run through a simulated batch queue, by one method of asking for allocations.

Allocations are what `engine.allocations` asks for, jobs progress by the rules that every store follows, and the queue
is any `BatchQueue`. Only an allocation's own jobs run in it, as in the paper, or in loose mapping guests as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from headway.engine.allocations import Cancel, Manager, Name, Order, Release, Submit
from headway.engine.intake import Intake
from headway.engine.queue import AllocationId
from headway.model.dag import Dag
from headway.model.errors import HeadwayError
from headway.model.flatten import Flat
from headway.model.job import Job, Resources
from headway.model.messages import Seconds
from headway.model.record import mutable, record
from headway.policies.how_much import Limits, Method, Outlines, WaitEstimate
from headway.sim.bulk_jobs import Beginning, BulkJobs
from headway.sim.heap import Heap, Streams
from headway.sim.mapped_jobs import MappedJobs
from headway.sim.queue import BatchQueue

_PLAIN = Job("true")
_MOST = 1000  # allocations for each job: a method that asks for more makes no progress


class Case:
    """A workflow as it is simulated: how long its jobs take, and how long they are expected to."""

    def __init__(self, dag: Dag, cores: Sequence[int] | None = None, expected: Sequence[float] | None = None) -> None:
        self.dag = dag
        self.cores = list(cores) if cores is not None else [1] * len(dag)
        self.outlines = Outlines(dag if expected is None else dag.with_seconds(expected), self.cores)
        jobs = [
            None if milestone else _PLAIN if wide == 1 else Job("true", resources=Resources(cores=wide))
            for milestone, wide in zip(dag.milestones, self.cores, strict=True)
        ]
        self.intake = Intake(Flat(dag, jobs, frozenset()), [0] * len(dag))
        self.beginning = Beginning(self.intake)
        self.run_time = dag.minimal_schedule.makespan  # on processors without end, and no queue


def mistaken(dag: Dag, sigma: float, seed: int, name: str) -> list[float]:
    """Expected run times that are wrong by a lognormal factor, as often too long as too short."""
    draws = Streams(seed).of("expected", name, sigma)
    return [seconds * math.exp(draws.gauss(0.0, sigma)) for seconds in dag.seconds]


@mutable
class Allocation:
    """One that was asked for, as it went."""

    width: int
    seconds: Seconds
    asked: Seconds
    jobs: int
    estimate: Seconds | None  # of its wait; nobody asks where jobs are asked for one by one
    began: Seconds | None = None
    ended: Seconds | None = None  # or cancelled


@record
class Outcome:
    """What became of it."""

    wait: Seconds  # what it took beyond its run time without a queue
    relative_wait: float
    makespan: Seconds
    core_hours: float
    work_hours: float  # of which jobs ran for
    allocations: tuple[Allocation, ...]
    individually: bool  # whether it ended with an allocation for each job
    cut: int  # jobs that were cut off by the end of their allocation

    @property
    def allocation_wait(self) -> Seconds:
        """The waits of all allocations that began, together."""
        return sum(one.began - one.asked for one in self.allocations if one.began is not None)

    @property
    def cancelled(self) -> int:
        return sum(one.began is None for one in self.allocations)


class Jobs(Protocol):
    """The workflow's jobs, and where they run."""

    newly: list[int]  # that have become eligible, until somebody clears it

    def map(self, jobs: Sequence[int], name: Name) -> None:
        """They are for an allocation that was asked for."""

    def eligible(self) -> list[int]: ...

    def is_there(self, name: Name) -> bool:
        """Whether an allocation runs."""

    def join(self, name: Name, slots: int, until: Seconds) -> None:
        """An allocation begins."""

    def close(self) -> None:
        """Tells nobody of anything any more: all memory of it is free at once, and not when somebody looks for it."""

    def leave(self, name: Name) -> dict[int, Seconds]:
        """An allocation ends, and what runs there is cut off: how long each job has run."""


class Submission:
    """The workflow between its store, its allocations and the queue."""

    def __init__(
        self,
        queue: BatchQueue,
        case: Case,
        method: Method,
        processors: int,
        wait: WaitEstimate,
        limits: Limits | None = None,
        loose: bool = False,
        by_engine: bool = False,
    ) -> None:
        """`loose`: allocations run guests beside their own jobs. `by_engine`: jobs progress by the engine itself, as
        they do then, and are not worked out in bulk, which is the same but faster."""
        self._queue, self._case, self._wait = queue, case, wait
        self._manager = Manager(case.outlines, method, processors, wait, limits or Limits(), loose)
        self._heap = Heap()
        self._heap.run(queue.now)
        seconds = case.dag.seconds
        self._jobs: Jobs = (
            MappedJobs(case.intake, seconds, self._heap, self.told, self._follow, self._manager if loose else None)
            if by_engine or loose
            else BulkJobs(case.beginning, seconds, case.cores, self._heap, self.told)
        )
        self._ids: dict[Name, AllocationId] = {}
        self._names: dict[AllocationId, Name] = {}
        self._over: set[Name] = set()  # allocations that the queue has ended
        self.allocations: dict[Name, Allocation] = {}
        self._left, self._cut, self._end = case.dag.job_count, 0, queue.now

    def outcome(self) -> Outcome:
        """Runs it to its end."""
        begun = self._queue.now
        self._jobs.newly.clear()
        self._follow(self._manager.begin())
        self._heap.run(self._queue.now)
        while self._left:
            news = self._queue.advance(self._heap.next)
            if not news and self._heap.next == math.inf:
                raise HeadwayError(
                    "nothing of the workflow runs, waits or can be asked for.", "Tell Headway's authors."
                )
            self._over.update(self._names[one.id] for one in news if not one.began)
            self._heap.run(self._queue.now if news else self._heap.now)  # who ends at the very limit has ended
            for one in sorted(news, key=lambda one: one.id):
                name = self._names[one.id]
                if one.began:
                    self._began(name)
                elif self._jobs.is_there(name):
                    self._at_limit(name)
            self._heap.run(self._queue.now)
        self._heap.clear()
        self._jobs.close()
        makespan = self._end - begun
        used = sum(
            one.width * (one.ended - one.began)
            for one in self.allocations.values()
            if one.began is not None and one.ended is not None
        )
        wait, run = makespan - self._case.run_time, self._case.run_time
        work = sum(cores * seconds for cores, seconds in zip(self._case.cores, self._case.dag.seconds, strict=True))
        return Outcome(
            wait, wait / run if run else 0.0, makespan, used / 3600, work / 3600,
            tuple(self.allocations.values()), self._manager.individually, self._cut,
        )  # fmt: skip

    # --- what the queue says ---------------------------------------------------------------------------------------

    def _began(self, name: Name) -> None:
        one = self.allocations[name]
        one.began = self._queue.now
        self._jobs.join(name, one.width, one.began + one.seconds)
        self._follow(self._manager.began(name, self._queue.now))

    def _at_limit(self, name: Name) -> None:
        """The queue ends it: what runs there is cut off."""
        self.allocations[name].ended = self._queue.now
        ran = self._jobs.leave(name)
        self._cut += sum(seconds > 0 for seconds in ran.values())
        self._jobs.newly.clear()
        self._follow(self._manager.ended(name, ran, self._jobs.eligible()))

    # --- what the manager orders -----------------------------------------------------------------------------------

    def _follow(self, orders: Sequence[Order]) -> None:
        for order in orders:
            match order:
                case Submit():
                    self._submit(order)
                case Cancel(name):
                    self._queue.cancel(self._ids[name])
                    self.allocations[name].ended = self._queue.now
                case Release(name):
                    if name not in self._over:
                        self._queue.end(self._ids[name])
                    self.allocations[name].ended = self._queue.now
                    self._jobs.leave(name)

    def _submit(self, order: Submit) -> None:
        if len(self.allocations) >= _MOST * (1 + self._case.dag.job_count):
            raise HeadwayError(
                f"{len(self.allocations):,} allocations were asked for, and {self._left:,} jobs are left.",
                "The method asks for too little, again and again. Tell its author.",
            )
        estimate = None if self._manager.individually else self._wait(order.width, order.seconds)
        self.allocations[order.name] = Allocation(
            order.width, order.seconds, self._queue.now, len(order.jobs), estimate
        )
        allocation = self._queue.submit(order.width, order.seconds)
        self._ids[order.name], self._names[allocation] = allocation, order.name
        self._jobs.map(order.jobs, order.name)

    # --- what placeholders say -------------------------------------------------------------------------------------

    def told(self, done: Sequence[int]) -> None:
        """Jobs are done, and others may have become eligible."""
        self._left -= len(done)
        if done:
            self._end = self._heap.now
        newly = list(self._jobs.newly)
        self._jobs.newly.clear()
        orders = self._manager.finished(*done, now=self._heap.now)
        self._follow([*orders, *self._manager.eligible(newly)])
