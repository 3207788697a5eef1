"""How long requests will wait, by how long others have waited: Brevik, Nurmi and Wolski's bound (batchqueue.txt [2]).

It knows nothing of the queue: with a given confidence, a given share of requests waits no longer than this.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from headway.model.messages import Seconds

CONFIDENCE = 0.95
CLASSES = ((1, 4), (5, 16), (17, 64), (65, 10**9))  # processors: requests of a class are compared with each other


def class_of(width: int) -> tuple[int, int]:
    return next(some for some in CLASSES if some[0] <= width <= some[1])


def bound(waits: Sequence[Seconds], quantile: float, confidence: float = CONFIDENCE) -> Seconds | None:
    """An upper bound on a quantile of waits; None where too few are known for that confidence."""
    place = rank(len(waits), quantile, confidence)
    return None if place is None else sorted(waits)[place - 1]


@lru_cache(maxsize=4096)
def rank(count: int, quantile: float, confidence: float = CONFIDENCE) -> int | None:
    """The least k such that the k-th smallest of so many values is above the quantile with that confidence.

    As many of them are below the quantile as a coin with that probability shows heads: a binomial distribution.
    """
    chance = (1.0 - quantile) ** count
    total, heads = chance, 0
    if not chance:  # too many for plain numbers: the normal form of the distribution, as the authors have it
        reach = count * quantile + 1.645 * (count * quantile * (1.0 - quantile)) ** 0.5
        return min(int(reach) + 1, count) if confidence == CONFIDENCE else None
    while total < confidence:
        if heads == count:
            return None
        chance *= (count - heads) / (heads + 1) * quantile / (1.0 - quantile)
        heads += 1
        total += chance
    return heads + 1 if heads < count else None
