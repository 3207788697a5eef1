"""Workers that arrive in batches: the stochastic grid of prio.txt section 4.1, and what it measures."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from headway.model.dag import Dag
from headway.model.errors import UsageError
from headway.model.record import record
from headway.sim.kernels.grid import GAPS, SIZES, STREAMS, sample
from headway.sim.kernels.numbers import exponential, seed
from headway.sim.rng import key

Reals = NDArray[np.float64]

METRICS = ("execution_time", "stalling", "utilisation")
MOST_BATCHES = 1e9  # that one replication may be expected to have
LONGEST = 1e100  # mean time between batches, so that the squares that statistics need are still numbers
MOST_SPREAD = 100.0  # standard deviations far above that leave nothing of the mean


@record
class Workers:
    """How they arrive: the mean time between batches, the mean size of a batch, and how a size becomes whole."""

    interval: float
    batch: float
    whole: str = "geometric"

    def __post_init__(self) -> None:
        if not (0 < self.interval <= LONGEST):
            raise UsageError(
                f"the mean time between batches must be positive, and at most {LONGEST:g}.", "Try --bit 1."
            )
        if not (1 <= self.batch < 2**53):
            raise UsageError("the mean size of a batch must be at least 1.", "Try --bs 16.")

    @property
    def size(self) -> tuple[float, float]:
        """A size is the next whole number above scale · Exp(1) − shift. See docs/differences.md."""
        if self.whole == "geometric":  # the discrete form of the exponential, with exactly this mean
            return (-1 / math.log1p(-1 / self.batch), 0.0) if self.batch > 1 else (0.0, -1.0)
        return self.batch, {"up": 0.0, "nearest": 0.5, "down": 1.0}[self.whole]


@record
class Queue:
    """The ranks of an order, numbered from 0 without gaps: what an order is to the kernel."""

    kinds: NDArray[np.int32]
    count: int

    @classmethod
    def by(cls, ranks: Sequence[int]) -> Queue:
        found, kinds = np.unique(np.fromiter(ranks, np.int64, len(ranks)), return_inverse=True)
        return cls(kinds.astype(np.int32), max(len(found), 1))


class Model:
    """A dag with run times, prepared for the kernel."""

    def __init__(self, dag: Dag, means: Sequence[float] | None = None, spread: float = 0.1) -> None:
        """Run times are normal: of mean 1 as in the paper or as given, with a relative standard deviation."""
        self.dag = dag
        self.milestones = np.frombuffer(dag.milestones, np.uint8)
        self.means = np.ones(len(dag)) if means is None else np.array(means, np.float64)
        self.spread = spread
        self._child_start = np.array(dag.child_start, np.int32)
        self._children = _by_place(self._child_start, np.array(dag.children, np.int32))
        waiting = np.bincount(self._children, minlength=len(dag)).astype(np.int32)
        for node in dag.order:  # a milestone that waits for nothing is done before anything runs
            if dag.milestones[node] and not waiting[node]:
                waiting[dag.children_of(node)] -= 1
        self._waiting = waiting
        self._eligible = np.flatnonzero((waiting == 0) & (self.milestones == 0)).astype(np.int32)

    def sample(self, queue: Queue, workers: Workers, stream: int, count: int, first: int = 0) -> Reals:
        """Measurements of so many replications of a stream: rows of execution time, stalling, utilisation."""
        measured = np.empty((count, len(METRICS)))
        sample(
            self._child_start, self._children, self._waiting, self._eligible, self.milestones,
            queue.kinds, queue.count,
            self.means, float(self.spread), float(workers.interval), *workers.size, np.uint64(stream), first, measured,
        )  # fmt: skip
        return measured

    def check(self, workers: Workers) -> None:
        """Refuses what would never end: batches that come far more often than jobs do."""
        if not (0 <= self.spread <= MOST_SPREAD):
            raise UsageError(f"the spread of run times must be from 0 to {MOST_SPREAD:g}.", "Try --spread 0.1.")
        longest = [0.0] * len(self.dag)
        for node in reversed(self.dag.order):
            below = max((longest[child] for child in self.dag.children_of(node)), default=0.0)
            longest[node] = below + self.means[node] * (not self.dag.milestones[node])
        if max(longest, default=0.0) * (1 + self.spread) / workers.interval > MOST_BATCHES:
            raise UsageError(
                f"batches every {workers.interval:g} on average, while jobs take up to {max(self.means):g}, are more"
                " than can be simulated.",
                "Try a larger --bit.",
            )


def _by_place(starts: NDArray[np.int32], children: NDArray[np.int32]) -> NDArray[np.int32]:
    """The children of each node by their place: in that order a store makes eligible whom one end frees."""
    parents = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return children[np.lexsort((children, parents))]


def arrivals(workers: Workers, stream: int, number: int, count: int) -> list[tuple[float, int]]:
    """The first batches that a replication of a stream meets: when each comes, and its size."""
    gaps, sizes = np.empty(4, np.uint64), np.empty(4, np.uint64)
    seed(gaps, np.uint64(stream), STREAMS * number + GAPS)
    seed(sizes, np.uint64(stream), STREAMS * number + SIZES)
    scale, shift = workers.size
    now, found = 0.0, []
    for _ in range(count):
        found.append((now, max(0, math.ceil(scale * exponential(sizes) - shift))))
        now += workers.interval * exponential(gaps)
    return found


@record
class Task:
    """What to measure: p samples, each the mean of q replications, of one order in one setting."""

    model: Model
    queue: Queue
    workers: Workers
    p: int
    q: int
    seed: int = 0

    def sample(self, number: int) -> Reals:
        """The means of one sample. All orders meet the same workers: the more they differ, the more is their own."""
        stream = key(self.seed, "grid", float(self.workers.interval), float(self.workers.batch), number)
        means: Reals = self.model.sample(self.queue, self.workers, stream, self.q).mean(axis=0)
        return means


def measured(
    tasks: Sequence[Task], cores: int | None = None, done: Callable[[int], None] = lambda jobs: None
) -> Iterator[Reals]:
    """For each task in turn a row of means for each sample, worked out on all cores; `done` is told of jobs simulated.

    The kernel lets other threads run, so that threads do what processes would, and numbers depend on names alone.
    """
    cores = cores or len(os.sched_getaffinity(0))
    pool = ThreadPoolExecutor(cores)
    work = ((task, number) for task in tasks for number in range(task.p))
    ahead: deque[Future[Reals]] = deque()
    try:
        for task in tasks:
            rows: list[Reals] = []
            while len(rows) < task.p:
                for following, number in islice(work, 4 * cores - len(ahead)):
                    ahead.append(pool.submit(following.sample, number))
                rows.append(ahead.popleft().result())
                done(task.q * task.model.dag.job_count)
            yield np.array(rows)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
