from __future__ import annotations

import numpy as np
import pytest

from headway.sim.ratios import Ratio, ratio


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
    assert ratio(np.ones(3), np.array([1.0, 0.0, 1.0])) == Ratio(None, None, None, None, None)
    assert ratio(np.zeros(3), np.ones(3)).median == 0
