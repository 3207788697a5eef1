"""The runner: one process for each local store that starts jobs, waits for them, and tells the store how they ended.

It outlives the process that started it. While a client is there that wants more it takes new jobs; without, it
finishes what runs, records it and goes. One thread, a selector, a handle for each job that tells of its end.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import time
from collections.abc import Collection
from functools import cached_property

from headway.engine.silence import BEATS
from headway.live.failpoint import failpoint
from headway.live.home.folder import Home, LostHomeError
from headway.live.placeholder.demand import Demand
from headway.live.placeholder.exchange import Exchange
from headway.live.placeholder.jobs import Jobs, NoRoomError
from headway.live.placeholder.launch import LATELY
from headway.live.placeholder.limits import SPARE, most_files, patience
from headway.live.placeholder.reception import Reception
from headway.live.placeholder.recovery import greet, recover
from headway.live.placeholder.responses import Responses
from headway.live.placeholder.roster import Roster
from headway.live.placeholder.running import CALLED_OFF, DISMISSED, Ended
from headway.live.placeholder.spool import Spool
from headway.live.placeholder.sub_workflows import SubWorkflows, WindingUp
from headway.live.placeholder.upkeep import Upkeep
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, Lease, LeaseId, Seconds, WorkflowId
from headway.model.states import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

    from headway.live.doors.pipe import Called
    from headway.live.doors.port import Port
    from headway.live.placeholder.others import Others

AT_ONCE = 16  # events, of jobs that end most often: each may leave its two handles open while others begin
TOLD_SOON = 0.1  # seconds within which all processes of an allocation get the same signal
WELCOME = 10.0  # seconds that a new runner waits for its first client


class Runner:
    """The state of one runner. `run` is its life."""

    def __init__(
        self,
        home: Home,
        port: Port,
        server: str | None = None,
        called: Called | None = None,
        is_apart: bool = False,
    ) -> None:
        self.home, self.port = home, port
        self.is_apart = is_apart or called is not None  # on a host whose files the store's host may not see
        self.called = called  # on a far host: the channels that call it
        self.server = server
        self.spool = Spool(home.spool)
        self.roster = Roster(home.roster)
        self.upkeep = Upkeep(self)
        self.poll = select.epoll()
        self.due = 0.0  # when there is something to see to, if nothing happens before
        self.recipes: set[WorkflowId] = set()  # whose groups are recipes of make
        self.recipe_starts: dict[tuple[WorkflowId, str], Seconds] = {}  # of each, when its first line began
        self.winding_up = WindingUp(self)
        self.is_dismissed = False  # SIGTERM has come
        self.told, told = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)  # wakes us when a signal has come
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        self.poll.register(self.told, select.EPOLLIN)

    def run(self, told: int) -> None:
        """Recovers, serves, and leaves when nobody needs it. `told` is closed when clients can come."""
        self.silence = patience()
        self.beat = self.silence / BEATS
        welcome = greet(self.home, self.port, self.spool, self.silence, self.is_apart or self.server is not None)
        self.store_id, is_shared = welcome.store, welcome.is_shared
        mark = f"{welcome.store}-{self.home.identity:x}"
        self.jobs = Jobs(self.home, mark, self.server, self.roster, self.poll)
        self.jobs.tells_tails = self.is_apart
        over, gone = recover(self.home, self.port, welcome, mark, self.spool, self.roster, self.jobs)
        if is_shared:
            self.home.remember([welcome.placeholder])
        self.demand = Demand(self.home, self.poll, max(1, (most_files() - SPARE) // 2))  # a slot: a pidfd and an output
        if self.demand.remark:
            self.upkeep.warn(self.demand.remark)
        os.close(told)
        self.sub_workflows = SubWorkflows(self.demand, self.jobs, mark)
        self.exchange = Exchange(
            *(self.home, self.port, welcome, self.spool, self.jobs, self.demand, self.sub_workflows, self.beat)
        )
        self.reception = Reception(self)
        self.responses = Responses(self)
        self.last_beat = now = time.monotonic()
        for ended in over:
            self.write_down(ended, now)
        if gone:
            self.others.lose(gone, now)
        if self.jobs.running:
            self.look()  # what goes on may have been told to end while nobody was there
        deadline = expected = now + WELCOME
        while True:
            well: list[Ended] = []
            events = self.poll.poll(self.timeout(), AT_ONCE)
            now = time.monotonic()  # of all that is done before we wait again
            if is_shared:
                self.others.notice_absence()
            for handle, mask in events:
                if handle in self.jobs.running:
                    well += self.reap(handle, now)
                    continue
                self.due = 0.0
                if handle in self.demand.clients:
                    self.reception.attend(handle, mask, now)
                elif handle == self.demand.door:
                    self.reception.welcome(now)
                elif handle == self.responses.handle:
                    self.responses.receive(now)
                elif handle == self.told:
                    self.hear()
                # else a connection that is closed: a job that is just being started may still hold a copy
            for ended in well:
                self.write_down(ended, now)
            if self.is_dismissed:
                self.is_dismissed = False
                self.give_up(now)
            if not self.is_in_full_swing(now):
                self.jobs.ring(now)
                self.turn(now)
                self.due = self.next_due(deadline)
                if self.jobs.running and not self.demand.clients:
                    self.due = min(self.due, self.end_services(now, expected))
            self.jobs.tidy()
            if self.demand.clients or self.jobs.running or self.exchange.unrecorded:
                deadline = 0.0
            elif now >= deadline and self.leave():
                return

    @cached_property
    def others(self) -> Others:
        """Other placeholders of the store; without any, most runners do without."""
        from headway.live.placeholder.others import Others

        return Others(self.exchange, self.jobs, self.sub_workflows, self.silence)

    # --- who wants what --------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Somebody has changed the store: attempts may have to end, others may begin."""
        self.exchange.stir()
        self.exchange.calls_roll = True

    def end(self, leases: Collection[LeaseId], now: Seconds) -> None:
        """Ends attempts that the store wants ended; what has not begun goes back to it."""
        if not leases:
            return
        if self.demand.marks and not self.exchange.trouble:
            leases = self.winding_up.begin(leases)
        self.jobs.end(leases, now)
        self.exchange.put_back(CALLED_OFF, leases)
        if self.sub_workflows.stop_inside(leases, now):
            self.reckon()  # nobody wants these any more

    def give_up(self, now: Seconds) -> None:
        """SIGTERM, as when the machine goes down: what runs is ended and recorded, to be run again."""
        if self.demand.serves:
            self.reception.serving.end(DISMISSED, now)
        self.end_all(now)

    def end_services(self, now: Seconds, expected: Seconds) -> Seconds:
        """Without clients, services end when nothing else runs that they serve; when to look again.

        `expected`: until then the first client of a new runner may still come.
        """
        if any(job.lease.kind != Kind.SERVICE for job in self.jobs.running.values()):
            return math.inf
        if now < expected:
            return expected
        for workflow in {job.lease.workflow for job in self.jobs.running.values()}:
            self.jobs.dismiss(workflow, now)
        return self.jobs.next_alarm()

    def end_all(self, now: Seconds) -> None:
        self.demand.closing = True
        self.reckon()
        for workflow in {job.lease.workflow for job in self.jobs.running.values()}:
            self.sub_workflows.stop(workflow, now)

    def reckon(self) -> None:
        """Who wants what may have changed. Leases that nobody wants any more go back to the store."""
        self.demand.reckon()
        self.jobs.slots, self.jobs.named = self.demand.slots, self.demand.named
        self.jobs.launcher = self.demand.launcher
        self.sub_workflows.reckon()
        self.exchange.reckon()

    def attach(self, line: socket.socket) -> None:
        """A new channel to the store calls: what was under way on the one before is told again on this one."""
        if self.called is None:
            line.close()
            return
        self.called.take(line)
        self.port.hang_up()
        self.exchange.call_at_once()

    # --- jobs ------------------------------------------------------------------------------------------------------

    def reap(self, handle: int, now: Seconds) -> list[Ended]:
        """A job has ended. If it ended well, the next one gets its slot first: it runs while this is written down."""
        ended = self.jobs.reap(handle)
        if ended.status == signal.SIGTERM and self.demand.serves and not ended.job.reason and self.is_told_soon():
            ended.job.reason = DISMISSED  # a queue signals jobs and placeholder alike, and the job was quicker
        if ended.is_well and ended.job.lease.id not in self.sub_workflows.lent:
            self.fill(now)
            return [ended]
        self.write_down(ended, now)
        return []

    def is_told_soon(self) -> bool:
        """Whether a signal comes for this process as well."""
        until = time.monotonic() + TOLD_SOON
        while not self.is_dismissed and (left := until - time.monotonic()) > 0:
            if select.select([self.told], [], [], left)[0]:
                self.hear()
        return self.is_dismissed

    def hear(self) -> None:
        """Takes in which signals have come. SIGCHLD, where there are no pidfds, only wakes us: see exits.py."""
        with contextlib.suppress(BlockingIOError):
            self.is_dismissed = signal.SIGTERM in os.read(self.told, 64) or self.is_dismissed

    def write_down(self, ended: Ended, now: Seconds) -> None:
        finish, lease = self.jobs.settled(ended), ended.job.lease
        self.winding_up.wound.discard(lease.id)
        if lease.workflow in self.recipes:
            from headway.live.placeholder.recipe import settle_recipe

            settle_recipe(self.recipe_starts, finish, lease, ended.job.before or {})
        if lease.id in self.sub_workflows.lent:
            self.reckon()
        if lease.id in self.exchange.lost:  # it is another placeholder's now: how it ended here counts for nothing
            self.exchange.lost.discard(lease.id)
            return
        self.finish(finish, lease, ended.job.place, now)

    def finish(self, finish: Finish, lease: Lease, place: int, now: Seconds) -> None:
        """An end is known: first to the spool, then to those who wait for it."""
        self.exchange.record(finish, place, now)
        self.due = 0.0 if finish.exit_code != 0 else min(self.due, self.exchange.next_due())
        for client in self.demand.clients.values():
            client.note(finish, lease, self.home)
        if finish.exit_code:
            self.sub_workflows.fail_fast(lease, finish.exit_code)
            self.reckon()

    def fill(self, now: Seconds) -> None:
        """Starts prefetched jobs while there are slots; a job wider than all of them gets them all."""
        prefetched = self.exchange.prefetched
        while prefetched and not (self.exchange.trouble or self.exchange.was_away or self.exchange.lost):
            lease, busy = prefetched[0], self.sub_workflows.busy()
            if busy and lease.cores and busy + lease.cores > self.demand.slots:
                return
            try:
                setting = self.exchange.settings[lease.workflow]
                environment = self.demand.environment(lease.workflow, setting.exported)
                start = now if lease.time is None else time.monotonic()  # a time limit counts from the very start
                failed = self.jobs.start(lease, setting.directory, environment, start)
            except LostHomeError as error:
                self.upkeep.abandon(error, now)
                return
            except (NoRoomError, HeadwayError) as error:
                self.exchange.worry(str(error), now)
                return
            prefetched.popleft()
            if failed is not None:
                self.finish(failed, lease, 0, now)

    # --- the store -------------------------------------------------------------------------------------------------

    def turn(self, now: Seconds) -> None:
        """Fills free slots from what is prefetched, and sees the store where there is something to say or to get."""
        self.jobs.sweep()
        if now - self.last_beat > self.beat:
            self.last_beat = now
            if self.demand.serves:
                self.exchange.look_again()
            else:
                self.look()
        try:
            if self.exchange.prefetched:
                self.fill(now)
            while self.exchange.is_due(now):
                self.upkeep.verify(now, LATELY if self.jobs.are_short else 0.0)
                self.exchange.ask()
                now = time.monotonic()  # a store in this process has answered, which took its time
                self.responses.receive(now)
                self.fill(now)
            self.reception.report(now)
        except HeadwayError as error:
            if self.upkeep.is_lost:
                self.exchange.finished.clear()  # there is nowhere left to write it
            else:
                self.exchange.worry(str(error), now)
        if self.port.is_far:
            self.responses.watch()

    # --- time ------------------------------------------------------------------------------------------------------

    def is_in_full_swing(self, now: Seconds) -> bool:
        """Whether every slot is busy and what comes next is prefetched: nothing is to be seen to until it is due."""
        if not self.exchange.prefetched or self.exchange.trouble or self.sub_workflows.busy() < self.demand.slots:
            return False
        return now < self.due

    def timeout(self) -> float | None:
        """How long there is nothing to do but wait; no busy waiting."""
        return None if self.due == math.inf else max(0.0, self.due - time.monotonic())

    def next_due(self, deadline: float) -> float:
        """When there is something to see to; never while nothing can be due."""
        due = min(self.exchange.next_due(), self.jobs.next_alarm(), deadline or math.inf)
        if self.jobs.running or self.demand.clients:
            due = min(due, self.last_beat + self.beat + 0.01)
        for client in self.demand.clients.values():
            due = min(due, client.due())
        return due

    def leave(self) -> bool:
        """Goes, unless somebody came in at the last moment."""
        if not self.demand.closed():
            return False
        with contextlib.suppress(HeadwayError):
            self.port.leave()
        failpoint("leave.left")
        self.spool.settled(idle=True)
        return True
