"""What is measured of each strategy: many sets of twenty runs, all strategies meeting the same sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from headway.experiments.opportunistic.osg import PATIENCE
from headway.model.record import record
from headway.sim.ratios import mean, paired
from headway.sim.site_work import Workload
from headway.sim.sites import Model, Runs, Strategy, World, measured

Reals = NDArray[np.float64]
Interval = tuple[float, float, float]  # a value, and its 95% interval

TWENTY = 20  # runs of each strategy in the paper
BASELINES = tuple(Strategy(name) for name in ("weighted", "round-robin", "last-used", "data-present"))
OPPORTUNISTIC = Strategy("opportunistic", PATIENCE)  # in the paper it alone has MonitQueue
PAPERS = (*BASELINES, OPPORTUNISTIC)
SEED = 0  # calibration.py has another


@record
class Group:
    """Strategies measured on the same runs."""

    work: float  # seconds that one machine would take
    found: dict[str, Runs]  # by the name of a strategy

    def times(self, strategy: Strategy) -> Reals:
        return self.found[strategy.name].makespans

    def of_sets(self, strategy: Strategy, statistic: str) -> Reals:
        """The least, median, mean or greatest time of each set of twenty runs."""
        sets = self.times(strategy).reshape(-1, TWENTY)
        found: Reals = getattr(np, statistic)(sets, axis=1)
        return found

    def speedup(self, strategy: Strategy) -> Interval:
        """Sequential time over the mean time of a run."""
        ratio = paired(np.full(len(self.times(strategy)), self.work), self.times(strategy))
        return ratio or (0.0, 0.0, 0.0)

    def over(self, above: Strategy, below: Strategy, statistic: str = "mean") -> Interval:
        """How much longer one takes than the other: the ratio of a statistic of twenty runs, by sets."""
        if statistic == "mean":
            return paired(self.times(above), self.times(below)) or (1.0, 1.0, 1.0)
        return paired(self.of_sets(above, statistic), self.of_sets(below, statistic)) or (1.0, 1.0, 1.0)

    def extremes(self, statistic: str, strategies: Sequence[Strategy] = PAPERS) -> tuple[Strategy, Strategy]:
        """The slowest and the fastest by a statistic."""
        by = {one: float(self.of_sets(one, statistic).mean()) for one in strategies}
        return max(by, key=lambda one: by[one]), min(by, key=lambda one: by[one])

    def apart(self, statistic: str, strategies: Sequence[Strategy] = PAPERS) -> Interval:
        """The slowest over the fastest by a statistic."""
        return self.over(*self.extremes(statistic, strategies), statistic)

    def summary(self, strategy: Strategy) -> dict[str, float]:
        """The statistics of twenty runs, on average over sets."""
        names = ("min", "median", "mean", "max")
        return {name: float(self.of_sets(strategy, name).mean()) for name in names}


def run(
    load: Workload,
    world: World,
    strategies: Sequence[Strategy],
    sets: int,
    with_ends: bool = False,
    done: Callable[[float], None] = lambda jobs: None,
    seed: int = SEED,
) -> Group:
    """Sets of twenty runs of each strategy."""
    model = Model(load, world)
    return Group(sum(load.seconds), measured(model, strategies, sets * TWENTY, seed, with_ends, done))


def jobs(load: Workload, strategies: Sequence[Strategy], sets: int) -> float:
    """How many jobs that simulates."""
    return float(load.dag.job_count * len(strategies) * sets * TWENTY)


def arrivals(runs: Runs) -> Reals:
    """When the first, second, … job of each run ended (Fig. 7)."""
    found: Reals = np.sort(runs.ends, axis=1)
    return found


def told(value: Interval, digits: int = 2) -> str:
    number, low, high = value
    return f"{number:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def average(values: Reals) -> Interval:
    return mean(values)


def sharing(group: Group, strategies: Mapping[str, Strategy]) -> dict[str, list[float]]:
    """The share of jobs that each site ran."""
    found = {}
    for name, one in strategies.items():
        counts = group.found[one.name].ran_at.sum(axis=0)
        found[name] = [float(count) for count in counts / max(counts.sum(), 1)]
    return found
