"""Which of the eligible jobs a placeholder gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.model.messages import NODES, Seconds
from headway.model.record import field, mutable, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@record
class Lane:
    """What all jobs of a lane have in common: their category and its throttle, and the named resources each takes."""

    category: str | None = None
    most: int | None = None
    named: tuple[tuple[str, int], ...] = ()


PLAIN = Lane()


@record
class Within:
    """The time that is left to a placeholder in an allocation: it takes no job that cannot be expected to end in it."""

    left: Seconds
    unknown: Seconds = 0.0  # what a job counts as of which no run time is known

    def holds(self, limit: Seconds | None, expected: Seconds | None) -> bool:
        """Whether a job fits: by its time limit, else by its expected run time."""
        if limit is not None:
            return limit <= self.left
        return (self.unknown if expected is None else expected) <= self.left


@record
class Candidate:
    """An eligible job and what it wants."""

    job: Any  # what the caller wants to find again
    cores: int
    memory: int = 0  # bytes
    lane: int = 0
    kind: int = 0  # model.states.Kind
    place: tuple[int, int, int] = (0, 0, 0)  # rank, arrival, place in its workflow: who comes first
    limit: Seconds | None = None  # of its run time
    expected: Seconds | None = None  # run time
    bound: str = ""  # the host that it must run on, by affinity; "": any


@mutable
class Room:
    """What a placeholder has room for, filled from one workflow after the other.

    Nobody is passed over for cores or memory: a wide job at the front waits for room, or it would wait for ever. One
    that wants more than there is at all gets everything. But a job that waits for a named resource or for its
    category holds up only its lane, and one that takes too long for the time
    that is left, or is bound to another host, holds up nobody. `ahead` more
    single-core jobs may be prefetched for slots that fall free. A place that has several hosts is for jobs of several:
    one of a single host would leave the others idle, so it is for other placeholders.
    """

    free: int  # cores
    slots: int
    ahead: int = 0
    memory: int | None = None  # bytes; None: not counted
    all_memory: int = 0
    named: dict[str, int] = field(default_factory=dict)  # what is left of each named resource
    is_whole: bool = False  # nothing else runs there: what does not fit now never will
    within: Within | None = None  # None: the time that is left is not limited
    host: str = ""  # where this is; "": the only host there is

    @property
    def most(self) -> int:
        """How many more jobs could be taken."""
        return max(self.free, 0) + max(self.ahead, 0)

    def take(
        self,
        candidates: Sequence[Candidate],
        lanes: Mapping[int, Lane] | None = None,
        running: Mapping[str, int] | None = None,
    ) -> list[tuple[Any, int]]:
        """The candidates of one workflow that are taken, with the cores they get.

        `running` counts the jobs of each category that run already. If one must wait for room, so must all who follow.
        """
        taken: list[tuple[Any, int]] = []
        busy = dict(running or {})
        has_hosts = NODES in self.named
        full: set[int] = set()
        for candidate in candidates:
            if candidate.lane in full:
                continue
            if self.within is not None and not self.within.holds(candidate.limit, candidate.expected):
                continue
            lane = lanes.get(candidate.lane, PLAIN) if lanes else PLAIN
            if has_hosts and NODES not in dict(lane.named):
                continue
            if lane is not PLAIN and not self._may(lane, busy):
                full.add(candidate.lane)
                continue
            if candidate.bound and self.host and candidate.bound != self.host:
                continue
            wanted = min(candidate.cores, self.slots)
            if not self._fits(wanted, candidate.memory):
                # Less than nothing: what takes no cores (a node to be opened) waits as well, also if asked later.
                self.free = self.ahead = -1
                break
            for name, count in lane.named:
                self.named[name] = self.named.get(name, 0) - count  # of what nobody has, none may be asked for
            if lane.category is not None:
                busy[lane.category] = busy.get(lane.category, 0) + 1
            taken.append((candidate.job, wanted))
        return taken

    def _may(self, lane: Lane, busy: Mapping[str, int]) -> bool:
        if lane.category is not None and lane.most is not None and busy.get(lane.category, 0) >= lane.most:
            return False
        return all(self.named.get(name, 0) >= count for name, count in lane.named)

    def _fits(self, cores: int, memory: int) -> bool:
        """Takes cores and memory off what is free, or a single-core job off those that may be prefetched."""
        if memory and self.memory is not None:
            memory = min(memory, self.all_memory)
            if memory > self.memory:
                return False
        else:
            memory = 0
        if cores <= self.free:
            self.free -= cores
        elif cores > 1 or self.ahead <= 0:
            return False
        else:
            self.ahead -= 1
        if self.memory is not None:
            self.memory -= memory
        return True
