"""Random numbers inside kernels: xoshiro256++ (Blackman and Vigna), seeded by splitmix64; normals by a ziggurat.

A stream is four words of state, found from a key alone, so that any replication can be done anywhere, in any order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from headway.sim.kernels import uncounted

Words = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53
_LAYERS = 256
_EDGE = 3.6541528853610088  # where the tail begins, for 256 layers of equal area (Marsaglia and Tsang)


def _layers() -> NDArray[np.float64]:
    """The right ends of the ziggurat's layers, from the widest, which stands for the tail as well, to 0."""
    height = math.exp(-0.5 * _EDGE**2)
    tail = math.sqrt(math.pi / 2) * math.erfc(_EDGE / math.sqrt(2))
    area = _EDGE * height + tail
    ends = [area / height, _EDGE]
    while len(ends) < _LAYERS:
        ends.append(math.sqrt(-2 * math.log(area / ends[-1] + math.exp(-0.5 * ends[-1] ** 2))))
    return np.array([*ends, 0.0])


LAYERS = _layers()


@uncounted
def mixed(word: np.uint64) -> np.uint64:
    """The output function of splitmix64."""
    word = (word ^ (word >> np.uint64(30))) * _MIX_1
    word = (word ^ (word >> np.uint64(27))) * _MIX_2
    return word ^ (word >> np.uint64(31))


@uncounted
def seed(state: Words, key: np.uint64, number: int) -> None:
    """Sets a stream to the beginning of the one that a key and a number name."""
    word = mixed(key + mixed(np.uint64(number) * _GOLDEN + _GOLDEN))
    for at in range(4):
        word += _GOLDEN
        state[at] = mixed(word)


@uncounted
def word(state: Words) -> np.uint64:
    """The next 64 bits."""
    first, second = state[0], state[1]
    third, fourth = state[2] ^ first, state[3] ^ second
    total = first + state[3]
    result: np.uint64 = ((total << np.uint64(23)) | (total >> np.uint64(41))) + first
    state[0], state[1] = first ^ fourth, second ^ third
    state[2] = third ^ (second << np.uint64(17))
    state[3] = (fourth << np.uint64(45)) | (fourth >> np.uint64(19))
    return result


@uncounted
def uniform(state: Words) -> float:
    """At least 0 and less than 1."""
    return (word(state) >> np.uint64(11)) * _UNIT


@uncounted
def exponential(state: Words) -> float:
    """With mean 1."""
    return -math.log(1.0 - uniform(state))


@uncounted
def normal(state: Words) -> float:
    """With mean 0 and standard deviation 1."""
    while True:
        bits = word(state)
        layer = np.int64(bits & np.uint64(_LAYERS - 1))
        share = 2.0 * ((bits >> np.uint64(11)) * _UNIT) - 1.0
        value: float = share * LAYERS[layer]
        if abs(value) < LAYERS[layer + 1]:
            return value
        if layer == 0:
            return _tail(state, share)
        upper = math.exp(-0.5 * (LAYERS[layer] ** 2 - value * value))
        lower = math.exp(-0.5 * (LAYERS[layer + 1] ** 2 - value * value))
        if upper + uniform(state) * (lower - upper) < 1.0:
            return value


@uncounted
def _tail(state: Words, sign: float) -> float:
    """Beyond the widest layer."""
    while True:
        beyond = exponential(state) / _EDGE
        if 2.0 * exponential(state) >= beyond * beyond:
            return math.copysign(_EDGE + beyond, sign)
