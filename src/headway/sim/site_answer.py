"""The answer of `headway simulate sites`: what was asked for, and what was measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from headway.model.record import record
from headway.sim.kernels.sites import DONE, FAILED, WAITED, WITHDRAWN
from headway.sim.ratios import mean, paired
from headway.sim.sites import Model, Runs, Strategy, measured


@record
class Measured:
    """Runs of each strategy by the name it is told under, and how long they took."""

    found: dict[str, tuple[Strategy, Runs]]
    jobs: int
    seconds: float


def simulated(model: Model, strategies: Sequence[Strategy], runs: int) -> int:
    """How many jobs that simulates."""
    return model.load.dag.job_count * runs * len(strategies)


def compared(
    model: Model, strategies: Sequence[Strategy], runs: int, seed: int, done: Callable[[float], None]
) -> Measured:
    """Runs all strategies; the first call, which may have to wait for a compiler, does not count.

    A strategy is told by its policy alone, unless several times of patience are compared.
    """
    model.sample(strategies[0], 0, 0)
    begun = time.perf_counter()
    found = measured(model, strategies, runs, seed, done=done)
    taken = time.perf_counter() - begun
    is_sweep = len({one.patience for one in strategies}) > 1
    named = {one.name if is_sweep else one.policy: (one, found[one.name]) for one in strategies}
    return Measured(named, simulated(model, strategies, runs), taken)


def answer(
    name: str, model: Model, settings: Mapping[str, object], measured: Measured, warnings: list[str]
) -> dict[str, Any]:
    """As docs/json.md says; `settings` as they were given. Each is compared with the last, pair by pair of runs."""
    load, found = model.load, measured.found
    work = float(sum(load.seconds))
    names = [place.site.name for place in model.world.places]
    *others, last = found
    ratios = {one: paired(found[one][1].makespans, found[last][1].makespans) for one in others}
    wheres = {one: _one(load.dag.job_count, work, names, *runs) for one, runs in found.items()}
    unfinished = [name for name, one in wheres.items() if one["finished"] < 1]
    if unfinished:
        told = f"jobs failed for good under {', '.join(unfinished)}: times and speed-ups are of what ran until then."
        warnings = [*warnings, told]
    return {
        "workflow": name,
        "jobs": load.dag.job_count,
        **settings,
        "work_seconds": work,
        "critical_path_seconds": load.dag.with_seconds(list(load.seconds)).critical_path.seconds,
        "wheres": wheres,
        "ratios": {one: list(ratio) for one, ratio in ratios.items() if ratio is not None},
        "over": last,
        "jobs_per_second": measured.jobs / measured.seconds,
        "seconds": measured.seconds,
        "warnings": warnings,
    }


def _one(jobs: int, work: float, sites: list[str], strategy: Strategy, runs: Runs) -> dict[str, Any]:
    times = runs.makespans
    average, low, high = mean(times)
    counts = runs.ran_at.sum(axis=0)
    return {
        "makespan": {
            "min": float(times.min()),
            "median": float(np.median(times)),
            "mean": average,
            "max": float(times.max()),
            "low": low,
            "high": high,
        },
        "speedup": work / average if average else 0.0,
        "speedup_interval": [work / high if high > 0 else 0.0, work / low if low > 0 else None],
        "policy": strategy.policy,
        "patience": strategy.patience,
        "withdrawn": float(runs.measures[:, WITHDRAWN].mean()),
        "failed": float(runs.measures[:, FAILED].mean()),
        "finished": float((runs.measures[:, DONE] == jobs).mean()),
        "waited": float(runs.measures[:, WAITED].mean()),
        "sites": dict(zip(sites, (counts / max(counts.sum(), 1)).tolist(), strict=True)),
    }
