"""A summary: how many holes of each cell there are below a branch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headway.model.record import mutable
from headway.policies.by_when.cells import (
    CELLS,
    CLASSES,
    LEVELS,
    MOMENTS,
    POWERS,
    TAILS,
    cell_of,
    least_power,
    moved,
)
from headway.policies.by_when.reference_points import of_epoch

NO_CLASS = CLASSES * CLASSES * CLASSES
MOST_HOLES = 1000  # of a leaf, which has room for half as many jobs
LEAST_HOLE = 30_000  # milliseconds: shorter ones are not told
POWER_OF = tuple(least_power(quarter) for quarter in range(POWERS))


def class_of(memory: int, disk: int) -> int:
    """The class of a node with so many bytes: powers of two, from 1 GB of memory and 8 GB of disk on."""
    return _step(memory >> 30) * CLASSES + _step(disk >> 33)


def class_needed(memory: int, disk: int) -> int:
    """The least class whose nodes are sure to have so many bytes; beyond the largest: no class is."""
    steps = _up(memory, 30).bit_length(), _up(disk, 33).bit_length()
    return NO_CLASS if max(steps) >= CLASSES else steps[0] * CLASSES + steps[1]


def class_for_all(needed: Iterable[int]) -> int:
    """The least class that has enough memory, and enough disk, for each of several jobs."""
    ranks = list(needed)
    return max(rank // CLASSES for rank in ranks) * CLASSES + max(rank % CLASSES for rank in ranks)


def suffices(rank: int, needed: int) -> bool:
    """Whether nodes of a class have what is needed."""
    return rank // CLASSES >= needed // CLASSES and rank % CLASSES >= needed % CLASSES


def _step(size: int) -> int:
    return min(size.bit_length(), CLASSES - 1)


def _up(size: int, shift: int) -> int:
    """How many units are needed, as a power of two."""
    units = -(-size >> shift) if size > 0 else 0
    return 1 << (units - 1).bit_length() if units else 0


@mutable
class Summary:
    """By the points of an epoch, the number of holes in each cell that has any."""

    epoch: int
    counts: dict[int, int]

    def at(self, epoch: int) -> Summary:
        """The same holes by the points of another epoch; nobody claims more of it than there was."""
        if epoch == self.epoch:
            return self
        old, new = of_epoch(self.epoch), of_epoch(epoch)
        counts: dict[int, int] = {}
        for cell, count in self.counts.items():
            there = moved(cell, old, new)
            if there >= 0:
                counts[there] = counts.get(there, 0) + count
        return Summary(epoch, counts)


def total(parts: Iterable[Summary], epoch: int) -> Summary:
    """All the holes of several summaries."""
    counts: dict[int, int] = {}
    for part in parts:
        for cell, count in part.at(epoch).counts.items():
            counts[cell] = counts.get(cell, 0) + count
    return Summary(epoch, counts)


def summary(epoch: int, holes: Iterable[tuple[int, int, int, int]]) -> Summary:
    """Of holes: from, to, power and class of the node."""
    points = of_epoch(epoch)
    counts: dict[int, int] = {}
    for begin, end, power, rank in holes:
        if end - max(begin, points[0]) < LEAST_HOLE:
            continue
        cell = cell_of(begin, end, power, points)
        if cell >= 0:
            cell += rank * CELLS
            counts[cell] = counts.get(cell, 0) + 1
    return Summary(epoch, counts)


def problem(counts: Mapping[int, int], leaves: int) -> str:
    """Why a summary cannot be true of so many leaves; empty if it can.

    A leaf has no more holes than it has jobs, and only one without an end. The first bound is loose, the second exact.
    """
    tails = others = 0
    for cell, count in counts.items():
        plain = cell % CELLS
        if not 0 <= cell < CELLS * CLASSES * CLASSES or count < 1 or plain >= TAILS + MOMENTS * POWERS:
            return "has a cell that cannot be"
        if plain < TAILS and plain % LEVELS > LEVELS - 2:
            return "has more work than any node"
        tails += count * (plain >= TAILS)
        others += count * (plain < TAILS)
    if tails > leaves:
        return f"has {tails} free nodes below it, and {leaves} leaves"
    if others > leaves * MOST_HOLES:
        return f"has {others} holes below it, and {leaves} leaves"
    return ""
