"""What a peer takes to handle a message, by kind, where real dags are submitted to a grid.

    .venv/bin/python benchmarks/peer_messages.py [--nodes 300] [--data ../shared/data/wf] [--each 3]

Dags of papers (AIRSN, Montage) and, where they are there, instances of WfCommons, each submitted by so many owners one
after the other and run to its end, in one grid and message by message. The times are CPU times of the thread, with
what the garbage collector takes apart from the rest: it runs inside whatever message it is that makes it due. The clock
itself takes some 0.3 µs.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headway.engine.peer import Peer
from headway.engine.peering.messages import Letter, Submit
from headway.engine.peering.settings import Settings
from headway.experiments import paper_dags
from headway.live.reading.read import read
from headway.model.dag import Dag
from headway.model.flatten import flatten
from headway.sim.heap import Streams
from headway.sim.links import Network
from headway.sim.overlay import World
from headway.sim.peer_scenario import BEGIN, MINUTE, Scenario, powers

INSTANCES = (
    "montage-chameleon-2mass-01d-001", "epigenomics-chameleon-hep-1seq-100k-001", "1000genome-chameleon-2ch-100k-001",
    "soykb-chameleon-10fastq-10ch-001", "blast-chameleon-small-001", "rnaseq-dirt02-001",
)  # fmt: skip
USUAL = 300.0  # seconds of a job that tells none
PRIORITY = 1.3  # time that the owner alone would take over the time until the deadline
PATHS = 3.0  # but at least so many times as long as the longest path takes


def dags(data: Path) -> Iterator[tuple[str, Dag]]:
    yield "AIRSN, width 20", paper_dags.airsn(20).dag()
    yield "AIRSN, width 250", paper_dags.airsn().dag()
    yield "Montage, 20 images", paper_dags.montage(20, 60, 1).dag()
    yield "Montage, 100 images", paper_dags.montage(100, 400, 1).dag()
    for name in INSTANCES:
        path = data / "wfinstances" / f"{name}.json.xz"
        if path.exists():
            yield name, flatten(read(str(path))).dag


def submitted(number: int, dag: Dag, power: int, now: int) -> Submit:
    """Jobs take as long as they tell on a peer of power 1000."""
    jobs = [job for job in range(len(dag)) if not dag.milestones[job]]
    at = {job: place for place, job in enumerate(jobs)}
    works = tuple(int(max(dag.seconds[job] if dag.timed else USUAL, 0.001) * 1000) * 1000 for job in jobs)
    arcs = tuple((at[job], at[child]) for job in jobs for child in dag.job_children(job))
    path = dag.critical_path.seconds if dag.timed else USUAL * len(dag.critical_path.nodes)
    length = max(sum(works) / power / PRIORITY, PATHS * path * 1000 * 1000 / power)
    return Submit(number, works, arcs, now + int(length) + 2 * MINUTE)


class Clock:
    """Nanoseconds that messages took, by kind, and that the garbage collector took of each."""

    def __init__(self) -> None:
        self.taken: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._collected = self._since = 0

    def collects(self, phase: str, _: dict[str, Any]) -> None:
        if phase == "start":
            self._since = time.thread_time_ns()
        else:
            self._collected += time.thread_time_ns() - self._since

    def handle(self, peer: Peer, letter: Letter, now: int) -> list[Letter]:
        self._collected, begun = 0, time.thread_time_ns()
        found = HANDLE(peer, letter, now)
        taken = time.thread_time_ns() - begun
        self.taken[type(letter.body).__name__].append((taken - self._collected, self._collected))
        return found


HANDLE = Peer.handle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/wf"))
    parser.add_argument("--each", type=int, default=3)
    options = parser.parse_args()
    world, clock = World(Settings(), Network(), 1, BEGIN), Clock()
    grid = powers(Scenario(nodes=options.nodes), Streams(1).of("powers"))
    world.planted(grid, 4)
    world.run(world.now + MINUTE)
    Peer.handle = lambda peer, letter, now: clock.handle(peer, letter, now)  # type: ignore[method-assign]
    gc.callbacks.append(clock.collects)
    print("| workflow | jobs | arcs | Submit, ms | accepted |\n|---|---|---|---|---|")
    number = 0
    for name, dag in dags(options.data):
        states, planning = list[str](), list[float]()
        for _ in range(options.each):
            number += 1
            owner = 1 + number * 37 % options.nodes
            body = submitted(number, dag, grid[owner - 1], world.now)
            world.submits(owner, body)
            planning.append(sum(clock.taken["Submit"][-1]) / 1e6)
            while (one := world.workflows[owner, number]).state in ("asking", "accepted"):
                world.run(world.now + MINUTE)
            states.append(one.state if one.ended <= one.deadline else "late")
        told = f"{sum(state == 'done' for state in states)} of {len(states)}"
        arcs = len(body.arcs)
        print(f"| {name} | {len(body.works):,} | {arcs:,} | {sorted(planning)[len(planning) // 2]:.1f} | {told} |")
    print("\n| message | handled | mean µs | 99% | most | most with collections |\n|---|---|---|---|---|---|")
    rows = {**clock.taken, "all": [one for some in clock.taken.values() for one in some]}
    for kind, some in sorted(rows.items(), key=lambda row: -len(row[1])):
        own, whole = sorted(one for one, _ in some), max(one + other for one, other in some)
        late = own[min(len(own) - 1, int(0.99 * len(own)))]
        figures = (sum(own) / len(own), late, own[-1], whole)
        print(f"| {kind} | {len(own):,} | {' | '.join(f'{figure / 1000:,.0f}' for figure in figures)} |")


if __name__ == "__main__":
    main()
