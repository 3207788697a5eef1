"""Means and ratios of what cells measured, with 95% intervals.

All dags of a cell meet the same starts, so they are no independent draws: intervals are those over starts, of the mean
over dags at each. The paper's test takes every pair of dag and start for a draw of its own, and is told beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from headway.experiments.batchqueue.dags import configurations
from headway.experiments.batchqueue.measuring import Cell
from headway.model.record import record
from headway.sim.measures import difference
from headway.sim.ratios import mean, paired

LARGE = 128  # processors: Fig. 14 splits there
Cells = Mapping[tuple[str, str, str], Cell]  # by cluster, policy and variant
Choice = NDArray[np.bool_] | None


@record
class Value:
    """A number with its interval."""

    value: float
    low: float
    high: float


def by_start(cell: Cell, method: str, metric: str, some: Choice = None) -> NDArray[np.float64]:
    """The mean over dags at each start."""
    found: NDArray[np.float64] = cell.of(method, metric, some).mean(axis=0)
    return found


def average(cells: Iterable[Cell], method: str, metric: str, some: Choice = None) -> Value:
    """The mean over some cells: starts of different logs have nothing to do with each other."""
    rows = [by_start(cell, method, metric, some) for cell in cells]
    return Value(*mean(np.mean(rows, axis=0)))


def share(cells: Iterable[Cell], above: str, below: str, metric: str = "wait", some: Choice = None) -> Value | None:
    """One method's mean over another's, by pairs."""
    several = list(cells)
    found = paired(
        np.mean([by_start(cell, above, metric, some) for cell in several], axis=0),
        np.mean([by_start(cell, below, metric, some) for cell in several], axis=0),
    )
    return None if found is None else Value(*found)


def share_of_shares(
    cells: Iterable[Cell], above: str, below: str, metric: str, one: Choice, other: Choice
) -> Value | None:
    """How many times as large `share` is over some dags as over others, at the same starts: all four means vary."""
    several = list(cells)
    rows = [
        np.mean([by_start(cell, how, metric, some) for cell in several], axis=0)
        for how, some in ((above, one), (below, other), (below, one), (above, other))
    ]
    means = [row.mean() for row in rows]
    if not all(means):
        return None
    found = float(means[0] * means[1] / (means[2] * means[3]))
    parts = [row / middle for row, middle in zip(rows, means, strict=True)]
    reach = mean(parts[0] + parts[1] - parts[2] - parts[3])
    return Value(found, found * (1 + reach[1]), found * (1 + reach[2]))


def less(cells: Iterable[Cell], one: str, other: str, metric: str = "wait", some: Choice = None) -> bool | None:
    """Whether one method's mean is below another's: yes, no, or None where the interval over starts holds 0."""
    several = list(cells)
    rows = [by_start(cell, one, metric, some) - by_start(cell, other, metric, some) for cell in several]
    found = mean(np.mean(rows, axis=0))
    return None if found[1] <= 0 <= found[2] else found[0] < 0


def lower(one: Cell, other: Cell, method: str) -> bool | None:
    """Whether a method waits less in one cell than in another of the same log; None where the interval holds 0."""
    found = mean(by_start(one, method, "wait") - by_start(other, method, "wait"))
    return None if found[1] <= 0 <= found[2] else found[0] < 0


def alike(cells: Sequence[Cell], method: str, limit: float) -> bool | None:
    """Whether a method waits less than so many times as long in any of some cells of one log as in any other."""
    rows = [by_start(cell, method, "wait") for cell in cells]
    ratios = [paired(one, other) for one, other in permutations(rows, 2)]
    return all_of(
        [None if it is None else True if it[2] < limit else False if it[1] > limit else None for it in ratios]
    )


def as_the_paper(cell: Cell, one: str, other: str) -> bool:
    """Whether waits differ by a paired t-test at 0.05 over every dag and start."""
    pair = difference(cell.of(one, "wait").ravel().tolist(), cell.of(other, "wait").ravel().tolist())
    return bool(pair["significant"])


def family(cell: Cell, name: str) -> NDArray[np.bool_]:
    return np.array([one == name for one, _ in cell.dags])


def large(cell: Cell) -> NDArray[np.bool_]:
    """Dags that are wider than half of RTC."""
    return np.array([width(*dag) > LARGE for dag in cell.dags])


def width(family_name: str, number: int) -> int:
    return configurations()[family_name][number].dag().width


def of_paper(cells: Cells, cluster: str, policies: Sequence[str]) -> list[Cell]:
    return [cells[cluster, one, "paper"] for one in policies if (cluster, one, "paper") in cells]


def at_least(value: Value | None, limit: float) -> bool | None:
    """Whether a number is at least so much; None where its interval leaves that open."""
    if value is None:
        return None
    return True if value.low >= limit else False if value.high < limit else None


def within(value: Value | None, low: float, high: float) -> bool | None:
    if value is None:
        return None
    if low <= value.low and value.high <= high:
        return True
    return False if value.high < low or value.low > high else None


def all_of(verdicts: Sequence[bool | None]) -> bool | None:
    """One that is wrong is enough for no, one that is open for open."""
    return None if not verdicts else False if False in verdicts else None if None in verdicts else True
