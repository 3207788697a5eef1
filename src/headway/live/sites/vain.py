"""Allocations whose placeholder never came: why, and when the next one is asked for.

Each was a wait in the queue for nothing, and mostly the next one would be too. So one at a time is asked for from then
on, ever later, until a placeholder comes.
"""

from __future__ import annotations

from headway.model.messages import Seconds
from headway.model.quantities import duration

LONGEST_PAUSE = 300.0  # seconds between two that are asked for


class Vain:
    """Those of one site, since its last placeholder came."""

    def __init__(self) -> None:
        self._times = self._count = 0  # looks at the queue that found some, and how many those were
        self._why = ""
        self._pause = self._again = 0.0  # when one may be asked for

    def came(self) -> None:
        """A placeholder is there."""
        self._times = self._count = 0

    def note(self, count: int, why: str, now: Seconds, look: Seconds) -> None:
        """So many ended before their placeholders came. `look`: seconds between two looks at the queue."""
        self._times += 1
        self._count += count
        self._why = why
        self._pause = 0.0 if self._times == 1 else min(LONGEST_PAUSE, look * 2 ** min(self._times - 1, 10))
        self._again = now + self._pause

    def allowed(self, more: int, pending: int, now: Seconds) -> int:
        """How many of those that are wanted may be asked for, where so many are on their way."""
        if not self._count:
            return more
        return min(more, 0 if pending or now < self._again else 1)

    @property
    def said(self) -> str:
        """What its user should know; "": nothing."""
        if not self._count:
            return ""
        what = "1 allocation" if self._count == 1 else f"{self._count:,} allocations"
        after = f" after {duration(self._pause)}" if self._pause else ""
        return f"{what} ended before a placeholder came: {self._why}. One at a time is asked for{after}."
