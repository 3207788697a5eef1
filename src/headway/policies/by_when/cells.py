"""A cell of a summary: holes that end by the same reference point, with the same span, level and class.

A hole that does not reach the last reference point is told by its work, rounded down to a power of two (the paper's
levels). One that does has no end that anybody knows: it is told by where it begins and by the power of its node, in
quarters of an octave. Rounding the work of two free days to a power of two would lose up to half of every idle node.
Its beginning has finer steps than the points, which are an hour apart where it matters.
All functions use indices and loops alone, so that a kernel can compile them.
"""

from __future__ import annotations

from typing import Any

POINTS = 10
LEVELS = 48
TAILS = 55 * LEVELS  # the first cell of those without an end
POWERS = 64
PARTS = 4  # of the time between two points, in which one without an end can begin
MOMENTS = POINTS * PARTS + 1
CELLS = 8192  # of a class
MOST_POWER = 50_000
CLASSES = 8  # of memory, and of disk


def level(work: int) -> int:
    """The power of two that work is rounded down to."""
    found = 0
    while work > 1:
        work >>= 1
        found += 1
    return found if found < LEVELS else LEVELS - 1


def power_level(power: int) -> int:
    """The quarter of an octave that a power is rounded down to."""
    found, fourth = 0, power * power * power * power
    while fourth > 1:
        fourth >>= 1
        found += 1
    return found if found < POWERS else POWERS - 1


def least_power(quarter: int) -> int:
    """The power that a node of a level has at least."""
    low, high = 0, MOST_POWER
    while low < high:
        middle = (low + high + 1) // 2
        if power_level(middle) <= quarter - 1:
            low = middle
        else:
            high = middle - 1
    return low + 1


def moment(number: int, points: Any) -> int:
    """When a hole without an end begins: at a point, or a quarter, a half, three quarters of the way to the next."""
    at, part = number // PARTS, number % PARTS
    if not part:
        return int(points[at])
    return int(points[at] + (points[at + 1] - points[at]) * part // PARTS)


def moment_from(begin: int, points: Any) -> int:
    """The first such moment that is not before one; the last one for what lies beyond all."""
    for number in range(MOMENTS - 1):
        if moment(number, points) >= begin:
            return number
    return MOMENTS - 1


def cell_of(begin: int, end: int, power: int, points: Any) -> int:
    """The cell of a hole; -1 if it has ended before the first point."""
    if end >= points[POINTS]:
        return TAILS + moment_from(begin, points) * POWERS + power_level(power)
    last = POINTS
    for place in range(POINTS, 0, -1):
        if points[place] >= end:
            last = place
    first = 0
    for place in range(1, POINTS + 1):
        if points[place] <= begin:
            first = place
    if first >= last or end <= points[0]:
        return -1
    return pair(last, last - first) * LEVELS + level((end - begin) * power)


def pair(last: int, span: int) -> int:
    """The number of a point and a span."""
    return last * (last - 1) // 2 + span - 1


def last_of(pair_number: int) -> int:
    """The point that a pair is of."""
    last = 1
    while last * (last + 1) // 2 <= pair_number:
        last += 1
    return last


def usable(cell: int, start: int, deadline: int, points: Any, powers: Any) -> int:
    """How much work a hole of a cell can do between two moments; `powers`: least_power of each level.

    A hole that lies inside is as large as its level says. One that sticks out is taken to be spread evenly.
    """
    cell %= CELLS
    if cell >= TAILS:
        begin = moment((cell - TAILS) // POWERS, points)
        if begin < start:
            begin = start
        return (deadline - begin) * powers[(cell - TAILS) % POWERS] if begin < deadline else 0
    last = last_of(cell // LEVELS)
    span = cell // LEVELS - last * (last - 1) // 2 + 1
    low, high = points[last - span], points[last]
    work = 1 << (cell % LEVELS)
    if low >= start and high <= deadline:
        return int(work)
    begin, end = low if low > start else start, high if high < deadline else deadline
    if begin >= end:
        return 0
    return int(work * ((end - begin) / (high - low)))


def whole(cell: int, points: Any, powers: Any) -> int:
    """The work of all of a cell's hole, up to the last point: best fit takes the least that is enough."""
    cell %= CELLS
    if cell >= TAILS:
        begin = moment((cell - TAILS) // POWERS, points)
        return int((points[POINTS] - begin) * powers[(cell - TAILS) % POWERS])
    return int(1 << (cell % LEVELS))


def after(cell: int, work: int, start: int, points: Any, powers: Any) -> int:
    """The cell of what a hole without an end still has when some work was done in it; -1: it is not known."""
    rank, plain = cell // CELLS, cell % CELLS
    if plain < TAILS:
        return -1
    power = (plain - TAILS) % POWERS
    begin = moment((plain - TAILS) // POWERS, points)
    if begin < start:
        begin = start
    number = moment_from(begin + (work + powers[power] - 1) // powers[power], points)
    return rank * CELLS + TAILS + number * POWERS + power if number < MOMENTS - 1 else -1


def moved(cell: int, old: Any, new: Any) -> int:
    """The cell of the same hole by other points: the smallest interval that holds its own; -1 if it is over.

    What of it has gone by is taken from its work.
    """
    rank, cell = cell // CELLS, cell % CELLS
    if cell >= TAILS:
        at = moment_from(moment((cell - TAILS) // POWERS, old), new)
        return rank * CELLS + TAILS + at * POWERS + (cell - TAILS) % POWERS
    last = last_of(cell // LEVELS)
    span = cell // LEVELS - last * (last - 1) // 2 + 1
    low, high = old[last - span], old[last]
    if high <= new[0]:
        return -1
    work = 1 << (cell % LEVELS)
    if low < new[0]:
        work = int(work * ((high - new[0]) / (high - low)))
        low = new[0]
    end, first = POINTS, 0
    for place in range(POINTS, 0, -1):
        if new[place] >= high:
            end = place
    for place in range(1, POINTS + 1):
        if new[place] <= low:
            first = place
    if first >= end or work < 1:
        return -1
    return rank * CELLS + pair(end, end - first) * LEVELS + level(work)
