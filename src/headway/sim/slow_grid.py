"""The grid of prio.txt section 4.1 once more: plain, slow, an event at a time, on a store in memory.

Who is eligible and who is served is what the engine says. The kernel must measure the same from the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from headway.engine.intake import Intake
from headway.engine.memory import Memory
from headway.engine.ready import Room
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job
from headway.model.messages import Finish, LeaseId
from headway.sim.grid import Workers
from headway.sim.heap import Heap
from headway.sim.kernels.grid import GAPS, SIZES, STREAMS, TIMES
from headway.sim.kernels.numbers import Words, exponential, normal, seed


def stream(key: int, number: int) -> Words:
    state = np.empty(4, np.uint64)
    seed(state, np.uint64(key), number)
    return state


class Replication:
    """Batches of workers come, each worker takes a job or goes, and jobs end, until all are assigned."""

    def __init__(
        self,
        dag: Dag,
        ranks: Sequence[int],
        means: Sequence[float],
        spread: float,
        workers: Workers,
        key: int,
        number: int,
    ) -> None:
        self._gaps, self._sizes, self._times = (stream(key, STREAMS * number + one) for one in (GAPS, SIZES, TIMES))
        self._means, self._spread, self._workers = means, spread, workers
        self._heap, self._store = Heap(), Memory()
        jobs = [None if milestone else Job("true") for milestone in dag.milestones]
        self._workflow = self._store.add(Intake(Flat(dag, jobs, frozenset()), ranks))
        self._unassigned = self._jobs = dag.job_count
        self._batches = self._stalls = self._requests = 0
        self._end = 0.0

    def measured(self) -> tuple[float, float, float]:
        """Execution time, share of batches that stalled, share of requests that got a job."""
        if self._unassigned:
            self._heap.at(0.0, self._batch, late=True)
        self._heap.run()
        stalling = self._stalls / self._batches if self._batches else 0.0
        return self._end, stalling, self._jobs / self._requests if self._requests else 1.0

    def _batch(self) -> None:
        """Some workers come at once, after what ends at the same time."""
        scale, shift = self._workers.size
        size = max(0, math.ceil(scale * exponential(self._sizes) - shift))
        self._batches, self._requests = self._batches + 1, self._requests + size
        if self._store.is_eligible(self._workflow):
            self._assign(size)
        else:
            self._stalls += 1
        if self._unassigned:
            self._heap.after(self._workers.interval * exponential(self._gaps), self._batch, late=True)

    def _assign(self, size: int) -> None:
        now = self._heap.now
        for lease in self._store.exchange([], Room(size, max(size, 1)), [self._workflow], now).leases:
            self._unassigned -= 1
            ends = now + self._means[lease.job] * max(0.0, 1.0 + self._spread * normal(self._times))
            self._end = max(self._end, ends)
            self._heap.at(ends, partial(self._over, lease.id))

    def _over(self, lease: LeaseId) -> None:
        self._store.exchange([Finish(lease, 0)], Room(0, 1), (), self._heap.now)


def replication(
    dag: Dag, ranks: Sequence[int], means: Sequence[float], spread: float, workers: Workers, key: int, number: int
) -> tuple[float, float, float]:
    """What one replication measures."""
    return Replication(dag, ranks, means, spread, workers, key, number).measured()
