"""Pieces of the sites kernel: a workflow and sites as arrays, and the steps that its loop is made of."""

from __future__ import annotations

import math
from heapq import heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.sim.kernels import compiled
from headway.sim.kernels.numbers import Words, exponential, uniform

Integers = NDArray[np.int32]
Longs = NDArray[np.int64]
Flags = NDArray[np.uint8]
Reals = NDArray[np.float64]
Event = tuple[float, int, int, int, int]  # when, its number, what, a job or a site, the turn of the job

PLAN, READY, GIVE_UP, END, CHANGE = 0, 1, 2, 3, 4  # what happens
MOST_MOVES = 1000  # times that an attempt is withdrawn; then it stays, or impatience could go on for ever


class Work(NamedTuple):
    """A workflow. Rows of lists are in compressed form: where each begins, and all of them."""

    child_start: Integers
    children: Integers  # of one node by their place
    waiting: Integers  # parents, milestones that wait for nothing taken off
    first: Integers  # jobs that may run at once, in order
    milestones: NDArray[np.uint8]
    ranks: Longs
    seconds: Reals
    cores: Integers
    retries: Integers
    input_start: Integers
    inputs: Integers  # files
    input_seconds: Reals  # what moving each of them takes
    output_start: Integers
    outputs: Integers
    stored_start: Integers  # by file
    stored: Integers  # sites that have it from the start
    candidate_start: Integers  # by kind of job
    candidates: Integers
    kinds: Integers


class Grid(NamedTuple):
    """Sites, and what sending a job there takes."""

    processors: Reals
    low: Reals
    high: Reals
    full: Reals
    full_spell: Reals
    open_spell: Reals
    latency: Reals
    speed: Reals
    transfer: Reals
    failing: Reals
    fails_after: Reals
    planning: float
    spread: float


@compiled
def spell(
    grid: Grid, state: Words, is_full: Flags, theirs: Reals, site: int, now: float, heap: list[Event], planned: int
) -> int:
    """Others take some processors of a site, or all, for a while; the number of events planned by now."""
    if is_full[site]:
        theirs[site] = grid.processors[site]
        mean = grid.full_spell[site]
    else:
        share = grid.low[site] + (grid.high[site] - grid.low[site]) * uniform(state)
        theirs[site] = math.floor(share * grid.processors[site])
        mean = grid.open_spell[site]
    if mean == math.inf:
        return planned
    heappush(heap, (now + mean * exponential(state), planned + 1, CHANGE, site, 0))
    return planned + 1


@compiled
def transfer(work: Work, grid: Grid, job: int, site: int, made_at: Longs) -> float:
    """What moving the input files takes that a site does not have."""
    total = 0.0
    for at in range(work.input_start[job], work.input_start[job + 1]):
        file = work.inputs[at]
        is_there = made_at[file] == site
        for one in work.stored[work.stored_start[file] : work.stored_start[file + 1]]:
            is_there = is_there or one == site
        if not is_there:
            total += work.input_seconds[at]
    return total * float(grid.transfer[site])


@compiled
def unlink(job: int, site: int, in_queue: Flags, before: Longs, behind: Longs, heads: Longs, tails: Longs) -> None:
    """Takes a job out of the queue of a site."""
    in_queue[job] = 0
    if before[job] >= 0:
        behind[before[job]] = behind[job]
    else:
        heads[site] = behind[job]
    if behind[job] >= 0:
        before[behind[job]] = before[job]
    else:
        tails[site] = before[job]


@compiled
def released(work: Work, job: int, left_over: Integers, ready: Longs, stack: Longs) -> int:
    """Who may run now that a job has ended, in the order of engine.progress.release; how many there are."""
    stack[0] = job
    depth, count = 1, 0
    while depth:
        depth -= 1
        node = stack[depth]
        for at in range(work.child_start[node], work.child_start[node + 1]):
            child = work.children[at]
            left_over[child] -= 1
            if left_over[child] == 0:
                if work.milestones[child]:
                    stack[depth] = child
                    depth += 1
                else:
                    ready[count] = child
                    count += 1
    return count


@compiled
def by_rank(ranks: Longs, ready: Longs, count: int) -> None:
    """Sorts the first of `ready` by rank; equal ones stay in order."""
    is_sorted = True
    for at in range(1, count):
        is_sorted = is_sorted and ranks[ready[at - 1]] <= ranks[ready[at]]
    if is_sorted:
        return
    order = np.argsort(np.array([ranks[ready[at]] for at in range(count)]), kind="mergesort")
    ready[:count] = ready[:count][order]
