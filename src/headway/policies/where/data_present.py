"""The site that has most of a job's input files: the paper's Data-Present."""

from __future__ import annotations

from collections.abc import Sequence

from headway.policies.where import weighted
from headway.policies.where.seen import Rows

by_processors = weighted.pick


def pick(
    candidates: Sequence[int],
    seen: Rows,
    processors: Sequence[float],
    present: Sequence[float],
    now: float,
    draw: float,
) -> int:
    """A random one of those with most files; where no candidate has any, as weighted does."""
    most, alike = 0.0, 0
    for site in candidates:
        if present[site] > most:
            most, alike = present[site], 1
        elif present[site] == most:
            alike += 1
    if most <= 0.0:
        return by_processors(candidates, seen, processors, present, now, draw)
    wanted = min(int(draw * alike), alike - 1)
    for site in candidates:
        if present[site] == most:
            if wanted == 0:
                return site
            wanted -= 1
    return candidates[-1]
