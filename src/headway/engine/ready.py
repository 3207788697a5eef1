"""Which of the eligible jobs a placeholder gets."""

from __future__ import annotations

from collections.abc import Iterable
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
