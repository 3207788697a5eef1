"""The grid of prio.txt section 4.1 once more: plain, slow, an event at a time, with the engine's own rules.

What becomes eligible is what `engine.step` says, and who is served what `engine.ready` says of (rank, arrival). The
kernel must measure the same from the same random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from headway.engine.ready import chosen
from headway.engine.step import Row, step
from headway.model.dag import Dag
from headway.model.messages import Finish, JobId, LeaseId, WorkflowId
from headway.model.states import State
from headway.sim.grid import Workers
from headway.sim.kernels.grid import GAPS, SIZES, STREAMS, TIMES
from headway.sim.kernels.numbers import Words, exponential, normal, seed


@dataclass
class Jobs:
    """The rows of a dag in memory, for `engine.step`."""

    dag: Dag
    arrivals: int = 0
    rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        for node in range(len(self.dag)):
            parents, milestone = len(self.dag.parents_of(node)), bool(self.dag.milestones[node])
            self.rows.append(Row(WorkflowId(0), JobId(node), State.WAITING, parents, 0, 0, milestone))
        for node in self.dag.order:
            row = self.rows[node]
            if row.waiting_for == 0:
                row.to(State.DONE if row.milestone else State.ELIGIBLE)
                for child in self.dag.children_of(node) if row.milestone else ():
                    self.rows[child].waiting_for -= 1
        for row in self.rows:
            if row.state is State.ELIGIBLE:
                row.arrival = self.next_arrival(row.workflow)

    def leased(self, lease: LeaseId) -> Row | None:
        return self.rows[int(lease)]

    def children(self, row: Row) -> Sequence[tuple[Row, bool]]:
        return [(self.rows[child], False) for child in self.dag.children_of(row.job)]

    def next_arrival(self, workflow: WorkflowId) -> int:
        self.arrivals += 1
        return self.arrivals


def stream(key: int, number: int) -> Words:
    state = np.empty(4, np.uint64)
    seed(state, np.uint64(key), number)
    return state


def replication(
    dag: Dag, ranks: Sequence[int], means: Sequence[float], spread: float, workers: Workers, key: int, number: int
) -> tuple[float, float, float]:
    """Execution time, share of batches that stalled, share of requests that got a job."""
    gaps, sizes, times = (stream(key, STREAMS * number + which) for which in (GAPS, SIZES, TIMES))
    scale, shift = workers.size
    jobs = Jobs(dag)
    unassigned = dag.job_count
    batches, stalls, requests, end = 0, 0, 0, 0.0
    started = 0
    now = 0.0
    running: list[tuple[float, int, int]] = []  # end, place among the started, job
    while unassigned:
        while running and running[0][0] <= now:
            _, _, job = heappop(running)
            step(jobs, [Finish(LeaseId(job), 0)])
        batch = max(0, math.ceil(scale * exponential(sizes) - shift))
        batches, requests = batches + 1, requests + batch
        eligible = [row for row in jobs.rows if row.state is State.ELIGIBLE]
        stalls += not eligible
        eligible.sort(key=lambda row: (ranks[row.job], row.arrival))
        for row, _ in chosen([(row, 1) for row in eligible], batch, max(batch, 1), 0):
            row.to(State.RUNNING)
            started, unassigned = started + 1, unassigned - 1
            ends = now + means[row.job] * max(0.0, 1.0 + spread * normal(times))
            end = max(end, ends)
            heappush(running, (ends, started, row.job))
        now += workers.interval * exponential(gaps)
    return end, stalls / batches if batches else 0.0, dag.job_count / requests if requests else 1.0
