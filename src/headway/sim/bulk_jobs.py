"""Jobs that run in the allocations they are mapped to, worked out in bulk: most trials of an evaluation are this.

A simulated workflow has jobs and arcs and nothing else, and in strict mapping nobody looks beyond an allocation's own
jobs. Then the engine's rules come down to counting parents. `mapped_jobs.MappedJobs` asks the engine itself; a
property test holds this to it, trial by trial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush

from headway.engine.allocations import Name
from headway.engine.intake import Intake
from headway.model.messages import Seconds
from headway.model.record import field, mutable
from headway.model.states import Kind, State
from headway.sim.heap import Heap

_WAITING, _ELIGIBLE, _RUNNING, _DONE = range(4)
_BEGINNING = {State.WAITING: _WAITING, State.ELIGIBLE: _ELIGIBLE, State.DONE: _DONE}


class Beginning:
    """A workflow before anything runs, in a form that is quickly copied."""

    def __init__(self, intake: Intake) -> None:
        rows = list(intake.rows())
        self.milestones = [row[1] == Kind.MILESTONE for row in rows]
        self.states = bytearray(_BEGINNING[State(row[2])] for row in rows)
        self.ranks, self.arrivals = [row[3] for row in rows], [row[4] for row in rows]
        self.waits = [row[5] for row in rows]
        self.arrived = intake.arrivals
        self.children: list[list[int]] = [[] for _ in rows]
        for parent, child, _ in sorted(intake.arcs()):
            self.children[parent].append(child)


@mutable
class Holder:
    """An allocation that runs: what it has and what it has not told yet."""

    slots: int
    free: int
    queue: list[tuple[int, int, int]]  # rank, arrival, job
    running: dict[int, Seconds] = field(default_factory=dict)  # since when
    ended: list[int] = field(default_factory=list)
    asking: bool = False
    gone: bool = False


class BulkJobs:
    """What runs where, by counts and heaps."""

    def __init__(
        self,
        beginning: Beginning,
        seconds: Sequence[Seconds],
        cores: Sequence[int],
        heap: Heap,
        told: Callable[[Sequence[int]], None],
    ) -> None:
        """`told` is called when jobs have ended, once everybody who was given others has started them."""
        self._children, self._milestones, self._ranks = beginning.children, beginning.milestones, beginning.ranks
        self._states, self._waits = bytearray(beginning.states), list(beginning.waits)
        self._arrivals, self._arrived = list(beginning.arrivals), beginning.arrived
        self._seconds, self._cores, self._heap, self._told = seconds, cores, heap, told
        self._mapping: dict[int, Name] = {}
        self._queues: dict[Name, list[tuple[int, int, int]]] = {}
        self._holders: dict[Name, Holder] = {}
        self.newly: list[int] = []  # jobs that have become eligible

    def map(self, jobs: Sequence[int], name: Name) -> None:
        for job in jobs:
            self._mapping[job] = name
            if self._states[job] == _ELIGIBLE:
                self._offer(job)

    def eligible(self) -> list[int]:
        return [job for job, state in enumerate(self._states) if state == _ELIGIBLE]

    def is_there(self, name: Name) -> bool:
        return name in self._holders

    def close(self) -> None:
        self._told = lambda done: None

    def join(self, name: Name, slots: int, until: Seconds) -> None:
        """An allocation begins: it asks for work at once."""
        one = self._holders[name] = Holder(slots, slots, self._queues.setdefault(name, []))
        self._heap.after(0.0, partial(self._ask, one))

    def leave(self, name: Name) -> dict[int, Seconds]:
        """It ends, and jobs that run there are cut off: how long each has run."""
        one, now = self._holders.pop(name), self._heap.now
        one.gone = True
        done, ran = one.ended, {job: now - since for job, since in one.running.items()}
        self._tell(done)
        for job in one.running:
            self._states[job] = _ELIGIBLE
            self._offer(job)  # keeps its arrival: it was next, and is again
        if done:
            self._heap.after(0.0, partial(self._told, done))
        return ran

    # --- inside ----------------------------------------------------------------------------------------------------

    def _offer(self, job: int) -> None:
        self.newly.append(job)
        name = self._mapping.get(job)
        if name is not None:
            heappush(self._queues.setdefault(name, []), (self._ranks[job], self._arrivals[job], job))

    def _ask(self, one: Holder) -> None:
        """Tells what has ended and takes what there is room for; a wide job at the front waits for room."""
        one.asking = False
        if one.gone:
            return
        heap, states, cores, queue = self._heap, self._states, self._cores, one.queue
        done, one.ended = one.ended, []
        if done:
            self._tell(done)
            heap.after(0.0, partial(self._told, done))
        now = heap.now
        while one.free and queue:
            _, arrival, job = queue[0]
            if states[job] == _ELIGIBLE and self._arrivals[job] == arrival:
                wanted = min(cores[job], one.slots)
                if wanted > one.free:
                    break
                states[job] = _RUNNING
                one.free -= wanted
                one.running[job] = now
                heap.after(self._seconds[job], partial(self._end, one, job, wanted))
            heappop(queue)
        if done:  # what has ended here may be what others wait for
            for other in self._holders.values():
                if other is not one and other.free:
                    self._ask_once(other)

    def _ask_once(self, one: Holder) -> None:
        if not one.asking:
            one.asking = True
            self._heap.after(0.0, partial(self._ask, one))

    def _end(self, one: Holder, job: int, cores: int) -> None:
        if not one.gone:
            one.free += cores
            del one.running[job]
            one.ended.append(job)
            self._ask_once(one)

    def _tell(self, done: Sequence[int]) -> None:
        """As engine.progress.release: children of jobs that are done, and of milestones that follow at once."""
        waits, states, milestones = self._waits, self._states, self._milestones
        for job in done:
            states[job] = _DONE
            stack = [job]
            while stack:
                for child in self._children[stack.pop()]:
                    waits[child] -= 1
                    if not waits[child] and states[child] == _WAITING:
                        if milestones[child]:
                            states[child] = _DONE
                            stack.append(child)
                        else:
                            states[child] = _ELIGIBLE
                            self._arrived += 1
                            self._arrivals[child] = self._arrived
                            self._offer(child)
