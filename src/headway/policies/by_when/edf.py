"""A node's queue: earliest deadline first, without preemption, and what can be promised of it.

Rows of a queue are in the order of deadlines: `due`, `cost`, `release`. All jobs are pushed to their deadlines; what is
promised is that none has to begin later than that. Hours that an owner withholds are rows too: `off_from`, `off_to`.
All functions use indices and loops alone, so that a kernel can compile them (docs/decisions/0014).
"""

from __future__ import annotations

from typing import Any


def latest_start(end: int, cost: int, off_from: Any, off_to: Any, offs: int) -> int:
    """The latest moment from which a job runs undisturbed and has ended by `end`. Withheld hours are in order."""
    start = end - cost
    for at in range(offs - 1, -1, -1):
        if off_from[at] < start + cost and off_to[at] > start:
            start = off_from[at] - cost
    return start


def latest_starts(due: Any, cost: Any, count: int, off_from: Any, off_to: Any, offs: int, starts: Any) -> None:
    """Writes when each job of a queue has to begin at the latest."""
    after = due[count - 1] if count else 0
    for at in range(count - 1, -1, -1):
        end = due[at] if due[at] < after else after
        after = latest_start(end, cost[at], off_from, off_to, offs)
        starts[at] = after


def keeps(release: Any, starts: Any, count: int, busy_until: int) -> bool:
    """Whether every job can begin by its latest start: enough for all to meet their deadlines."""
    for at in range(count):  # noqa: SIM110 - to be compiled
        if starts[at] < release[at] or starts[at] < busy_until:
            return False
    return True


def next_job(
    ready: Any, cost: Any, starts: Any, count: int, now: int, off_from: Any, off_to: Any, offs: int
) -> int:  # fmt: skip
    """The place of the job to run now; -1: none may.

    Plain earliest-deadline-first would let a job that can run now take the time of one that is urgent but not ready.
    So a job is passed over only by one that ends before the latest start of all that were passed over.
    """
    limit = -1
    for at in range(count):
        if ready[at]:
            fits = limit < 0 or now + cost[at] <= limit
            if fits and latest_start(now + cost[at], cost[at], off_from, off_to, offs) == now:
                return at
        if limit < 0 or starts[at] < limit:
            limit = starts[at]
    return -1


def done_by(release: Any, cost: Any, count: int, busy_until: int) -> int:
    """When a queue is done if every job runs as early as its inputs are promised.

    What is due after the whole queue can have all the time from then on: the others make way, as far as they have to.
    """
    end = busy_until
    for at in range(count):
        if release[at] > end:
            end = release[at]
        end += cost[at]
    return end


def holes(
    due: Any,
    starts: Any,
    count: int,
    busy_until: int,
    horizon: int,
    off_from: Any,
    off_to: Any,
    offs: int,
    hole_from: Any,
    hole_to: Any,
) -> int:
    """Writes the holes between jobs that are pushed to their deadlines (Fig. 3), last one first; how many there are."""
    found, after = 0, horizon
    for at in range(count, -1, -1):
        begin = due[at - 1] if at else busy_until
        if begin < busy_until:
            begin = busy_until
        end = after
        for off in range(offs - 1, -1, -1):  # withheld hours are cut out
            if off_from[off] < end and off_to[off] > begin:
                if off_to[off] < end:
                    hole_from[found], hole_to[found] = off_to[off], end
                    found += 1
                end = off_from[off]
        if begin < end:
            hole_from[found], hole_to[found] = begin, end
            found += 1
        if at and starts[at - 1] < after:
            after = starts[at - 1]
    return found
