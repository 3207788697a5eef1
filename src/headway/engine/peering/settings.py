"""What holds for all peers of a grid, in milliseconds."""

from __future__ import annotations

from headway.model.record import record


@record
class Settings:
    update: int = 1_000  # a child tells its father of changes at most so often (the paper's bound)
    refresh: int = 60_000  # and that it is alive at least so often
    misses: int = 3  # of these, after which a neighbour counts as dead
    most: int = 4  # children of a branch; with fewer than two it dissolves
    hold: int = 30_000  # that room stays held for without being renewed
    longest_hold: int = 120_000  # that it can be held for without being committed to
    holds: int = 8  # of one owner at a core at once
    renew: int = 10_000
    answer: int = 20_000  # after which an owner, or a branch, does not wait for an answer any more
    repeat: int = 3_000  # after which room for jobs that were promised and lost is asked for again, on another way
    status: int = 30_000  # a leaf tells owners that it has their jobs so often
    notice: int = 2_000  # that news of an end takes at most, by way of the owner
    stage: int = 1_500  # that it is expected to take to allocate one stage of a workflow
    attempts: int = 3
    pause: int = 3_000  # before an attempt is repeated
    skew: int = 30_000  # that clocks may differ by
    rate: int = 100  # messages of one neighbour a second, on average over ten seconds
    margin: float = 1.0  # run times are taken to be so many times longer
    fit: str = "best"
    splitting: bool = True
    early: bool = True  # the time after a queue is told from when it can be done, not from when it is due (the paper)
