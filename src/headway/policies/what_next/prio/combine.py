"""The order of the components (step 6): greedily, the source of the superdag with the largest smallest priority.

Sources of the superdag with the same profile are interchangeable but for the order of the file, so the search is among
profiles. Each has an upper bound on its smallest priority over the others; only the one with the greatest bound is
looked at closely, and only at profiles that appeared since it was looked at last. A priority is computed once.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush

from headway.policies.what_next.prio.priority import Profile, Threshold, priorities

SUSPECTS = 8  # profiles that lowered a bound lately: the next one is likely lowered by them too
SHORT = 256  # steps of a profile that a threshold is made for


class Choice:
    """The profiles of the components that may be executed now."""

    def __init__(self, profiles: list[Profile]) -> None:
        size = len(profiles)
        self.profiles = profiles
        self.known: list[dict[int, float]] = [{} for _ in range(size)]
        self.waiting: list[list[tuple[int, int]]] = [[] for _ in range(size)]  # of a profile: (first job, component)
        self.bound = [1.0] * size
        self.lowered_by = [-1] * size
        self.lowers: list[set[int]] = [set() for _ in range(size)]
        self.looked = [-1] * size  # at what appeared until then
        self.appeared: dict[int, int] = {}  # the profiles present, oldest first
        self.clock = 0
        self.heap: list[tuple[float, int, int]] = []  # (-bound, first job, profile)
        self.suspects: deque[int] = deque(maxlen=SUSPECTS)

    def add(self, profile: int, first: int, component: int) -> None:
        """A component becomes a source of the superdag."""
        waiting = self.waiting[profile]
        heappush(waiting, (first, component))
        before = self.bound[profile]
        if len(waiting) == 1:
            self.clock += 1
            self.appeared[profile] = self.clock
            self._forget(profile)
        elif len(waiting) == 2:
            self._meet(profile, profile)
        if waiting[0][1] == component or self.bound[profile] != before:
            heappush(self.heap, (-self.bound[profile], waiting[0][0], profile))

    def _forget(self, profile: int) -> None:
        """The bound of a profile may rise: nothing is known of it but its priority over itself."""
        by = self.lowered_by[profile]
        if by >= 0:
            self.lowers[by].discard(profile)
        self.bound[profile], self.lowered_by[profile], self.looked[profile] = 1.0, -1, -1
        if len(self.waiting[profile]) > 1:
            self._meet(profile, profile)

    def _meet(self, profile: int, other: int) -> None:
        """Lowers the bound of a profile to its priority over another."""
        priority = self.priority(profile, other)
        if priority < self.bound[profile]:
            by = self.lowered_by[profile]
            if by >= 0:
                self.lowers[by].discard(profile)
            self.bound[profile], self.lowered_by[profile] = priority, other
            self.lowers[other].add(profile)
            if other != profile and other not in self.suspects:
                self.suspects.appendleft(other)

    def priority(self, profile: int, other: int) -> float:
        known = self.known[profile].get(other)
        if known is None:
            known, reverse = priorities(self.profiles[profile], self.profiles[other])
            self.known[profile][other] = known
            self.known[other][profile] = reverse
        return known

    def take(self) -> tuple[int, float]:
        """The component to execute next, which is none any more, and the least of its priorities over the others."""
        heap = self.heap
        while True:
            bound, first, profile = heappop(heap)
            waiting = self.waiting[profile]
            if not waiting or waiting[0][0] != first or self.bound[profile] != -bound:
                continue  # not true any more
            rival = -heap[0][0] if heap else 0.0
            if self.looked[profile] == self.clock or self._holds(profile, rival):
                return self._taken(profile), -bound
            heappush(heap, (-self.bound[profile], first, profile))

    def _holds(self, profile: int, rival: float) -> bool:
        """Whether no profile lowers the bound; it is lowered at least until a rival's is greater."""
        looked, appeared, profiles = self.looked[profile], self.appeared, self.profiles
        before, least = self.bound[profile], profiles[profile].least
        if looked < 0:
            for other in tuple(self.suspects):
                if other != profile and other in appeared:
                    self._meet(profile, other)
        if self.bound[profile] < rival:
            return False
        short, known = profiles[profile].steps <= SHORT, self.known[profile]
        threshold: Threshold | None = None
        for other, since in reversed(appeared.items()):
            if since <= looked:
                break
            if least >= profiles[other].greatest or other == profile:
                continue
            if short and other not in known and profiles[other].steps <= SHORT:
                if threshold is None or threshold.least != self.bound[profile]:
                    threshold = Threshold(profiles[profile], self.bound[profile])
                if threshold.met(profiles[other]):
                    continue
            self._meet(profile, other)
            if self.bound[profile] < rival:
                return False
        self.looked[profile] = self.clock
        return self.bound[profile] == before

    def _taken(self, profile: int) -> int:
        waiting = self.waiting[profile]
        _, component = heappop(waiting)
        if not waiting:
            del self.appeared[profile]
            for other in list(self.lowers[profile]):
                if other != profile and self.waiting[other]:
                    self._forget(other)
                    heappush(self.heap, (-self.bound[other], self.waiting[other][0][0], other))
            return component
        if len(waiting) == 1 and self.lowered_by[profile] == profile:
            self._forget(profile)
        heappush(self.heap, (-self.bound[profile], waiting[0][0], profile))
        return component
