"""A batch queue that serves a log, with requests of our own among it: plain, an event at a time, on the engine's rules.

Who starts is what `engine.queue` says. The kernel behind `sim.replay` does the same far faster and is held to this.
"""

from __future__ import annotations

import math
from array import array
from functools import partial
from typing import Protocol

from headway.engine.queue import AllocationId, Policy, Request, Scheduler
from headway.formats.swf import Log
from headway.model.messages import Seconds
from headway.model.record import record
from headway.sim.heap import Heap


@record
class News:
    """That an allocation of ours has begun, or was ended at its limit."""

    id: AllocationId
    began: bool


class BatchQueue(Protocol):
    """A queue in the middle of a log."""

    @property
    def now(self) -> Seconds: ...

    def advance(self, until: Seconds) -> list[News]:
        """Lets time pass up to a moment, or to the first news of ours.

        What ends and comes at that very moment has done so then; who starts is open until `settle`, or until time goes
        on: so we can act at the same moment, and the order in which things happen at one time does not matter.
        """

    def settle(self) -> list[News]:
        """Lets those start who can start now."""

    def submit(self, width: int, seconds: Seconds) -> AllocationId: ...

    def cancel(self, wanted: AllocationId) -> None: ...

    def end(self, ended: AllocationId) -> None:
        """Ends an allocation of ours before its limit."""

    def showstart(self, width: int, seconds: Seconds, used: float = 1.0) -> Seconds | None:
        """How long a request made now would wait if nobody else came and others used this share of their requests."""


class PlainQueue:
    """The log replayed from its beginning."""

    def __init__(self, log: Log, policy: Policy) -> None:
        begins = log.submit[0] if len(log) else 0.0
        self._log, self._heap = log, Heap()
        self._scheduler = Scheduler(log.processors, policy, begins)
        self.starts = array("d", [math.nan]) * len(log)
        self.now = begins
        self._unsettled, self._last = False, len(log) - 1
        self._news: list[News] = []
        if len(log):
            self._heap.at(begins, partial(self._come, 0))

    def advance(self, until: Seconds) -> list[News]:
        while not self._news:
            when, due = self._heap.next, self._scheduler.next_count
            then = min(when, due)
            if self._unsettled and min(then, until) > self.now:
                self._start()
            elif then <= until and min(when, until) < math.inf:  # counting alone is no reason to go on
                self.now = self._heap.run(then)
                if due == then:
                    self._scheduler.count()
                self._unsettled = True
            else:
                if until < math.inf:
                    self.now = self._heap.run(until)
                break
        return self._told()

    def settle(self) -> list[News]:
        if self._unsettled:
            self._start()
        return self._told()

    def submit(self, width: int, seconds: Seconds) -> AllocationId:
        self._last += 1
        request = Request(AllocationId(self._last), width, seconds, self.now, self._log.users)
        self._scheduler.submit(request)
        self._unsettled = True
        return request.id

    def cancel(self, wanted: AllocationId) -> None:
        self._scheduler.cancel(wanted)
        self._unsettled = True

    def end(self, ended: AllocationId) -> None:
        self._scheduler.end(ended, self.now)
        self._unsettled = True

    def showstart(self, width: int, seconds: Seconds, used: float = 1.0) -> Seconds | None:
        found = self._scheduler.showstart(width, seconds, self.now, self._log.users, lambda requested: used * requested)
        return None if found is None else found - self.now

    # --- events ----------------------------------------------------------------------------------------------------

    def _come(self, job: int) -> None:
        log = self._log
        self._scheduler.submit(
            Request(AllocationId(job), log.width[job], log.request[job], log.submit[job], log.user[job])
        )
        if job + 1 < len(log):
            self._heap.at(log.submit[job + 1], partial(self._come, job + 1))

    def _over(self, job: AllocationId, began: Seconds) -> None:
        """It has run, or is at its limit; of ours, it may have been ended before."""
        one = self._scheduler.running.get(job)
        if one is not None and one.began == began:
            self._scheduler.end(job, self._heap.now)
            if job >= len(self._log):
                self._news.append(News(job, False))

    def _start(self) -> None:
        self._unsettled = False
        for request in self._scheduler.started(self.now):
            lasts = request.seconds
            if request.id < len(self._log):
                self.starts[request.id] = self.now
                lasts = self._log.run[request.id]
            else:
                self._news.append(News(request.id, True))
            self._heap.at(self.now + lasts, partial(self._over, request.id, self.now))

    def _told(self) -> list[News]:
        news, self._news = self._news, []
        return news
