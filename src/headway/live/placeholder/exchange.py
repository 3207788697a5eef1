"""What goes between a runner and its store: prefetched leases, and ends that are not recorded yet.

Both are one transaction. If it cannot be made, nothing is lost, and it is tried again.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Collection, Sequence

from headway.engine.ready import Room
from headway.engine.silence import BEATS
from headway.live.clock import since_boot
from headway.live.doors.messages import Hello, Question, Reply, Setting, Welcome, Word
from headway.live.failpoint import failpoint
from headway.live.home.folder import Home, say
from headway.live.placeholder.asked import NONE, Asked, Told
from headway.live.placeholder.demand import Demand
from headway.live.placeholder.jobs import Jobs
from headway.live.placeholder.room import PATIENCE, HostRoom
from headway.live.placeholder.running import GIVEN_BACK, TAKEN
from headway.live.placeholder.spool import Spool
from headway.live.placeholder.sub_workflows import SubWorkflows
from headway.model.errors import HeadwayError
from headway.model.messages import Answer, Finish, Lease, LeaseId, Seconds, WorkflowId
from headway.model.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.doors.port import Port

AGAIN = 1.0  # seconds after which something that did not work is tried again
CONTENDED = 0.05  # seconds after which jobs that others may just be taking are asked for again, then twice as many
TRIES = 3  # times that is done before jobs that nobody takes count as jobs that nobody will


class Exchange:
    """The runner's side of the exchange: it is asked, and answered at once or later."""

    def __init__(
        self,
        home: Home,
        port: Port,
        welcome: Welcome,
        spool: Spool,
        jobs: Jobs,
        demand: Demand,
        sub_workflows: SubWorkflows,
        beat: Seconds,
    ) -> None:
        self._home, self._port, self._spool = home, port, spool
        self.placeholder, self.is_shared = welcome.placeholder, welcome.is_shared
        self._jobs, self._demand, self._sub_workflows = jobs, demand, sub_workflows
        self.prefetched: deque[Lease] = deque()
        self.finished: list[Finish] = []  # that the store was not told yet
        self.asked: Asked | None = None  # the exchange that is under way
        self._number = 0  # of the last one
        self._was_stirred = False  # since it was asked: its answer is not the last word
        self.errands = NONE  # what goes with the next one
        self.settings: dict[WorkflowId, Setting] = {}  # of the workflows that we know of
        self.round_trip = 0.0  # seconds that an answer takes, lately
        self._noted: list[int] = []  # places of those that are not even in the spool
        self._since = 0.0  # when the oldest of them came
        self.dry = False  # the store had nothing for us
        self.trouble = self._said = ""  # why nothing can be written or started just now
        self._again = 0.0  # when that is tried again
        self._beat = beat
        self.wake = 0.0  # when the store may have something for us though nothing happens until then
        self.over: set[WorkflowId] = set()  # workflows of which nothing runs or will run anywhere
        self.stuck: set[WorkflowId] = set()  # those of them that have jobs left, which this runner is not given
        self.calls_roll = False  # the next exchange says what we hold, and hears what of it is lost or to end
        self.lost: set[LeaseId] = set()  # leases that others have now, and whose jobs here have not ended yet
        self.was_away = False  # for so long that leases may be lost: nothing is begun before the roll is called
        self.contact = since_boot()  # when the store last answered
        self._contended = 0  # how often in a row there were eligible jobs, and none for us
        self._room = HostRoom(jobs, demand, sub_workflows, port.is_far)

    # --- ends ------------------------------------------------------------------------------------------------------

    def record(self, finish: Finish, place: int, now: Seconds) -> None:
        """An end is spooled before anything else happens to it; until it is, it keeps its place in the roster."""
        try:
            self._spool.add(finish)
            if place:
                self._jobs.roster.strike(place)
            if self._noted:
                self._strike(len(self._noted))
        except OSError as error:
            if place:
                self._noted.append(place)
            self.worry(f"{self._home.spool}: {error.strerror}.", now)
        failpoint("reap.after-spool")
        if not self.finished:
            self._since = now
        self.finished.append(finish)

    def _strike(self, count: int) -> None:
        for place in self._noted[:count]:
            self._jobs.roster.strike(place)
        del self._noted[:count]

    def put_back(self, reason: str, leases: Collection[LeaseId]) -> None:
        """Prefetched leases that are not to be begun go back."""
        for lease in [lease for lease in self.prefetched if lease.id in leases]:
            self.prefetched.remove(lease)
            self.finished.append(Finish(lease.id, None, ended=time.time(), reason=reason))

    def drop(self, leases: Collection[LeaseId]) -> None:
        """Prefetched leases that are lost; nobody is told."""
        for lease in [lease for lease in self.prefetched if lease.id in leases]:
            self.prefetched.remove(lease)

    @property
    def unrecorded(self) -> Sequence[Finish]:
        """Ends that are not known to be in the store."""
        return self.finished if self.asked is None else [*self.asked.ends, *self.finished]

    def stir(self, workflow: WorkflowId | None = None) -> None:
        """Something may have changed in the store, or in one of its workflows."""
        self.dry, self.wake, self._contended = False, 0.0, 0
        self._was_stirred = True
        if workflow is None:
            self.over.clear()
        else:
            self.over.discard(workflow)

    def look_again(self) -> None:
        """A while has gone by. What was found to be over or out of reach is so until the answer says otherwise."""
        self.dry, self._was_stirred, self.calls_roll = False, True, True

    @property
    def is_settled(self) -> bool:
        """Whether the store has said all there is to say of what we asked for."""
        return self.asked is None and self.dry and not 0 < self._contended <= TRIES

    def reckon(self) -> None:
        """Who wants what may have changed: leases that nobody wants any more go back, and there may be others."""
        self.stir()
        wanted = self._demand.wanted
        self.put_back(GIVEN_BACK, {lease.id for lease in self.prefetched if lease.workflow not in wanted})

    def send(
        self,
        news: WorkflowId | None = None,
        says: tuple[Word, Told] | None = None,
        winds_up: WorkflowId | None = None,
    ) -> None:
        """Something goes to the store with the next exchange."""
        self.errands = self.errands.plus(news, says, winds_up)

    # --- the exchange ----------------------------------------------------------------------------------------------

    def is_due(self, now: Seconds) -> bool:
        """Whether there is something to say to the store, or to get from it."""
        if self.asked is not None:
            return False
        if self.trouble:
            return now >= self._again
        if self.calls_roll or self.errands is not NONE:
            return True
        if self.wake and now >= self.wake:
            self.wake = 0.0
            self.dry = False
        is_full = self._sub_workflows.busy() >= self._demand.slots
        if self.finished:
            return not (self.prefetched and is_full) or now >= self._since + PATIENCE
        if self.dry or self.prefetched or not (self._demand.wanted or self._demand.serves):
            return False
        return not is_full or bool(self._room.idle(self.prefetched))

    def next_due(self) -> float:
        """When there is something to see to."""
        if self.asked is not None:
            return math.inf
        if self.trouble:
            return self._again
        due = self._since + PATIENCE if self.finished else math.inf
        return min(due, self.wake) if self.wake and self._demand.wanted else due

    def ask(self) -> None:
        """Tells how attempts ended, and asks for what there is room for."""
        failpoint("exchange.before")
        if not self._port.is_connected:
            self._call_again()
            return
        holds = self._held() if self.calls_roll or self.trouble or self.was_away else None
        idle, room = (
            self._room.idle(self.prefetched),
            self._room.beside(self.prefetched, self.round_trip, time.monotonic()),
        )
        if self.was_away:
            room = Room(0, room.slots)  # what is lost ends first
        self._number += 1
        errands, ends = self.errands, self.finished
        since = since_boot() if self.is_shared or self._port.is_far else 0.0
        self.asked = Asked(
            self._number, ends, idle, room.most, holds is not None, since, self._spool.mark, len(self._noted), errands
        )
        self.finished, self.errands, self.calls_roll, self._was_stirred = [], NONE, False, False
        serves = self._demand.serves
        question = Question(
            ends, room, self._demand.wanted, time.time(), idle, holds, (), (), (), (), self._number, serves
        )
        if errands is not NONE:
            words = [word for word, _ in errands.says]
            question = replace(question, news=errands.news, says=words, winds_up=errands.winds_up)
        try:
            self._port.ask(question)
        except HeadwayError as error:
            self.untold(error)
            raise

    @property
    def is_calling(self) -> bool:
        """Whether the connection is being made again."""
        return self.asked is not None and not self.asked.number

    def untold(self, error: HeadwayError) -> None:
        """What was asked was not done: all of it is told again another time."""
        asked, self.asked = self.asked, None
        if asked is None:
            return
        self.finished = [*asked.ends, *self.finished]
        self.calls_roll = self.calls_roll or asked.holds
        for _, answer in asked.errands.says:
            answer(error)
        self.errands = self.errands.after(asked.errands)

    def _call_again(self) -> None:
        """Connects again; the welcome tells which leases are lost."""
        self.calls_roll = True
        self._port.call_again(
            Hello(
                *(os.uname().nodename, os.getpid(), time.time(), self._beat * BEATS, self.placeholder),
                *((), self.finished, self._held()),
            )
        )
        self.asked = Asked(0, self.finished, (), 0, True, since_boot(), self._spool.mark, len(self._noted), NONE)
        self.finished = []

    def call_at_once(self) -> None:
        """There is a new connection to make, whatever was asked on the last one."""
        self.untold(HeadwayError("the connection to the store is lost."))
        self.calls_roll, self._again = True, 0.0

    def taken(self, reply: Reply, now: Seconds) -> Answer:
        """Takes in an answer."""
        asked, answer = self.asked, reply.answer
        assert asked is not None
        failpoint("exchange.after")
        self._settle(asked)
        if reply.settings:
            self.settings.update(reply.settings)
        if self.is_shared:
            # A sign of life that took long is an old one: give another.
            self.calls_roll = self.calls_roll or (asked.holds and self.contact - asked.since > self._beat)
        was_away, self.was_away = self.was_away, self.was_away and not asked.holds
        if self.is_shared and asked.is_too_old(self.contact, self._beat * BEATS, bool(answer.leases)):
            self.was_away = self.calls_roll = True
        self.prefetched.extend(answer.leases)
        # Less than there was room for is all there is; in a shared store others may have held some back for a moment.
        self.dry = not answer.leases or (len(answer.leases) < asked.most and not self.is_shared)
        if was_away or self._was_stirred:
            self.dry = False  # nothing was asked for yet, or not since something changed
        self.wake = 0.0 if answer.wake is None else now + answer.wake
        if reply.wanted is not None and self._demand.serve(reply.wanted):
            wanted, self.dry = self._demand.wanted, False  # whether the new ones are over was not asked yet
            self.put_back(GIVEN_BACK, {lease.id for lease in self.prefetched if lease.workflow not in wanted})
        if self._port.is_far:
            self.round_trip += (self.contact - asked.since - self.round_trip) / min(self._number, 8)
            wanted = self._demand.wanted
            self.put_back("given back", {lease.id for lease in answer.leases if lease.workflow not in wanted})
        if (self.is_shared or self.over or answer.over or answer.stuck) and not self._was_stirred:
            self._conclude(answer, asked.idle, now)
        if asked.errands is not NONE:
            for (_, tell), heard in zip(asked.errands.says, reply.heard):  # noqa: B905 - Python 3.9
                tell(heard)
        return answer

    def welcomed(self) -> None:
        """The connection is there again, and what was not told is recorded."""
        if self.asked is not None:
            self._settle(self.asked)

    def _settle(self, asked: Asked) -> None:
        """The store has what it was told."""
        self.asked, self.trouble = None, ""
        self.contact = since_boot() if self.is_shared or self._port.is_far else 0.0
        if asked.noted:
            self._strike(asked.noted)
        self._spool.settled(asked.spooled)

    def _held(self) -> list[LeaseId]:
        """All leases that we have, but for those that are lost already."""
        running = [job.lease.id for job in self._jobs.running.values() if job.reason != TAKEN]
        return [*running, *(lease.id for lease in self.prefetched)]

    def _conclude(self, answer: Answer, idle: Sequence[WorkflowId], now: Seconds) -> None:
        """Takes in which workflows are over, and when to ask again for jobs that others may be taking just now."""
        self.over.difference_update(idle)
        self.stuck.difference_update(idle)
        self.stuck.update(answer.stuck)
        self.over.update(answer.over)
        if not self.is_shared:
            self.over.update(answer.stuck)
        elif answer.contended and not answer.leases:
            self._contended += 1
            if self._contended > TRIES:
                self.over.update(answer.stuck)
            again = now + min(CONTENDED * 2 ** (self._contended - 1), self._beat)
            self.wake = min(self.wake or again, again)
        else:
            self._contended = 0

    def worry(self, trouble: str, now: Seconds) -> None:
        """A fault the user can fix (disk full, store unreachable): stop starting jobs, tell clients, retry later."""
        if trouble != self._said:
            self._said = trouble
            say(trouble)
        self.trouble = trouble
        self._again = now + min(AGAIN, self._beat)
