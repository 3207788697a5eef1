"""Waits until a store that cannot be reached is there again: nothing is lost meanwhile, so nobody has to give up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from headway.model.errors import UnreachableError

T = TypeVar("T")
AGAIN = 1.0  # seconds


def waited_out(work: Callable[[], T], tell: Callable[[str], None]) -> T:
    """What the work returns once the store answers. It must be work that may be begun anew."""
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
