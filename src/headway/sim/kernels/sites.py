"""A workflow on sites whose queues come and go, one run after the other. slow_sites.py says the same on the engine.

Events are planned in the same order as there, since what happens at the same time happens in that order.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush

import numpy as np

from headway.policies.where.seen import HALF_LIFE, ROWS, WHOLE, WHOLE_SIZE
from headway.sim.kernels import compiled
from headway.sim.kernels.numbers import exponential, normal, seed, uniform
from headway.sim.kernels.rules import DATA_PRESENT, began, choose, ended, failed, runs_out, sent, withdrawn
from headway.sim.kernels.site_parts import (
    CHANGE,
    END,
    GIVE_UP,
    MOST_MOVES,
    PLAN,
    READY,
    Event,
    Grid,
    Longs,
    Reals,
    Work,
    by_rank,
    released,
    spell,
    transfer,
    unlink,
)

TIMES, CHOICES, FAILURES, RETURNS, LOADS = 0, 1, 2, 3, 4  # the streams of a run; a site has one each from LOADS on
MAKESPAN, DONE, FAILED, WITHDRAWN, WAITED = 0, 1, 2, 3, 4  # what is measured
METRICS = 5


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
    moves = np.empty(size, np.int64)
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
        moves[:] = 0
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
            planned = spell(grid, loads[site], is_full, theirs, site, 0.0, heap, planned)
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
                planned = spell(grid, loads[site], is_full, theirs, site, now, heap, planned)
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
                queued = now + transfer(work, grid, job, chosen, made_at) * moving[job]
                queued_at[job] = queued
                if turn[job]:  # each time it is planned again it may have better luck, or it would go round for ever
                    delay[job] = exponential(returns)
                planned += 1
                heappush(heap, (queued + grid.latency[chosen] * delay[job], planned, READY, job, turn[job]))
                gives_up = runs_out(queued, patience)
                if gives_up < math.inf and may_leave and moves[job] < MOST_MOVES:
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
                        unlink(job, site, in_queue, before, behind, heads, tails)
                    turn[job] += 1
                    moves[job] += 1
                    avoided[job] = site
                    ready[0] = job
                    fresh = 1
                    in_hand -= 1
            else:
                site = site_of[job]
                ours[site] -= work.cores[job]
                has_begun[job] = 0
                turn[job] += 1
                moves[job] = 0
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
                    fresh = released(work, job, left_over, ready, stack)
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
                by_rank(work.ranks, ready, fresh)
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
                    unlink(front, site, in_queue, before, behind, heads, tails)
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
