"""All that is simulated for Figs 6 to 9 and the claims, file by file, and kept on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.experiments.prio.dags import READINGS, made
from headway.experiments.prio.efforts import MOST, POOLED, ROUNDS, Efforts, Pilot, efforts, jobs, raised
from headway.experiments.prio.results import Result, Results
from headway.experiments.prio.settings import BATCHES, INTERVALS, PAPER, SHUFFLES, TIDY, Case
from headway.model.dag import Dag
from headway.model.record import record, replace
from headway.policies.what_next import order
from headway.policies.what_next.eligible import eligible, schedule
from headway.sim.comparison import Effort
from headway.sim.grid import Workers

Surface = dict[tuple[float, float], Result]  # by interval and batch
Version = tuple[str, str]  # a dag and its reading
STATED = Workers(1.0, 16.0)  # the setting that the paper states AIRSN's median and interval of


@record
class Size:
    """How much to do: ± of one file's intervals for each dag, whether all readings, and which files."""

    widths: Mapping[str, float]
    readings: bool = False
    shuffles: tuple[int, ...] = SHUFFLES
    stated: Effort = PAPER  # at the setting that the paper states an interval of
    pilot: Pilot = Pilot()
    width: float = POOLED  # ± that the simulation may leave to an answer


@record
class File:
    """What was found with the jobs of a dag in one order of the file."""

    surface: Surface
    more: NDArray[np.int64]  # eligible jobs, PRIO less FIFO, after every step
    stated: Result | None  # for AIRSN


Files = dict[int, File]  # by shuffle


def versions(size: Size) -> list[Version]:
    """Every dag in the reading that claims are judged by, then the other readings: the largest last."""
    return [(name, "") for name in size.widths] + [
        (name, reading) for name in size.widths if size.readings for reading in list(READINGS.get(name, {}))[1:]
    ]


def cases(version: Version, size: Size) -> list[Case]:
    """All its files; other readings have only shuffled ones."""
    name, reading = version
    tidy = () if reading else (TIDY,)
    return [Case(name, shuffle, reading) for shuffle in (*size.shuffles, *tidy)]


def planned(size: Size, results: Results, done: Callable[[float], None]) -> dict[Version, Efforts]:
    """Fixes p and q, before anything counts."""
    return {
        (name, reading): efforts(Case(name, size.shuffles[0], reading), size.widths[name], size.pilot, results, done)
        for name, reading in versions(size)
    }


def pilot_jobs(size: Size) -> float:
    """How many jobs the pilots simulate."""
    return (
        sum(2 * size.pilot.p * len(made(*version).jobs) for version in versions(size)) * len(INTERVALS) * len(BATCHES)
    )


def all_jobs(size: Size, plans: Mapping[Version, Efforts]) -> float:
    """How many jobs all files simulate, if no setting needs more than was planned."""
    total = 0.0
    for version, plan in plans.items():
        count = len(made(*version).jobs)
        files = cases(version, size)
        total += len(files) * jobs(plan, count)
        total += (version[0] == "airsn") * len(files) * 2 * count * size.stated.p * size.stated.q
    return total


def measured(
    size: Size, plans: Mapping[Version, Efforts], results: Results, done: Callable[[float], None]
) -> Iterator[tuple[Version, Files]]:
    """Each dag with all its files: the shuffled ones together are one answer, the tidy one is another.

    A file's workers are its own, so that files together are as many more samples.
    """
    for version, plan in plans.items():
        mine = cases(version, size)
        surfaces: dict[int, Surface] = {case.shuffle: {} for case in mine}
        for together in ([case for case in mine if case.shuffle], [case for case in mine if not case.shuffle]):
            for setting, effort in plan.items() if together else ():
                found = _setting(together, setting, effort, size.width, results, done)
                for case, result in zip(together, found, strict=True):
                    surfaces[case.shuffle][setting] = result
        yield version, {case.shuffle: _file(case, surfaces[case.shuffle], size.stated, results, done) for case in mine}


def _setting(
    together: Sequence[Case],
    setting: tuple[float, float],
    effort: Effort,
    width: float,
    results: Results,
    done: Callable[[float], None],
) -> list[Result]:
    """One answer, by some files: measured as planned, and again with more where that leaves it too wide."""
    for again in range(ROUNDS):
        found = [
            results.comparison(case, Workers(*setting), replace(effort, seed=case.shuffle), done) for case in together
        ]
        reach = noise(found)
        if reach <= width or effort.q >= MOST or again == ROUNDS - 1:
            break
        effort, done = raised(effort, reach), lambda jobs: None
    return found


def noise(results: Sequence[Result]) -> float:
    """The half-width that the simulation alone gives to the mean over some files."""
    reach = [ratio - low for ratio, low, _ in map(execution_time, results)]
    return math.sqrt(sum(value**2 for value in reach)) / len(reach)


def _file(case: Case, surface: Surface, stated: Effort, results: Results, done: Callable[[float], None]) -> File:
    paper = None
    if case.name == "airsn":
        paper = results.comparison(case, STATED, replace(stated, seed=case.shuffle), done)
    return File(surface, difference(case.dag), paper)


def difference(dag: Dag) -> NDArray[np.int64]:
    """Fig. 4: E(t) of PRIO less that of FIFO, for t from 0 to the number of jobs."""
    prio, fifo = (eligible(dag, schedule(dag, order(name)(dag))) for name in ("prio", "fifo"))
    return np.subtract(prio, fifo, dtype=np.int64)


def execution_time(result: Result) -> tuple[float, float, float]:
    """The ratio of mean execution times, and its interval."""
    ratio, low, high = result["ratios"]["execution_time"]["paired"]  # a list, where it was kept
    return ratio, low, high


def told(plans: Mapping[Version, Efforts]) -> dict[str, Any]:
    """p and q of every setting of one shuffled file as planned, for report.json."""
    return {
        " ".join(filter(None, version)): [[*setting, effort.p, effort.q] for setting, effort in plan.items()]
        for version, plan in plans.items()
    }
