"""Sites in turn: each gets the same number of jobs."""

from __future__ import annotations

from collections.abc import Sequence

from headway.policies.where.seen import CHOSEN, WHOLE, Rows


def pick(
    candidates: Sequence[int],
    seen: Rows,
    processors: Sequence[float],
    present: Sequence[float],
    now: float,
    draw: float,
) -> int:
    """The first candidate listed after the site chosen last; after the last one listed, the first again."""
    following = seen[WHOLE][CHOSEN]
    for site in candidates:
        if site >= following:
            return site
    return candidates[0]
