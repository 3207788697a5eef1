"""Which jobs an allocation runs: those it was asked for first, then any that fit, by rank.

Simulated allocations ask this, and placeholders of real ones are to. What was mapped to an allocation and why is
decided by a method; here is only who may start now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from headway.engine.ready import Candidate
from headway.model.messages import Seconds

_ROUNDING = 0.001  # seconds: times of day are large numbers, and a job that just fits must not be refused


def fits_in(expected: Seconds, left: Seconds) -> bool:
    """Whether a job that is expected to take so long ends before its allocation does."""
    return expected <= left + _ROUNDING


def offered(
    own: Iterable[Candidate],
    others: Iterable[Candidate],
    free: int,
    slots: int,
    fits: Callable[[Candidate], bool],
) -> list[Candidate]:
    """Jobs to start now, in order. `own` are mapped to the allocation, `others` are not; both by rank.

    `fits`: whether a job would end in the time that is left, by what the caller knows (`fits_in`, `ready.Within`).

    No job is started that would be cut off. Of its own jobs, nobody is passed over for cores: a wide one waits for
    room, and others wait with it, or it would wait for ever. A guest must fit as it is: it has, or will have, an
    allocation in which it can run as well.
    """
    chosen: list[Candidate] = []
    for job in own:
        if fits(job):
            wanted = min(job.cores, slots)
            if wanted > free:
                return chosen
            free -= wanted
            chosen.append(job)
    for job in others:
        if free <= 0:
            break
        if job.cores <= free and fits(job):
            free -= job.cores
            chosen.append(job)
    return chosen
