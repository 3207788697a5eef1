"""How many allocations stand: as many as there is work for, and no more than are allowed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headway.policies.how_much.standing import Standing, change


def test_one_is_asked_for_as_many_cores_as_are_wanted() -> None:
    assert change(Standing(eligible=5, running=0, cores=2, queued=0, granted=0, most=10)) == 3


def test_what_was_asked_for_already_counts() -> None:
    assert change(Standing(eligible=5, running=0, cores=2, queued=2, granted=0, most=10)) == 1
    assert change(Standing(eligible=2, running=4, cores=2, queued=0, granted=2, most=10)) == 1


def test_what_waits_is_taken_back_only_when_nothing_is_left_to_begin() -> None:
    assert change(Standing(eligible=1, running=0, cores=4, queued=3, granted=0, most=10)) == 0
    assert change(Standing(eligible=0, running=3, cores=4, queued=3, granted=1, most=10)) == -3


counts = st.integers(0, 50)


@given(counts, counts, st.integers(1, 8), counts, counts, st.integers(0, 20))
def test_never_more_than_allowed_and_never_less_than_none(
    eligible: int, running: int, cores: int, queued: int, granted: int, most: int
) -> None:
    now = Standing(eligible, running, cores, queued, granted, most)
    after = queued + granted + change(now)
    assert granted <= after <= max(most, queued + granted)
    if eligible and most and queued + granted == 0:
        assert change(now) >= 1
