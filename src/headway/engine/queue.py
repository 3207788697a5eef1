"""A batch queue's scheduler, as Maui's is described in batchqueue.txt section II: priorities, a reservation, backfill.

It knows no clock: its user says what came and what ended, and asks once a moment who starts (`started`). A
simulated queue drives it with a log. What it says of the future (`showstart`) can be asked of a real queue as well.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Callable, Iterable

from headway.model.messages import Seconds
from headway.model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NewType

    AllocationId = NewType("AllocationId", int)
else:
    AllocationId = int

HOUR = 3600.0


@record
class FairShare:
    """Who has used much of the machine lately comes later.

    Use is counted in intervals; the one under way does not count, so that priorities change only between two of them.
    """

    weight: float  # points for each percent of the machine that the user has had on average
    interval: Seconds = 24 * HOUR
    depth: int = 7  # intervals that count
    decay: float = 0.8  # how much less each counts than the one after it

    def penalty(self, used: Iterable[float], processors: int) -> float:
        """Points off, by the processor seconds of each interval, the latest first."""
        total, whole, factor = 0.0, 0.0, 1.0
        for value in used:
            total += factor * value
            whole += factor * processors * self.interval
            factor *= self.decay
        return self.weight * (100.0 * total / whole) if whole else 0.0


@record
class Policy:
    """The weights of a priority, in points. Wait has no cap, so that nobody starves."""

    name: str
    percent: float = 0.0  # for each percent of the machine that is asked for; below 0 small ones come first
    cap: float = math.inf  # the most that this can be, either way
    hour: float = 1.0  # for each hour of waiting
    fair_share: FairShare | None = None
    beside: bool = False  # EASY's second condition: backfill may also last longer than the reservation, beside it

    def place(self, width: int, submitted: Seconds, processors: int) -> float:
        """Smaller is earlier: minus the priority, without the part that grows alike for all who wait."""
        points = self.percent * (100.0 * width / processors)
        return self.hour * (submitted / HOUR) - max(-self.cap, min(self.cap, points))


@record
class Request:
    """What was asked for: an allocation that waits, or runs."""

    id: AllocationId
    width: int
    seconds: Seconds
    submitted: Seconds
    user: int = 0


@record
class Running:
    """A request that was granted."""

    request: Request
    began: Seconds

    @property
    def limit(self) -> Seconds:
        return self.began + self.request.seconds


Waiting = tuple[float, AllocationId, Request]  # smaller is earlier


class Scheduler:
    """Who waits, who runs, and who starts next."""

    def __init__(self, processors: int, policy: Policy, begins: Seconds = 0.0) -> None:
        self.processors, self.policy, self.free = processors, policy, processors
        self.waiting: list[Waiting] = []
        self.running: dict[AllocationId, Running] = {}
        self._limits: list[tuple[Seconds, AllocationId]] = []  # when each has to end, sorted
        self._used: list[dict[int, float]] = []  # processor seconds by user, the latest whole interval first
        self._now_used: dict[int, float] = {}
        self._counted_from = begins
        self._penalties: dict[int, float] = {}

    # --- what happens ----------------------------------------------------------------------------------------------

    def submit(self, request: Request) -> None:
        place = self.policy.place(request.width, request.submitted, self.processors)
        insort(self.waiting, (place + self._penalties.get(request.user, 0.0), request.id, request))

    def cancel(self, wanted: AllocationId) -> None:
        """Takes a request back that has not started."""
        self.waiting = [one for one in self.waiting if one[1] != wanted]

    def end(self, ended: AllocationId, now: Seconds) -> None:
        one = self.running.pop(ended)
        self._limits.remove((one.limit, ended))
        self.free += one.request.width
        self._count(one, now)

    @property
    def next_count(self) -> Seconds:
        """When the next interval of fair share begins, and `count` is due."""
        share = self.policy.fair_share
        return math.inf if share is None else self._counted_from + share.interval

    def count(self) -> None:
        """An interval of fair share is over: penalties change, and so does the order of who waits."""
        share = self.policy.fair_share
        assert share is not None
        now = self.next_count
        for one in self.running.values():
            self._count(one, now)
        self._used = [self._now_used, *self._used][: share.depth]
        self._now_used, self._counted_from = {}, now
        users = {user for used in self._used for user in used}
        self._penalties = {
            user: share.penalty((used.get(user, 0.0) for used in self._used), self.processors) for user in users
        }
        waiting, self.waiting = self.waiting, []
        for _, _, request in waiting:
            self.submit(request)

    def _count(self, one: Running, until: Seconds) -> None:
        if self.policy.fair_share is not None:
            user, since = one.request.user, max(one.began, self._counted_from)
            self._now_used[user] = self._now_used.get(user, 0.0) + one.request.width * (until - since)

    # --- who starts ------------------------------------------------------------------------------------------------

    def started(self, now: Seconds) -> list[Request]:
        """Starts whom the policy lets start: the first ones that fit, then who fits before the next one's reservation.

        To be asked after all that happens at the same time, and after every such moment.
        """
        begun: list[Request] = []
        while self.waiting and self.waiting[0][2].width <= self.free:
            begun.append(self._start(self.waiting.pop(0)[2], now))
        if self.waiting:
            begun += self._backfilled(now)
        return begun

    def reservation(self) -> tuple[Seconds, int]:
        """When the first in the queue can start at the latest, by what runs, and how many processors it leaves then."""
        wanted = self.waiting[0][2].width
        free, at = self.free, 0
        limits = self._limits
        while free < wanted:
            when = limits[at][0]
            while at < len(limits) and limits[at][0] == when:
                free += self.running[limits[at][1]].request.width
                at += 1
        return when, free - wanted

    def _backfilled(self, now: Seconds) -> list[Request]:
        if not self.free:
            return []
        until, beside = self.reservation()
        begun, left = [], self.waiting[:1]
        for one in self.waiting[1:]:
            request = one[2]
            in_time = now + request.seconds <= until
            if request.width <= self.free and (in_time or (self.policy.beside and request.width <= beside)):
                begun.append(self._start(request, now))
                beside -= 0 if in_time else request.width
            else:
                left.append(one)
        self.waiting = left
        return begun

    def _start(self, request: Request, now: Seconds) -> Request:
        self.free -= request.width
        one = self.running[request.id] = Running(request, now)
        insort(self._limits, (one.limit, request.id))
        return request

    # --- what is to come -------------------------------------------------------------------------------------------

    def showstart(
        self,
        width: int,
        seconds: Seconds,
        now: Seconds,
        user: int = 0,
        expected: Callable[[Seconds], Seconds] = lambda requested: requested,
    ) -> Seconds | None:
        """When a request made now would start if nobody else came; None if it can never start.

        `expected` says how long an allocation will last that asked for so long: all of it, as Maui assumes, or what is
        known of how much of their requests others have used. Fair share stays as it is now.
        """
        if not 0 < width <= self.processors:
            return None
        newest = AllocationId(max([*self.running, *(one[1] for one in self.waiting)], default=-1) + 1)
        request = Request(newest, width, seconds, now, user)
        return self._start_of(request, True, now, expected)

    def start_of(
        self,
        waiting: AllocationId,
        now: Seconds,
        expected: Callable[[Seconds], Seconds] = lambda requested: requested,
    ) -> Seconds | None:
        """When a request that waits would start, likewise."""
        found = next((one[2] for one in self.waiting if one[1] == waiting), None)
        return None if found is None else self._start_of(found, False, now, expected)

    def _start_of(self, wanted: Request, is_new: bool, now: Seconds, expected: Callable[[Seconds], Seconds]) -> Seconds:
        """Plays the queue on: nobody comes, and everybody lasts as long as expected."""
        future = Scheduler(self.processors, self.policy)
        future._penalties, future._counted_from = self._penalties, -math.inf
        for one in self.running.values():
            left = max(one.began + expected(one.request.seconds), now) - now
            future._start(Request(one.request.id, one.request.width, left, 0.0, one.request.user), now)
        for place, key, request in self.waiting:
            lasts = request.seconds if request is wanted else expected(request.seconds)
            future.waiting.append((place, key, Request(key, request.width, lasts, request.submitted, request.user)))
        if is_new:
            future.submit(wanted)
        while True:
            if any(request.id == wanted.id for request in future.started(now)):
                return now
            now = future._limits[0][0]
            for limit, key in future._limits[: bisect_right(future._limits, (now, math.inf))]:
                future.end(key, limit)
