"""Waits until an unreachable store answers again. Nothing is lost meanwhile, so no client has to give up."""

from __future__ import annotations

import time
from collections.abc import Callable

from headway.model.errors import UnreachableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")
AGAIN = 1.0  # seconds


def waited_out(work: Callable[[], T], tell: Callable[[str], None]) -> T:
    """Repeats the work until the store answers, and returns its result. The work must be safe to repeat."""
    told = False
    while True:
        try:
            found = work()
        except UnreachableError as error:
            if not told:
                tell(f"waiting: {error.what}")
            told = True
            time.sleep(AGAIN)
        else:
            if told:
                tell("going on.")
            return found
