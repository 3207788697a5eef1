"""What trials measured, summed up: means with intervals, and methods against each other by pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headway.sim.ratios import mean
from headway.sim.submission import Case
from headway.sim.trials import METRICS, Trial, Trials

_NOTHING = 1e-6  # seconds; clocks of logs lose less: what waits for nothing waits for 0 s, not for -0.00


def summary(values: Sequence[float]) -> dict[str, float]:
    """A mean with its 95% interval."""
    found, low, high = (0.0 if abs(value) < _NOTHING else value for value in mean(np.array(values, np.float64)))
    return {"mean": found, "low": low, "high": high}


def difference(ones: Sequence[float], others: Sequence[float]) -> dict[str, Any]:
    """A two-tailed paired t-test at 0.05: the mean difference, its interval, and whether that leaves 0 out."""
    found = summary(np.subtract(ones, others))  # type: ignore[arg-type]
    return {**found, "significant": len(ones) > 1 and not found["low"] <= 0 <= found["high"]}


def method_summary(rows: Sequence[Trial]) -> dict[str, Any]:
    """What a method measured: means with 95% intervals over moments."""
    means = {metric: summary([getattr(row, metric) for row in rows]) for metric in METRICS}
    count = len(rows)
    judged = sum(row.estimates for row in rows)
    errors = None
    if judged:
        errors = {
            "mean": sum(row.error for row in rows) / judged,
            "absolute": sum(row.absolute_error for row in rows) / judged,
            "wait": sum(row.estimated_waits for row in rows) / judged,
        }
    return {
        **means,
        "allocations": sum(row.allocations for row in rows) / count,
        "cancelled": sum(row.cancelled for row in rows) / count,
        "jobs_cut_off": sum(row.cut for row in rows) / count,
        "estimate_error": errors,
        "shifted_log_jobs": sum(row.shifted for row in rows) / count,
        "shift_seconds": sum(row.shift for row in rows) / max(1, sum(row.shifted for row in rows)),
        "held_log_jobs": sum(row.held for row in rows) / count,
        "held_seconds": sum(row.held_seconds for row in rows) / max(1, sum(row.held for row in rows)),
    }


def comparisons(found: Mapping[str, Sequence[Trial]]) -> list[dict[str, Any]]:
    """Every pair of methods, by the difference of their waits at the same moments."""
    names = list(found)
    return [
        {
            "method": one,
            "over": other,
            **difference([row.wait for row in found[one]], [row.wait for row in found[other]]),
        }
        for at, one in enumerate(names)
        for other in names[at + 1 :]
    ]


def queue_answer(
    name: str,
    case: Case,
    trials: Trials,
    found: Mapping[str, Sequence[Trial]],
    asked: Mapping[str, Any],
    seconds: float,
    warnings: Sequence[str],
) -> dict[str, Any]:
    """What `headway simulate queue` answers, as docs/json.md says."""
    log = trials.setting.log
    served = sum(row.log_jobs for rows in found.values() for row in rows) + len(log)
    return {
        "workflow": name,
        "jobs": case.dag.job_count,
        "run_time": case.run_time,
        "log": log.name,
        "log_jobs": len(log),
        "processors": log.processors,
        "policy": trials.setting.policy.name,
        **asked,
        "methods": {how: method_summary(rows) for how, rows in found.items()},
        "comparisons": comparisons(found),
        "log_jobs_per_second": served / seconds,
        "seconds": seconds,
        "warnings": [
            *warnings,
            *(f"{log.name}: {warning}" for warning in log.warnings),
            *_unknown(found),
            *_alone(len(trials.starts)),
        ],
    }


def _alone(starts: int) -> list[str]:
    return [] if starts > 1 else ["one start has no interval: low and high are the value itself."]


def _unknown(found: Mapping[str, Sequence[Trial]]) -> list[str]:
    counts = {how: sum(row.unknown for row in rows) for how, rows in found.items()}
    return [
        f"{count:,} estimates could not be given to {how}, which took the wait for endless."
        for how, count in counts.items()
        if count
    ]
