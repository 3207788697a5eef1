"""Orders against each other in one setting: what each measures, and their ratios to one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headway.model.record import record
from headway.sim.grid import METRICS, Model, Queue, Reals, Task, Workers, measured
from headway.sim.ratios import Ratio, ratio

Ratios = dict[str, Ratio]  # by metric


@record
class Effort:
    """How often: p samples of the mean of q replications, from the streams of a seed."""

    p: int
    q: int
    seed: int = 0


@record
class Comparison:
    """Means of each order, and each order's ratios to the last one."""

    means: dict[str, dict[str, float]]
    ratios: dict[str, Ratios]
    over: str

    @classmethod
    def of(cls, found: Mapping[str, Reals]) -> Comparison:
        *others, last = found
        means = {name: dict(zip(METRICS, rows.mean(axis=0).tolist(), strict=True)) for name, rows in found.items()}
        ratios = {name: _ratios(found[name], found[last]) for name in others}
        return cls(means, ratios, last)


def _ratios(above: Reals, below: Reals) -> Ratios:
    return {metric: ratio(above[:, at], below[:, at]) for at, metric in enumerate(METRICS)}


def compared(
    model: Model,
    queues: Mapping[str, Queue],
    workers: Workers,
    effort: Effort,
    done: Callable[[int], None] = lambda jobs: None,
) -> Comparison:
    """Measures every order on the same random streams, whatever it is compared with."""
    tasks = [Task(model, queue, workers, effort.p, effort.q, effort.seed) for queue in queues.values()]
    return Comparison.of(dict(zip(queues, measured(tasks, done=done), strict=True)))
