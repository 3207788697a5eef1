"""The answer of `headway simulate grid`: what was asked for, and what was measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from headway.model.record import asdict, record
from headway.sim.comparison import Comparison, Effort, compared
from headway.sim.grid import Model, Queue, Workers


@record
class Measured:
    """A comparison, how many jobs were simulated for it, and how long that took."""

    comparison: Comparison
    jobs: int
    seconds: float


def simulated(model: Model, queues: Mapping[str, Queue], effort: Effort) -> int:
    """How many jobs a comparison simulates."""
    return model.dag.job_count * effort.p * effort.q * len(queues)


def measured(
    model: Model, queues: Mapping[str, Queue], workers: Workers, effort: Effort, done: Callable[[int], None]
) -> Measured:
    """Compares orders; the first sample, which may have to wait for a compiler, does not count."""
    model.sample(next(iter(queues.values())), workers, 0, 0)
    begun = time.perf_counter()
    comparison = compared(model, queues, workers, effort, done)
    return Measured(comparison, simulated(model, queues, effort), time.perf_counter() - begun)


def answer(
    name: str, model: Model, settings: Mapping[str, object], found: Measured, warnings: list[str]
) -> dict[str, Any]:
    """As docs/json.md says; `settings` as they were given."""
    rows = found.comparison.ratios
    comparisons = {one: {metric: asdict(it) for metric, it in row.items()} for one, row in rows.items()}
    return {
        "workflow": name,
        "jobs": model.dag.job_count,
        **settings,
        "orders": found.comparison.means,
        "ratios": next(iter(comparisons.values()), None),
        "comparisons": comparisons,
        "over": found.comparison.over,
        "jobs_per_second": found.jobs / found.seconds,
        "seconds": found.seconds,
        "warnings": warnings,
    }
