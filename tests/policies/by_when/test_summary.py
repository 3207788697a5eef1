from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.policies.by_when.cells import CELLS, POINTS, TAILS, after, cell_of, moved, power_level, usable
from headway.policies.by_when.reference_points import EPOCH, MINUTE, of_epoch, points
from headway.policies.by_when.summary import (
    NO_CLASS,
    POWER_OF,
    Summary,
    class_needed,
    class_of,
    problem,
    suffices,
    summary,
    total,
)

TABLE_1 = {
    "4:33": "4:40 4:50 5:00 5:30 6:00 8:00 12:00 16:00 24:00 48:00",
    "5:48": "5:55 6:00 6:15 6:30 7:00 8:00 12:00 16:00 24:00 48:00",
    "17:17": "17:25 17:30 17:45 18:00 19:00 20:00 24:00 32:00 40:00 48:00",
}
GB = 1 << 30


def minutes(text: str) -> int:
    hours, _, rest = text.partition(":")
    return (int(hours) * 60 + int(rest)) * MINUTE


@pytest.mark.parametrize("created", TABLE_1)
def test_reference_points_are_those_of_table_1(created: str) -> None:
    assert points(minutes(created)) == [minutes(text) for text in TABLE_1[created].split()]


def test_points_never_go_back_and_an_epoch_has_the_same_for_all() -> None:
    for number in range(600):
        found = of_epoch(number)
        assert found == sorted(found) and found[0] == number * EPOCH and found[1] > found[0]


@given(st.integers(1, 50_000))
def test_a_power_is_rounded_down_by_less_than_a_fifth(power: int) -> None:
    least = POWER_OF[power_level(power)]
    assert least <= power and (power < 16 or power < least * 1.2)


@given(st.integers(0, 10**9))
def test_a_cell_never_claims_more_work_than_its_hole_has(seed: int) -> None:
    rng = Random(seed)
    found = of_epoch(rng.randint(0, 300))
    begin = found[0] + rng.randint(0, 10**8)
    end, power = begin + rng.randint(1, 10**8), rng.randint(1, 50_000)
    cell = cell_of(begin, end, power, found)
    assert cell >= 0
    claimed = usable(cell, found[0], found[POINTS], found, POWER_OF)
    if end < found[POINTS]:
        assert claimed <= (end - begin) * power
    else:
        assert claimed <= max(found[POINTS] - begin, 0) * power


@given(st.integers(0, 10**9), st.integers(1, 24))
def test_a_hole_told_by_later_points_is_never_a_larger_one(seed: int, later: int) -> None:
    rng = Random(seed)
    number = rng.randint(0, 300)
    old, new = of_epoch(number), of_epoch(number + later)
    begin = old[0] + rng.randint(0, 10**8)
    end = begin + rng.randint(1, 10**8)
    cell = cell_of(begin, end, 1000, old)
    there = moved(cell, old, new)
    if there >= 0:
        before = usable(cell, old[0], old[POINTS], old, POWER_OF)
        clipped = usable(there, new[0], old[POINTS], new, POWER_OF)
        assert clipped <= before


def test_summaries_are_added_cell_by_cell() -> None:
    one = summary(0, [(0, 40 * MINUTE, 1000, 0), (0, 3 * 1440 * MINUTE, 1000, 0)])
    other = summary(0, [(0, 40 * MINUTE, 1100, 0)])
    found = total([one, other], 0)
    assert sorted(found.counts.values()) == [1, 2] and found.epoch == 0


def test_short_holes_are_not_told() -> None:
    assert summary(0, [(0, 29_999, 1000, 0)]).counts == {}


def test_memory_and_disk_are_classes_of_holes() -> None:
    small, large = class_of(2 * GB, 16 * GB), class_of(16 * GB, 500 * GB)
    assert suffices(small, class_needed(2 * GB, 8 * GB)) and not suffices(small, class_needed(3 * GB, 0))
    assert suffices(large, class_needed(10 * GB, 100 * GB)) and not suffices(large, class_needed(17 * GB, 0))
    assert class_needed(10**15, 0) == NO_CLASS and not suffices(class_of(10**15, 10**15), NO_CLASS)
    counts = summary(0, [(0, 40 * MINUTE, 1000, large)]).counts
    assert [cell // CELLS for cell in counts] == [large]


def test_a_summary_that_cannot_be_true_is_told_from_one_that_can() -> None:
    honest = summary(0, [(0, 3 * 1440 * MINUTE, 1000, 0)] * 4)
    assert problem(honest.counts, 4) == "" and "4 free nodes" in problem(honest.counts, 3)
    assert problem({-1: 1}, 4) and problem({5: 0}, 4) and problem({10**9: 1}, 4) and problem({47: 1}, 4)


def test_an_older_summary_is_told_by_newer_points_before_it_is_added() -> None:
    old = Summary(0, dict(summary(0, [(0, 60 * MINUTE, 1000, 0)]).counts))
    found = total([old, summary(6, [])], 6)
    assert found.epoch == 6 and list(found.counts.values()) == [1]


@given(st.integers(0, 10**9))
def test_what_is_left_of_a_hole_after_some_work_has_that_much_less(seed: int) -> None:
    rng = Random(seed)
    found = of_epoch(rng.randint(0, 300))
    begin, power = found[0] + rng.randint(0, 10**8), rng.randint(1, 50_000)
    start = found[0] + rng.randint(0, 10**7)
    cell = cell_of(begin, found[POINTS] + 1, power, found) + CELLS * rng.randint(0, 63)
    before = usable(cell, start, found[POINTS], found, POWER_OF)
    work = rng.randint(1, max(before, 1))
    left = after(cell, work, start, found, POWER_OF)
    if left >= 0:
        assert left // CELLS == cell // CELLS and left % CELLS >= TAILS
        assert usable(left, start, found[POINTS], found, POWER_OF) <= before - work
    assert after(cell_of(found[1], found[2], power, found), 1, found[0], found, POWER_OF) == -1
