"""The runner: one process for each local store that starts jobs, waits for them, and tells the store how they ended.

It outlives whoever started it. While a client is there that wants more it takes new jobs; without, it finishes what
runs, records it and goes. One thread, a selector, a pidfd for each job.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import time
from collections.abc import Collection, Mapping
from functools import cached_property

from headway.engine.silence import BEATS
from headway.live.failpoint import failpoint
from headway.live.home.folder import Home, LostHomeError
from headway.live.placeholder.demand import Desk
from headway.live.placeholder.exchange import Supply
from headway.live.placeholder.jobs import Jobs, NoRoomError
from headway.live.placeholder.launch import LATELY
from headway.live.placeholder.limits import SPARE, most_files, patience
from headway.live.placeholder.reception import Reception
from headway.live.placeholder.recovery import greet, recover
from headway.live.placeholder.responses import Responses
from headway.live.placeholder.roster import Roster
from headway.live.placeholder.running import CALLED_OFF, Ended
from headway.live.placeholder.spool import Spool
from headway.live.placeholder.sub_workflows import Nesting
from headway.live.placeholder.upkeep import Upkeep
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, Lease, LeaseId, Seconds, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.doors.port import Port
    from headway.live.placeholder.others import Others

AT_ONCE = 16  # events, of jobs that end most often: each may leave its two handles open while others begin
WELCOME = 10.0  # seconds that a new runner waits for its first client


class Runner:
    """The state of one runner. `run` is its life."""

    def __init__(self, home: Home, port: Port, server: str | None = None) -> None:
        self.home, self.port = home, port
        self.server = server
        self.spool = Spool(home.spool)
        self.roster = Roster(home.roster)
        self.upkeep = Upkeep(self)
        self.poll = select.epoll()
        self.due = 0.0  # when there is something to see to, if nothing happens before
        self.recipes: set[WorkflowId] = set()  # whose groups are recipes of make
        self.recipe_starts: dict[tuple[WorkflowId, str], Seconds] = {}  # of each, when its first line began
        self.winding: dict[WorkflowId, LeaseId] = {}  # workflows that are being wound up in the places of these
        self.wound: set[LeaseId] = set()  # those whose workflows are, and whose final jobs run
        self.told, told = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)  # wakes us when a signal has come
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        self.poll.register(self.told, select.EPOLLIN)

    def run(self, told: int) -> None:
        """Recovers, serves, and leaves when nobody needs it. `told` is closed when clients can come."""
        self.silence = patience()
        self.beat = self.silence / BEATS
        welcome = greet(self.home, self.port, self.spool, self.silence)
        self.store_id, is_shared = welcome.store, welcome.is_shared
        mark = f"{welcome.store}-{self.home.identity:x}"
        self.jobs = Jobs(self.home, mark, self.server, self.roster, self.poll)
        over, gone = recover(self.home, self.port, welcome, mark, self.spool, self.roster, self.jobs)
        if is_shared:
            self.home.remember([welcome.placeholder])
        self.desk = Desk(self.home, self.poll, max(1, (most_files() - SPARE) // 2))  # a slot: a pidfd and an output
        if self.desk.remark:
            self.upkeep.warn(self.desk.remark)
        os.close(told)
        self.nesting = Nesting(self.desk, self.jobs, mark)
        self.supply = Supply(
            *(self.home, self.port, welcome, self.spool, self.jobs, self.desk, self.nesting, self.beat)
        )
        self.reception = Reception(self)
        self.responses = Responses(self)
        self.last_beat = time.monotonic()
        for ended in over:
            self.write_down(ended)
        if gone:
            self.others.lose(gone)
        if self.jobs.running:
            self.look()  # what goes on may have been told to end while nobody was there
        deadline = time.monotonic() + WELCOME
        while True:
            well: list[Ended] = []
            events = self.poll.poll(self.timeout(), AT_ONCE)
            if is_shared:
                self.others.notice_absence()
            for handle, mask in events:
                if handle in self.jobs.running:
                    well += self.reap(handle)
                    continue
                self.due = 0.0
                if handle in self.desk.clients:
                    self.reception.attend(handle, mask)
                elif handle == self.desk.door:
                    self.reception.welcome()
                elif handle == self.responses.handle:
                    self.responses.receive()
                elif handle == self.told:
                    self.give_up()
                # else a connection that is closed: a job that is just being started may still hold a copy
            for ended in well:
                self.write_down(ended)
            if not self.is_in_full_swing():
                self.jobs.ring()
                self.turn()
                self.due = self.next_due(deadline)
            self.jobs.tidy()
            if self.desk.clients or self.jobs.running or self.supply.unrecorded:
                deadline = 0.0
            elif time.monotonic() >= deadline and self.leave():
                return

    @cached_property
    def others(self) -> Others:
        """Other placeholders of the store; without any, most runners do without."""
        from headway.live.placeholder.others import Others

        return Others(self.supply, self.jobs, self.nesting, self.silence)

    # --- who wants what --------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Somebody has changed the store: attempts may have to end, others may begin."""
        self.supply.stir()
        self.supply.calls_roll = True

    def end(self, leases: Collection[LeaseId]) -> None:
        """Ends attempts that the store wants ended; what has not begun goes back to it."""
        if not leases:
            return
        if self.desk.marks and not self.supply.trouble:
            leases = self.wind_up(leases)
        self.jobs.end(leases)
        self.supply.put_back(CALLED_OFF, leases)
        if self.nesting.stop_inside(leases):
            self.reckon()  # nobody wants these any more

    def wind_up(self, leases: Collection[LeaseId]) -> Collection[LeaseId]:
        """Asks the store to end workflows inside jobs that are to end, as DAGMan does; the leases of the other jobs.

        What runs of such a workflow is ended, its final job runs, and then the job is over that it has the place of.
        """
        inside = self.nesting.inside(leases)
        for workflow, lease in inside.items():
            if lease not in self.winding.values() and lease not in self.wound:
                self.winding[workflow] = lease
                self.supply.send(winds_up=workflow)
        return [lease for lease in leases if lease not in inside.values()]

    def wound_up(self, found: Mapping[WorkflowId, Collection[LeaseId] | None]) -> None:
        """The store has ended workflows but for their final jobs. One that has none ends like any other job."""
        for workflow, stops in found.items():
            lease = self.winding.pop(workflow, None)
            if lease is None:
                continue
            if stops is None:
                self.jobs.end([lease])
                if self.nesting.stop_inside([lease]):
                    self.reckon()
            else:
                self.wound.add(lease)
                self.jobs.call_off(lease)
                if stops:
                    self.end(stops)
                    self.look()

    def give_up(self) -> None:
        """SIGTERM, as when the machine goes down: what runs is ended and recorded, to be run again."""
        os.read(self.told, 64)
        self.end_all()

    def end_all(self) -> None:
        self.desk.closing = True
        self.reckon()
        for workflow in {job.lease.workflow for job in self.jobs.running.values()}:
            self.nesting.stop(workflow)

    def reckon(self) -> None:
        """Who wants what may have changed. Leases that nobody wants any more go back to the store."""
        self.desk.reckon()
        self.jobs.slots, self.jobs.named = self.desk.slots, self.desk.named
        self.nesting.reckon()
        self.supply.reckon()

    # --- jobs ------------------------------------------------------------------------------------------------------

    def reap(self, handle: int) -> list[Ended]:
        """A job has ended. If it ended well, the next one gets its slot first: it runs while this is written down."""
        ended = self.jobs.reap(handle)
        if ended.is_well and ended.job.lease.id not in self.nesting.lent:
            self.fill()
            return [ended]
        self.write_down(ended)
        return []

    def write_down(self, ended: Ended) -> None:
        finish, lease = self.jobs.settled(ended), ended.job.lease
        self.wound.discard(lease.id)
        if lease.workflow in self.recipes:
            from headway.live.placeholder.recipe import settle_recipe

            settle_recipe(self.recipe_starts, finish, lease, ended.job.before or {})
        if lease.id in self.nesting.lent:
            self.reckon()
        if lease.id in self.supply.lost:  # it is another placeholder's now: how it ended here counts for nothing
            self.supply.lost.discard(lease.id)
            return
        self.finish(finish, lease, ended.job.place)

    def finish(self, finish: Finish, lease: Lease, place: int = 0) -> None:
        """An end is known: first to the spool, then to whoever waits for it."""
        self.supply.record(finish, place)
        self.due = 0.0 if finish.exit_code != 0 else min(self.due, self.supply.next_due())
        for client in self.desk.clients.values():
            client.note(finish, lease, self.home)
        if finish.exit_code:
            self.nesting.fail_fast(lease, finish.exit_code)
            self.reckon()

    def fill(self) -> None:
        """Starts what is at hand while there are slots; a job wider than all of them gets them all."""
        at_hand = self.supply.at_hand
        while at_hand and not (self.supply.trouble or self.supply.was_away or self.supply.lost):
            lease, busy = at_hand[0], self.nesting.busy()
            if busy and lease.cores and busy + lease.cores > self.desk.slots:
                return
            try:
                setting = self.supply.settings[lease.workflow]
                environment = self.desk.environment(lease.workflow, setting.exported)
                failed = self.jobs.start(lease, setting.directory, environment)
            except LostHomeError as error:
                self.upkeep.abandon(error)
                return
            except (NoRoomError, HeadwayError) as error:
                self.supply.worry(str(error))
                return
            at_hand.popleft()
            if failed is not None:
                self.finish(failed, lease)

    # --- the store -------------------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Fills free slots from what is at hand, and sees the store where there is something to say or to get."""
        self.jobs.sweep()
        now = time.monotonic()
        if now - self.last_beat > self.beat:
            self.last_beat = now
            self.look()
        try:
            if self.supply.at_hand:
                self.fill()
            while self.supply.is_due():
                self.upkeep.verify(LATELY if self.jobs.are_short else 0.0)
                self.supply.ask()
                self.responses.receive()
                self.fill()
            self.reception.report()
        except HeadwayError as error:
            if self.upkeep.is_lost:
                self.supply.finished.clear()  # there is nowhere left to write it
            else:
                self.supply.worry(str(error))
        if self.port.is_far:
            self.responses.watch()

    # --- time ------------------------------------------------------------------------------------------------------

    def is_in_full_swing(self) -> bool:
        """Whether every slot is busy and what comes next is at hand: nothing is to be seen to until it is due."""
        if not self.supply.at_hand or self.supply.trouble or self.nesting.busy() < self.desk.slots:
            return False
        return time.monotonic() < self.due

    def timeout(self) -> float | None:
        """How long there is nothing to do but wait; no busy waiting."""
        return None if self.due == math.inf else max(0.0, self.due - time.monotonic())

    def next_due(self, deadline: float) -> float:
        """When there is something to see to; never while nothing can be due."""
        due = min(self.supply.next_due(), self.jobs.next_alarm(), deadline or math.inf)
        if self.jobs.running or self.desk.clients:
            due = min(due, self.last_beat + self.beat + 0.01)
        for client in self.desk.clients.values():
            due = min(due, client.due())
        return due

    def leave(self) -> bool:
        """Goes, unless somebody came in at the last moment."""
        if not self.desk.closed():
            return False
        with contextlib.suppress(HeadwayError):
            self.port.leave()
        failpoint("leave.left")
        self.spool.settled(idle=True)
        return True
