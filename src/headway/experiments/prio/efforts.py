"""How often a setting is simulated: as often as the interval that its verdict needs is narrow, known beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from headway.experiments.prio.results import Results
from headway.experiments.prio.settings import BATCHES, INTERVALS, Case
from headway.model.record import record
from headway.sim.comparison import Effort
from headway.sim.grid import Workers
from headway.sim.ratios import student

Efforts = Mapping[tuple[float, float], Effort]  # by interval and batch

POOLED = 0.005  # ± of an answer, by ten files or by the tidy one: a hundredth is what `claims` must tell apart
SINGLE = 0.0125  # ± of one file of ten that gives this: Student's factor is 2.26 for ten values, so ±0.0046
SMALLER = 0.0075  # where a dag is small enough to be simulated more often: files can be judged one by one
WIDTHS = {"airsn": SMALLER, "inspiral": SMALLER, "montage": SMALLER, "sdss": SINGLE}
MOST_SAMPLES, FEWEST_SAMPLES = 20, 6  # p; the rest is q
MOST = 300  # q of the paper
FEWEST_JOBS = 150_000  # of a setting, an order and a file: a pilot does not see what happens once in a hundred times
ROUNDS = 6  # in which a setting is measured again, at most


@record
class Pilot:
    """Simulated first, with workers of its own, and used for nothing but p and q."""

    p: int = 30
    seed: int = 1000


def efforts(case: Case, width: float, pilot: Pilot, results: Results, done: Callable[[float], None]) -> Efforts:
    """For every setting p and q such that the 95% interval of one file is about ±width, by a pilot on this one."""
    fewest = FEWEST_JOBS / case.dag.job_count
    found = {}
    for interval in INTERVALS:
        for batch in BATCHES:
            result = results.comparison(case, Workers(interval, batch), Effort(pilot.p, 1, pilot.seed), done)
            ratio, low, _ = result["ratios"]["execution_time"]["paired"]
            found[interval, batch] = needed(ratio - low, pilot.p, width, fewest)
    return found


def needed(reach: float, samples: int, width: float, fewest: float = 0) -> Effort:
    """p and q, from the half-width that so many single replications had."""
    deviation = reach / student(samples - 1) * math.sqrt(samples)
    for p in range(FEWEST_SAMPLES, MOST_SAMPLES + 1):  # as few as the width allows, without means of several
        count = max(fewest, (student(p - 1) * deviation / width) ** 2)
        if count <= p:
            return Effort(p, 1)
    return Effort(p, min(MOST, math.ceil(count / p)))


def raised(effort: Effort, reach: float) -> Effort:
    """As much more as is needed where the interval of an answer turned out to be so wide."""
    count = effort.p * effort.q * (reach / POOLED) ** 2
    return Effort(MOST_SAMPLES, min(MOST, math.ceil(1.1 * count / MOST_SAMPLES)))


def jobs(efforts: Efforts, job_count: int) -> float:
    """How many jobs one file takes."""
    return sum(2 * effort.p * effort.q * job_count for effort in efforts.values())
