"""What to ask queues for and what to cancel: the application manager of batchqueue.txt, Fig. 3. Events in, orders out.

Which jobs an allocation is for is decided when it is asked for. Who may run, whatever it is mapped to, is decided by
the rules of progress alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from headway.model.messages import Seconds
from headway.model.record import field, mutable, record
from headway.policies.how_much import Advice, Ask, Limits, Method, Outlines, View, WaitEstimate
from headway.policies.how_much.outline import whole_minutes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NewType, TypeAlias

    Name = NewType("Name", int)  # of an allocation, in the order they were asked for
else:
    Name = int


@record
class Submit:
    name: Name
    width: int
    seconds: Seconds
    jobs: tuple[int, ...]


@record
class Cancel:
    """Takes a request back that has not begun."""

    name: Name


@record
class Release:
    """Ends an allocation that has no more to do."""

    name: Name


Order: TypeAlias = "Submit | Cancel | Release"


@mutable
class Asked:
    """An allocation that was asked for and is not over."""

    width: int
    seconds: Seconds
    unfinished: set[int]
    began: Seconds | None = None


@mutable
class Manager:
    """Sees one workflow through a batch queue."""

    outlines: Outlines  # with the run times that are expected
    method: Method
    processors: int
    wait: WaitEstimate
    limits: Limits = field(default_factory=Limits)
    out: dict[Name, Asked] = field(default_factory=dict)
    individually: bool = False
    spent: float = 0.0  # core hours that were asked for
    _left: set[int] = field(default_factory=set)  # jobs that no allocation was asked for
    _mapped: dict[int, Name] = field(default_factory=dict)
    _ready: set[int] = field(default_factory=set)  # jobs that may start, where they are asked for one by one
    _last: int = -1

    def begin(self) -> list[Order]:
        """Lines 1 to 5."""
        self._left = set(self.outlines.dag.jobs())
        return self._decide(0.0)

    def began(self, name: Name, now: Seconds) -> list[Order]:
        """Lines 8 to 16: its jobs start by themselves; the next one is asked for."""
        one = self.out[name]
        one.began = now
        if not one.unfinished:  # what it was for has been done elsewhere
            return [self._release(name)]
        return self._decide(one.seconds)

    def ended(self, name: Name, ran: Mapping[int, Seconds], eligible: Collection[int]) -> list[Order]:
        """Lines 17 to 25: it is over. If jobs are unfinished, all that has not begun is decided on again.

        `ran`: how long those of its jobs had run that were cut off; `eligible`: all jobs that could start now.
        """
        one = self.out.pop(name)
        if not one.unfinished:
            return []
        self._learn(ran)
        orders: list[Order] = []
        self._give_back(one.unfinished)
        if not self.individually:
            for other, waiting in list(self.out.items()):
                if waiting.began is None:
                    self._give_back(waiting.unfinished)
                    del self.out[other]
                    orders.append(Cancel(other))
        return orders + (self.eligible(eligible) if self.individually else self._decide(0.0, eligible))

    def finished(self, job: int) -> list[Order]:
        """Lines 26, 27, 31 and 32: a job is done; whose children start is not decided here (lines 28 to 30)."""
        self._left.discard(job)
        name = self._mapped.pop(job, None)
        one = None if name is None else self.out.get(name)
        if name is None or one is None:
            return []
        one.unfinished.discard(job)
        if one.unfinished:
            return []
        order: Order = self._release(name) if one.began is not None else self._cancelled(name)
        return [order, *self._put_off()]

    def eligible(self, jobs: Collection[int]) -> list[Order]:
        """Jobs may start now: each that is left is asked for, where they are asked for one by one."""
        if not self.individually:
            return []
        self._ready.update(jobs)
        if not self._ready:
            return []
        seconds, cores = self.outlines.dag.seconds, self.outlines.cores
        wanted = sorted(self._left.intersection(self._ready))
        ready = wanted[: self._room]
        self._ready = set(wanted[len(ready) :])  # one that is cut off is told of again
        return [
            self._submit(Ask(min(cores[job], self.processors), whole_minutes(seconds[job]), (job,))) for job in ready
        ]

    def _put_off(self) -> list[Order]:
        """What a limit on requests, or a method that asked for too little, has left until now."""
        if self.individually:
            return self.eligible(())
        return [] if self.out else self._decide(0.0)

    @property
    def _room(self) -> int:
        """How many requests more there may be."""
        most = self.limits.requests
        return len(self._left) if most is None else max(0, most - len(self.out))

    # --- inside ----------------------------------------------------------------------------------------------------

    def _decide(self, busy: Seconds, eligible: Collection[int] | None = None) -> list[Order]:
        if not self._left or self.individually or not self._room:
            return []
        left = self.outlines.of(sorted(self._left))
        out = tuple((one.width, one.seconds) for one in self.out.values())
        found: Advice = self.method(View(left, busy, self.processors, self.wait, self._limits(), out))
        self.individually = found.individually
        orders: list[Order] = [self._submit(ask) for ask in found.asks]
        if self.individually:
            first = self._startable() if eligible is None else eligible
            orders += self.eligible(first)
        return orders

    def _startable(self) -> list[int]:
        """Jobs that are left and wait for nothing: the others are told of when they become eligible."""
        dag = self.outlines.dag
        unfinished = self._left.union(self._mapped)
        return [job for job in self._left if unfinished.isdisjoint(dag.job_parents(job))]

    def _limits(self) -> Limits:
        hours = self.limits.core_hours
        left = None if hours is None else max(0.0, hours - self.spent)
        return Limits(self.limits.requests, self.limits.processors, left)

    def _submit(self, ask: Ask) -> Submit:
        self._last += 1
        name = Name(self._last)
        self.out[name] = Asked(ask.width, ask.seconds, set(ask.jobs))
        self._left.difference_update(ask.jobs)
        self._mapped.update(dict.fromkeys(ask.jobs, name))
        self.spent += ask.width * ask.seconds / 3600
        return Submit(name, ask.width, ask.seconds, ask.jobs)

    def _release(self, name: Name) -> Release:
        del self.out[name]
        return Release(name)

    def _cancelled(self, name: Name) -> Cancel:
        del self.out[name]
        return Cancel(name)

    def _give_back(self, jobs: Collection[int]) -> None:
        self._left.update(jobs)
        for job in jobs:
            self._mapped.pop(job, None)

    def _learn(self, ran: Mapping[int, Seconds]) -> None:
        """A job that was cut off after all the time it was expected to take is expected to take twice that."""
        known = self.outlines.dag.seconds
        wrong = {job: 2 * seconds for job, seconds in ran.items() if seconds >= known[job]}
        if wrong:
            expected = [wrong.get(job, seconds) for job, seconds in enumerate(known)]
            self.outlines = self.outlines.with_seconds(expected)
