"""Clocks that do not go back when the computer's clock is set back."""

from __future__ import annotations

import time

_SMALL = 1.0  # seconds by which a clock may be corrected without being set


def since_boot() -> float:
    """Seconds since the computer was started, the time that it slept included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Clock:
    """The time of day as it would be if nobody had set it back."""

    def __init__(self) -> None:
        self._ahead = 0.0  # seconds that were taken back
        self._wall, self._up = time.time(), since_boot()

    def now(self) -> float:
        wall, up = time.time(), time.clock_gettime(time.CLOCK_BOOTTIME)
        back = self._wall + up - self._up - wall
        if back > _SMALL:
            self._ahead += back
        self._wall, self._up = wall, up
        return wall + self._ahead
