"""Rows and curves of what ran when."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from headway.model.timeline import Elapsed, averaged, concurrency, pauses, peak, slots

SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda pair: (float(pair[0]), float(pair[0] + pair[1]))),
    max_size=30,
)


def test_a_curve_says_how_many_run_from_when_on() -> None:
    assert concurrency([(0.0, 2.0), (1.0, 3.0), (2.0, 4.0)]) == [(0.0, 1), (1.0, 2), (3.0, 1), (4.0, 0)]
    assert concurrency([]) == [] and peak([]) == 0


@given(SPANS)
def test_a_curve_agrees_with_counting_at_every_moment(spans: list[tuple[float, float]]) -> None:
    curve = concurrency(spans)
    for moment in (at / 2 for at in range(110)):
        found = [count for time, count in curve if time <= moment]
        assert (found[-1] if found else 0) == sum(start <= moment < end for start, end in spans)


@given(SPANS, st.integers(1, 7))
def test_an_averaged_curve_holds_the_same_work(spans: list[tuple[float, float]], bins: int) -> None:
    curve = concurrency(spans)
    if len(curve) < 2:
        return
    parts = averaged(curve, bins)
    width = (curve[-1][0] - curve[0][0]) / bins
    assert len(parts) == bins + 1 and parts[-1] == (curve[-1][0], 0.0)
    assert abs(sum(mean for _, mean in parts) * width - sum(end - start for start, end in spans)) < 1e-9
    assert max(mean for _, mean in parts) <= peak(curve) + 1e-9


def test_a_row_is_used_again_as_soon_as_it_is_free() -> None:
    assert slots([(0.0, 2.0), (0.0, 1.0), (1.0, 3.0), (2.0, 3.0), (0.5, 0.6)]) == [1, 0, 0, 1, 2]


@given(SPANS)
def test_rows_hold_no_two_at_once_and_are_as_few_as_can_be(spans: list[tuple[float, float]]) -> None:
    spans = [(start, end) for start, end in spans if end > start]
    rows = slots(spans)
    for row in set(rows):
        mine = sorted(span for span, at in zip(spans, rows, strict=True) if at == row)
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(mine))
    assert len(set(rows)) == peak(concurrency(spans))


def test_pauses_are_where_nothing_ran_for_long() -> None:
    spans = [(0.0, 50.0), (52.0, 100.0), (100_000.0, 100_100.0), (10.0, 99.0)]
    assert pauses(spans) == [(100.0, 100_000.0)]
    assert pauses([]) == [] and pauses([(0.0, 0.1), (0.9, 1.0)]) == []


def test_elapsed_time_leaves_pauses_out() -> None:
    elapsed = Elapsed(10.0, [(20.0, 120.0), (150.0, 1150.0)])
    assert [elapsed(time) for time in (10.0, 20.0, 70.0, 120.0, 150.0, 1000.0, 1160.0)] == [0, 10, 10, 10, 40, 40, 50]
