"""What is left of a workflow, level by level, and how long some of it takes on so many processors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from headway.model.dag import Dag
from headway.model.messages import Seconds
from headway.model.record import field, record

MINUTE = 60.0
WaitEstimate = Callable[[int, Seconds], "Seconds | None"]  # width and length of a request made now; None: unknown


def whole_minutes(seconds: Seconds) -> Seconds:
    """What is asked for: queues count in minutes, and a run that ends at the very limit must not be cut off."""
    return max(1, math.ceil(seconds / MINUTE - 1e-9)) * MINUTE


class Outline:
    """Some jobs of a dag, by the levels of the dag that they are on."""

    def __init__(self, dag: Dag, jobs: Sequence[int], cores: Sequence[int], ranks: Sequence[int]) -> None:
        self.dag, self.cores, self._ranks = dag, cores, ranks
        number = {level: at for at, level in enumerate(sorted({dag.level_of[job] for job in jobs}))}
        self._level = {job: number[dag.level_of[job]] for job in sorted(jobs)}
        beyond = dag.children_of if dag.job_count == len(dag) else dag.job_children
        self._children = {job: sorted(child for child in beyond(job) if child in self._level) for job in jobs}
        self.levels: list[list[int]] = [[] for _ in number]
        for job, level in self._level.items():
            self.levels[level].append(job)
        self._times: dict[tuple[int, int, int], Seconds] = {}

    @property
    def height(self) -> int:
        return len(self.levels)

    def jobs(self, below: int, first: int = 0) -> tuple[int, ...]:
        """All jobs of some levels, from one to below another."""
        return tuple(job for level in self.levels[first:below] for job in level)

    def width(self, below: int, first: int = 0) -> int:
        """Processors of the widest of some levels."""
        return max((sum(self.cores[job] for job in level) for level in self.levels[first:below]), default=0)

    def narrowest(self, below: int, first: int = 0) -> int:
        """Processors of the job that needs most."""
        return max((self.cores[job] for level in self.levels[first:below] for job in level), default=1)

    def run_time(self, below: int, width: int, first: int = 0) -> Seconds:
        """How long some levels take on so many processors, once all before them is done."""
        key = (first, below, width)
        if key not in self._times:
            self._times[key] = self._listed(first, below, width)
        return self._times[key]

    def _listed(self, first: int, below: int, width: int) -> Seconds:
        """Jobs start as a placeholder starts them: by rank, then as they became eligible; nobody is passed over.

        Jobs that become eligible together behind a milestone may come in another order than the engine gives them.
        """
        level, seconds, cores, ranks = self._level, self.dag.seconds, self.cores, self._ranks
        jobs = [job for some in self.levels[first:below] for job in some]
        waits = dict.fromkeys(jobs, 0)
        for job in jobs:
            for child in self._children[job]:
                if level[child] < below:
                    waits[child] += 1
        eligible = [(ranks[job], at, job) for at, job in enumerate(sorted(job for job in jobs if not waits[job]))]
        eligible.sort()
        running: list[tuple[Seconds, int, int]] = []
        now, free, arrivals, begun = 0.0, width, len(eligible), 0
        while eligible or running:
            while eligible and min(cores[eligible[0][2]], width) <= free:
                job = heappop(eligible)[2]
                begun += 1
                free -= min(cores[job], width)
                heappush(running, (now + seconds[job], begun, job))
            now = running[0][0]
            while running and running[0][0] == now:
                job = heappop(running)[2]
                free += min(cores[job], width)
                for child in self._children[job]:
                    if level[child] < below:
                        waits[child] -= 1
                        if not waits[child]:
                            arrivals += 1
                            heappush(eligible, (ranks[child], arrivals, child))
        return now


class Outlines:
    """The outlines of one dag, each worked out once: the same levels are left again and again."""

    def __init__(self, dag: Dag, cores: Sequence[int] | None = None, ranks: Sequence[int] | None = None) -> None:
        self.dag = dag
        self.cores = cores if cores is not None else [1] * len(dag)
        self._ranks = ranks if ranks is not None else [0] * len(dag)
        self._known: dict[tuple[int, ...], Outline] = {}

    def of(self, jobs: Sequence[int]) -> Outline:
        key = tuple(jobs)
        if key not in self._known:
            self._known[key] = Outline(self.dag, key, self.cores, self._ranks)
        return self._known[key]

    def with_seconds(self, seconds: Sequence[float | None]) -> Outlines:
        """The same dag with other expected run times."""
        return Outlines(self.dag.with_seconds(seconds), self.cores, self._ranks)


@record
class Limits:
    """What a site lets one user have, or a user wants to spend."""

    requests: int | None = None  # that may wait or run at once
    processors: int | None = None  # of all of them together
    core_hours: float | None = None  # that may be asked for from now on


@record
class View:
    """What is decided by: what is left, how long what was asked for last will run, the machine and its queue."""

    left: Outline  # jobs that no allocation has been asked for
    busy: Seconds  # how long the allocation that has just begun runs: nothing that is left can start before
    processors: int  # of the machine
    wait: WaitEstimate
    limits: Limits = field(default_factory=Limits)
    out: tuple[tuple[int, Seconds], ...] = ()  # width and length of what waits or runs now

    def widest(self, wanted: int) -> int:
        """What can be asked for of so many processors."""
        return max(1, min(wanted, self.processors, self.limits.processors or wanted))


@record
class Ask:
    """An allocation to ask for, and the jobs that it is for."""

    width: int
    seconds: Seconds
    jobs: tuple[int, ...]


@record
class Advice:
    """What to ask for now. What is in none of it is decided on when one of these begins, or asked for job by job.

    Nothing at all, while something is out: it is decided on again when that is over.
    """

    asks: tuple[Ask, ...] = ()
    individually: bool = False  # every other job gets an allocation of its own, as soon as it is eligible
