"""What goes between a runner and its store: leases that are at hand, and ends that are not recorded yet.

Both are one transaction. If it cannot be made, nothing is lost, and it is tried again.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence

from headway.engine.ready import Room
from headway.live.clock import Clock, since_boot
from headway.live.failpoint import here
from headway.live.home.folder import Home
from headway.live.placeholder.demand import Desk
from headway.live.placeholder.jobs import BESIDE, Jobs
from headway.live.placeholder.running import GIVEN_BACK, TAKEN
from headway.live.placeholder.spool import Spool
from headway.live.placeholder.sub_workflows import Nesting
from headway.model.messages import Answer, Finish, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.record import replace
from headway.model.states import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store import Store

PATIENCE = 0.005  # seconds an end may wait for company on its way to the store, while every slot is busy
AHEAD = 4  # leases at hand for each slot while jobs are short: these are in their order, but not with those to come
AGAIN = 1.0  # seconds after which something that did not work is tried again
CONTENDED = 0.05  # seconds after which jobs that others may just be taking are asked for again, then twice as many
TRIES = 3  # times that is done before jobs that nobody takes count as jobs that nobody will


class Supply:
    """The runner's side of the exchange."""

    def __init__(
        self,
        home: Home,
        store: Store,
        placeholder: PlaceholderId,
        spool: Spool,
        jobs: Jobs,
        desk: Desk,
        nesting: Nesting,
        beat: Seconds,
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
        self._beat = beat
        self._clock = Clock()
        self.wake = 0.0  # when the store may have something for us though nothing happens until then
        self.over: set[WorkflowId] = set()  # workflows of which nothing runs or will run anywhere
        self.calls_roll = False  # the next exchange says what we hold, and hears what of it is lost or to end
        self.lost: set[LeaseId] = set()  # leases that others have now, and whose jobs here have not ended yet
        self.was_away = False  # for so long that leases may be lost: nothing is begun before the roll is called
        self.contact = since_boot()  # when the store last answered
        self._contended = 0  # how often in a row there were eligible jobs, and none for us
        self._memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    # --- ends ------------------------------------------------------------------------------------------------------

    def record(self, finish: Finish, place: int = 0) -> None:
        """An end is spooled before anything else happens to it; until it is, it keeps its place in the roster."""
        try:
            self._spool.add(finish)
            if place:
                self._jobs.roster.strike(place)
            if self._noted:
                self._strike()
        except OSError as error:
            if place:
                self._noted.append(place)
            self.worry(f"{self._home.spool}: {error.strerror}.")
        here("reap.after-spool")
        if not self.finished:
            self._since = time.monotonic()
        self.finished.append(finish)

    def _strike(self) -> None:
        for place in self._noted:
            self._jobs.roster.strike(place)
        self._noted.clear()

    def put_back(self, reason: str, leases: Collection[LeaseId]) -> None:
        """Leases at hand that are not to be begun go back."""
        for lease in [lease for lease in self.at_hand if lease.id in leases]:
            self.at_hand.remove(lease)
            self.finished.append(Finish(lease.id, None, ended=time.time(), reason=reason))

    def drop(self, leases: Collection[LeaseId]) -> None:
        """Leases at hand that are lost; nobody is told."""
        for lease in [lease for lease in self.at_hand if lease.id in leases]:
            self.at_hand.remove(lease)

    def stir(self, workflow: WorkflowId | None = None) -> None:
        """Something may have changed in the store, or in one of its workflows."""
        self.dry, self.wake, self._contended = False, 0.0, 0
        if workflow is None:
            self.over.clear()
        else:
            self.over.discard(workflow)

    def reckon(self) -> None:
        """Who wants what may have changed: leases that nobody wants any more go back, and there may be others."""
        self.stir()
        wanted = self._desk.wanted
        self.put_back(GIVEN_BACK, {lease.id for lease in self.at_hand if lease.workflow not in wanted})

    # --- the exchange ----------------------------------------------------------------------------------------------

    def is_due(self) -> bool:
        """Whether there is something to say to the store, or to get from it."""
        if self.trouble:
            return time.monotonic() >= self._again
        if self.calls_roll:
            return True
        if self.wake and time.monotonic() >= self.wake:
            self.wake = 0.0
            self.dry = False
        is_full = self._nesting.busy() >= self._desk.slots
        if self.finished:
            return not (self.at_hand and is_full) or time.monotonic() - self._since >= PATIENCE
        if not self._desk.wanted or self.dry or self.at_hand:
            return False
        return not is_full or bool(self._idle())

    def _idle(self) -> list[WorkflowId]:
        """Workflows that are wanted and have nothing here that runs or is at hand, services left out."""
        running = self._jobs.running
        if not running and not self.at_hand:
            return self._desk.wanted
        there = [job.lease for job in running.values() if job.lease.kind not in BESIDE]
        busy = {lease.workflow for lease in (*there, *self.at_hand)}
        return [workflow for workflow in self._desk.wanted if workflow not in busy]

    def times(self) -> Iterator[float]:
        """When there is something to see to."""
        if self.trouble:
            yield self._again
        elif self.finished:
            yield self._since + PATIENCE
        if self.wake and self._desk.wanted and not self.trouble:
            yield self.wake

    def exchange(self) -> Answer:
        """One transaction: ends go in, leases come out."""
        here("exchange.before")
        holds = self._held() if self.calls_roll or self.trouble or self.was_away else None
        idle, room = self._idle(), self._room()
        if self.was_away:
            room = Room(0, room.slots)  # what is lost ends first
        most, is_shared = room.most, self._store.is_shared
        asked = since_boot() if is_shared else 0.0
        answer = self._store.leases.exchange(
            *(self._placeholder, self._told() if is_shared else self.finished, room, self._desk.wanted),
            *(self._store.clock() if is_shared else self._clock.now(), idle, holds),
        )
        here("exchange.after")
        self.calls_roll = False
        if is_shared:
            self.contact = since_boot()
            # A sign of life that took long is an old one: give another.
            self.calls_roll = holds is not None and self.contact - asked > self._beat
        was_away, self.was_away = self.was_away, self.was_away and holds is None
        self.finished = []
        self.trouble = ""
        if self._noted:
            self._strike()
        self._spool.settled()
        self.at_hand.extend(answer.leases)
        # Less than there was room for is all there is; in a shared store others may have held some back for a moment.
        self.dry = not answer.leases or (len(answer.leases) < most and not is_shared)
        if was_away:
            self.dry = False  # nothing was asked for yet
        self.wake = 0.0 if answer.wake is None else time.monotonic() + answer.wake
        if is_shared or self.over or answer.over or answer.stuck:
            self._conclude(answer, idle)
        return answer

    def _held(self) -> list[LeaseId]:
        """All leases that we have, but for those that are lost already."""
        running = [job.lease.id for job in self._jobs.running.values() if job.reason != TAKEN]
        return [*running, *(lease.id for lease in self.at_hand)]

    def _told(self) -> list[Finish]:
        """Ends as a shared store is told of them: by its own clock."""
        ahead = self._store.clock() - time.time()
        return [by_another_clock(finish, ahead) for finish in self.finished]

    def _conclude(self, answer: Answer, idle: Sequence[WorkflowId]) -> None:
        """Takes in which workflows are over, and when to ask again for jobs that others may be taking just now."""
        self.over.difference_update(idle)
        self.over.update(answer.over)
        if not self._store.is_shared:
            self.over.update(answer.stuck)
        elif answer.contended and not answer.leases:
            self._contended += 1
            if self._contended > TRIES:
                self.over.update(answer.stuck)
            again = time.monotonic() + min(CONTENDED * 2 ** (self._contended - 1), self._beat)
            self.wake = min(self.wake or again, again)
        else:
            self._contended = 0

    def _room(self) -> Room:
        """What there is room for beside what runs and what is at hand."""
        slots, jobs = self._desk.slots, self._jobs
        ahead = AHEAD * slots - len(self.at_hand) if jobs.are_short else 0
        cores, memory = self._nesting.busy(), jobs.memory
        for lease in self.at_hand:
            cores += lease.cores
            memory += lease.memory
        there = self._desk.memory or self._memory
        named = dict(self._desk.named)
        if named:
            for lease in [*(job.lease for job in jobs.running.values()), *self.at_hand]:
                for name, count in lease.named:
                    named[name] = named.get(name, 0) - count
        is_whole = not self.at_hand and all(job.lease.kind == Kind.SERVICE for job in jobs.running.values())
        return Room(max(slots - cores, 0), slots, max(ahead, 0), max(there - memory, 0), there, named, is_whole)

    def worry(self, trouble: str) -> None:
        """Something does not work that will, when its user has seen to it: clients are told, nothing new is begun."""
        if trouble != self._said:
            self._said = trouble
            with contextlib.suppress(OSError):  # what has no room here may have none there either
                print(f"headway: {trouble}", file=sys.stderr, flush=True)
        self.trouble = trouble
        self._again = time.monotonic() + min(AGAIN, self._beat)


def by_another_clock(finish: Finish, ahead: Seconds) -> Finish:
    """An end as told by a clock that is ahead of this host's; times that are not known stay so."""
    return replace(
        finish, started=finish.started and finish.started + ahead, ended=finish.ended and finish.ended + ahead
    )
