"""The grid of prio.txt section 4.1, one replication after the other.

Nothing happens between two batches that the server would act on, so a job that ends is put down for the first batch
after its end, and what ended since the last batch is looked at when the next one comes, in the order of the ends.
Batches lie in a ring that is as long as the longest job needs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from headway.sim.kernels import compiled, uncounted
from headway.sim.kernels.numbers import Words, exponential, normal, seed
from headway.sim.kernels.queue import Bits, pop, push

Integers = NDArray[np.int32]
Reals = NDArray[np.float64]

GAPS, SIZES, TIMES = 0, 1, 2  # the streams of a replication
STREAMS = 3
_RING = 64  # batches that there is room for at first
_RUN = 32  # jobs that are sorted one by one


@compiled
def sample(
    child_start: Integers,
    children: Integers,
    waiting: Integers,
    eligible: Integers,
    milestones: NDArray[np.uint8],
    kinds: Integers,
    kind_count: int,
    means: Reals,
    spread: float,
    interval: float,
    scale: float,
    shift: float,
    key: np.uint64,
    first: int,
    measured: Reals,
) -> None:
    """Fills a row (execution time, stalling, utilisation) for each replication, numbered from the first."""
    size, ring = len(waiting), _RING
    left_over = np.empty(size, np.int32)  # parents each node still waits for
    follows = np.empty(size, np.int32)  # the next in whatever list a job is in
    due, spare = np.empty(size, np.int32), np.empty(size, np.int32)
    ends = np.empty(size, np.float64)
    heads = np.empty(kind_count, np.int32)  # the eligible jobs of each rank, in the order they came
    tails = np.empty(kind_count, np.int32)
    words = np.empty((kind_count >> 6) + 1, np.uint64)
    groups = np.empty((kind_count >> 12) + 1, np.uint64)
    low = np.empty(1, np.int64)
    streams = np.empty((STREAMS, 4), np.uint64)
    row = 0
    while row < len(measured):
        for stream in range(STREAMS):
            seed(streams[stream], key, STREAMS * (first + row) + stream)
        left_over[:] = waiting
        heads[:] = -1
        words[:] = 0
        groups[:] = 0
        low[0] = 0
        for job in eligible:
            push(job, kinds, heads, tails, follows, words, groups, low)
        if _replication(
            child_start, children, left_over, len(eligible), milestones,
            kinds, heads, tails, follows, words, groups, low, due, spare, ends,
            np.empty(ring, np.float64), np.full(ring, -1, np.int32), np.empty(ring, np.int32),
            means, spread, interval, scale, shift,
            streams[GAPS], streams[SIZES], streams[TIMES], measured[row],
        ):  # fmt: skip
            row += 1
        else:
            ring *= 2


@uncounted
def _replication(
    child_start: Integers,
    children: Integers,
    left_over: Integers,
    ready: int,
    milestones: NDArray[np.uint8],
    kinds: Integers,
    heads: Integers,
    tails: Integers,
    follows: Integers,
    words: Bits,
    groups: Bits,
    low: NDArray[np.int64],
    due: Integers,
    spare: Integers,
    ends: Reals,
    arrivals: Reals,
    first_due: Integers,
    last_due: Integers,
    means: Reals,
    spread: float,
    interval: float,
    scale: float,
    shift: float,
    gaps: Words,
    sizes: Words,
    times: Words,
    measured: Reals,
) -> bool:
    """One execution of the dag, measured; False if the ring is too short for it, and must be longer."""
    size, ring = len(left_over), len(arrivals)
    mask = ring - 1
    jobs = 0
    for milestone in milestones:
        jobs += not milestone
    unassigned, batch, planned = jobs, 0, 0
    stalls, requests, end = 0, 0, 0.0
    arrivals[0] = 0.0
    while unassigned > 0:
        now = arrivals[batch & mask]
        if first_due[batch & mask] >= 0:
            count = _listed(first_due[batch & mask], follows, due)
            first_due[batch & mask] = -1
            if len(heads) < size:  # where every rank is another, the order of arrival decides nothing
                _sort(due, count, ends, spare)
            for at in range(count):
                ready += _release(
                    due[at], child_start, children, left_over, milestones,
                    kinds, heads, tails, follows, words, groups, low,
                )  # fmt: skip
        workers = max(0, math.ceil(scale * exponential(sizes) - shift))
        requests += workers
        stalls += ready == 0
        taken = min(workers, ready)
        for _ in range(taken):
            job = pop(heads, follows, words, groups, low)
            ends[job] = now + means[job] * max(0.0, 1.0 + spread * normal(times))
            end = max(end, ends[job])
            while arrivals[planned & mask] < ends[job] or planned == batch:
                planned += 1
                if planned - batch == ring:
                    return False
                arrivals[planned & mask] = arrivals[(planned - 1) & mask] + interval * exponential(gaps)
            _put_down(job, ends[job], arrivals, batch, planned, first_due, last_due, follows)
        ready -= taken
        unassigned -= taken
        if planned == batch:
            planned += 1
            arrivals[planned & mask] = now + interval * exponential(gaps)
        batch += 1
    measured[0] = end
    measured[1] = stalls / batch if batch else 0.0
    measured[2] = jobs / requests if requests else 1.0
    return True


@uncounted
def _put_down(
    job: int,
    end: float,
    arrivals: Reals,
    batch: int,
    planned: int,
    first_due: Integers,
    last_due: Integers,
    follows: Integers,
) -> None:
    """Puts a job down for the first batch that comes when it has ended; a later one than that which started it."""
    mask = len(arrivals) - 1
    below, at = batch, planned
    while at - below > 8:
        middle = (below + at) >> 1
        if arrivals[middle & mask] < end:
            below = middle
        else:
            at = middle
    at = below + 1
    while arrivals[at & mask] < end:
        at += 1
    follows[job] = -1
    if first_due[at & mask] < 0:
        first_due[at & mask] = job
    else:
        follows[last_due[at & mask]] = job
    last_due[at & mask] = job


@uncounted
def _listed(job: int, follows: Integers, due: Integers) -> int:
    """Writes a list of jobs out; how many there are."""
    count = 0
    while job >= 0:
        due[count] = job
        count += 1
        job = follows[job]
    return count


@uncounted
def _sort(due: Integers, count: int, ends: Reals, spare: Integers) -> None:
    """By end; those that end together stay in the order they were started. Short runs first, then merged."""
    for start in range(0, count, _RUN):
        for at in range(start + 1, min(start + _RUN, count)):
            job, to = due[at], at
            while to > start and ends[due[to - 1]] > ends[job]:
                due[to] = due[to - 1]
                to -= 1
            due[to] = job
    width = _RUN
    while width < count:
        for start in range(0, count - width, 2 * width):
            _merge(due, start, start + width, min(start + 2 * width, count), ends, spare)
        width *= 2


@uncounted
def _merge(due: Integers, start: int, middle: int, stop: int, ends: Reals, spare: Integers) -> None:
    """Two sorted neighbours become one; of equals the left goes first."""
    for at in range(start, middle):
        spare[at] = due[at]
    left, right, to = start, middle, start
    while left < middle:
        if right < stop and ends[due[right]] < ends[spare[left]]:
            due[to] = due[right]
            right += 1
        else:
            due[to] = spare[left]
            left += 1
        to += 1


@uncounted
def _release(
    ended: int,
    child_start: Integers,
    children: Integers,
    left_over: Integers,
    milestones: NDArray[np.uint8],
    kinds: Integers,
    heads: Integers,
    tails: Integers,
    follows: Integers,
    words: Bits,
    groups: Bits,
    low: NDArray[np.int64],
) -> int:
    """Counts an end down in all that wait for it, through milestones; how many jobs became eligible."""
    found = 0
    follows[ended] = -1
    node = ended  # the top of a stack of nodes that are done, linked through `follows`
    while node >= 0:
        below = follows[node]
        for at in range(child_start[node], child_start[node + 1]):
            child = children[at]
            left_over[child] -= 1
            if left_over[child] == 0:
                if milestones[child]:
                    follows[child] = below
                    below = child
                else:
                    push(child, kinds, heads, tails, follows, words, groups, low)
                    found += 1
        node = below
    return found
