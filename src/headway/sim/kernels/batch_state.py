"""What the kernels of a batch queue work on: a log, and a moment of the queue that serves it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.sim.kernels import compiled

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

FREE, WAITING, RUNNING, COMES, UNSETTLED, FULL, FRESH, BESIDE, NEWS, SHIFTED = range(10)  # of State.counts
NOW, COUNTED, RESERVED, SHIFT, MOST_SHIFT, KNOWN = range(6)  # of State.times
REACHED, TOLD, IDLE = range(3)  # how `advance` ends


class Jobs(NamedTuple):
    """A log and how it is served; nothing of it changes."""

    submit: Reals
    run: Reals
    request: Reals
    width: Integers
    user: Integers
    place: Reals
    starts: Reals  # when each starts without us, once that is known
    processors: int
    share: Reals  # of fair share: weight (0: none), interval, decay
    beside: bool


class State(NamedTuple):
    """A moment of a queue."""

    counts: Integers
    times: Reals
    waiting: Integers  # rows of id, width, user
    waits: Reals  # rows of place with penalty, seconds, place without
    running: Integers  # rows of id, width, user
    runs: Reals  # rows of limit, end, beginning
    used: Reals  # processor seconds by interval and user, the one under way first
    penalties: Reals
    news: Integers  # id, and 1 if it has begun


@compiled
def moved(numbers: Integers, reals: Reals, first: int, end: int, to: int) -> None:
    """Moves rows to another place, column by column: a processor moves several numbers of a column at once."""
    for column in range(3):
        if to < first:
            for at in range(end - first):
                numbers[to + at, column] = numbers[first + at, column]
                reals[to + at, column] = reals[first + at, column]
        else:
            for at in range(end - first - 1, -1, -1):
                numbers[to + at, column] = numbers[first + at, column]
                reals[to + at, column] = reals[first + at, column]
