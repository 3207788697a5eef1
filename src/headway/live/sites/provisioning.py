"""Keeps allocations of a batch queue standing while there is work: asks, looks, cancels.

A row is written before the queue is asked, under a name that the queue shows. So a crash at any instant neither
forgets an allocation nor asks twice for one: what the queue lists under our store's name and the store does not know
is cancelled, and what the store has asked for and the queue does not list, twice in a row, never came.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping

from headway.engine.ready import Within
from headway.live.failpoint import failpoint
from headway.live.home.folder import say
from headway.live.sites.node import MARGIN
from headway.live.sites.queues import NAMES, Listed, Request, Status, queue
from headway.live.sites.shipping import package
from headway.live.sites.vain import Vain
from headway.live.store.allocations import Allocation, State, Wanted, name_of, number_of
from headway.model.errors import HeadwayError
from headway.model.quantities import duration
from headway.policies.how_much.standing import Standing, change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.sites.queue_site import QueueSite
    from headway.live.sites.relayed import Relay

LOOKS = 2  # in a row without an allocation in the queue's list, after which it counts as ended
AT_ONCE = 20  # allocations that are asked for between two looks
PAUSE = 0.2  # seconds after something happened before it is looked at: more may come


class Provisioning:
    """Of one site, for one store."""

    def __init__(
        self, owner: QueueSite, hosts: list[str], port: int, fingerprint: str, relay: Relay | None = None
    ) -> None:
        self._owner, self._store = owner, owner.store
        self._door = {"hosts": hosts, "port": port, "fingerprint": fingerprint}
        self._relay = relay  # where nodes call instead
        self._missing: dict[int, int] = {}  # looks in a row without each
        self._put_back: dict[int, float] = {}  # since when each waits again, and its placeholder has left
        self._wake = asyncio.Event()
        self._open: list[Allocation] = []
        self._too_long = 0  # jobs that no allocation is long enough for
        self._folder = ""  # at the site, for its files
        self.has_looked = False  # the queue has answered
        self._looking = asyncio.Lock()
        self._held: list[str] = []  # what the queue calls allocations that will not start by themselves
        self._listed: dict[int, Listed] = {}  # allocations as the queue listed them last
        self._vain = Vain()
        self._is_over = False

    def wake(self) -> None:
        """There may be more to do, or less."""
        self._wake.set()

    def end(self, life: asyncio.Task[None]) -> None:
        """Ends `run`, which is this task. If what it waits for comes just now, asyncio loses the cancellation."""
        self._is_over = True
        life.cancel()

    def came(self, number: int) -> None:
        """The placeholder of an allocation is there."""
        self._missing.pop(number, None)
        self._put_back.pop(number, None)
        self._vain.came()

    @property
    def has_open(self) -> bool:
        """Whether something was asked for that is not over."""
        return bool(self._open)

    @property
    def said(self) -> list[str]:
        """What people wait for while nothing runs."""
        found = list[str]()
        there = [self._listed.get(one.id) for one in self._open if one.state is not State.RUNNING]
        begun = sum(one is not None and one.status is Status.RUNNING for one in there)
        if queued := len(there) - begun:
            reasons = dict.fromkeys(one.why for one in there if one is not None and one.status is Status.QUEUED)
            why = ", ".join([*filter(None, reasons), *([f"held: {', '.join(self._held)}"] if self._held else [])])
            what = "1 allocation queued" if queued == 1 else f"{queued:,} allocations queued"  # a line has little room
            found.append(f"{what}{why and f' ({why})'} at {self._owner.site.name}")
        if begun:
            what = "1 allocation starting" if begun == 1 else f"{begun:,} allocations starting"
            found.append(f"{what} at {self._owner.site.name}")
        return found

    @property
    def trouble(self) -> str:
        """Why nothing can run as things are; "": it can, or does."""
        return "" if any(one.state is State.RUNNING for one in self._open) else self._vain.said

    @property
    def warning(self) -> str:
        """What people should know of jobs that no allocation is long enough for, or of allocations; "": nothing."""
        if not self._too_long:
            return "" if self.trouble else self._vain.said
        site, jobs = self._owner.site, "1 job is" if self._too_long == 1 else f"{self._too_long:,} jobs are"
        return f"{jobs} expected to take longer than an allocation of {site.name} lasts ({duration(site.time)})."

    async def run(self) -> None:
        """Looks, and acts on it, again and again."""
        while not self._is_over:
            self._wake.clear()
            try:
                await self.look()
                self._owner.trouble = ""
            except HeadwayError as error:
                if str(error) != self._owner.trouble:
                    say(f"site {self._owner.site.name}: {error}")
                self._owner.trouble = f"site {self._owner.site.name}: {error}"
            try:
                await asyncio.wait_for(self._wake.wait(), self._owner.site.look)
                await asyncio.sleep(PAUSE)
            except TimeoutError:
                continue

    async def look(self) -> None:
        """Compares what is wanted with what there is, asks and takes back."""
        async with self._looking:
            await self._look()

    async def withdraw(self) -> None:
        """Takes everything back. Placeholders that run are told to end by their queue, and give their jobs back."""
        async with self._looking:
            await self._cancel(self._store.allocations.open(self._owner.site.name), "sites stop --now")

    async def _look(self) -> None:
        site, store = self._owner.site, self._store
        self._open = store.allocations.open(site.name)
        dialect = queue(site.queue)
        if self._open and self._relay is not None:  # placeholders of before may call
            await self._relayed(self._relay)
        wanted = self._wanted()
        if not self._open and not any(one.eligible for one in wanted.values()) and self.has_looked:
            return
        listed = dialect.listed(await self._owner.remote.run(dialect.listing()))
        await self._compare(listed)
        self._open = store.allocations.open(site.name)
        self.has_looked = True
        wanted = self._wanted()  # somebody may have come while the queue was asked
        free = self._owner.most - len(self._open)
        for nodes in sorted({1, *wanted, *(one.nodes for one in self._open)}, reverse=True):
            there = [one for one in self._open if one.nodes == nodes]
            queued = [one for one in there if one.state in (State.ASKED, State.QUEUED)]
            jobs, granted = wanted.get(nodes, Wanted()), len(there) - len(queued)
            most = len(there) + max(0, free)
            more = change(Standing(jobs.eligible, jobs.running, site.cores, len(queued), granted, most))
            for _ in range(self._vain.allowed(min(more, AT_ONCE), len(queued), time.monotonic())):
                await self._ask(nodes)
            if more < 0 and not self._owner.is_awaiting:
                await self._cancel([one for one in queued if one.queue_id is not None][more:])
            free -= max(0, more)

    def _wanted(self) -> dict[int, Wanted]:
        """Cores that jobs want here, by how many hosts each job runs on."""
        site = self._owner.site
        within = Within(max(1.0, site.time - MARGIN), site.job_time)
        found = self._store.allocations.wanted(self._owner.wanted(), site.name, within)
        self._too_long = sum(one.too_long for one in found.values())
        if not queue(site.queue).launcher:  # jobs of several hosts are for other sites
            return {1: found[1]} if 1 in found else {}
        return found

    async def _compare(self, listed: list[Listed]) -> None:
        """Holds what the store knows against what the queue lists."""
        store, mark = self._store, self._store.id
        known = {one.id: one for one in self._open}
        there: dict[int, Listed] = {}
        strays = list[str]()
        for one in listed:
            number = number_of(mark, one.name)
            if number is None:
                continue
            if number in known:
                there[number] = one
            elif one.status is not Status.ENDING:
                strays.append(one.id)
        held = {one.id: one.why for one in there.values() if one.status is Status.HELD}
        if new := [one for one in held if one not in self._held]:
            what = f"site {self._owner.site.name}: {NAMES[self._owner.site.queue]} holds {', '.join(new)}"
            why = " ".join(dict.fromkeys(filter(None, (held[one] for one in new)))) or "Ask the queue why"
            say(f"{what}, which will not start by itself. {why}. Release or remove it there.")
        self._held, self._listed = list(held), there
        for number, one in there.items():
            self._missing.pop(number, None)
            if known[number].queue_id is None:
                store.allocations.queued(number, one.id)
        if strays:
            say(f"site {self._owner.site.name}: cancelling {', '.join(strays)}, which this store does not know.")
            await self._owner.remote.run(queue(self._owner.site.queue).cancel(strays))
        await self._take_back(known, there)
        gone = list[int]()
        for number in known:
            if number in there:
                continue
            self._missing[number] = self._missing.get(number, 0) + 1
            if self._missing[number] >= LOOKS:
                del self._missing[number]
                gone.append(number)
        if vain := [number for number in gone if known[number].state is not State.RUNNING]:
            why = await self._last_words(vain[-1])
            few = ", ".join(map(str, vain))
            say(f"site {self._owner.site.name}: allocation {few} ended before its placeholder came: {why}.")
            self._vain.note(len(vain), why, time.monotonic(), self._owner.site.look)
        if gone:
            store.allocations.end(gone, "", store.clock())
            self.wake()

    async def _take_back(self, known: Mapping[int, Allocation], there: Mapping[int, Listed]) -> None:
        """Cancels what a queue has put back after its placeholder came, as after preemption: another one is asked for.

        It would wait for nothing, in the place of one that has work: what was begun once is not begun again. One look
        may follow another at once, so some time must lie between two that say so: its placeholder may be coming back.
        """
        waits, now = (Status.QUEUED, Status.HELD), time.monotonic()
        self._put_back = {
            number: self._put_back.get(number, now)
            for number, one in there.items()
            if one.status in waits and known[number].state is State.RUNNING and not self._owner.is_there(number)
        }
        site = self._owner.site
        again = [number for number, since in self._put_back.items() if now - since > site.look / 2]
        if not again:
            return
        ids = [there[number].id for number in again]
        say(f"site {site.name}: cancelling {', '.join(ids)}, which {NAMES[site.queue]} has put back into its queue.")
        done = await self._owner.remote.run(queue(site.queue).cancel(ids))
        if done.code:  # it is over by now, or is tried again as one that the store does not know
            say(f"site {site.name}: {NAMES[site.queue]} did not cancel {', '.join(ids)}: {done.said.strip()[-200:]}")
        self._store.allocations.end(again, "put back into its queue", self._store.clock())
        self.wake()

    async def _last_words(self, number: int) -> str:
        """What an allocation has said last, and where there is more."""
        if not self._folder:
            self._folder = await self._prepared()
        log = f"{self._folder}/{number}.log"
        text, size = await self._owner.remote.piece(log, 0)
        lines = [line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()]
        if size < 0:
            return "it has left no log; the queue's own records may tell why"
        return f"{lines[-1].removeprefix('headway: ').rstrip('.')} ({log})" if lines else f"{log} is empty"

    async def _ask(self, nodes: int = 1) -> None:
        """Asks the queue for one more."""
        site, store, remote = self._owner.site, self._store, self._owner.remote
        if not self._folder:
            self._folder = await self._prepared()
        if self._relay is not None:
            await self._relayed(self._relay)
        dialect = queue(site.queue)
        number, secret = store.allocations.ask(site.name, site.cores, int(site.time), store.clock(), nodes)
        failpoint("allocation.asked")
        base = f"{self._folder}/{number}"
        said = {
            **self._door,
            "token": secret,
            "allocation": number,
            "home": f"{self._folder}/home-{number}",
            "slots": site.cores,
            "nodes": nodes,
            "launcher": list(dialect.launcher),
            "seconds": site.time,
            "unknown": site.job_time,
            "idle": site.idle,
        }
        log = f"{base}.log"
        request = Request(name_of(store.id, number), site.cores, int(site.time), log, site.options, nodes)
        script = dialect.script(request, [*self._python, self._runner, f"{base}.json"])
        try:
            await remote.write(f"{base}.json", json.dumps(said).encode())
            await remote.write(f"{base}.sh", script.encode())
            answer = await remote.run(dialect.submit(f"{base}.sh", request))
        except HeadwayError:
            raise  # whether the queue has it is seen at the next look, by its name
        try:
            queue_id = dialect.submitted(answer)
        except HeadwayError as error:
            store.allocations.end([number], error.what, store.clock())
            raise
        failpoint("allocation.submitted")
        store.allocations.queued(number, queue_id)

    @property
    def _python(self) -> list[str]:
        return [self._owner.site.python or "/usr/bin/python3", "-E", "-s"]

    async def _relayed(self, relay: Relay) -> None:
        """Sees to it that nodes can call the login host."""
        if not self._folder:
            self._folder = await self._prepared()
        await relay.there([*self._python, self._runner], self._folder)
        self._door = {**self._door, "hosts": relay.hosts, "port": relay.port}

    async def _prepared(self) -> str:
        """The folder for our files at the site, with the runner in it."""
        remote, file = self._owner.remote, package()
        found = await remote.shell('printf %s "${XDG_STATE_HOME:-$HOME/.local/state}"')
        if found.code or not found.out.startswith("/"):
            raise HeadwayError(f"site {remote.site.name} cannot be used: {found.said.strip()[-200:] or found.out}.")
        folder = f"{found.out}/headway/{self._store.id}-{remote.site.name}"
        self._runner = f"{folder}/runner-{file.digest[:16]}.pyz"
        there = await remote.run(["sha256sum", self._runner])
        if there.code or not there.out.startswith(file.digest):
            await remote.write(self._runner, file.data)
        return folder

    async def _cancel(self, allocations: list[Allocation], why: str = "not needed any more") -> None:
        """Takes back what waits and is not needed any more; what runs is over when its queue says so."""
        ids = [one.queue_id for one in allocations if one.queue_id is not None]
        if not ids:
            return
        site = self._owner.site
        done = await self._owner.remote.run(queue(site.queue).cancel(ids))
        if done.code:
            say(f"site {site.name}: {NAMES[site.queue]} did not cancel {', '.join(ids)}: {done.said.strip()[-200:]}")
        waiting = [one.id for one in allocations if one.state is not State.RUNNING]
        self._store.allocations.end(waiting, why, self._store.clock())
