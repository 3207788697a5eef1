"""Any site, each as likely as the others: a baseline."""

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
    """The candidate that the draw, from 0 up to 1, falls on."""
    return candidates[min(int(draw * len(candidates)), len(candidates) - 1)]
