"""Priorities between long profiles: exact, but looking closely only where it matters.

The best that two components can have after t steps is the greatest sum of one E and the other, over all ways to share t
steps. It is at most the same for curves above them. For concave curves that is their slopes merged, for convex ones it
is at one end; so the concave envelope of each profile, and its convex one raised by the greatest distance to it, give a
ceiling in one pass. Steps are looked at closely, the most promising first, only until the ceiling shows that no other
can matter.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from operator import add, sub, truediv

SAFETY = 1 + 1e-12  # envelopes are computed in floating point: a ceiling must not come out too low


class Envelopes:
    """A profile between a convex curve and a concave one."""

    __slots__ = ("distance", "slopes", "under")

    def __init__(self, eligible: list[int]) -> None:
        self.under = _curve(_corners(eligible, 1), eligible)
        self.distance = max(map(sub, eligible, self.under))
        over = _corners(eligible, -1)
        self.slopes = [
            (eligible[end] - eligible[start]) / (end - start)
            for start, end in pairwise(over)
            for _ in range(end - start)
        ]


def _corners(values: list[int], sign: int) -> list[int]:
    """Where the convex curve under some values (sign 1), or the concave one over them (sign -1), bends."""
    corners: list[int] = []
    for at, value in enumerate(values):
        while len(corners) > 1:
            first, second = corners[-2], corners[-1]
            turn = (values[second] - values[first]) * (at - first) - (value - values[first]) * (second - first)
            if sign * turn < 0:
                break
            corners.pop()
        corners.append(at)
    return corners


def _curve(corners: list[int], values: list[int]) -> list[float]:
    curve: list[float] = [float(values[0])]
    for start, end in pairwise(corners):
        slope = (values[end] - values[start]) / (end - start)
        curve += [values[start] + slope * (at - start) for at in range(start + 1, end + 1)]
    return curve


def _ceiling(one: Envelopes, two: Envelopes, start: int) -> list[float]:
    """Not less than the best of any schedule, at every step."""
    first, second = one.under, two.under
    low = [first[0] + other for other in second] + [other + second[-1] for other in first[1:]]
    high = [other + second[0] for other in first] + [first[-1] + other for other in second[1:]]
    raised = one.distance + two.distance
    merged = accumulate(sorted(one.slopes + two.slopes, reverse=True), initial=float(start))
    return [min(max(a, b) + raised, c) * SAFETY for a, b, c in zip(low, high, merged, strict=True)]


def long_priorities(
    one: list[int], two: list[int], of_one: Envelopes, of_two: Envelopes, turns: tuple[list[int], list[int]]
) -> tuple[float, float]:
    """The priorities of two profiles over each other; `turns` are E of one before two, and of two before one."""
    ceiling = _ceiling(of_one, of_two, one[0] + two[0])
    reverse, last = two[::-1], len(two) - 1
    seen: dict[int, int] = {}

    def best(step: int) -> int:
        found = seen.get(step)
        if found is None:
            start, end = max(0, step - last), min(step, len(one) - 1) + 1
            shift = last - step
            found = seen[step] = max(map(add, one[start:end], reverse[start + shift : end + shift]))
        return found

    return _least(turns[0], ceiling, best), _least(turns[1], ceiling, best)


def _least(got: list[int], ceiling: list[float], best: Callable[[int], int]) -> float:
    floor = list(map(truediv, got, ceiling))
    least = 1.0
    for step in sorted(range(len(got)), key=floor.__getitem__):
        if floor[step] >= least:
            break
        least = min(least, got[step] / best(step))
    return least
