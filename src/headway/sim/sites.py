"""Sites whose queues come and go: the world of opportunistic.txt, and what a workflow measures there.

A job that is eligible is planned (a site is chosen), its files are moved, and it waits in the queue of its site until
that lets jobs begin and has processors left. At every site other people take a part of the processors, or all of them
for a spell. Jobs of ours that run are not disturbed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from headway.model.errors import UsageError
from headway.model.quantities import plain
from headway.model.record import record
from headway.model.site import Site
from headway.policies.where import POLICIES, Where, where
from headway.policies.where.seen import HISTORY
from headway.sim.kernels.rules import NUMBERS
from headway.sim.kernels.site_parts import Grid, Work
from headway.sim.kernels.sites import MAKESPAN, METRICS, sample
from headway.sim.rng import key
from headway.sim.site_work import Transfers, Workload, arrays

Reals = NDArray[np.float64]
MOST_SPELLS = 1e7  # in the time that a run takes
MOST_SECONDS = 1e12  # that a run may take: some 30,000 years, in which nothing measured overflows
LEAST_SPELL = 1.0  # seconds: shorter ones are more events than a run can have


@record
class Load:
    """What other people take of a site."""

    low: float = 0.0  # share of the processors that they take while it is open: from low to high, drawn for each spell
    high: float = 0.0
    full: float = 0.0  # share of the time in which they take all
    spell: float = math.inf  # seconds that a full spell lasts on average; a site never full is drawn again as often

    @property
    def open_spell(self) -> float:
        """How long it is open between two full spells, on average."""
        return self.spell * (1 - self.full) / self.full if self.full else self.spell

    def wrong(self) -> str:
        """What is wrong with it, if anything."""
        if not 0 <= self.low <= self.high <= 1 or self.low == 1:
            return "low and high are shares of the processors, with 0 <= low <= high <= 1 and low < 1"
        if not 0 <= self.full < 1:
            return "full is a share of the time, at least 0 and less than 1"
        if not self.spell >= LEAST_SPELL:
            return f"spell is a time of at least {LEAST_SPELL:g} second"
        if self.full and self.spell == math.inf:
            return "a site that is full at times needs a spell, how long that lasts"
        return ""


@record
class Place:
    """A site in the simulated world."""

    site: Site
    load: Load = Load()
    latency: float = 0.0  # mean seconds in its queue before a job could begin at all (exponential)
    speed: float = 1.0  # run times are divided by it
    transfer: float = 1.0  # transfer times are multiplied by it
    failing: float = 0.0  # the share of attempts that fail
    fails_after: float = 1.0  # seconds after which they do

    @property
    def most_free(self) -> int:
        """Processors that other people are sure to leave some time; what they take for good may be as much as high."""
        for_good = self.load.high if self.load.open_spell == math.inf else self.load.low
        return self.site.processors - math.floor(for_good * self.site.processors)


@record
class World:
    """All sites, in the order in which ties are broken, and what holds for all."""

    places: tuple[Place, ...]
    planning: float = 0.0  # seconds that one site selection takes; they are made one after the other
    spread: float = 0.0  # standard deviation of run and transfer times, as a share of their mean
    transfers: Transfers = Transfers()
    stored: tuple[str, ...] | None = None  # files that are there from the start, at no site; None: all that none makes

    @property
    def sites(self) -> list[Site]:
        return [place.site for place in self.places]

    def grid(self) -> Grid:
        """As the kernel takes it."""
        places, loads = self.places, [place.load for place in self.places]

        def column(values: Iterable[float]) -> Reals:
            return np.array([float(value) for value in values], np.float64)

        return Grid(
            column(place.site.processors for place in places),
            column(load.low for load in loads),
            column(load.high for load in loads),
            column(load.full for load in loads),
            column(load.spell for load in loads),
            column(load.open_spell for load in loads),
            column(place.latency for place in places),
            column(place.speed for place in places),
            column(place.transfer for place in places),
            column(place.failing for place in places),
            column(place.fails_after for place in places),
            float(self.planning),
            float(self.spread),
        )


@record
class Strategy:
    """A policy, and how long a job may be idle in a queue before it is withdrawn; 0: for ever.

    Its name has both: opportunistic+600s.
    """

    policy: str
    patience: float = 0.0
    half_life: float = HISTORY  # seconds after which what a policy remembers counts half, where it forgets

    @property
    def name(self) -> str:
        return self.policy + (f"+{plain(self.patience)}s" if self.patience else "")


@record
class Runs:
    """What was measured of one strategy, a row for each run."""

    measures: Reals  # by the places of kernels.sites
    ends: Reals  # when each job ended; empty where nobody asked
    ran_at: NDArray[np.int64]  # jobs that ended at each site

    @property
    def makespans(self) -> Reals:
        found: Reals = self.measures[:, MAKESPAN]
        return found


class Model:
    """A workflow at sites, prepared for the kernel."""

    def __init__(self, load: Workload, world: World) -> None:
        self.load, self.world = load, world
        self.grid = world.grid()
        self.work = arrays(load, [place.site for place in world.places], _most_free(world), world)
        _check(load, world, self.work)

    def sample(self, strategy: Strategy, stream: int, count: int, first: int = 0, with_ends: bool = False) -> Runs:
        """So many runs of a stream; all strategies meet the same sites there."""
        size, sites = len(self.work.seconds), len(self.world.places)
        runs = Runs(
            np.zeros((count, METRICS)),
            np.full((count if with_ends else 0, size), np.nan),
            np.zeros((count, sites), np.int64),
        )
        if strategy.policy in POLICIES:
            sample(
                self.work, self.grid, NUMBERS[strategy.policy], float(strategy.patience), float(strategy.half_life),
                np.uint64(stream), first, runs.measures, runs.ends, runs.ran_at,
            )  # fmt: skip
        else:  # another package's: no kernel knows it
            self._slowly(where(strategy.policy), strategy, stream, first, runs)
        return runs

    def _slowly(self, policy: Where, strategy: Strategy, stream: int, first: int, runs: Runs) -> None:
        from headway.sim.slow_sites import Run

        for row in range(len(runs.measures)):
            run = Run(self, policy, strategy, stream, first + row)
            runs.measures[row] = run.measured()
            runs.ran_at[row] = run.ran_at
            if len(runs.ends):
                runs.ends[row] = run.ends


def _check(load: Workload, world: World, work: Work) -> None:
    """Refuses what would never end: times beyond all measure, and spells that are far shorter than a run."""
    about = _about(load, world, work)
    if not about <= MOST_SECONDS:
        raise UsageError(
            f"a run of {about:g} s or more is longer than can be simulated.",
            "Correct the run times of the workflow, or the times and speeds of the sites.",
        )
    spells = [place.load.spell for place in world.places if place.load.spell < math.inf]
    if spells and about / min(spells) > MOST_SPELLS:
        raise UsageError(
            f"spells of {min(spells):g} s, while a run takes about {about:g} s, are more than can be simulated.",
            "Make load.spell longer.",
        )


def _about(load: Workload, world: World, work: Work) -> float:
    """Roughly how long a run takes where sites are slow: its run times, and one of each delay that there is."""
    places = world.places
    slowest = min(place.speed for place in places)
    path = load.dag.with_seconds(list(load.seconds)).critical_path.seconds
    all_at_once = sum(load.seconds) / sum(place.site.processors for place in places)
    moved = max(place.transfer for place in places) * float(work.input_seconds.max(initial=0.0))
    full = max((place.load.spell for place in places if place.load.full), default=0.0)
    failures = max((place.fails_after for place in places if place.failing), default=0.0)
    waits = max(place.latency for place in places) + world.planning * load.dag.job_count
    return max(path, all_at_once) / slowest + moved + full + failures + waits


def _most_free(world: World) -> list[int]:
    return [place.most_free for place in world.places]


def measured(
    model: Model,
    strategies: Sequence[Strategy],
    runs: int,
    seed: int = 0,
    with_ends: bool = False,
    done: Callable[[float], None] = lambda jobs: None,
    cores: int | None = None,
) -> dict[str, Runs]:
    """So many runs of each strategy; the n-th of each meets the same spells at the same sites.

    The kernel lets other threads run, and numbers depend on the seed and the number of a run alone.
    """
    if runs < 1:
        raise UsageError("there must be at least one run.", "Try --runs 20.")
    stream = key(seed, "sites")
    cores = cores or len(os.sched_getaffinity(0))
    share = max(1, math.ceil(runs / (4 * cores)))
    firsts = range(0, runs, share)
    pool = ThreadPoolExecutor(cores)
    try:
        pieces = {
            one.name: [
                pool.submit(model.sample, one, stream, min(share, runs - first), first, with_ends) for first in firsts
            ]
            for one in strategies
        }
        found = {}
        for name, futures in pieces.items():
            parts = []
            for future in futures:
                parts.append(future.result())
                done(len(parts[-1].measures) * model.load.dag.job_count)
            found[name] = Runs(
                np.concatenate([part.measures for part in parts]),
                np.concatenate([part.ends for part in parts]),
                np.concatenate([part.ran_at for part in parts]),
            )
        return found
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
