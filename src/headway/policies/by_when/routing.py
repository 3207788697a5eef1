"""Where a sequence goes: to one hole below a branch that fits it, or in pieces to several (section V.C)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from headway.model.record import record
from headway.policies.by_when.cells import CELLS, LEVELS, PARTS, POINTS, POWERS, TAILS, moment, usable, whole
from headway.policies.by_when.reference_points import of_epoch
from headway.policies.by_when.summary import POWER_OF, suffices

BEST, EARLIEST, WORST = "best", "earliest", "worst"
FITS = (BEST, EARLIEST, WORST)


@record
class Piece:
    """Neighbouring jobs of a sequence, when they may begin and must have ended, and the child and cell to take."""

    first: int
    end: int  # the place after the last job
    start: int
    deadline: int
    child: int
    cell: int


@lru_cache(maxsize=64)
def _points(epoch: int) -> tuple[int, ...]:
    return tuple(of_epoch(epoch))


def one_hole(
    parts: Sequence[Mapping[int, int]],
    epoch: int,
    work: int,
    start: int,
    deadline: int,
    needed: int = 0,
    fit: str = BEST,
    nearest: int = 0,
    leave_out: Iterable[int] = (),
) -> tuple[int, int] | None:
    """The child and the cell for a sequence; among equal cells that of the child nearest to one.

    best: the smallest hole that is enough (the paper's); earliest: where it can end first; worst: the largest.
    """
    points, left_out = _points(epoch), set(leave_out)
    found, chosen = None, None
    for child, counts in enumerate(parts):
        if child in left_out:
            continue
        for cell in counts:
            if not suffices(cell // CELLS, needed) or usable(cell, start, deadline, points, POWER_OF) < work:
                continue
            key = (_preference(cell, work, start, points, fit), _span(cell), abs(child - nearest), child, cell)
            if found is None or key < found:
                found, chosen = key, (child, cell)
    return chosen


def _preference(cell: int, work: int, start: int, points: Sequence[int], fit: str) -> int:
    size = whole(cell, points, POWER_OF)
    if fit == BEST:
        return size
    if fit == WORST:
        return -size
    plain = cell % CELLS
    if plain >= TAILS:
        return max(moment((plain - TAILS) // POWERS, points), start) + work // POWER_OF[(plain - TAILS) % POWERS]
    low, high = _interval(plain, points)
    return max(low, start) + int((high - low) * (work / size))


def _interval(plain: int, points: Sequence[int]) -> tuple[int, int]:
    last = _last(plain // LEVELS)
    return points[last - _span(plain)], points[last]


@lru_cache(maxsize=64)
def _last(pair: int) -> int:
    last = 1
    while last * (last + 1) // 2 <= pair:
        last += 1
    return last


def _span(cell: int) -> int:
    plain = cell % CELLS
    if plain >= TAILS:
        return POINTS - (plain - TAILS) // POWERS // PARTS
    last = _last(plain // LEVELS)
    return plain // LEVELS - last * (last - 1) // 2 + 1


def several_holes(
    parts: Sequence[Mapping[int, int]],
    epoch: int,
    works: Sequence[int],
    bounds: Sequence[tuple[int, int]],
    start: int,
    deadline: int,
    notice: int,
    needed: int = 0,
    leave_out: Iterable[int] = (),
) -> list[Piece] | None:
    """A sequence in as few pieces as there are holes for, each to end as early as it can; None: it does not go.

    Pieces end at reference points, the last one at the deadline. `bounds`: start and end that a job must keep to, 0
    where there is none. `notice` is what lies between two pieces.
    """
    points, left_out = _points(epoch), set(leave_out)
    free = {
        (child, cell): count
        for child, counts in enumerate(parts)
        if child not in left_out
        for cell, count in counts.items()
        if suffices(cell // CELLS, needed)
    }
    if not free:
        return None
    size = len(works)
    ends = [point for point in points[1:] if start < point < deadline]
    best: list[list[Piece] | None] = [[], *[None] * size]
    for _ in range(size):  # one piece more each time
        better = list(best)
        for first in range(size):
            so_far = best[first]
            if so_far is None or (first and not so_far):
                continue
            begin = max(so_far[-1].deadline + notice if so_far else start, bounds[first][0])
            used: dict[tuple[int, int], int] = {}
            for one in so_far:
                used[one.child, one.cell] = used.get((one.child, one.cell), 0) + 1
            for end in range(first + 1, size + 1):
                if not first and end == size:
                    continue  # that would be one hole
                limit = min((bounds[at][1] for at in range(first, end) if bounds[at][1]), default=deadline)
                last = [deadline] if end == size else [point for point in ends if begin < point <= limit]
                piece = _piece(free, used, sum(works[first:end]), first, end, begin, last, points)
                other = better[end]
                if piece is not None and (other is None or not other or _key([*so_far, piece]) < _key(other)):
                    better[end] = [*so_far, piece]
        if better[size] is not None:
            return better[size]
        if better == best:
            return None
        best = better
    return None


def _key(pieces: Sequence[Piece]) -> tuple[int, int]:
    return len(pieces), pieces[-1].deadline


def _piece(
    free: Mapping[tuple[int, int], int],
    used: Mapping[tuple[int, int], int],
    work: int,
    first: int,
    end: int,
    begin: int,
    ends: Iterable[int],
    points: Sequence[int],
) -> Piece | None:
    """The smallest hole for some jobs, by the first moment by which any can end."""
    for limit in ends:
        fitting = [
            (whole(cell, points, POWER_OF), child, cell)
            for (child, cell), count in free.items()
            if count > used.get((child, cell), 0) and usable(cell, begin, limit, points, POWER_OF) >= work
        ]
        if fitting:
            _, child, cell = min(fitting)
            return Piece(first, end, begin, limit, child, cell)
    return None
