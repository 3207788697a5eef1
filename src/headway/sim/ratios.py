"""The statistics of prio.txt section 4.2: a ratio of two means, known by samples of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Ratio:
    """The distribution of x / y over all pairs of samples; nothing of it where some y is 0, as in the paper."""

    median: float | None
    low: float | None
    high: float | None
    mean: float | None
    sd: float | None


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> Ratio:
    """Of every pair; the 2.5% smallest and largest values lie outside the interval."""
    if not (len(above) and len(below)) or not np.all(below):
        return Ratio(None, None, None, None, None)
    found = np.sort(np.divide.outer(above, below), axis=None)
    cut = int(len(found) * (1 - CONFIDENCE) / 2)
    median = float(np.median(found))
    return Ratio(median, float(found[cut]), float(found[-1 - cut]), float(found.mean()), float(found.std()))
