"""Small components settled by looking at every set of jobs that can have been executed."""

from __future__ import annotations

from collections.abc import Sequence


def best_order(masks: Sequence[int], size: int) -> list[int] | None:
    """The first order, by the file, that makes most sinks eligible at every step; None: there is none."""
    enabled = _enabled(masks, size)
    best = [0] * (size + 1)
    for chosen, count in enumerate(enabled):
        executed = chosen.bit_count()
        if count > best[executed]:
            best[executed] = count
    everything = (1 << size) - 1
    good = bytearray(1 << size)  # best itself, and on to the end through best ones
    good[everything] = 1
    for chosen in range(everything - 1, -1, -1):
        if enabled[chosen] == best[chosen.bit_count()]:
            good[chosen] = any(good[chosen | 1 << at] for at in range(size) if not chosen >> at & 1)
    if not good[0]:
        return None
    order, chosen = [], 0
    while chosen != everything:
        at = next(at for at in range(size) if not chosen >> at & 1 and good[chosen | 1 << at])
        order.append(at)
        chosen |= 1 << at
    return order


def _enabled(masks: Sequence[int], size: int) -> list[int]:
    """For every set of sources the number of sinks that need no other."""
    enabled = [0] * (1 << size)
    for mask in masks:
        enabled[mask] += 1
    for at in range(size):
        bit = 1 << at
        for block in range(bit, 1 << size, bit << 1):
            for chosen in range(block, block + bit):
                enabled[chosen] += enabled[chosen ^ bit]
    return enabled


def most_eligible(parents: Sequence[int], most_sets: int, steps: int | None = None) -> list[int] | None:
    """The largest number of eligible jobs after 0, 1, … steps, over all sets closed under parents; None: too many sets.

    `parents` has for each job the mask of its parents. With `steps` it stops there.
    """
    size = len(parents)
    everything = range(size)
    layer = {0}
    best = []
    total = 0
    for step in range((size if steps is None else steps) + 1):
        most = 0
        following: set[int] = set()
        for done in layer:
            ready = [at for at in everything if not done >> at & 1 and parents[at] & done == parents[at]]
            most = max(most, len(ready))
            following.update(done | 1 << at for at in ready)
        best.append(most)
        total += len(following)
        if total > most_sets:
            return None
        layer = following
        if step == size:
            break
    return best
