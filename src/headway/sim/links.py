"""Links between peers: how long a message takes. Whole numbers, so that the kernel and the slow world say the same.

A delay depends on the seed, the sender, and how many messages that has sent before: not on what others do meanwhile.
"""

from __future__ import annotations

import math

from headway.model.record import record

STEPS = 4096  # delays that there are, equally likely
MICRO = 1000  # microseconds in a millisecond
_ALL = (1 << 64) - 1


@record
class Network:
    """Links between peers, in milliseconds and bits a second. Delays are bounded: what is promised rests on that."""

    delay: float = 50.0  # on average
    least: float = 25.0
    most: float = 300.0
    bandwidth: float = 1e6

    def delays(self) -> list[int]:
        """In microseconds: the least, and an exponential rest up to the most."""
        mean = max(self.delay - self.least, 0.0)
        rests = (-math.log(1.0 - (step + 0.5) / STEPS) * mean for step in range(STEPS))
        return [round(min(self.most, self.least + rest) * MICRO) for rest in rests]

    def transfer(self, size: int) -> int:
        """Microseconds that a link sends so many bytes for."""
        return size * 8_000_000 // max(1, int(self.bandwidth))


def mixed(word: int) -> int:
    """The output function of splitmix64."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _ALL
    return word ^ (word >> 31)


def drawn(key: int, sender: int, serial: int) -> int:
    """Which of the delays a message has."""
    return mixed((key + (sender << 32) + serial) & _ALL) >> 52
