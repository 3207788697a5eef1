"""The eligible jobs by (rank, arrival): a list for each rank, and bits that say which lists are not empty.

FIFO is one rank for all, PRIO one for each job: the same queue, and the first job is found in a few steps either way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.sim.kernels import uncounted

Integers = NDArray[np.int32]
Bits = NDArray[np.uint64]

_ONE = np.uint64(1)
_SEQUENCE = 0x03F79D71B4CB0A89  # of de Bruijn: every six bits in a row are another number
_PLACES = np.zeros(64, np.int64)
for _at in range(64):
    _PLACES[((_SEQUENCE << _at) & (2**64 - 1)) >> 58] = _at
_MULTIPLIER = np.uint64(_SEQUENCE)


@uncounted
def lowest(bits: np.uint64) -> int:
    """The place of the lowest bit that is set."""
    return _PLACES[((bits & (~bits + _ONE)) * _MULTIPLIER) >> np.uint64(58)]  # type: ignore[no-any-return]


@uncounted
def push(
    job: int,
    kinds: Integers,
    heads: Integers,
    tails: Integers,
    follows: Integers,
    words: Bits,
    groups: Bits,
    low: NDArray[np.int64],
) -> None:
    """Puts a job behind those of its rank; `kinds` numbers the ranks from 0."""
    kind = kinds[job]
    follows[job] = -1
    if heads[kind] >= 0:
        follows[tails[kind]] = job
    else:
        heads[kind] = job
        words[kind >> 6] |= _ONE << np.uint64(kind & 63)
        groups[kind >> 12] |= _ONE << np.uint64((kind >> 6) & 63)
        low[0] = min(low[0], kind >> 12)
    tails[kind] = job


@uncounted
def pop(heads: Integers, follows: Integers, words: Bits, groups: Bits, low: NDArray[np.int64]) -> int:
    """Takes the first job of the smallest rank; there must be one."""
    group = low[0]
    while groups[group] == 0:
        group += 1
    low[0] = group
    at = (group << 6) + lowest(groups[group])
    kind = (at << 6) + lowest(words[at])
    job = heads[kind]
    heads[kind] = follows[job]
    if heads[kind] < 0:
        words[at] &= words[at] - _ONE
        if words[at] == 0:
            groups[group] &= groups[group] - _ONE
    return job  # type: ignore[no-any-return]
