"""A clock that goes from event to event, and random numbers that depend on names alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random

from headway.sim.rng import key


class Heap:
    """What is to happen, by time. What happens at the same time happens in the order in which it was planned."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, int, Callable[[], None]]] = []
        self._planned = 0

    def at(self, when: float, what: Callable[[], None], late: int = 0) -> None:
        """Plans an event, a later one after all others of its time. One in the past is an error of its planner."""
        if not when >= self.now:
            raise ValueError(f"an event at {when} cannot be planned at {self.now}")
        self._planned += 1
        heappush(self._events, (when, late, self._planned, what))

    def after(self, delay: float, what: Callable[[], None], late: int = 0) -> None:
        self.at(self.now + delay, what, late)

    @property
    def next(self) -> float:
        """When the next event is; never: infinity."""
        return self._events[0][0] if self._events else math.inf

    def clear(self) -> None:
        """Forgets what is to happen."""
        self._events.clear()

    def step(self) -> None:
        """Lets the next thing happen; there must be one."""
        self.now, _, _, what = heappop(self._events)
        what()

    def run(self, until: float = math.inf) -> float:
        """Lets things happen until none is left, or up to a time; the time then."""
        while self._events and self._events[0][0] <= until:
            self.step()
        if self.now < until < math.inf:
            self.now = until
        return self.now


class Streams:
    """Random numbers by name: a stream gives the same numbers whatever others are drawn from."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._streams: dict[tuple[object, ...], Random] = {}

    def of(self, *words: object) -> Random:
        """The stream of a name, which goes on where it was."""
        if words not in self._streams:
            self._streams[words] = Random(key(self._seed, *words))  # noqa: S311 - a simulation
        return self._streams[words]
