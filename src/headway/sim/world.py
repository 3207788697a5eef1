"""A world in memory: placeholders that take jobs of a store and end them, as the runner does, by a simulated clock.

The store is one in memory, or for tests a real one: what it is asked is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Protocol

from headway.engine.ready import Room
from headway.model.messages import Answer, Finish, Lease, LeaseId, Seconds, WorkflowId
from headway.model.record import record
from headway.sim.heap import Heap


class Port(Protocol):
    """What a placeholder needs of a store."""

    def exchange(
        self,
        finished: Sequence[Finish],
        room: Room,
        workflows: Sequence[WorkflowId],
        now: Seconds,
        idle: Sequence[WorkflowId] = (),
    ) -> Answer: ...


@record
class Started:
    """That an attempt began."""

    at: Seconds
    placeholder: str
    slot: int  # the first of those that it has
    job: str
    attempt: int


@record
class End:
    """How long an attempt takes, and how it ends."""

    seconds: Seconds
    exit_code: int = 0


@record
class Running:
    """An attempt under way."""

    lease: Lease
    slots: Sequence[int]
    began: Seconds


class World:
    """Placeholders at one store."""

    def __init__(self, port: Port, heap: Heap, ends: Callable[[Lease], End]) -> None:
        self.port, self.heap, self.ends = port, heap, ends
        self.started: list[Started] = []
        self.placeholders: list[Placeholder] = []

    def join(self, name: str, slots: int, workflows: Sequence[WorkflowId], port: Port | None = None) -> Placeholder:
        """A placeholder comes, and asks for work at once, at a port of its own if it has one."""
        one = Placeholder(self, name, slots, workflows, port or self.port)
        self.placeholders.append(one)
        self.heap.after(0.0, one.ask)
        return one


class Placeholder:
    """Some slots. It asks whenever a job has ended, and when the store says that there may be more."""

    def __init__(self, world: World, name: str, slots: int, workflows: Sequence[WorkflowId], port: Port) -> None:
        self._world, self.name, self.slots, self._workflows = world, name, slots, list(workflows)
        self._port, self._is_gone = port, False
        self._free = list(range(slots))
        self._running: dict[LeaseId, Running] = {}
        self._finished: list[Finish] = []
        self._is_asking = False
        self.over: set[WorkflowId] = set()

    def ask(self) -> None:
        """Tells what has ended and takes what there is room for."""
        self._is_asking = False
        if self._is_gone:
            return
        now = self._world.heap.now
        busy = sum(one.lease.cores for one in self._running.values())
        room = Room(self.slots - busy, self.slots, is_whole=not self._running)
        there = {one.lease.workflow for one in self._running.values()}
        idle = [workflow for workflow in self._workflows if workflow not in there]
        finished, self._finished = self._finished, []
        answer = self._port.exchange(finished, room, self._workflows, now, idle)
        self.over.update(answer.over)
        for lease in answer.leases:
            self._start(lease)
        for lease_id in answer.stops:
            self._end(lease_id, None)
        if answer.wake is not None:
            self._world.heap.after(answer.wake, self._ask_once)
        if finished:  # what has ended here may be what others wait for
            for other in self._world.placeholders:
                if other is not self and other._free:
                    other._ask_once()

    def leave(self) -> dict[int, Seconds]:
        """Goes now, and gives back what runs: how long each of these jobs has run."""
        now = self._world.heap.now
        ran: dict[int, Seconds] = {one.lease.job: now - one.began for one in self._running.values()}
        for lease in list(self._running):
            self._end(lease, None)
        self._is_gone = True
        self._world.placeholders.remove(self)
        if self._finished:
            finished, self._finished = self._finished, []
            self._port.exchange(finished, Room(0, self.slots), self._workflows, now)
        return ran

    def _ask_once(self) -> None:
        if not self._is_asking:
            self._is_asking = True
            self._world.heap.after(0.0, self.ask)

    def _start(self, lease: Lease) -> None:
        heap = self._world.heap
        slots = [heappop(self._free) for _ in range(lease.cores)]
        self._running[lease.id] = Running(lease, slots, heap.now)
        self._world.started.append(Started(heap.now, self.name, slots[0] if slots else -1, lease.name, lease.attempt))
        end = self._world.ends(lease)
        heap.after(end.seconds, lambda: self._end(lease.id, end.exit_code))

    def _end(self, lease: LeaseId, exit_code: int | None) -> None:
        """An attempt is over, or is cancelled."""
        running = self._running.pop(lease, None)
        if running is None:
            return
        for slot in running.slots:
            heappush(self._free, slot)
        self._finished.append(Finish(lease, exit_code, running.began, self._world.heap.now))
        self._ask_once()
