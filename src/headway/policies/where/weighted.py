"""A random site, a larger one more often: the paper's Weighted-Linear-Random."""

from __future__ import annotations

from collections.abc import Sequence

from headway.policies.where.seen import Rows


def pick(
    candidates: Sequence[int],
    seen: Rows,
    processors: Sequence[float],
    present: Sequence[float],
    now: float,
    draw: float,
) -> int:
    """Each candidate with a probability in proportion to its processors."""
    total = 0.0
    for site in candidates:
        total += processors[site]
    left = draw * total
    for site in candidates:
        left -= processors[site]
        if left < 0.0:
            return site
    return candidates[-1]
