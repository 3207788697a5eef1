"""Reference points: the moments that holes are told by, nearly the same for all who make them at nearly the same time.

Table I of peercomp.txt, all thirty cells: the next multiple of a grid after a nominal difference. The grid is the
difference itself, but for 16 hours, whose grid is 8. Here they are made from the beginning of a stretch of five
minutes, an epoch, so that all nodes have the same.
"""

from __future__ import annotations

MINUTE = 60_000
EPOCH = 5 * MINUTE
DAY = 1440 * MINUTE
POINTS = 10
DIFFERENCES = (5, 10, 15, 30, 60, 120, 240, 480, 960, 1440)  # minutes
GRIDS = (5, 10, 15, 30, 60, 120, 240, 480, 480, 1440)


def points(created: int) -> list[int]:
    """The ten points of a moment. Two may coincide; nothing ends between them then."""
    found = []
    for difference, grid in zip(DIFFERENCES, GRIDS, strict=True):
        found.append(-(-(created + difference * MINUTE) // (grid * MINUTE)) * grid * MINUTE)
    return found


def epoch(now: int) -> int:
    """The number of the epoch that a moment is in."""
    return now // EPOCH


def of_epoch(number: int) -> list[int]:
    """Eleven points: the beginning of an epoch, and its ten."""
    return [number * EPOCH, *points(number * EPOCH)]
