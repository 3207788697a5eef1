"""What ran when, as pictures of a run need it: rows for a Gantt chart, and how many ran at once."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import accumulate, pairwise

Span = tuple[float, float]  # from, to
Curve = Sequence[tuple[float, int]]  # from this time on, so many


def concurrency(spans: Iterable[Span]) -> list[tuple[float, int]]:
    """How many run, from each time on at which that changes; what took no time is left out."""
    change: Counter[float] = Counter()
    for start, end in spans:
        if end > start:
            change[start] += 1
            change[end] -= 1
    times = sorted(time for time, by in change.items() if by)
    return list(zip(times, accumulate(change[time] for time in times), strict=True))


def peak(curve: Curve) -> int:
    """The most at once."""
    return max((count for _, count in curve), default=0)


def averaged(curve: Curve, bins: int) -> list[tuple[float, float]]:
    """The same curve in so many equal parts, each with its mean: what still can be read where changes are many."""
    if len(curve) < 2:
        return [(time, float(count)) for time, count in curve]
    begin, end = curve[0][0], curve[-1][0]
    width = (end - begin) / bins
    areas = [0.0] * bins
    for (start, count), (stop, _) in pairwise(curve):
        at = min(bins - 1, int((start - begin) / width))
        while start < stop:
            edge = stop if at >= bins - 1 else min(stop, begin + (at + 1) * width)
            areas[at] += count * max(0.0, edge - start)
            start, at = max(edge, start), at + 1
    return [(begin + at * width, area / width) for at, area in enumerate(areas)] + [(end, 0.0)]


def slots(spans: Sequence[Span]) -> list[int]:
    """A row for each span so that none overlap, as few rows as can be: the lowest that is free when it starts."""
    rows = [0] * len(spans)
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    made = 0
    for at in sorted(range(len(spans)), key=lambda at: spans[at]):
        start, end = spans[at]
        while busy and busy[0][0] <= start:
            heappush(free, heappop(busy)[1])
        if free:
            rows[at] = heappop(free)
        else:
            rows[at], made = made, made + 1
        heappush(busy, (end, rows[at]))
    return rows


def pauses(spans: Iterable[Span], share: float = 0.05, least: float = 1.0) -> list[Span]:
    """Times at which nothing ran for long: more than a share of the time at which something did."""
    gaps, covered, until = list[Span](), 0.0, None
    for start, end in sorted(spans):
        if until is not None and start > until:
            gaps.append((until, start))
        covered += max(0.0, end - (start if until is None else max(start, until)))
        until = end if until is None else max(until, end)
    return [(start, end) for start, end in gaps if end - start > max(least, share * covered)]


class Elapsed:
    """Time since the beginning, pauses left out."""

    def __init__(self, begin: float, gaps: Sequence[Span]) -> None:
        self._begin = begin
        self._starts = [start for start, _ in gaps]
        self._gaps = gaps
        self._before = [0.0, *accumulate(end - start for start, end in gaps)]

    def __call__(self, time: float) -> float:
        passed = bisect_right(self._starts, time)
        cut = self._before[passed]
        if passed and time < self._gaps[passed - 1][1]:
            cut -= self._gaps[passed - 1][1] - time
        return time - self._begin - cut
