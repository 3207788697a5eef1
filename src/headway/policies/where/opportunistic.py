"""The site with the greatest share of ended jobs: Fig. 4 of opportunistic.txt, word for word."""

from __future__ import annotations

from collections.abc import Sequence

from headway.policies.where.seen import ENDED, SUBMITTED, Rows


def pick(
    candidates: Sequence[int],
    seen: Rows,
    processors: Sequence[float],
    present: Sequence[float],
    now: float,
    draw: float,
) -> int:
    """Round robin, by who has fewest jobs, until a job has ended at a candidate; then the greatest ratio.

    Then a site with nothing ended is never chosen. Ties go to the first listed, as both comparisons are strict.
    """
    submitted, ended = seen[SUBMITTED], seen[ENDED]
    idlest, best = -1, -1
    fewest, greatest = 0.0, 0.0
    for site in candidates:
        sent = submitted[site]
        if idlest < 0 or sent < fewest:  # line 1.1.2
            idlest, fewest = site, sent
        if ended[site] > 0.0:  # line 1.2
            ratio = ended[site] / sent
            if ratio > greatest:  # line 1.2.3
                best, greatest = site, ratio
    return best if best >= 0 else idlest
