"""Bounds on waits by history: held to the distribution that they are said to be of."""

from __future__ import annotations

from math import comb

import pytest

from headway.engine.waits import bound, class_of, rank


def below(count: int, quantile: float, heads: int) -> float:
    """That at most so many of count values are below the quantile."""
    return sum(comb(count, at) * quantile**at * (1 - quantile) ** (count - at) for at in range(heads + 1))


@pytest.mark.parametrize("count", [1, 4, 5, 58, 59, 100, 300])
@pytest.mark.parametrize("quantile", [0.5, 0.95])
def test_the_rank_is_the_least_that_has_the_confidence(count: int, quantile: float) -> None:
    found = rank(count, quantile)
    if found is None:
        assert below(count, quantile, count - 1) < 0.95
    else:
        assert below(count, quantile, found - 1) >= 0.95 > below(count, quantile, found - 2)


def test_59_waits_are_the_fewest_that_bound_95_percent() -> None:
    assert bound(list(range(58)), 0.95) is None and bound(list(range(59)), 0.95) == 58


def test_a_bound_does_not_depend_on_the_order_of_waits() -> None:
    assert bound([5.0, 1.0, 9.0, 3.0, 2.0], 0.5) == 9.0


def test_very_many_waits_are_bounded_too() -> None:
    assert rank(5000, 0.5) == pytest.approx(2558, abs=2)


def test_requests_are_compared_with_those_about_as_wide() -> None:
    assert [class_of(width) for width in (1, 5, 64, 5000)] == [(1, 4), (5, 16), (17, 64), (65, 10**9)]
