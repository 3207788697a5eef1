"""Random numbers: known sequences, and distributions that are what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headway.sim.kernels.numbers import LAYERS, Words, exponential, mixed, normal, seed, uniform, word
from headway.sim.kernels.queue import lowest
from headway.sim.rng import key

MANY = 200_000


def stream(name: str) -> Words:
    state = np.empty(4, np.uint64)
    seed(state, np.uint64(key(0, name)), 0)
    return state


def test_words_are_those_of_xoshiro256_plus_plus() -> None:
    state = np.array([1, 2, 3, 4], np.uint64)
    assert [int(word(state)) for _ in range(4)] == [41943041, 58720359, 3588806011781223, 3591011842654386]


def test_mixing_is_that_of_splitmix64() -> None:
    golden = 0x9E3779B97F4A7C15
    found = [int(mixed(np.uint64((1234567 + step * golden) % 2**64))) for step in (1, 2)]
    assert found == [6457827717110365317, 3203168211198807973]


def test_the_ziggurat_closes() -> None:
    """All layers have the same area, the last one up to the top of the curve."""
    heights = np.exp(-0.5 * LAYERS**2)
    areas = LAYERS[1:-1] * (heights[2:] - heights[1:-1])
    assert areas == pytest.approx([LAYERS[0] * heights[1]] * 255, rel=1e-6)


def test_normals_are_normal() -> None:
    state = stream("normal")
    found = np.sort([normal(state) for _ in range(MANY)])
    assert found.mean() == pytest.approx(0, abs=0.01) and found.std() == pytest.approx(1, abs=0.01)
    for at in (-3.7, -3, -2, -1, -0.5, 0, 0.1, 1, 2.5, 3.5, 3.8):
        share = 0.5 * math.erfc(-at / math.sqrt(2))
        assert np.searchsorted(found, at) / MANY == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / MANY))


def test_exponentials_are_exponential() -> None:
    state = stream("exponential")
    found = np.sort([exponential(state) for _ in range(MANY)])
    assert found[0] >= 0
    for at in (0.01, 0.5, 1, 3, 8):
        share = 1 - math.exp(-at)
        assert np.searchsorted(found, at) / MANY == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / MANY))


def test_uniforms_are_below_one() -> None:
    state = stream("uniform")
    found = np.array([uniform(state) for _ in range(MANY)])
    assert 0 <= found.min() < found.max() < 1 and found.mean() == pytest.approx(0.5, abs=0.005)


def test_streams_of_other_numbers_have_nothing_in_common() -> None:
    words = set()
    for number in range(1000):
        state = np.empty(4, np.uint64)
        seed(state, np.uint64(key(0, "streams")), number)
        words |= {int(word(state)) for _ in range(10)}
    assert len(words) == 10_000


def test_a_name_is_its_words_and_their_boundaries() -> None:
    assert key(1, "a", "b") == key(1, "a", "b")
    assert len({key(1, "a", "b"), key(1, "ab"), key(2, "a", "b"), key(1, "b", "a")}) == 4


def test_the_lowest_bit_is_found_wherever_it_is() -> None:
    for place in range(64):
        assert lowest(np.uint64((2**64 - 1) << place & (2**64 - 1))) == lowest(np.uint64(1 << place)) == place
