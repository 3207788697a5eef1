"""The near end of a site with a batch queue: asks for allocations, and is the store to the placeholders in them.

To commands on this host it is the runner there: its door is in the site's folder. It keeps as many allocations as
there is work for, and stays while somebody here wants something of the site, or an allocation is not over.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import Coroutine
from pathlib import Path

from headway.live.client.messages import (
    REQUESTS,
    RESPONSES,
    Cancel,
    Failure,
    Fetch,
    Heard,
    Piece,
    Place,
    Progress,
    Stop,
    Where,
)
from headway.live.doors.store_end import StoreEnd
from headway.live.doors.tls_door import TlsDoor
from headway.live.home.folder import Home, say
from headway.live.placeholder.outputs import RUNNING
from headway.live.placeholder.roster import output_of
from headway.live.sites.allocation_end import AllocationEnd
from headway.live.sites.failures import Failures
from headway.live.sites.guests import Guest
from headway.live.sites.origin import remember
from headway.live.sites.provisioning import Provisioning
from headway.live.sites.relayed import Relay
from headway.live.sites.remote import Remote
from headway.live.sites.site import Site
from headway.live.sites.standing import Troubles, note, standing
from headway.live.store import opened
from headway.model.errors import HeadwayError
from headway.model.messages import LeaseId, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.client.messages import Stand

WELCOME = 10.0  # seconds that a new one waits for its first client
ALONE = 600.0  # seconds for which a queue that does not answer is asked though nobody here wants anything
LOOPBACK = "127.0.0.1"
PACE = 0.2  # seconds between two reports to clients


class QueueSite:
    """The state of one. `run` is its life."""

    def __init__(self, home: Home, place: str | Path, sync: str, site: Site) -> None:
        self._home, self.site = home, site
        self.store = opened(place, sync)
        remember(place)
        self._door = home.listen()
        self._folder = os.open(home.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._guests: dict[socket.socket, Guest] = {}
        self._stopped: dict[socket.socket, str] = {}  # who wants nothing more begun
        self.failures = Failures(self.store, site.name)
        self._before: dict[WorkflowId, int] = {}
        self.done: dict[WorkflowId, int] = {}  # jobs of each workflow that were done here
        self._since = time.monotonic()
        self._awaits = self._since + WELCOME  # until when its first client may be on its way
        self.trouble = ""
        self._troubles = Troubles(home)
        self._streams = 2
        self._tasks: set[asyncio.Task[None]] = set()
        self._standing = standing(home)  # allocations that are kept for workflows that nobody here waits for

    def run(self, told: int) -> None:
        asyncio.run(self._live(told))

    async def _live(self, told: int) -> None:
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, over.set)
        host, _, port = self.site.address.partition(":")
        self._tls = TlsDoor(self.store, self._home.folder, self._admitted)
        host = host or LOOPBACK  # other hosts can come only if the site's address says so
        try:
            number = await self._opened(host, int(port or 0))
        except (OSError, ValueError) as error:
            what = f"site {self.site.name}: this computer cannot listen at {self.site.address}: {error}."
            raise HeadwayError(what, "Correct the site's address in headway.toml.") from None
        self.remote = Remote(self.site)
        relay = Relay(self._home, self.site, number) if self.site.is_relayed else None
        self.provisioning = Provisioning(self, [host], number, self._tls.fingerprint, relay)
        loop.add_reader(self._door.socket, self._welcome)
        os.close(told)
        work = asyncio.create_task(self.provisioning.run())
        try:
            while not over.is_set() and not self._is_over():
                self._report()
                try:
                    await asyncio.wait_for(over.wait(), PACE)
                except TimeoutError:
                    continue
        finally:
            self._door.hide()
            self.provisioning.end(work)
            if self._is_removed():
                with contextlib.suppress(HeadwayError):
                    await self.provisioning.withdraw()
            if relay is not None:
                await relay.close()
            self._tls.close()
            await asyncio.gather(work, return_exceptions=True)
            await self.remote.close()

    async def _opened(self, host: str, port: int) -> int:
        """Listens where the last process of this site did, if it can: placeholders call there."""
        note = self._home.folder / "port"
        before = note.read_text().strip() if note.exists() else ""
        try:
            number = await self._tls.open(host, port or (int(before) if before.isdecimal() else 0))
        except OSError:
            if port or not before:
                raise
            number = await self._tls.open(host, 0)
        note.write_text(f"{number}\n")
        return number

    def _admitted(self, said: dict[str, Any]) -> StoreEnd | None:
        """The end of the store for the placeholder of an allocation; None: it is none of ours."""
        number, token, instance = said.get("allocation"), said.get("token"), said.get("instance")
        if not isinstance(number, int) or not isinstance(token, str) or not isinstance(instance, str):
            return None
        store = self.store
        if not 0 < number < 1 << 62 or not store.allocations.admit(
            number, self.site.name, token, instance, store.clock()
        ):
            say(f"somebody with a wrong token was not let in (allocation {number}).")
            return None
        if self.is_there(number):
            say(f"somebody else showed the token of allocation {number} while its placeholder is here: not let in.")
            return None
        self.provisioning.came(number)
        return AllocationEnd(self, number)

    def is_there(self, number: int) -> bool:
        """Whether the placeholder of an allocation is connected."""
        return any(isinstance(end, AllocationEnd) and end.allocation == number for end in self._tls.ends)

    # --- clients on this host ----------------------------------------------------------------------------------------

    def _welcome(self) -> None:
        from headway.live.client.door import full, peer

        try:
            line = full(self._door.accept())
        except BlockingIOError:
            return
        if peer(line) != os.geteuid():
            line.close()
            return
        self._streams += 1
        guest = Guest(line, self._streams, self.site.name)
        self._guests[line] = guest
        asyncio.get_running_loop().add_reader(line, self._hear, guest)

    def _hear(self, guest: Guest) -> None:
        for line in guest.heard(self.site.cores):
            self._take(guest, line)
        if guest.uses is not None:
            self.site = self.remote.site = Site.heard(guest.uses)
            guest.uses = None
        if guest.stands is not None:
            self._do(self._stand(guest, guest.stands))
            guest.stands = None
        if guest.run is not None and guest.line not in self._stopped:
            self.failures.follow(guest)
            self._want(WorkflowId(guest.run.workflow))
        if guest.is_gone:
            self._drop(guest)

    def _take(self, guest: Guest, line: bytes) -> None:
        message = REQUESTS.decode(line)
        if isinstance(message, Stop):
            self._stopped[guest.line] = message.stop
            self._unwant(guest)
            if message.stop == "now" and guest.run is not None:
                self.call_off(WorkflowId(guest.run.workflow))
        elif isinstance(message, Cancel):
            for other in self._guests.values():
                if other.run is not None and other.run.workflow == message.cancel:
                    self._stopped[other.line] = "now"
                    self._unwant(other)
            if message.now:
                self.call_off(WorkflowId(message.cancel))
        elif isinstance(message, Fetch):
            self._do(self._fetch(guest, message))
        elif isinstance(message, Where):
            self._do(self._tell_where(guest, message))
        else:
            guest.answer_alone(line)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # else it might be forgotten before it has ended
        task.add_done_callback(self._tasks.discard)

    async def _tell_where(self, guest: Guest, asked: Where) -> None:
        """Where the job of a lease writes that runs in an allocation: its placeholder has noted it in its folder."""
        home = self.store.allocations.home_of(LeaseId(asked.where)) if asked.where else None
        output = None if home is None else output_of(await self.remote.whole(f"{home}/roster"), LeaseId(asked.where))
        path = None if output is None else f"{home}/logs/{RUNNING}/{output}"
        there = [int(workflow) for workflow in self._before]
        guest.give(Place(asked.where, path, there, [], [], there))

    async def _fetch(self, guest: Guest, wanted: Fetch) -> None:
        """A piece of a file, such as a log."""
        data, size = await self.remote.piece(wanted.fetch, wanted.at)
        import base64

        guest.give(Piece(base64.b64encode(data).decode(), size))

    async def _stand(self, guest: Guest, wish: Stand) -> None:
        """Somebody wants it to work for all that was submitted from now on, or no more."""
        self._standing, self._awaits = wish.stand, 0.0
        note(self._home, wish.stand)
        try:
            if wish.now:
                await self.provisioning.withdraw()
            await self.provisioning.look()
        except HeadwayError as error:
            if wish.stand:
                self._standing = 0
                note(self._home, 0)
                guest.refuse(HeadwayError(f"site {self.site.name}: {error.what}", error.fix))
                return
        guest.give(Heard(True))

    @property
    def most(self) -> int:
        """How many allocations there may be at once."""
        return max(self.site.allocations if self._before else 0, self._standing)

    @property
    def is_awaiting(self) -> bool:
        """Whether nobody has said yet what is wanted, as after a crash: what waits in the queue is kept for them."""
        return time.monotonic() < self._awaits

    def wanted(self) -> list[WorkflowId]:
        """The workflows that placeholders here work for: those that somebody waits for, or all that were submitted."""
        found = self.store.placeholders.wanted(self.site.name)
        return found if self._standing else [workflow for workflow in found if workflow in self._before]

    def call_off(self, workflow: WorkflowId) -> None:
        """Ends what runs of a workflow at this site."""
        leases = [lease for of, lease in self.store.allocations.running(self.site.name) if of == workflow]
        self.store.steering.stop_attempts(workflow, leases)

    def _want(self, workflow: WorkflowId) -> None:
        self._awaits = 0.0
        if workflow not in self._before:
            self._before[workflow] = self.done.get(workflow, 0)
            self.store.submissions.want(workflow, [self.site.name])
            self.provisioning.wake()

    def _unwant(self, guest: Guest) -> None:
        """Nothing new begins for a client, unless another one wants the same."""
        if guest.run is None:
            return
        workflow = WorkflowId(guest.run.workflow)
        others = (
            one
            for one in self._guests.values()
            if one is not guest and one.line not in self._stopped and one.run is not None
        )
        if workflow in self._before and not any(one.run and one.run.workflow == workflow for one in others):
            del self._before[workflow]
            self.store.submissions.unwant_at(workflow, self.site.name)
            self.provisioning.wake()

    def _drop(self, guest: Guest) -> None:
        asyncio.get_running_loop().remove_reader(guest.line)
        self._unwant(guest)
        self._guests.pop(guest.line, None)
        self._stopped.pop(guest.line, None)
        self.failures.forget(guest)
        guest.line.close()

    # --- how far it is -----------------------------------------------------------------------------------------------

    def _report(self) -> None:
        """Tells clients how far their workflows are."""
        trouble = ""
        running: dict[WorkflowId, int] = {}
        failed: dict[Guest, list[Failure]] = {}
        there = [guest for guest in self._guests.values() if _about(guest) and not guest.is_gone]
        try:
            if there:
                for workflow, _ in self.store.allocations.running(self.site.name):
                    running[workflow] = running.get(workflow, 0) + 1
            if self.failures.are_new:
                failed, self.failures.are_new = {guest: self._stop_after_failure(guest) for guest in there}, False
        except HeadwayError as error:
            trouble = str(error)
        self._troubles.note((trouble or self.trouble or self._vain()).removeprefix(f"site {self.site.name}: "))
        for guest in there:
            workflow = _about(guest)
            is_over = not trouble and self._is_done(guest, workflow, running.get(workflow, 0))
            done = self.done.get(workflow, 0)
            count = running.get(workflow, 0)
            names = [] if count else self.provisioning.said
            warning = self.provisioning.warning
            news = [warning] if warning and warning != guest.warned else []
            guest.warned = warning or guest.warned
            worry = trouble or self.trouble or self._vain()
            said = Progress(done, count, names, failed.get(guest, []), worry, is_over, warnings=news)
            guest.pass_on(RESPONSES.encode(said))
            if is_over:
                self._unwant(guest)
                guest.run = guest.watches = None
        for guest in list(self._guests.values()):
            guest.flush()
            if guest.is_gone:
                self._drop(guest)

    def _stop_after_failure(self, guest: Guest) -> list[Failure]:
        """Begins nothing new for a client that wants that once a job has failed; the jobs that failed here."""
        found = [] if guest.line in self._stopped else self.failures.new(guest)
        if found:
            self._stopped[guest.line] = "gently"
            self._unwant(guest)
        return found

    def _vain(self) -> str:
        """Why its allocations are of no use just now."""
        why = self.provisioning.trouble
        return f"site {self.site.name}: {why}" if why else ""

    def _is_done(self, guest: Guest, workflow: WorkflowId, running: int) -> bool:
        if guest.line in self._stopped:
            return running == 0
        if guest.run is None and workflow in self._before:
            return False
        return running == 0 if guest.run is None else not self.store.progress.is_under_way(workflow)

    def _is_over(self) -> bool:
        now, work = time.monotonic(), self.provisioning
        if self._is_removed() or self._guests or self._standing or self._tls.count or work.has_open:
            self._since = now
            return self._is_removed()
        return now - self._since > (WELCOME if work.has_looked else ALONE)

    def _is_removed(self) -> bool:
        """Whether the folder was removed (not renamed) while nobody uses the site: nobody finds this process again."""
        return not self._guests and os.fstat(self._folder).st_nlink == 0


def _about(guest: Guest) -> WorkflowId:
    """The workflow that a client wants to be told of; 0: none."""
    if guest.run is not None:
        return WorkflowId(guest.run.workflow)
    return WorkflowId(0 if guest.watches is None else guest.watches.watch)


def become_queue_site(home: Home, place: str | Path, sync: str, site: Site, told: int) -> int:
    """Makes this process, a fresh child in a session of its own, the near end of a site, unless there is one."""
    from headway.live.placeholder.process import live

    return live(home, told, lambda: QueueSite(home, place, sync, site).run)
