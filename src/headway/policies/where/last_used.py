"""The site where the last job ended: the paper's Last-Recent-Used."""

from __future__ import annotations

from collections.abc import Sequence

from headway.policies.where import round_robin
from headway.policies.where.seen import LAST, Rows

in_turn = round_robin.pick


def pick(
    candidates: Sequence[int],
    seen: Rows,
    processors: Sequence[float],
    present: Sequence[float],
    now: float,
    draw: float,
) -> int:
    """Of the candidates, the one where a job ended last; sites in turn until one has."""
    last = seen[LAST]
    best, latest = -1, 0.0
    for site in candidates:
        if last[site] > latest:
            best, latest = site, last[site]
    if best >= 0:
        return best
    return in_turn(candidates, seen, processors, present, now, draw)
