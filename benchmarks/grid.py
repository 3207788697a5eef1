"""The grid simulator against the same model written with SimPy, in one run: job completions per second per core.

    .venv/bin/pip install simpy
    .venv/bin/python benchmarks/grid.py [--repeat 5] [--bit 1] [--bs 16] [--replications 3000]

AIRSN of width 250 (773 jobs), FIFO and PRIO. Both sides are timed by the CPU time of this one thread; compiling the
kernel is not counted. That both simulate the same is shown by the mean execution times beside each other. The rate on
all cores is by the clock.
"""

from __future__ import annotations

import argparse
import heapq
import os
import time
from collections.abc import Sequence

import numpy as np
import simpy
from read_dagman import spread

from headway.experiments.paper_dags import airsn
from headway.model.dag import Dag
from headway.policies.what_next import order
from headway.sim.grid import Model, Queue, Task, Workers, measured


class Simpy:
    """Section 4.1 of prio.txt as processes: one for the batches, one for each job that a worker took."""

    def __init__(self, dag: Dag, ranks: Sequence[int], workers: Workers, seed: int) -> None:
        self.dag, self.ranks, self.workers = dag, ranks, workers
        self.random = np.random.default_rng(seed)

    def run(self) -> float:
        """One replication; its execution time."""
        self.world = simpy.Environment()
        self.waiting = [len(self.dag.parents_of(node)) for node in range(len(self.dag))]
        self.queue: list[tuple[int, int, int]] = []
        self.arrivals, self.unassigned, self.end = 0, len(self.dag), 0.0
        for node, count in enumerate(self.waiting):
            if not count:
                self.eligible(node)
        self.world.process(self.batches())
        self.world.run()
        return self.end

    def eligible(self, node: int) -> None:
        self.arrivals += 1
        heapq.heappush(self.queue, (self.ranks[node], self.arrivals, node))

    def batches(self):  # type: ignore[no-untyped-def]
        while True:
            for _ in range(min(self.random.geometric(1 / self.workers.batch), len(self.queue))):
                self.unassigned -= 1
                self.world.process(self.job(heapq.heappop(self.queue)[2]))
            if not self.unassigned:
                return
            yield self.world.timeout(self.random.exponential(self.workers.interval))

    def job(self, node: int):  # type: ignore[no-untyped-def]
        yield self.world.timeout(self.random.normal(1, 0.1))
        self.end = self.world.now
        for child in self.dag.children_of(node):
            self.waiting[child] -= 1
            if not self.waiting[child]:
                self.eligible(child)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--bit", type=float, default=1.0)
    parser.add_argument("--bs", type=float, default=16.0)
    parser.add_argument("--replications", type=int, default=3000)
    options = parser.parse_args()
    dag, workers = airsn().dag(), Workers(options.bit, options.bs)
    model, jobs, cores = Model(dag), len(dag), len(os.sched_getaffinity(0))
    few = max(options.replications // 100, 1)
    print(
        f"million completions a second, median (least–most) of {options.repeat} runs;"
        f" AIRSN at ({options.bit:g}, {options.bs:g})\n"
    )
    print(
        f"| order | headway, one core | SimPy, one core | ratio | headway, {cores} cores "
        "| execution time, headway | SimPy |"
    )
    print("|---|---|---|---|---|---|---|")
    for name in ("fifo", "prio"):
        ranks = order(name)(dag)
        queue = Queue.by(ranks)
        model.sample(queue, workers, 0, 1)
        ours, theirs, whole, times, their_times = [], [], [], [], []
        slow = Simpy(dag, ranks, workers, 1)
        for turn in range(options.repeat):
            start = time.process_time()
            times.append(model.sample(queue, workers, turn, options.replications)[:, 0].mean())
            ours.append(jobs * options.replications / (time.process_time() - start) / 1e6)
            start = time.process_time()
            their_times += [slow.run() for _ in range(few)]
            theirs.append(jobs * few / (time.process_time() - start) / 1e6)
            begun = time.perf_counter()
            list(measured([Task(model, queue, workers, 20, options.replications, turn)]))
            whole.append(jobs * 20 * options.replications / (time.perf_counter() - begun) / 1e6)
        ratios = [our / their for our, their in zip(ours, theirs, strict=True)]
        cells = [spread(ours, ".1f"), spread(theirs, ".3f"), spread(ratios, ".0f"), spread(whole, ".1f")]
        print(f"| {name} | {' | '.join(cells)} | {np.mean(times):.1f} | {np.mean(their_times):.1f} |", flush=True)


if __name__ == "__main__":
    main()
