"""Priorities between components (step 4): by how much one should go before another.

Components are alike to this step when the same number of jobs is eligible at every step of their schedules, so it works
with *profiles*, of which there are few, and not with components, of which there may be many.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby
from operator import sub, truediv

from headway.policies.what_next.prio.envelopes import Envelopes, long_priorities

FEW_STEPS = 1 << 10  # of two profiles, multiplied, that are best looked at one by one
MOST_STEPS = 1 << 20  # of two profiles, multiplied: with more a priority is taken from samples
MOST_CORNERS = 1 << 5  # of two profiles, together: more are not tried one with another
SAMPLES = 64  # corners of a profile that are looked at instead

Key = tuple[int, ...]  # eligible at the start, then change and length of each run of equal changes


def runs(gains: Sequence[int]) -> Key:
    """The changes of a schedule, run by run."""
    return tuple(value for change, run in groupby(gains) for value in (change, sum(1 for _ in run)))


class Profile:
    """E of a component's schedule over its non-sinks."""

    __slots__ = ("_eligible", "_envelopes", "_lowest", "_rises", "corners", "greatest", "key", "least", "steps")

    def __init__(self, key: Key) -> None:
        changes, lengths = key[1::2], key[2::2]
        self.key = key
        self.least, self.greatest = min(changes), max(changes)
        self.corners = list(accumulate(lengths, initial=0))
        self.steps = self.corners[-1]
        self._eligible: list[int] | None = None
        self._rises: list[int] | None = None
        self._envelopes: Envelopes | None = None
        self._lowest = 0  # not known: E is 1 at least

    @property
    def eligible(self) -> list[int]:
        """E(0) … E(s)."""
        if self._eligible is None:
            changes = [
                change for change, length in zip(self.key[1::2], self.key[2::2], strict=True) for _ in range(length)
            ]
            self._eligible = list(accumulate(changes, initial=self.key[0]))
        return self._eligible

    @property
    def envelopes(self) -> Envelopes:
        if self._envelopes is None:
            self._envelopes = Envelopes(self.eligible)
        return self._envelopes

    @property
    def lowest(self) -> int:
        self._lowest = self._lowest or min(self.eligible)
        return self._lowest

    @property
    def rises(self) -> list[int]:
        """The most that E rises in 0, 1, … steps."""
        if self._rises is None:
            eligible = self.eligible
            self._rises = [max(map(sub, eligible[length:], eligible), default=0) for length in range(len(eligible))]
        return self._rises


class Threshold:
    """A quick test that the priority of one profile over others is not under some number.

    With r fixed, r (E1(x) + E2(y)) <= E(x + y) has all of one profile on one side and all of the other on the other:
    as long as the first lasts, r E2(y) - E2(0) <= E1(x + y) - r E1(x); and when it ends d steps after x,
    r E2(y) - E2(y - d) <= E1(s) - r E1(s - d). The last left side is at most r times the greatest rise of E2 in d
    steps, less (1 - r) times its least value.
    """

    __slots__ = ("at_end", "lasting", "least")

    def __init__(self, profile: Profile, least: float) -> None:
        eligible = profile.eligible
        reduced = [least * count for count in eligible]
        end = eligible[-1]
        self.least = least
        self.lasting = [min(map(sub, eligible[step:], reduced)) for step in range(len(eligible))]
        self.at_end = [end - count for count in reversed(reduced)]

    def met(self, other: Profile) -> bool:
        """True only if the priority over the other is not less; False says nothing."""
        least, eligible = self.least, other.eligible
        start = eligible[0]
        for count, limit in zip(eligible, self.lasting, strict=False):
            if least * count - start > limit:
                return False
        floor = (1.0 - least) * other.lowest
        return all(least * rise - floor <= limit for rise, limit in zip(other.rises, self.at_end, strict=False))


def priorities(one: Profile, two: Profile) -> tuple[float, float]:
    """The priority of each over the other: the largest r with one first at least r times what any schedule has."""
    first = 1.0 if one.least >= two.greatest else None
    second = 1.0 if two.least >= one.greatest else None
    if first is None or second is None:
        both = _measured(one, two)
        first, second = first or both[0], second or both[1]
    return first, second


def exact(one: Profile, two: Profile) -> bool:
    """Whether their priorities are computed and not sampled."""
    return (
        one.steps * two.steps <= MOST_STEPS
        or len(one.corners) + len(two.corners) <= MOST_CORNERS
        or one.least >= two.greatest
        or two.least >= one.greatest
    )


def _measured(one: Profile, two: Profile) -> tuple[float, float]:
    steps = one.steps * two.steps
    corners = (len(one.corners) + len(two.corners)) ** 2
    if steps <= FEW_STEPS and steps <= 16 * corners:
        return _step_by_step(one.eligible, two.eligible)
    if len(one.corners) + len(two.corners) <= MOST_CORNERS:
        return _at_corners(one, two, one.corners, two.corners)
    if steps <= MOST_STEPS:
        turns = _in_turn(one.eligible, two.eligible), _in_turn(two.eligible, one.eligible)
        return long_priorities(one.eligible, two.eligible, one.envelopes, two.envelopes, turns)
    return _at_corners(one, two, _sampled(one.corners), _sampled(two.corners))


def _step_by_step(one: list[int], two: list[int]) -> tuple[float, float]:
    """Against the best of all ways to share t steps between the two, for every t."""
    if len(one) > len(two):
        second, first = _step_by_step(two, one)
        return first, second
    best = [0] * (len(one) + len(two) - 1)
    width = len(two)
    for at, eligible in enumerate(one):
        best[at : at + width] = map(max, best[at : at + width], [eligible + other for other in two])
    return _least(_in_turn(one, two), best), _least(_in_turn(two, one), best)


def _in_turn(one: list[int], two: list[int]) -> list[int]:
    """E of all of one, then all of two."""
    waiting, done = two[0], one[-1]
    return [eligible + waiting for eligible in one] + [done + eligible for eligible in two[1:]]


def _least(got: list[int], best: list[int]) -> float:
    least: float = min(map(truediv, got, best))
    return least


def _at_corners(one: Profile, two: Profile, corners: Sequence[int], others: Sequence[int]) -> tuple[float, float]:
    """The same, only where a quotient of linear functions can be least: at corners of profiles and of their sums."""
    return _one_way(one, two, corners, others), _one_way(two, one, others, corners)


def _one_way(one: Profile, two: Profile, corners: Sequence[int], others: Sequence[int]) -> float:
    first, second = one.eligible, two.eligible
    end, length = one.steps, two.steps
    totals = [*corners, *(end + other for other in others)]
    in_turn = [first[total] + second[0] if total <= end else first[end] + second[total - end] for total in totals]
    least = 1.0
    for x in corners:
        for y in others:
            total = x + y
            got = first[total] + second[0] if total <= end else first[end] + second[total - end]
            least = min(least, got / (first[x] + second[y]))
        for total, got in zip(totals, in_turn, strict=True):
            if 0 <= total - x <= length:
                least = min(least, got / (first[x] + second[total - x]))
    for y in others:
        for total, got in zip(totals, in_turn, strict=True):
            if 0 <= total - y <= end:
                least = min(least, got / (first[total - y] + second[y]))
    return least


def _sampled(corners: list[int]) -> list[int]:
    """Some of the corners, evenly spread, the first and the last among them."""
    last = len(corners) - 1
    return corners if last < SAMPLES else [corners[last * at // SAMPLES] for at in range(SAMPLES + 1)]
