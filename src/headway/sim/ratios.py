"""The statistics of prio.txt section 4.2: a ratio of two means, known by samples of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.model.record import record

CONFIDENCE = 0.95


@record
class Ratio:
    """The distribution of x / y over all pairs of samples; nothing of it where some y is 0, as in the paper."""

    median: float | None
    low: float | None
    high: float | None
    mean: float | None
    sd: float | None
    paired: tuple[float, float, float] | None  # the ratio of the means, and its 95% interval from samples in pairs


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> Ratio:
    """Of every pair; the 2.5% smallest and largest values lie outside the interval."""
    if not (len(above) and len(below)) or not np.all(below):
        return Ratio(None, None, None, None, None, paired(above, below))
    found = np.sort(np.divide.outer(above, below), axis=None)
    cut = int(len(found) * (1 - CONFIDENCE) / 2)
    median = float(np.median(found))
    return Ratio(
        median,
        float(found[cut]),
        float(found[-1 - cut]),
        float(found.mean()),
        float(found.std()),
        paired(above, below),
    )


def paired(above: NDArray[np.float64], below: NDArray[np.float64]) -> tuple[float, float, float] | None:
    """The ratio of the means with an interval for it, from samples that met the same workers, pair by pair.

    Narrower than the paper's interval, which is that of a single ratio of two samples, each with workers of its own.
    """
    total = float(below.sum())
    if not total:
        return None
    found = float(above.sum()) / total
    if len(above) < 2:
        return found, found, found
    error = float((above - found * below).std(ddof=1)) * len(above) ** 0.5 / total
    reach = error * student(len(above) - 1)
    return found, found - reach, found + reach


def mean(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """A mean with its 95% interval."""
    found = paired(values, np.ones(len(values)))
    if found is None:
        raise ValueError("there is no mean of nothing")
    return found


def student(freedom: int) -> float:
    """How many standard deviations either side hold 95%, to a hundredth from five degrees of freedom on."""
    return 1.96 + 2.372 / freedom + 2.822 / freedom**2
