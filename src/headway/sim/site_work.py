"""A workflow for the sites simulator: what each job needs, reads and writes, as lists and as arrays for the kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.model.dag import Dag
from headway.model.errors import UsageError, shown
from headway.model.flatten import Flat
from headway.model.job import PLAIN
from headway.model.record import field, mutable, record
from headway.model.site import Site
from headway.policies.where.candidates import Needs, candidates, no_site
from headway.sim.kernels.site_parts import Work

if TYPE_CHECKING:
    from headway.sim.sites import World

NOTHING = Needs()
DEFAULT_SECONDS = 60.0


@record
class Transfers:
    """What moving one file takes: so many seconds, and its size over so many bytes a second; 0: the size is free."""

    seconds: float = 0.0
    bandwidth: float = 0.0

    def of(self, size: int) -> float:
        return self.seconds + (size / self.bandwidth if self.bandwidth else 0.0)


@mutable
class Workload:
    """A dag with run times, and for each of its nodes what it needs, reads and writes. A milestone has nothing."""

    dag: Dag
    seconds: Sequence[float]
    needs: Sequence[Needs]
    retries: Sequence[int]
    inputs: Sequence[Sequence[str]]
    outputs: Sequence[Sequence[str]]
    ranks: Sequence[int]
    sizes: dict[str, int] = field(default_factory=dict)  # of files, in bytes
    moving: dict[int, float] = field(default_factory=dict)  # seconds that moving each input of a node takes, if told

    @classmethod
    def of(cls, flat: Flat, sizes: dict[str, int], seconds: Sequence[float], retries: int | None = None) -> Workload:
        """From a workflow that was read; `retries` for jobs that say nothing of them."""
        jobs = flat.jobs
        return cls(
            flat.dag,
            seconds,
            [NOTHING if job is None else Needs.of(job) for job in jobs],
            [0 if job is None else job.rules.retries or retries or 0 for job in jobs],
            [() if job is None else tuple(dict.fromkeys(job.inputs)) for job in jobs],
            [() if job is None else tuple(dict.fromkeys(job.outputs)) for job in jobs],
            [0 if job is None or job.rules is PLAIN else -job.rules.priority for job in jobs],
            sizes,
        )


def timed(dag: Dag, unknown: float | None = None) -> list[float]:
    """Run times of a dag; where none is told, the one given, or the mean of those told, or a minute."""
    if unknown is None:
        unknown = dag.work / dag.timed if dag.timed else DEFAULT_SECONDS
    told = dag.told_seconds
    return [
        0.0 if milestone else unknown if told is None or told[node] is None else dag.seconds[node]
        for node, milestone in enumerate(dag.milestones)
    ]


def arrays(load: Workload, sites: Sequence[Site], most_free: Sequence[int], world: World) -> Work:
    """The workload at these sites; refuses a job that no site takes, and a file that exists nowhere."""
    dag, size = load.dag, len(load.dag)
    files = _Files(load, sites, world)
    by_needs: dict[Needs, int] = {}
    lists: list[list[int]] = []
    kinds = [0] * size
    if not sites:
        raise no_site("", NOTHING, sites)
    for node in range(size):
        if dag.milestones[node]:
            continue
        needs = load.needs[node]
        if needs not in by_needs:
            by_needs[needs] = len(lists)
            lists.append(_candidates(dag.names[node], needs, sites, most_free))
        kinds[node] = by_needs[needs]
    waiting, first = _eligible(dag, load.ranks)
    child_start, children = _rows([sorted(dag.children_of(node)) for node in range(size)])
    input_start, inputs = _rows([[files.number[name] for name in names] for names in load.inputs])
    output_start, outputs = _rows([[files.number[name] for name in names] for names in load.outputs])
    stored_start, stored = _rows(files.stored())
    candidate_start, found = _rows(lists)
    moving = [
        load.moving.get(node, world.transfers.of(load.sizes.get(name, 0)))
        for node, names in enumerate(load.inputs)
        for name in names
    ]
    return Work(
        child_start, children, waiting, first, np.frombuffer(dag.milestones, np.uint8).copy(),
        np.array(load.ranks, np.int64),
        np.array(load.seconds, np.float64), np.array([needs.cores for needs in load.needs], np.int32),
        np.array(load.retries, np.int32), input_start, inputs, np.array(moving, np.float64), output_start, outputs,
        stored_start, stored, candidate_start, found, np.array(kinds, np.int32),
    )  # fmt: skip


def _candidates(name: str, needs: Needs, sites: Sequence[Site], most_free: Sequence[int]) -> list[int]:
    found = candidates(needs, sites)
    if not found:
        raise no_site(name, needs, sites)
    able = [site for site in found if needs.cores <= most_free[site]]
    if not able:
        raise UsageError(
            f"job {shown(name)} needs {needs.cores} cores, and other people never leave as many at any site.",
            "Lower load.low of a site (load.high if it has no spell), or ask for fewer cores.",
        )
    return able


def _eligible(dag: Dag, ranks: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """How many parents each node waits for, and who waits for none, in the order in which they are given out."""
    waiting = [dag.parent_start[node + 1] - dag.parent_start[node] for node in range(len(dag))]
    for node in dag.order:  # a milestone that waits for nothing is done before anything runs
        if dag.milestones[node] and not waiting[node]:
            for child in dag.children_of(node):
                waiting[child] -= 1
    first = sorted((node for node in dag.jobs() if not waiting[node]), key=lambda node: (ranks[node], node))
    return np.array(waiting, np.int32), np.array(first, np.int32)


def _rows(lists: Iterable[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Lists one after the other, and where each begins."""
    starts, found = [0], list[int]()
    for one in lists:
        found += one
        starts.append(len(found))
    return np.array(starts, np.int32), np.array(found, np.int32)


def _check(load: Workload, known: set[str]) -> None:
    """Refuses a job whose input is not there from the start and is made by no job but itself."""
    makers = Counter(name for names in load.outputs for name in dict.fromkeys(names))
    for node, names in enumerate(load.inputs):
        for name in names:
            if name not in known and not makers[name] - (name in load.outputs[node]):
                raise UsageError(
                    f"job {shown(load.dag.names[node])} needs the file {shown(name)}, which exists nowhere: no other"
                    " job makes it, and neither a site nor the list stored has it.",
                    "Add it to stored or to the files of a site.",
                )


class _Files:
    """The files of a workload by number, and where they are at the start."""

    def __init__(self, load: Workload, sites: Sequence[Site], world: World) -> None:
        self._sites = sites
        self.number: dict[str, int] = {}
        for names in (*load.inputs, *load.outputs):
            for name in names:
                self.number.setdefault(name, len(self.number))
        if world.stored is not None:
            _check(load, {*world.stored, *(name for site in sites for name in site.files)})

    def stored(self) -> list[list[int]]:
        """For each file, the sites that have it from the start."""
        found: list[list[int]] = [[] for _ in self.number]
        for at, site in enumerate(self._sites):
            for name in dict.fromkeys(site.files):
                if name in self.number:
                    found[self.number[name]].append(at)
        return found
