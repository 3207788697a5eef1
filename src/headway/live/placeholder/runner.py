"""The runner: one process for each local store that starts jobs, waits for them, and tells the store how they ended.

It outlives whoever started it. While a client is there that wants more it takes new jobs; without, it finishes what
runs, records it and goes. One thread, a selector, a pidfd for each job.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Collection
from functools import cached_property

from headway.engine.silence import BEATS
from headway.live.failpoint import here
from headway.live.home.folder import Home, LostHomeError
from headway.live.placeholder.clients import Client, Word
from headway.live.placeholder.demand import Desk
from headway.live.placeholder.exchange import Supply
from headway.live.placeholder.jobs import Jobs, NoRoomError
from headway.live.placeholder.launch import LATELY
from headway.live.placeholder.recovery import recover
from headway.live.placeholder.roster import Roster
from headway.live.placeholder.running import CALLED_OFF, Ended
from headway.live.placeholder.spool import Spool
from headway.live.placeholder.sub_workflows import Nesting
from headway.live.store import PASSWORD
from headway.model.errors import HeadwayError, NotFoundError
from headway.model.messages import PATIENCE, Finish, Lease, LeaseId, Seconds, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.placeholder.others import Others
    from headway.live.placeholder.status_lines import Words
    from headway.live.store.protocol import Working

PAUSE = 0.005  # seconds before somebody who could not be let in is let in
AT_ONCE = 16  # events, of jobs that end most often: each may leave its two handles open while others begin
SPARE = 96  # handles for those, for clients and for files of our own
FEWEST = 40  # handles without which there is no room for one job and a few clients
SILENCE = "HEADWAY_SILENCE"  # seconds without a sign of life after which jobs may be given to others
WELCOME = 10.0  # seconds that a new runner waits for its first client


class Runner:
    """The state of one runner. `run` is its life."""

    def __init__(self, home: Home, store: Working, server: str | None = None) -> None:
        self.home = home
        self.store = store
        self.mark = f"{store.id}-{home.identity:x}"
        self.spool = Spool(home.spool)
        self.roster = Roster(home.roster)
        self.spool_path, self.roster_path = str(home.spool), str(home.roster)
        self.renewal = 0.0  # when these may be written again, if they are not in their places
        self.renewals: set[str] = set()  # what was told of that
        self.poll = select.epoll()
        self.jobs = Jobs(home, self.mark, server, self.roster, self.poll)
        self.due = 0.0  # when there is something to see to, if nothing happens before
        self.directories: dict[WorkflowId, str] = {}
        self.recipes: set[WorkflowId] = set()  # whose groups are recipes of make
        self.base = server if server is not None else home.database
        self.words: Words | None = None  # of jobs, once the first has said something
        self.lost = False  # our folder was moved or removed
        self.told, told = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)  # wakes us when a signal has come
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        self.poll.register(self.told, select.EPOLLIN)

    def run(self, told: int) -> None:
        """Recovers, serves, and leaves when nobody needs it. `told` is closed when clients can come."""
        self.silence = patience()
        self.beat = self.silence / BEATS
        self.store.listen()
        self.placeholder = self.store.enter(socket.gethostname(), os.getpid(), self.store.clock(), self.silence)
        is_shared = self.store.is_shared
        before = self.home.remembered(self.placeholder) if is_shared else []  # others hold leases of their own
        mark, spool = self.mark, self.spool
        over = recover(self.home, self.store, self.placeholder, before, mark, spool, self.roster, self.jobs)
        if is_shared:
            self.home.remember([self.placeholder])
        self.desk = Desk(self.home, self.poll, max(1, (most_files() - SPARE) // 2))  # a slot: a pidfd and an output
        if self.desk.remark:
            self.warn(self.desk.remark)
        os.close(told)
        self.nesting = Nesting(self.desk, self.jobs, self.mark)
        self.supply = Supply(
            *(self.home, self.store, self.placeholder, self.spool, self.jobs, self.desk, self.nesting, self.beat)
        )
        if is_shared:
            self.others.keep_listening()
        self.last_beat = time.monotonic()
        for ended in over:
            self.write_down(ended)
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
                    self.attend(handle, mask)
                elif handle == self.desk.door:
                    self.welcome()
                elif is_shared and handle == self.others.ear:
                    self.others.hear()
                else:
                    self.give_up()
            for ended in well:
                self.write_down(ended)
            if not self.is_in_full_swing():
                self.jobs.ring()
                self.turn()
                self.due = self.next_due(deadline)
            self.jobs.tidy()
            if self.desk.clients or self.jobs.running or self.supply.finished:
                deadline = 0.0
            elif time.monotonic() >= deadline and self.leave():
                return

    @cached_property
    def others(self) -> Others:
        """Other placeholders of the store; without any, most runners do without."""
        from headway.live.placeholder.others import Others

        return Others(self.store, self.supply, self.jobs, self.nesting, self.poll, self.silence)

    # --- clients ---------------------------------------------------------------------------------------------------

    def welcome(self) -> None:
        try:
            self.desk.welcome()
        except OSError as error:
            self.supply.worry(f"nobody can be let in: {error.strerror}.")
            time.sleep(PAUSE)

    def attend(self, handle: int, mask: int) -> None:
        """A client has said something, or is gone."""
        client = self.desk.attend(handle, mask)
        if client.is_new and not client.gone:
            self.check(client)
        if client.cancels is not None:
            workflow, at_once = client.cancels
            client.cancels = None
            self.desk.cancel(workflow)
            self.nesting.halt(workflow)
            if at_once:
                self.nesting.stop(workflow)
        self.reckon()
        if client.stops or (client.mark and client.wants_more and client.mark in self.jobs.halted()):
            client.stops = False
            if client.workflow not in self.desk.wanted or client.wants_more:
                self.nesting.halt(client.workflow)
                self.reckon()
        if client.stops_now:
            client.stops_now = False
            if client.workflow not in self.desk.wanted:
                self.nesting.stop(client.workflow)
        if client.asks_to_look:
            client.asks_to_look = False
            self.look()
        if client.asks_password:
            client.asks_password = False
            client.answer({"password": os.environ.get(PASSWORD) if self.store.is_shared else None})
        if client.says is not None:
            self.keep(client, client.says)
        if client.asks_where is not None:
            lease, client.asks_where = client.asks_where, None
            there = [one.workflow for one in self.desk.clients.values()]
            ahead = [one.id for one in self.supply.at_hand]
            begun = [job.lease.id for job in self.jobs.running.values()]
            begun += [one.lease for one in self.supply.finished if self.supply.trouble]  # and cannot be recorded
            said = {"where": lease, "output": self.jobs.output(lease), "clients": there, "ahead": ahead, "begun": begun}
            client.answer({**said, "wanted": self.desk.wanted})

    def check(self, client: Client) -> None:
        """Refuses a client that comes with a workflow which the store does not have."""
        client.is_new = False
        try:
            self.directories[client.workflow] = self.store.directory(client.workflow)
            if client.recipes:
                self.recipes.add(client.workflow)
        except NotFoundError as error:
            client.refuse(error)
            client.workflow = WorkflowId(0)
        except HeadwayError as error:  # it cannot be reached just now
            self.supply.worry(str(error))

    def keep(self, client: Client, word: Word) -> None:
        """A job says something of itself; a provisioner that is ready lets others begin."""
        client.says = None
        if self.words is None:
            from headway.live.placeholder.status_lines import Words

            self.words = Words(self.base)
        try:
            client.answer({"said": self.words.keep(word)})
        except HeadwayError as error:
            client.refuse(error)
        if word.ready:
            self.look()

    def look(self) -> None:
        """Somebody has changed the store: attempts may have to end, others may begin."""
        self.supply.stir()
        self.supply.calls_roll = True

    def end(self, leases: Collection[LeaseId]) -> None:
        """Ends attempts that the store wants ended; what has not begun goes back to it."""
        if not leases:
            return
        leases, inside = self.nesting.wound_up(leases, self.store)
        self.jobs.end(leases)
        self.supply.put_back(CALLED_OFF, leases)
        if self.nesting.stop_inside(leases):
            self.reckon()  # nobody wants these any more
        if inside:
            self.end(inside)
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

    def report(self) -> None:
        """Tells every client how far it is."""
        changed = False
        for handle, client in self.desk.clients.items():
            mine = sum(job.lease.workflow == client.workflow for job in self.jobs.running.values())
            is_busy = mine and client.wants_more and client.workflow not in self.supply.over  # else services may end
            if is_busy and not client.has_news(self.supply.trouble, self.jobs.warnings):
                continue
            over = self.is_over(client, mine)
            others = client.workflow in self.desk.wanted and not client.wants_more
            names = self.jobs.names(client.workflow)
            client.tell(mine, names, self.supply.trouble, over, others, self.jobs.warnings)
            changed = changed or over or client.gone
            self.desk.watch_line(handle, client)
        if changed:
            self.reckon()

    def is_over(self, client: Client, running: int) -> bool:
        """Whether nothing of a client's workflow runs and nothing more is started for it."""
        if not client.workflow or client.over or self.supply.finished:
            return False
        if not client.wants_more and client.workflow in self.desk.wanted:
            return not client.watches  # others go on with it
        if any(lease.workflow == client.workflow for lease in self.supply.at_hand):
            return False
        if running and running > self.jobs.beside(client.workflow):
            return False
        if client.wants_more and (self.supply.trouble or client.workflow not in self.supply.over):
            return False
        if running:
            self.jobs.dismiss(client.workflow)  # services end with what they serve
        return not running

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
        if finish.exit_code != 0 and lease.workflow in self.recipes and ended.job.before:
            from headway.live.placeholder.recipe import remove_target

            remove_target(self.store, finish, lease, ended.job.before)
        if lease.id in self.nesting.lent:
            self.reckon()
        if lease.id in self.supply.lost:  # it is another placeholder's now: how it ended here counts for nothing
            self.supply.lost.discard(lease.id)
            return
        self.finish(finish, lease, ended.job.place)

    def finish(self, finish: Finish, lease: Lease, place: int = 0) -> None:
        """An end is known: first to the spool, then to whoever waits for it."""
        self.supply.record(finish, place)
        self.due = 0.0 if finish.exit_code != 0 else min((self.due, *self.supply.times()))
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
                directory = self.directories.get(lease.workflow)
                if directory is None:
                    directory = self.directories[lease.workflow] = self.store.directory(lease.workflow)
                failed = self.jobs.start(lease, directory, self.desk.environment(lease.workflow))
            except LostHomeError as error:
                self.abandon(error)
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
        is_time = time.monotonic() - self.last_beat > self.beat
        if is_time:
            self.last_beat = time.monotonic()
            self.look()
        try:
            self.fill()
            while self.supply.is_due():
                self.exchange()
                self.fill()
            if is_time and self.store.is_shared and not self.supply.trouble:
                self.store.reclaim(self.placeholder, self.store.clock())
            self.report()
        except HeadwayError as error:
            if self.lost:
                self.supply.finished.clear()  # there is nowhere left to write it
            else:
                self.supply.worry(str(error))
        if self.store.is_shared:
            self.others.keep_listening()

    def exchange(self) -> None:
        """Sees the store, and passes on what it says."""
        self.verify(LATELY)
        answer = self.supply.exchange()
        if answer.over or answer.stuck:
            self.verify()  # nobody is told that all is well of a store that is gone
        if answer.lost:
            self.others.lose(answer.lost)
        if self.store.is_shared:
            self.others.hear()
        self.jobs.launch.forget_place()
        if answer.done:
            for client in self.desk.clients.values():
                if client.workflow in answer.done:
                    client.credit(answer.done[client.workflow])
        if answer.stops:
            self.end(answer.stops)
        self.desk.take_turns()

    def verify(self, lately: Seconds = 0.0) -> None:
        """Checks that our folder, and our files in it, are where they were; a look `lately` seconds ago will do."""
        if self.lost:
            return
        try:
            looked = self.home.verify(lately)
        except LostHomeError as error:
            self.abandon(error)
            return
        if looked and not (self.roster.is_at(self.roster_path) and self.spool.is_at(self.spool_path)):
            self.renew_files()

    def renew_files(self) -> None:
        """Writes the roster and the spool again if somebody has deleted or replaced them."""
        from headway.live.placeholder.lost_files import renewed

        if time.monotonic() < self.renewal:
            return
        self.renewal = time.monotonic() + self.beat
        remarks = set()
        if not self.roster.is_at(self.roster_path):
            remarks.add(renewed(self.roster, self.home.roster))
        if not self.spool.is_at(self.spool_path):
            remarks.add(renewed(self.spool, self.home.spool))
        for remark in sorted(remarks - self.renewals):
            self.warn(remark)
        self.renewals = remarks

    def warn(self, remark: str) -> None:
        """Tells every client, and the log."""
        print(f"headway: {remark}", file=sys.stderr, flush=True)
        self.jobs.warnings.append(remark)

    def abandon(self, error: LostHomeError) -> None:
        """Our folder was moved or removed. Clients are told, what runs is ended, and recorded if there is a store."""
        self.lost = True
        print(f"headway: {error}", file=sys.stderr, flush=True)
        self.jobs.move(str(self.home.folder.parent), self.home.now_at)
        self.end_all()
        self.desk.dismiss(error)

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
        times = [due for client in self.desk.clients.values() if (due := client.due()) is not None]
        if (alarm := self.jobs.next_alarm()) is not None:
            times.append(alarm)
        times += self.supply.times()
        if self.jobs.running or self.desk.clients:
            times.append(self.last_beat + self.beat + 0.01)
        if deadline:
            times.append(deadline)
        return min(times, default=math.inf)

    def leave(self) -> bool:
        """Goes, unless somebody came in at the last moment."""
        if not self.desk.closed():
            return False
        with contextlib.suppress(HeadwayError):
            self.store.leave(self.placeholder, self.store.clock())
        here("leave.left")
        self.spool.settled(idle=True)
        return True


def most_files() -> int:
    """How many files this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 1 << 20


def patience() -> Seconds:
    """How long this placeholder may be silent before its jobs are given to others."""
    with contextlib.suppress(ValueError):
        return min(max(float(os.environ.get(SILENCE, PATIENCE)), 0.1), 86400.0)
    return PATIENCE
