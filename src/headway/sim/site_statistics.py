"""Runs of several strategies beside each other: the statistics of each, and ratios to the last one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.sim.kernels.sites import FAILED, WAITED, WITHDRAWN
from headway.sim.ratios import mean, paired
from headway.sim.sites import Model, Runs, Strategy


def compared(model: Model, found: Mapping[str, tuple[Strategy, Runs]]) -> dict[str, Any]:
    """wheres, and the ratio of each one's mean time to that of the last, with its 95% interval from pairs of runs."""
    work = float(sum(model.load.seconds))
    names = [place.site.name for place in model.world.places]
    *others, last = found
    ratios = {name: paired(found[name][1].makespans, found[last][1].makespans) for name in others}
    return {
        "wheres": {name: _one(work, names, *one) for name, one in found.items()},
        "ratios": {name: list(ratio) for name, ratio in ratios.items() if ratio is not None},
        "over": last,
    }


def _one(work: float, sites: list[str], strategy: Strategy, runs: Runs) -> dict[str, Any]:
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
        "waited": float(runs.measures[:, WAITED].mean()),
        "sites": dict(zip(sites, (counts / max(counts.sum(), 1)).tolist(), strict=True)),
    }
