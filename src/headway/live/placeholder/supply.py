"""What goes between a runner and its store: leases that are at hand, and ends that are not recorded yet.

Both are one transaction. If it cannot be made, nothing is lost, and it is tried again.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import deque
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from headway.engine.ready import Room
from headway.live.failpoint import here
from headway.live.home import Home
from headway.live.placeholder.clock import Clock
from headway.live.placeholder.desk import Desk
from headway.live.placeholder.jobs import Jobs
from headway.live.placeholder.nesting import Nesting
from headway.live.placeholder.spool import Spool
from headway.model.messages import Answer, Finish, Lease, LeaseId, PlaceholderId

if TYPE_CHECKING:
    from headway.live.store.protocol import Working

PATIENCE = 0.005  # seconds an end may wait for company on its way to the store, while every slot is busy
AHEAD = 4  # leases at hand for each slot while jobs are short: these are in their order, but not with those to come
AGAIN = 1.0  # seconds after which something that did not work is tried again


class Supply:
    """The runner's side of the exchange."""

    def __init__(
        self,
        home: Home,
        store: Working,
        placeholder: PlaceholderId,
        spool: Spool,
        jobs: Jobs,
        desk: Desk,
        nesting: Nesting,
    ) -> None:
        self._home, self._store, self._placeholder, self._spool = home, store, placeholder, spool
        self._jobs, self._desk, self._nesting = jobs, desk, nesting
        self.at_hand: deque[Lease] = deque()
        self.finished: list[Finish] = []  # not in the store yet
        self._noted: list[int] = []  # places of those that are not even in the spool
        self._since = 0.0  # when the oldest of them came
        self.dry = False  # the store had nothing for us
        self.trouble = self._said = ""  # why nothing can be written or started just now
        self._again = 0.0  # when that is tried again
        self._clock = Clock()
        self.wake = 0.0  # when the store may have something for us though nothing happens until then
        self._memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    # --- ends ------------------------------------------------------------------------------------------------------

    def record(self, finish: Finish, place: int = 0) -> None:
        """An end is spooled before anything else happens to it; until it is, it keeps its place in the roster."""
        if place:
            self._noted.append(place)
        try:
            self._spool.add(finish)
            self._strike()
        except OSError as error:
            self.worry(f"{self._home.spool}: {error.strerror}.")
        here("reap.after-spool")
        if not self.finished:
            self._since = time.monotonic()
        self.finished.append(finish)

    def _strike(self) -> None:
        for place in self._noted:
            self._jobs.strike(place)
        self._noted.clear()

    def put_back(self, reason: str, leases: Collection[LeaseId]) -> None:
        """Leases at hand that are not to be begun go back."""
        for lease in [lease for lease in self.at_hand if lease.id in leases]:
            self.at_hand.remove(lease)
            self.finished.append(Finish(lease.id, None, ended=time.time(), reason=reason))

    def reckon(self) -> None:
        """Who wants what may have changed: leases that nobody wants any more go back, and there may be others."""
        self.dry = False
        wanted = self._desk.wanted
        self.put_back("given back", {lease.id for lease in self.at_hand if lease.workflow not in wanted})

    # --- the exchange ----------------------------------------------------------------------------------------------

    def is_due(self) -> bool:
        """Whether there is something to say to the store, or to get from it."""
        if self.trouble:
            return time.monotonic() >= self._again
        if self.wake and self._clock.now() >= self.wake:
            self.wake = 0.0
            self.dry = False
        is_full = self._nesting.busy() >= self._desk.slots
        if self.finished:
            return not (self.at_hand and is_full) or time.monotonic() - self._since >= PATIENCE
        return bool(self._desk.wanted) and not self.dry and not self.at_hand and not is_full

    def times(self) -> Iterator[float]:
        """When there is something to see to."""
        if self.trouble:
            yield self._again
        elif self.finished:
            yield self._since + PATIENCE
        if self.wake and self._desk.wanted and not self.trouble:
            yield time.monotonic() + max(0.0, self.wake - self._clock.now())

    def exchange(self) -> Answer:
        """One transaction: ends go in, leases come out."""
        here("exchange.before")
        if self.trouble:
            self.finished += self._strays()
        room = self._room()
        most = room.most
        answer = self._store.exchange(self._placeholder, self.finished, room, self._desk.wanted, self._clock.now())
        here("exchange.after")
        self.finished = []
        self.trouble = ""
        self._strike()
        self._spool.settled()
        self.at_hand.extend(answer.leases)
        # Less than there was room for is all there is; in a shared store others may have held some back for a moment.
        self.dry = not answer.leases or (len(answer.leases) < most and not self._store.is_shared)
        self.wake = answer.wake or 0.0
        return answer

    def _room(self) -> Room:
        """What there is room for beside what runs and what is at hand."""
        slots, jobs = self._desk.slots, self._jobs
        ahead = AHEAD * slots - len(self.at_hand) if jobs.are_short else 0
        cores = self._nesting.busy() + sum(lease.cores for lease in self.at_hand)
        memory = jobs.memory + sum(lease.memory for lease in self.at_hand)
        there = self._desk.memory or self._memory
        named = dict(self._desk.named)
        if named:
            for lease in [*(job.lease for job in jobs.running.values()), *self.at_hand]:
                for name, count in lease.named:
                    named[name] = named.get(name, 0) - count
        return Room(max(slots - cores, 0), slots, max(ahead, 0), max(there - memory, 0), there, named)

    def _strays(self) -> list[Finish]:
        """Leases that an exchange got though it seemed to have failed: given back."""
        known = {lease.id for lease in self.at_hand} | {finish.lease for finish in self.finished}
        known |= {job.lease.id for job in self._jobs.running.values()}
        held, now = self._store.held(self._placeholder), time.time()
        return [Finish(lease, None, ended=now, reason="given back") for lease in held if lease not in known]

    def worry(self, trouble: str) -> None:
        """Something does not work that will, when its user has seen to it: clients are told, nothing new is begun."""
        if trouble != self._said:
            self._said = trouble
            with contextlib.suppress(OSError):  # what has no room here may have none there either
                print(f"headway: {trouble}", file=sys.stderr, flush=True)
        self.trouble = trouble
        self._again = time.monotonic() + AGAIN
