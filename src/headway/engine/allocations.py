"""What to ask queues for and what to cancel: the application manager of batchqueue.txt, Fig. 3. Events in, orders out.

Which jobs an allocation is for is decided when it is asked for. In strict mapping, the paper's, it runs no others. In
loose mapping it runs its own first and then guests: any jobs that fit, by rank (engine.mapping, docs/decisions/0025).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from headway.engine.mapping import fits_in, offered
from headway.engine.ready import Candidate
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
    unfinished: set[int]  # of the jobs that it is for
    began: Seconds | None = None
    running: set[int] = field(default_factory=set)  # what runs there; kept in loose mapping only

    @property
    def is_over(self) -> bool:
        """Its own jobs are done, and it has no guests."""
        return not self.unfinished and not self.running

    def left(self, now: Seconds) -> Seconds:
        return self.seconds if self.began is None else self.began + self.seconds - now


@mutable
class Manager:
    """Sees one workflow through a batch queue."""

    outlines: Outlines  # with the run times that are expected
    method: Method
    processors: int
    wait: WaitEstimate
    limits: Limits = field(default_factory=Limits)
    loose: bool = False
    out: dict[Name, Asked] = field(default_factory=dict)
    individually: bool = False
    spent: float = 0.0  # core hours that were asked for
    _left: set[int] = field(default_factory=set)  # jobs that no allocation was asked for
    _mapped: dict[int, Name] = field(default_factory=dict)
    _ready: set[int] = field(default_factory=set)  # jobs that may start, where they are asked for one by one
    _guests: dict[int, Name] = field(default_factory=dict)  # jobs that run in an allocation which is not theirs
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
        self._learn(ran)
        guests = [job for job in one.running if self._guests.get(job) == name]
        for job in guests:
            del self._guests[job]
        if not one.unfinished and self._left.isdisjoint(guests):
            return []
        orders: list[Order] = []
        self._give_back(one.unfinished)
        if not self.individually:
            for other, waiting in list(self.out.items()):
                if waiting.began is None:
                    self._give_back(waiting.unfinished)
                    del self.out[other]
                    orders.append(Cancel(other))
        return orders + (self.eligible(eligible) if self.individually else self._decide(0.0, eligible))

    def finished(self, *jobs: int, now: Seconds = 0.0) -> list[Order]:
        """Lines 26, 27, 31 and 32: jobs are done; whose children start is not decided here (lines 28 to 30)."""
        self._left.difference_update(jobs)
        orders: list[Order] = []
        for job in jobs:
            for name in (self._mapped.pop(job, None), self._guests.pop(job, None)):
                one = None if name is None else self.out.get(name)
                if name is None or one is None:
                    continue
                one.unfinished.discard(job)
                one.running.discard(job)
                if one.is_over:
                    orders.append(self._release(name) if one.began is not None else self._cancelled(name))
        return [*orders, *self._put_off(now)] if orders else []

    # --- loose mapping ---------------------------------------------------------------------------------------------

    def offered(
        self,
        name: Name,
        own: Iterable[Candidate],
        others: Iterable[Candidate],
        free: int,
        now: Seconds,
        job_of: Callable[[Candidate], int],
        done: Collection[int] = (),
    ) -> list[Candidate]:
        """Eligible jobs that an allocation starts now; `done`: its jobs of which `finished` has not told yet.

        It has guests only while it is kept for jobs of its own: nobody pays for an allocation because of a guest.
        """
        one, seconds = self.out[name], self.outlines.dag.seconds
        guests = others if not one.unfinished.issubset(done) else ()
        left = one.left(now)
        return offered(own, guests, free, one.width, lambda job: fits_in(seconds[job_of(job)], left))

    def took(self, name: Name, jobs: Collection[int], now: Seconds) -> list[Order]:
        """Jobs run in an allocation from now on. If they are guests, what they wait for elsewhere is not needed."""
        orders: list[Order] = []
        self.out[name].running.update(jobs)
        for job in jobs:
            theirs = self._mapped.get(job)
            if theirs == name:
                continue
            self._guests[job] = name
            one = None if theirs is None else self.out[theirs]
            if theirs is not None and one is not None and one.began is None:
                self._give_back([job])
                one.unfinished.discard(job)
                if one.is_over:
                    orders.append(self._cancelled(theirs))
        return [*orders, *self._put_off(now)] if orders else []

    def idle(self, name: Name, now: Seconds, eligible: Collection[int]) -> list[Order]:
        """An allocation has nothing to run: it ends if none of its jobs could finish there any more."""
        one, seconds = self.out[name], self.outlines.dag.seconds
        if one.running or any(fits_in(seconds[job], one.left(now)) for job in one.unfinished):
            return []
        return [Release(name), *self.ended(name, {}, eligible)]

    def eligible(self, jobs: Collection[int]) -> list[Order]:
        """Jobs may start now: each that is left is asked for, where they are asked for one by one."""
        if not self.individually:
            return []
        self._ready.update(jobs)
        if not self._ready:
            return []
        seconds, cores = self.outlines.dag.seconds, self.outlines.cores
        wanted = sorted(self._left.intersection(self._ready).difference(self._guests))
        most = self.limits.processors or self.processors
        orders: list[Order] = []
        for at, job in enumerate(wanted):
            width = min(cores[job], self.processors, most)
            if not self._room or (self.limits.processors is not None and self.out and self._used + width > most):
                self._ready = set(wanted[at:])  # these wait for room; jobs that are cut off come in again
                break
            orders.append(self._submit(Ask(width, whole_minutes(seconds[job]), (job,))))
        else:
            self._ready = set()
        return orders

    def _put_off(self, now: Seconds) -> list[Order]:
        """What a limit on requests, or a method that asked for too little, has left until now.

        In loose mapping guests can take the place of what was asked for next: then nothing waits, and it is time for
        the one after it.
        """
        if self.individually:
            return self.eligible(())
        if not self.loose:
            return [] if self.out else self._decide(0.0)
        if any(one.began is None for one in self.out.values()):
            return []
        return self._decide(max((one.left(now) for one in self.out.values()), default=0.0))

    @property
    def _room(self) -> int:
        """How many requests more there may be."""
        most = self.limits.requests
        return len(self._left) if most is None else max(0, most - len(self.out))

    @property
    def _used(self) -> int:
        """Processors of all that waits or runs."""
        return sum(one.width for one in self.out.values())

    # --- inside ----------------------------------------------------------------------------------------------------

    def _decide(self, busy: Seconds, eligible: Collection[int] | None = None) -> list[Order]:
        undecided = self._left.difference(self._guests)
        if not undecided or self.individually or not self._room:
            return []
        left = self.outlines.of(sorted(undecided))
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
        wrong = {job: 2 * seconds for job, seconds in ran.items() if fits_in(known[job], seconds)}
        if wrong:
            expected = [wrong.get(job, seconds) for job, seconds in enumerate(known)]
            self.outlines = self.outlines.with_seconds(expected)
