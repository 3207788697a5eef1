"""The site where jobs have begun promptly of late: our own rule, which forgets and tries again.

The paper's ratio never returns to a site that had one bad spell before its first end, counts jobs that run against
their site, and clears a site of those that were withdrawn from it. This one counts what says something about a queue:
jobs that began, jobs that still wait, and jobs that were withdrawn or failed. What was seen counts half after a
half-life, and each site starts with one good mark, so that one of which nothing is known is tried with one job.
"""

from __future__ import annotations

from collections.abc import Sequence

from headway.policies.where.seen import BEGAN, HALF_LIFE, LET_DOWN, SINCE, WAITING, WHOLE, Rows


def pick(
    candidates: Sequence[int],
    seen: Rows,
    processors: Sequence[float],
    present: Sequence[float],
    now: float,
    draw: float,
) -> int:
    """The greatest (began + 1) / (began + let down + waiting + 1); ties go to the first listed."""
    began, let_down, waiting, since = seen[BEGAN], seen[LET_DOWN], seen[WAITING], seen[SINCE]
    half_life = seen[WHOLE][HALF_LIFE]
    best, greatest = -1, 0.0
    for site in candidates:
        kept = 0.5 ** ((now - since[site]) / half_life) if half_life > 0.0 else 1.0
        good = began[site] * kept + 1.0
        ratio = good / (good + let_down[site] * kept + waiting[site])
        if ratio > greatest:
            best, greatest = site, ratio
    return best if best >= 0 else candidates[0]
