"""A workflow on sites whose queues come and go, one run after the other. slow_sites.py says the same on the engine.

Events are planned in the same order as there, since what happens at the same time happens in that order.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.policies.where.seen import HALF_LIFE, ROWS, WHOLE, WHOLE_SIZE
from headway.sim.kernels import compiled
from headway.sim.kernels.numbers import Words, exponential, normal, seed, uniform
from headway.sim.kernels.rules import DATA_PRESENT, began, choose, ended, failed, runs_out, sent, withdrawn

Integers = NDArray[np.int32]
Longs = NDArray[np.int64]
Flags = NDArray[np.uint8]
Reals = NDArray[np.float64]
Event = tuple[float, int, int, int, int]  # when, its number, what, a job or a site, the turn of the job

TIMES, CHOICES, FAILURES, RETURNS, LOADS = 0, 1, 2, 3, 4  # the streams of a run; a site has one each from LOADS on
PLAN, READY, GIVE_UP, END, CHANGE = 0, 1, 2, 3, 4  # what happens
MAKESPAN, DONE, FAILED, WITHDRAWN, WAITED = 0, 1, 2, 3, 4  # what is measured
METRICS = 5


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
def sample(
    work: Work,
    grid: Grid,
    which: int,
    patience: float,
    half_life: float,
    key: np.uint64,
    first: int,
    measured: Reals,
    ends: Reals,
    ran_at: Longs,
) -> None:
    """Fills a row of measures for each run, numbered from the first; when each job ended, if `ends` has room."""
    size, sites = len(work.seconds), len(grid.processors)
    left_over = np.empty(size, np.int32)
    run, moving, delay = np.empty(size), np.empty(size), np.empty(size)  # what chance does to each job
    turn, tries = np.empty(size, np.int64), np.empty(size, np.int64)
    site_of, avoided = np.empty(size, np.int64), np.empty(size, np.int64)
    queued_at = np.empty(size)
    has_begun, in_queue = np.empty(size, np.uint8), np.empty(size, np.uint8)
    before, behind = np.empty(size, np.int64), np.empty(size, np.int64)  # in the queue of a site
    heads, tails = np.empty(sites, np.int64), np.empty(sites, np.int64)
    ours, theirs = np.empty(sites), np.empty(sites)  # processors taken
    is_full = np.empty(sites, np.uint8)
    made_at = np.empty(len(work.stored_start) - 1, np.int64)
    rows = np.empty((ROWS, max(sites, WHOLE_SIZE)))
    present = np.zeros(sites)
    others = np.empty(sites, np.int32)
    ready, stack = np.empty(size, np.int64), np.empty(size, np.int64)
    times, choices = np.empty(4, np.uint64), np.empty(4, np.uint64)
    failures, returns = np.empty(4, np.uint64), np.empty(4, np.uint64)
    loads = np.empty((sites, 4), np.uint64)
    for row in range(len(measured)):
        streams = (LOADS + sites) * (first + row)
        seed(times, key, streams + TIMES)
        seed(choices, key, streams + CHOICES)
        seed(failures, key, streams + FAILURES)
        seed(returns, key, streams + RETURNS)
        for job in range(size):
            run[job] = max(0.0, 1.0 + grid.spread * normal(times))
            moving[job] = max(0.0, 1.0 + grid.spread * normal(times))
            delay[job] = exponential(times)
        left_over[:] = work.waiting
        turn[:] = 0
        tries[:] = 0
        avoided[:] = -1
        has_begun[:] = 0
        in_queue[:] = 0
        heads[:] = -1
        tails[:] = -1
        ours[:] = 0.0
        made_at[:] = -1
        rows[:] = 0.0
        rows[WHOLE, HALF_LIFE] = half_life
        heap: list[Event] = [(0.0, 0, 0, 0, 0)]  # Numba learns from it what is in the list
        heap.pop()
        planned = 0
        for site in range(sites):
            seed(loads[site], key, streams + LOADS + site)
            is_full[site] = uniform(loads[site]) < grid.full[site]
            planned = _spell(grid, loads[site], is_full, theirs, site, 0.0, heap, planned)
        planner = 0.0
        in_hand = 0
        for at in range(len(work.first)):
            planned += 1
            heappush(heap, (planner, planned, PLAN, np.int64(work.first[at]), 0))  # type: ignore[misc]
            planner += grid.planning
            in_hand += 1
        makespan, waited = 0.0, 0.0
        done, lost, again, starts = 0, 0, 0, 0
        while in_hand:
            now, _, what, job, its_turn = heappop(heap)
            site = -1  # where something may begin
            fresh = 0
            if what == CHANGE:
                site = job
                if grid.full[site] > 0.0:
                    is_full[site] = not is_full[site]
                planned = _spell(grid, loads[site], is_full, theirs, site, now, heap, planned)
            elif what == PLAN:
                kind = work.kinds[job]
                candidates = work.candidates[work.candidate_start[kind] : work.candidate_start[kind + 1]]
                may_leave = len(candidates) > 1
                if avoided[job] >= 0:
                    count = 0
                    for one in candidates:
                        if one != avoided[job]:
                            others[count] = one
                            count += 1
                    candidates = others[:count]
                    avoided[job] = -1
                if which == DATA_PRESENT:
                    present[:] = 0.0
                    for at in range(work.input_start[job], work.input_start[job + 1]):
                        file = work.inputs[at]
                        if made_at[file] >= 0:
                            present[made_at[file]] += 1.0
                        for one in work.stored[work.stored_start[file] : work.stored_start[file + 1]]:
                            if one != made_at[file]:
                                present[one] += 1.0
                chosen = choose(which, candidates, rows, grid.processors, present, now, uniform(choices))
                site_of[job] = chosen
                sent(rows, chosen)
                queued = now + _transfer(work, grid, job, chosen, made_at) * moving[job]
                queued_at[job] = queued
                if turn[job]:  # each time it is planned again it may have better luck, or it would go round for ever
                    delay[job] = exponential(returns)
                planned += 1
                heappush(heap, (queued + grid.latency[chosen] * delay[job], planned, READY, job, turn[job]))
                gives_up = runs_out(queued, patience)
                if gives_up < math.inf and may_leave:
                    planned += 1
                    heappush(heap, (gives_up, planned, GIVE_UP, job, turn[job]))
            elif what == READY:
                if its_turn == turn[job]:
                    site = site_of[job]
                    in_queue[job] = 1
                    behind[job] = -1
                    before[job] = tails[site]
                    if tails[site] >= 0:
                        behind[tails[site]] = job
                    else:
                        heads[site] = job
                    tails[site] = job
            elif what == GIVE_UP:
                if its_turn == turn[job] and not has_begun[job]:
                    site = site_of[job]
                    withdrawn(rows, site, now)
                    again += 1
                    if in_queue[job]:
                        _unlink(job, site, in_queue, before, behind, heads, tails)
                    turn[job] += 1
                    avoided[job] = site
                    ready[0] = job
                    fresh = 1
                    in_hand -= 1
            else:
                site = site_of[job]
                ours[site] -= work.cores[job]
                has_begun[job] = 0
                turn[job] += 1
                in_hand -= 1
                if tries[job] >= 0:
                    ended(rows, site)
                    done += 1
                    makespan = max(makespan, now)
                    ran_at[row, site] += 1
                    if len(ends):
                        ends[row, job] = now
                    for at in range(work.output_start[job], work.output_start[job + 1]):
                        made_at[work.outputs[at]] = site
                    fresh = _released(work, job, left_over, ready, stack)
                else:
                    tries[job] = -tries[job]
                    failed(rows, site, now)
                    makespan = max(makespan, now)
                    if tries[job] <= work.retries[job]:
                        ready[0] = job
                        fresh = 1
                    else:
                        lost += 1
            if fresh > 1:
                _by_rank(work.ranks, ready, fresh)
            for at in range(fresh):
                when = max(now, planner)
                planner = when + grid.planning
                planned += 1
                heappush(heap, (when, planned, PLAN, ready[at], 0))
                in_hand += 1
            if site >= 0:
                while heads[site] >= 0:
                    front = heads[site]
                    if work.cores[front] > grid.processors[site] - theirs[site] - ours[site]:
                        break
                    _unlink(front, site, in_queue, before, behind, heads, tails)
                    ours[site] += work.cores[front]
                    has_begun[front] = 1
                    began(rows, site, now)
                    waited += now - queued_at[front]
                    starts += 1
                    lasts = work.seconds[front] * run[front] / grid.speed[site]
                    tries[front] += 1
                    if grid.failing[site] > 0.0 and uniform(failures) < grid.failing[site]:
                        tries[front] = -tries[front]
                        lasts = grid.fails_after[site]
                    planned += 1
                    heappush(heap, (now + lasts, planned, END, front, turn[front]))
        measured[row, MAKESPAN] = makespan
        measured[row, DONE] = done
        measured[row, FAILED] = lost
        measured[row, WITHDRAWN] = again
        measured[row, WAITED] = waited / max(starts, 1)


@compiled
def _spell(
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
def _transfer(work: Work, grid: Grid, job: int, site: int, made_at: Longs) -> float:
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
def _unlink(job: int, site: int, in_queue: Flags, before: Longs, behind: Longs, heads: Longs, tails: Longs) -> None:
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
def _released(work: Work, job: int, left_over: Integers, ready: Longs, stack: Longs) -> int:
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
def _by_rank(ranks: Longs, ready: Longs, count: int) -> None:
    """Sorts the first of `ready` by rank; equal ones stay in order."""
    is_sorted = True
    for at in range(1, count):
        is_sorted = is_sorted and ranks[ready[at - 1]] <= ranks[ready[at]]
    if is_sorted:
        return
    order = np.argsort(np.array([ranks[ready[at]] for at in range(count)]), kind="mergesort")
    ready[:count] = ready[:count][order]
