"""A bar on the terminal for what takes more than two seconds; nothing elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from headway.cli.display.terminal import clear_line

_PATIENCE = 2.0  # seconds
_OFTEN = 0.1


class Bar:
    """How much of something is done, and about how long the rest takes."""

    def __init__(self, total: float, quiet: bool = False) -> None:
        self._total = total
        self._done = 0.0
        self._begun = time.monotonic()
        self._next = self._begun + _PATIENCE
        self._live = sys.stderr.isatty() and not quiet
        self._shown = False
        self.about = ""

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            clear_line()
            sys.stderr.flush()

    def say(self, text: str) -> None:
        """A line for people at a terminal."""
        if self._live:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def expect(self, total: float) -> None:
        """How much there is, where that is found out late."""
        self._total = total

    def add(self, done: float) -> None:
        self._done += done
        now = time.monotonic()
        if self._live and now >= self._next:
            self._next, self._shown = now + _OFTEN, True
            share = min(self._done / self._total, 1.0) if self._total else 1.0
            left = (now - self._begun) * (1 / share - 1) if share else 0.0
            bar = "━" * round(24 * share)
            clear_line()
            sys.stderr.write(f"{bar:<24} {100 * share:.0f}%, about {left:.0f} s left  {self.about}")
            sys.stderr.flush()
