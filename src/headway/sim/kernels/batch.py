"""A batch queue served by machine code: what `engine.queue` says, for logs of half a million jobs.

Who waits is an array in order of priority, who runs is one in order of limits: both are short enough that shifting
them costs less than any tree. A pass after which nobody has ended looks only at who has come.
"""

from __future__ import annotations

import math

from headway.sim.kernels import compiled
from headway.sim.kernels.batch_state import (
    BESIDE,
    COMES,
    COUNTED,
    FREE,
    FRESH,
    FULL,
    IDLE,
    KNOWN,
    MOST_SHIFT,
    NEWS,
    NOW,
    REACHED,
    RESERVED,
    RUNNING,
    SHIFT,
    SHIFTED,
    TOLD,
    UNSETTLED,
    WAITING,
    Jobs,
    State,
    moved,
)


@compiled
def enter(state: State, job: int, width: int, user: int, seconds: float, place: float) -> None:
    """Puts a request in its place in the queue."""
    counts, waits, waiting = state.counts, state.waits, state.waiting
    key = place + state.penalties[user]
    low, high = 0, counts[WAITING]
    while low < high:
        middle = (low + high) // 2
        if waits[middle, 0] < key or (waits[middle, 0] == key and waiting[middle, 0] < job):
            low = middle + 1
        else:
            high = middle
    moved(waiting, waits, low, counts[WAITING], low + 1)
    waits[low, 0], waits[low, 1], waits[low, 2] = key, seconds, place
    waiting[low, 0], waiting[low, 1], waiting[low, 2] = job, width, user
    counts[WAITING] += 1
    counts[UNSETTLED] = 1
    if low == 0 or counts[FRESH] >= 0:  # a new first in the queue, or a second one that is new
        counts[FULL] = 1
    counts[FRESH] = low


@compiled
def withdraw(state: State, job: int) -> None:
    """Takes a request back that waits."""
    at = 0
    while state.waiting[at, 0] != job:
        at += 1
    remove(state, at)
    state.counts[UNSETTLED] = state.counts[FULL] = 1


@compiled
def remove(state: State, gone: int) -> None:
    moved(state.waiting, state.waits, gone + 1, state.counts[WAITING], gone)
    state.counts[WAITING] -= 1


@compiled
def finish(jobs: Jobs, state: State, at: int) -> None:
    """The allocation that is so far from the first to be ended by its limit ends now."""
    counts, runs, running = state.counts, state.runs, state.running
    counts[FREE] += running[at, 1]
    if jobs.share[0] != 0.0:
        since = max(runs[at, 2], state.times[COUNTED])
        state.used[0, running[at, 2]] += running[at, 1] * (state.times[NOW] - since)
    moved(running, runs, at + 1, counts[RUNNING], at)
    counts[RUNNING] -= 1
    counts[UNSETTLED] = counts[FULL] = 1


@compiled
def stop(jobs: Jobs, state: State, job: int) -> None:
    """Ends an allocation before its limit."""
    at = 0
    while state.running[at, 0] != job:
        at += 1
    finish(jobs, state, at)


@compiled
def begin(jobs: Jobs, state: State, at: int, recorded: bool) -> None:
    """Starts the request at a place of the queue, which is left there."""
    counts, runs, running = state.counts, state.runs, state.running
    now, job = state.times[NOW], state.waiting[at, 0]
    limit = now + state.waits[at, 1]
    end = limit
    if job >= len(jobs.run):
        state.news[counts[NEWS], 0], state.news[counts[NEWS], 1] = job, 1
        counts[NEWS] += 1
    else:
        end = now + jobs.run[job]
        if recorded:
            jobs.starts[job] = now
        else:
            later = now - jobs.starts[job]
            if later != 0.0:
                counts[SHIFTED] += 1
                state.times[SHIFT] += later
                state.times[MOST_SHIFT] = max(state.times[MOST_SHIFT], later)
    to = counts[RUNNING]
    while to > 0 and runs[to - 1, 0] > limit:
        to -= 1
    moved(running, runs, to, counts[RUNNING], to + 1)
    runs[to, 0], runs[to, 1], runs[to, 2] = limit, end, now
    running[to, 0], running[to, 1], running[to, 2] = job, state.waiting[at, 1], state.waiting[at, 2]
    counts[RUNNING] += 1
    counts[FREE] -= state.waiting[at, 1]


@compiled
def reserve(state: State) -> None:
    """When the first in the queue can start, by the limits of what runs, and what it leaves beside it then."""
    counts, runs, running = state.counts, state.runs, state.running
    free, at, wanted, when = counts[FREE], 0, state.waiting[0, 1], math.inf
    while free < wanted:
        when = runs[at, 0]
        while at < counts[RUNNING] and runs[at, 0] == when:
            free += running[at, 1]
            at += 1
    state.times[RESERVED] = when
    counts[BESIDE] = free - wanted


@compiled
def fits(jobs: Jobs, state: State, at: int) -> bool:
    """Whether a request can start beside the reservation of the first; if so, it is counted as if it did."""
    counts = state.counts
    width = state.waiting[at, 1]
    if width > counts[FREE]:
        return False
    if state.times[NOW] + state.waits[at, 1] <= state.times[RESERVED]:
        return True
    if jobs.beside and width <= counts[BESIDE]:
        counts[BESIDE] -= width
        return True
    return False


@compiled
def settle(jobs: Jobs, state: State, recorded: bool) -> None:
    """Starts whom the policy lets start."""
    counts, waits, waiting = state.counts, state.waits, state.waiting
    fresh, full = counts[FRESH], counts[FULL]
    counts[UNSETTLED] = counts[FULL] = 0
    counts[FRESH] = -1
    if not full:  # nobody has ended: who could not start before cannot now, and the reservation stands
        if fresh >= 0 and fits(jobs, state, fresh):
            begin(jobs, state, fresh, recorded)
            remove(state, fresh)
        return
    first, size = 0, counts[WAITING]
    while first < size and waiting[first, 1] <= counts[FREE]:
        begin(jobs, state, first, recorded)
        first += 1
    if first:
        moved(waiting, waits, first, size, 0)
        size = counts[WAITING] = size - first
    if size == 0:
        return
    reserve(state)
    if counts[FREE] == 0:
        return
    kept = unmoved = 0  # rows that are in their places for good, and the first that may have to move
    free, longest = counts[FREE], state.times[RESERVED] - state.times[NOW] + 1.0  # a second more, for rounding
    for at in range(1, size):
        if waiting[at, 1] > free or (waits[at, 1] > longest and not jobs.beside):
            continue
        if fits(jobs, state, at):
            begin(jobs, state, at, recorded)
            free = counts[FREE]
            if kept < unmoved:
                moved(waiting, waits, unmoved, at, kept)
            kept, unmoved = kept + at - unmoved, at + 1
            if free == 0:
                break
    if kept < unmoved:
        moved(waiting, waits, unmoved, size, kept)
    counts[WAITING] = kept + size - unmoved


@compiled
def count(jobs: Jobs, state: State) -> None:
    """An interval of fair share is over."""
    used, counts, times = state.used, state.counts, state.times
    weight, interval, decay = jobs.share[0], jobs.share[1], jobs.share[2]
    now = times[COUNTED] + interval
    for at in range(counts[RUNNING]):
        since = max(state.runs[at, 2], times[COUNTED])
        used[0, state.running[at, 2]] += state.running[at, 1] * (now - since)
    depth = len(used) - 1
    for user in range(used.shape[1]):
        for back in range(depth, 0, -1):
            used[back, user] = used[back - 1, user]
        used[0, user] = 0.0
    times[COUNTED] = now
    known = min(int(times[KNOWN]) + 1, depth)  # whole intervals that there were
    times[KNOWN] = known
    for user in range(used.shape[1]):
        total, whole, factor = 0.0, 0.0, 1.0
        for back in range(1, known + 1):
            total += factor * used[back, user]
            whole += factor * jobs.processors * interval
            factor *= decay
        state.penalties[user] = weight * (100.0 * total / whole)
    resort(state)
    counts[UNSETTLED] = counts[FULL] = 1


@compiled
def resort(state: State) -> None:
    """Puts who waits in order again, by insertion: most keep their places."""
    waits, waiting = state.waits, state.waiting
    for at in range(state.counts[WAITING]):
        key = waits[at, 2] + state.penalties[waiting[at, 2]]
        seconds, place = waits[at, 1], waits[at, 2]
        job, width, user = waiting[at, 0], waiting[at, 1], waiting[at, 2]
        to = at
        while to > 0 and (waits[to - 1, 0] > key or (waits[to - 1, 0] == key and waiting[to - 1, 0] > job)):
            waits[to, 0], waits[to, 1], waits[to, 2] = waits[to - 1, 0], waits[to - 1, 1], waits[to - 1, 2]
            waiting[to, 0], waiting[to, 1], waiting[to, 2] = waiting[to - 1, 0], waiting[to - 1, 1], waiting[to - 1, 2]
            to -= 1
        waits[to, 0], waits[to, 1], waits[to, 2] = key, seconds, place
        waiting[to, 0], waiting[to, 1], waiting[to, 2] = job, width, user


@compiled
def advance(jobs: Jobs, state: State, until: float, recorded: bool) -> int:
    """Lets time pass up to a moment, or to news of an allocation that is none of the log's.

    As `sim.queue.BatchQueue` says: at that moment all has ended and come, and nobody has started.
    """
    counts, times, runs = state.counts, state.times, state.runs
    size = len(jobs.submit)
    while counts[NEWS] == 0:
        when = jobs.submit[counts[COMES]] if counts[COMES] < size else math.inf
        for at in range(counts[RUNNING]):
            when = min(when, runs[at, 1])
        due = times[COUNTED] + jobs.share[1] if jobs.share[0] != 0.0 else math.inf
        then = min(when, due)
        if counts[UNSETTLED] and min(then, until) > times[NOW]:
            settle(jobs, state, recorded)
            continue
        if then > until or min(when, until) == math.inf:
            if until == math.inf:
                return IDLE
            times[NOW] = until
            return REACHED
        times[NOW] = then
        if when == then:
            at = counts[RUNNING] - 1
            while at >= 0:
                if runs[at, 1] == then:
                    job = state.running[at, 0]
                    finish(jobs, state, at)
                    if job >= size:
                        state.news[counts[NEWS], 0], state.news[counts[NEWS], 1] = job, 0
                        counts[NEWS] += 1
                at -= 1
            while counts[COMES] < size and jobs.submit[counts[COMES]] == then:
                job = counts[COMES]
                enter(state, job, jobs.width[job], jobs.user[job], jobs.request[job], jobs.place[job])
                counts[COMES] += 1
        if due == then:
            count(jobs, state)
    return TOLD
