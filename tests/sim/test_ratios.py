from __future__ import annotations

import numpy as np
import pytest

from headway.sim.ratios import Ratio, paired, ratio


def test_a_ratio_is_that_of_every_pair() -> None:
    found = ratio(np.array([1.0, 2.0]), np.array([1.0, 4.0]))  # 1, 1/4, 2, 1/2
    assert (found.median, found.mean) == (0.75, 0.9375)
    assert found.sd == pytest.approx(np.std([1, 0.25, 2, 0.5]))
    assert (found.low, found.high) == (0.25, 2.0)


def test_the_smallest_and_largest_2_5_percent_are_outside_the_interval() -> None:
    found = ratio(np.arange(1.0, 41.0), np.array([1.0]))
    assert (found.low, found.high) == (2.0, 39.0)
    found = ratio(np.arange(1.0, 301.0), np.ones(300))
    assert (found.low, found.high, found.median) == (8.0, 293.0, 150.5)


def test_a_zero_below_leaves_nothing_to_say() -> None:
    found = ratio(np.ones(3), np.array([1.0, 0.0, 1.0]))
    assert (found.median, found.low, found.high, found.mean, found.sd) == (None,) * 5
    assert found.paired is not None and found.paired[0] == 1.5
    assert ratio(np.zeros(3), np.zeros(3)) == Ratio(None, None, None, None, None, None)
    assert ratio(np.zeros(3), np.ones(3)).median == 0


def test_samples_in_pairs_tell_a_ratio_more_closely() -> None:
    """Two that differ by a hundredth in the same noise: the pairs tell them apart, all pairs together cannot."""
    noise = np.random.default_rng(1).normal(1, 0.1, 300)
    found = ratio(0.99 * noise, noise)
    assert found.paired == pytest.approx((0.99, 0.99, 0.99))
    assert found.low is not None and found.high is not None and found.low < 0.9 and found.high > 1.1


def test_the_interval_of_pairs_holds_the_truth_as_often_as_it_says() -> None:
    random, held = np.random.default_rng(2), 0
    for _ in range(1000):
        shared = random.normal(10, 1, 40)
        found = paired(0.8 * shared + random.normal(0, 0.5, 40), shared + random.normal(0, 0.5, 40))
        assert found is not None
        held += found[1] <= 0.8 <= found[2]
    assert 920 < held < 975
