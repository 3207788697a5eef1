"""Which of the eligible jobs a placeholder gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Candidate = TypeVar("Candidate")


def chosen(
    candidates: Iterable[tuple[Candidate, int]], free: int, slots: int, ahead: int
) -> list[tuple[Candidate, int]]:
    """The first candidates, given with the cores they want, that fit into what is free; with the cores they get.

    Nobody is passed over: a wide job at the front waits for room, or it would wait for ever. One that wants more than
    there is at all gets everything. `ahead` more single-core jobs may be taken to be at hand when a slot falls free.
    """
    taken: list[tuple[Candidate, int]] = []
    room = free
    for candidate, cores in candidates:
        wanted = min(cores, slots)
        if wanted > room:
            if wanted > 1 or ahead <= 0:
                break
            ahead -= 1
        else:
            room -= wanted
        taken.append((candidate, wanted))
    return taken


@dataclass(slots=True)
class Room:
    """What a placeholder has room for, filled from one workflow after the other."""

    free: int  # cores
    slots: int
    ahead: int

    @property
    def most(self) -> int:
        """How many more jobs could be taken."""
        return max(self.free, 0) + max(self.ahead, 0)

    def take(self, candidates: Sequence[tuple[Candidate, int]]) -> list[tuple[Candidate, int]]:
        """The candidates of one workflow that are taken. If one of them must wait for room, so must all who follow."""
        taken = chosen(candidates, self.free, self.slots, self.ahead)
        used = sum(cores for _, cores in taken)
        self.free, self.ahead = max(self.free - used, 0), self.ahead - max(used - self.free, 0)
        if len(taken) < len(candidates):
            self.free = self.ahead = 0
        return taken
