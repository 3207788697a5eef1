"""When a request would start: the queue played on once, without it, and then asked as often as one likes.

A request changes nothing for others before it starts or is the first in the queue. So one play without it tells when
it starts: in the first pass in which it fits beside the reservation; or, once all who are ahead of it have started,
when those who run then leave it enough room. `engine.queue.Scheduler.showstart` plays it for each request.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from headway.sim.kernels import compiled
from headway.sim.kernels.batch_state import FREE, NOW, RUNNING, WAITING, Integers, Jobs, Reals, State


class Future(NamedTuple):
    """The queue played on. Passes are moments at which who can starts; who waits is numbered in order of priority."""

    ends: Reals  # of who runs now (`running` of them), then of who started later, in the order of starts
    widths: Integers
    order: Integers  # of who started later: their places
    began: Integers  # of who started later: the pass
    beside: Integers  # whether they last beyond the reservation
    when: Reals  # by pass
    upto: Integers  # how many had started later by the end of a pass
    first: Integers  # the first who waits still
    free: Integers
    reserved: Reals
    room: Integers  # beside the reservation
    passes: int
    running: int


@compiled
def played(jobs: Jobs, state: State, used: float) -> Future:
    """Nobody comes, and everybody lasts for this share of their request."""
    now, waiting, running = state.times[NOW], state.counts[WAITING], state.counts[RUNNING]
    total = waiting + running
    ends, widths = np.empty(total), np.empty(total, np.int64)
    order, began, beside = np.empty(waiting, np.int64), np.empty(waiting, np.int64), np.zeros(waiting, np.int64)
    when, reserved = np.empty(total + 2), np.empty(total + 2)
    upto, first, spare, room = (
        np.empty(total + 2, np.int64),
        np.empty(total + 2, np.int64),
        np.empty(total + 2, np.int64),
        np.empty(total + 2, np.int64),
    )
    limits, sizes = np.empty(total), np.empty(total, np.int64)  # who runs, the next to end last
    left = np.empty(waiting, np.int64)  # places of who waits
    for at in range(running):
        limit = max(state.runs[at, 2] + used * (state.runs[at, 0] - state.runs[at, 2]), now)
        ends[at], widths[at] = limit, state.running[at, 1]
        insert(limits, sizes, at, limit, state.running[at, 1])
    for at in range(waiting):
        left[at] = at
    busy, free, started, many, passes, head = running, state.counts[FREE], 0, waiting, 0, 0
    while True:
        reservation, extra = math.inf, 0
        while head < many and state.waiting[left[head], 1] <= free:
            place = left[head]
            end = now + used * state.waits[place, 1]
            order[started], began[started] = place, passes
            ends[running + started], widths[running + started] = end, state.waiting[place, 1]
            free -= state.waiting[place, 1]
            insert(limits, sizes, busy, end, state.waiting[place, 1])
            busy, started, head = busy + 1, started + 1, head + 1
        if head < many:
            room_then, at, wanted = free, busy - 1, state.waiting[left[head], 1]
            while room_then < wanted:
                reservation = limits[at]
                while at >= 0 and limits[at] == reservation:
                    room_then += sizes[at]
                    at -= 1
            extra = room_then - wanted
            if free > 0:
                kept = head + 1
                for look in range(head + 1, many):
                    place = left[look]
                    width, end = state.waiting[place, 1], now + used * state.waits[place, 1]
                    in_time = end <= reservation
                    if width <= free and (in_time or (jobs.beside and width <= extra)):
                        order[started], began[started] = place, passes
                        if not in_time:
                            beside[started] = 1
                            extra -= width
                        ends[running + started], widths[running + started] = end, width
                        free -= width
                        insert(limits, sizes, busy, end, width)
                        busy, started = busy + 1, started + 1
                    else:
                        left[kept] = place
                        kept += 1
                many = kept
        when[passes], upto[passes], spare[passes], reserved[passes], room[passes] = (
            now, started, free, reservation, extra,
        )  # fmt: skip
        first[passes] = left[head] if head < many else waiting
        passes += 1
        if busy == 0:
            break
        now = limits[busy - 1]
        while busy > 0 and limits[busy - 1] == now:
            busy -= 1
            free += sizes[busy]
        if head >= many and busy == 0:  # all are gone: the last pass
            when[passes], upto[passes], spare[passes], reserved[passes], room[passes] = now, started, free, math.inf, 0
            first[passes] = waiting
            passes += 1
            break
    return Future(ends, widths, order, began, beside, when, upto, first, spare, reserved, room, passes, running)


@compiled
def insert(limits: Reals, sizes: Integers, count: int, limit: float, size: int) -> None:
    """Keeps the next to end last."""
    at = count
    while at > 0 and limits[at - 1] < limit:
        limits[at], sizes[at] = limits[at - 1], sizes[at - 1]
        at -= 1
    limits[at], sizes[at] = limit, size


@compiled
def start(jobs: Jobs, state: State, future: Future, width: int, seconds: float, place: float, user: int) -> float:
    """When a request that is made now would start."""
    key, ahead = place + state.penalties[user], 0
    high = state.counts[WAITING]
    while ahead < high:  # behind who has the same place: it is the newest
        middle = (ahead + high) // 2
        if state.waits[middle, 0] <= key:
            ahead = middle + 1
        else:
            high = middle
    for at in range(future.passes):
        before = future.upto[at - 1] if at else 0
        free, extra = future.free[at], future.room[at]
        for one in range(before, future.upto[at]):
            if future.order[one] >= ahead:  # after it in this pass
                free += future.widths[future.running + one]
                extra += future.widths[future.running + one] * future.beside[one]
        if future.first[at] >= ahead:
            if width <= free:
                return future.when[at]  # type: ignore[no-any-return]
            return _room(future, at, ahead, free, width)
        if width <= free and (future.when[at] + seconds <= future.reserved[at] or (jobs.beside and width <= extra)):
            return future.when[at]  # type: ignore[no-any-return]
    return math.inf


@compiled
def _room(future: Future, at: int, ahead: int, free: int, width: int) -> float:
    """When those who run in a pass, at the turn of who is first then, leave it enough processors."""
    count = future.running + future.upto[at]
    limits, sizes = np.empty(count), np.empty(count, np.int64)
    many = 0
    for one in range(count):
        started = one - future.running
        if started >= 0 and future.began[started] == at and future.order[started] >= ahead:
            continue
        if future.ends[one] > future.when[at] or (at == 0 and started < 0):
            limits[many], sizes[many] = future.ends[one], future.widths[one]
            many += 1
    for one in np.argsort(limits[:many]):
        free += sizes[one]
        if free >= width:
            return limits[one]  # type: ignore[no-any-return]
    return math.inf
