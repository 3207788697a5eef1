"""The runner: one process for each local store that starts jobs, waits for them, and tells the store how they ended.

It outlives whoever started it. While a client is there (or one that left said to go on) it takes new jobs; without, it
finishes what runs, records it and goes. One thread, a selector, a pidfd for each job.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import time
from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush

from headway.live.home import Home
from headway.live.placeholder.clients import Client
from headway.live.placeholder.orphans import MARK, end_orphans, mark
from headway.live.placeholder.spawn import spawn
from headway.live.placeholder.spool import Spool
from headway.live.spec import Spec
from headway.live.store.sqlite import SqliteStore
from headway.model.messages import Finish, Lease, WorkflowId

PATIENCE = 0.005  # seconds an end may wait for company on its way to the store, while every slot is busy
SHORT = 0.008  # seconds: jobs of this length or less are worth having at hand
AHEAD = 4  # leases at hand for each slot while jobs are short
GRACE = 5.0  # seconds between asking a job to end and ending it
BEAT = 10.0


@dataclass(slots=True)
class Running:
    """One job under way."""

    lease: Lease
    pid: int
    started: float
    reason: str = ""  # why it was told to end, if it was


@dataclass
class Runner:
    """The state of one runner. `run` is its life."""

    home: Home
    store: SqliteStore
    slots: int = 1
    clients: dict[socket.socket, Client] = field(default_factory=dict)
    running: dict[int, Running] = field(default_factory=dict)  # by pidfd
    at_hand: deque[Lease] = field(default_factory=deque)
    finished: list[Finish] = field(default_factory=list)
    alarms: list[tuple[float, int, int, int]] = field(default_factory=list)  # when, pidfd, pid, signal
    busy: int = 0  # cores in use
    waiting_since: float = 0.0  # when the oldest end not told to the store came
    typical: float = 1.0  # seconds a job takes, lately
    dry: bool = False  # the store had nothing for us
    directories: dict[WorkflowId, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Recovers, serves, and leaves when nobody needs it."""
        self.spool = Spool(self.home.spool)
        self.placeholder = self.store.enter(socket.gethostname(), os.getpid(), time.time())
        self.recover()
        self.selector = selectors.DefaultSelector()
        self.door = self.home.listen()
        self.selector.register(self.door, selectors.EVENT_READ)
        deadline = time.monotonic() + 10  # for the first client to come
        self.last_beat = time.monotonic()
        while True:
            for key, _ in self.selector.select(self.timeout(deadline)):
                if key.fileobj is self.door:
                    self.welcome()
                elif isinstance(key.fileobj, socket.socket):
                    self.hear(key.fileobj)
                else:
                    self.reap(key.fd)
            self.ring()
            self.turn()
            if self.clients or self.running or self.active():
                deadline = 0.0
            elif time.monotonic() >= deadline and self.leave():
                return

    # --- crashes ---------------------------------------------------------------------------------------------------

    def recover(self) -> None:
        """Takes over from a runner that died: what it spooled is recorded, what it ran is ended and run again."""
        self.store.exchange(self.placeholder, list(self.spool.replay()), 0, 0, 0, (), time.time())
        self.spool.settled(idle=True)
        leases = self.store.open_leases(socket.gethostname())
        if leases:
            end_orphans(self.store.id, self.home.logs)
            now = time.time()
            lost = [Finish(lease, None, ended=now, reason="lost: its runner died") for lease in leases]
            self.store.exchange(self.placeholder, lost, 0, 0, 0, (), now)

    # --- clients ---------------------------------------------------------------------------------------------------

    def active(self) -> list[WorkflowId]:
        """The workflows that somebody wants run."""
        wanted = dict.fromkeys(client.workflow for client in self.clients.values() if client.wants_more)
        return [workflow for workflow in wanted if workflow is not None]

    def welcome(self) -> None:
        try:
            line, _ = self.door.accept()
        except OSError:
            return
        line.setblocking(False)
        self.clients[line] = Client(line)
        self.selector.register(line, selectors.EVENT_READ)

    def hear(self, line: socket.socket) -> None:
        client = self.clients[line]
        for message in client.messages():
            if "workflow" in message:
                self.slots = max(1, int(message.get("slots", 1)))
                self.dry = False
            if message.get("stop") == "now":
                self.stop(client.workflow)
        if client.gone:
            self.selector.unregister(line)
            del self.clients[line]
            line.close()

    def stop(self, workflow: WorkflowId | None) -> None:
        """Ends the jobs of a workflow: they are asked first, and run again another time."""
        kept: deque[Lease] = deque()
        for lease in self.at_hand:
            if lease.workflow == workflow:
                self.finish(Finish(lease.id, None, ended=time.time(), reason="stopped"))
            else:
                kept.append(lease)
        self.at_hand = kept
        for handle, job in self.running.items():
            if job.lease.workflow == workflow:
                self.end(handle, job, "stopped")

    def end(self, handle: int, job: Running, reason: str) -> None:
        """Asks a job's whole process group to end, and makes sure of it after a while."""
        if not job.reason:
            job.reason = reason
            _signal(job.pid, signal.SIGTERM)
            heappush(self.alarms, (time.monotonic() + GRACE, handle, job.pid, signal.SIGKILL))

    # --- jobs ------------------------------------------------------------------------------------------------------

    def reap(self, handle: int) -> None:
        """A job has ended. What it left behind in its process group ends with it."""
        job = self.running[handle]
        _signal(job.pid, signal.SIGKILL)  # while its leader is not reaped, the number is its own
        _, status, usage = os.wait4(job.pid, 0)
        ended = time.time()
        self.selector.unregister(handle)
        os.close(handle)
        del self.running[handle]
        self.busy -= job.lease.cores
        code: int | None = os.waitstatus_to_exitcode(status)
        if job.reason == "stopped":
            code = None
        elif job.reason:
            code = code or -signal.SIGTERM
        taken = ended - job.started
        self.typical += (taken - self.typical) / 8
        self.finish(
            Finish(
                job.lease.id,
                code,
                job.started,
                ended,
                usage.ru_maxrss * 1024,
                usage.ru_utime + usage.ru_stime,
                job.reason,
            ),
            job.lease,
        )

    def finish(self, finish: Finish, lease: Lease | None = None) -> None:
        """An end is spooled before anything else happens to it."""
        self.spool.add(finish)
        if not self.finished:
            self.waiting_since = time.monotonic()
        self.finished.append(finish)
        if lease is not None:
            for client in self.clients.values():
                client.note(finish, lease, self.home)

    def start(self, lease: Lease) -> None:
        spec = Spec.read(lease.spec)
        log = self.home.log(lease.workflow, lease.job, lease.attempt)
        folder = str(log.parent)
        if folder not in self.folders:
            log.parent.mkdir(parents=True, exist_ok=True)
            self.folders.add(folder)
        client = next((c for c in self.clients.values() if c.workflow == lease.workflow), None)
        environment = dict(client.environment if client is not None else os.environ)
        environment.update(spec.environment)
        environment[MARK] = mark(self.store.id, lease.id)
        environment["HEADWAY_JOB"] = lease.name
        environment["HEADWAY_ATTEMPT"] = str(lease.attempt)
        directory = self.directories.get(lease.workflow)
        if directory is None:
            directory = self.directories[lease.workflow] = self.store.directory(lease.workflow)
        started = time.time()
        try:
            pid = spawn(spec, directory, environment, log)
        except (OSError, ValueError) as error:
            log.write_text(f"headway: this job cannot be started: {error}\n")
            self.finish(Finish(lease.id, 127, started, time.time(), reason=f"cannot be started: {error}"), lease)
            return
        handle = os.pidfd_open(pid)
        self.running[handle] = Running(lease, pid, started)
        self.busy += lease.cores
        self.selector.register(handle, selectors.EVENT_READ)
        if lease.time is not None:
            heappush(self.alarms, (time.monotonic() + lease.time, handle, pid, signal.SIGTERM))

    def ring(self) -> None:
        """Alarms that are due: time limits, and jobs that did not end when asked."""
        now = time.monotonic()
        while self.alarms and self.alarms[0][0] <= now:
            _, handle, pid, number = heappop(self.alarms)
            job = self.running.get(handle)
            if job is None or job.pid != pid:
                continue
            if number == signal.SIGKILL:
                _signal(pid, signal.SIGKILL)
            else:
                self.end(handle, job, "time limit")

    # --- the store -------------------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Fills free slots from what is at hand, and sees the store where there is something to say or to get."""
        self.fill()
        while self.is_due():
            self.exchange()
            self.fill()
        for client in self.clients.values():
            mine = sum(job.lease.workflow == client.workflow for job in self.running.values())
            idle = not mine and not self.finished and not self.at_hand
            client.tell(self.slots, mine, idle and (self.dry or not client.wants_more))
        now = time.monotonic()
        if now - self.last_beat > BEAT:
            self.store.beat(self.placeholder, time.time())
            self.last_beat = now

    def fill(self) -> None:
        while self.at_hand and self.busy + self.at_hand[0].cores <= self.slots:
            self.start(self.at_hand.popleft())

    def is_due(self) -> bool:
        active = self.active()
        wants = bool(active) and self.busy < self.slots and not self.at_hand
        if self.finished:
            if self.at_hand and self.busy >= self.slots:
                return time.monotonic() - self.waiting_since >= PATIENCE
            return True
        if self.at_hand and not active:
            return True
        return wants and not self.dry

    def exchange(self) -> None:
        """One transaction: ends go in, leases come out. What nobody wants any more is given back."""
        active, now = self.active(), time.time()
        finished, self.finished = self.finished, []
        if not active and self.at_hand:
            finished += [Finish(lease.id, None, ended=now, reason="given back") for lease in self.at_hand]
            self.at_hand.clear()
        free = self.slots - self.busy - sum(lease.cores for lease in self.at_hand)
        ahead = AHEAD * self.slots - len(self.at_hand) if self.typical <= SHORT else 0
        leases = self.store.exchange(self.placeholder, finished, max(free, 0), self.slots, max(ahead, 0), active, now)
        self.spool.settled()
        self.at_hand.extend(leases)
        self.dry = not leases

    # --- time ------------------------------------------------------------------------------------------------------

    def timeout(self, deadline: float) -> float | None:
        """How long there is nothing to do but wait; no busy waiting, and none at all while nothing can be due."""
        now = time.monotonic()
        times = [self.alarms[0][0]] if self.alarms else []
        if self.finished:
            times.append(self.waiting_since + PATIENCE)
        if self.running or self.clients:
            times.append(self.last_beat + BEAT + 0.1)
        if deadline:
            times.append(deadline)
        times += [due for client in self.clients.values() if (due := client.due()) is not None]
        return max(0.0, min(times) - now) if times else None

    def leave(self) -> bool:
        """Goes, unless somebody came in at the last moment."""
        self.home.close_door()
        self.welcome()
        if self.clients:
            self.selector.unregister(self.door)
            self.door.close()
            self.door = self.home.listen()
            self.selector.register(self.door, selectors.EVENT_READ)
            return False
        self.spool.settled(idle=True)
        self.store.leave(self.placeholder, time.time())
        return True


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def become_runner(home: Home, sync: str) -> None:
    """Makes this process, a fresh child, the runner; returns when its life is over."""
    os.setsid()
    lock = home.locked()
    if lock is None:
        return
    null, talk = os.open(os.devnull, os.O_RDWR), os.open(home.talk, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number, source in ((0, null), (1, talk), (2, talk)):
        os.dup2(source, number)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o022)
    Runner(home, SqliteStore(home.database, sync)).run()
