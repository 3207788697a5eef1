"""Jobs of a simulated workflow, run in its allocations by the rules that every store follows: the engine is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from headway.engine.allocations import Manager, Name, Order
from headway.engine.intake import Intake
from headway.engine.memory import Memory
from headway.engine.progress import Row
from headway.engine.ready import Candidate, Room, Within
from headway.model.messages import Answer, Finish, JobId, LeaseId, Seconds, WorkflowId
from headway.model.states import State
from headway.sim.heap import Heap
from headway.sim.world import End, Placeholder, World


class MappedStore(Memory):
    """A store in memory that offers an allocation the jobs that are mapped to it, and in loose mapping guests."""

    def __init__(self, loose: Manager | None = None) -> None:
        super().__init__()
        self.asking: Name | None = None
        self.now: Seconds = 0.0
        self.done: Sequence[int] = ()  # jobs that the allocation that asks has just ended
        self.newly: list[int] = []  # that have become eligible
        self._loose, self._open = loose, set[int]()
        self._mapping: dict[int, Name] = {}

    def map(self, workflow: WorkflowId, jobs: Sequence[int], name: Name) -> None:
        for job in jobs:
            self._mapping[job] = name
            row = self.rows[workflow, JobId(job)]
            if row.state is State.ELIGIBLE:
                self._index(row)

    def eligible(self, workflow: WorkflowId) -> list[int]:
        return [row.job for row in self.rows.values() if row.workflow == workflow and row.state is State.ELIGIBLE]

    def offers(self, workflow: WorkflowId, lane: int, most: int, within: Within | None = None) -> list[Candidate]:
        if self._loose is None or self.asking is None:
            return super().offers(workflow, lane, most, within)
        places = sorted(
            (self._wants[workflow, JobId(job)].rank, self._arrival(workflow, job), job) for job in self._open
        )
        found = [self._candidate(workflow, JobId(place[2]), lane, place) for place in places]
        own, others = list[Candidate](), list[Candidate]()
        for one in found:
            (own if self._mapping.get(one.place[2]) == self.asking else others).append(one)
        return self._loose.offered(self.asking, own, others, most, self.now, lambda one: one.place[2], self.done)

    def _arrival(self, workflow: WorkflowId, job: int) -> int:
        return self.rows[workflow, JobId(job)].arrival

    def _index(self, row: Row) -> None:
        super()._index(row)
        (self._open.add if row.state is State.ELIGIBLE else self._open.discard)(row.job)

    def _queue_for(self, row: Row, lane: int) -> list[tuple[int, int, int]]:
        self.newly.append(row.job)
        return self._queues.setdefault((WorkflowId(self._mapping.get(row.job, -1)), lane), [])

    def _queue_of(self, workflow: WorkflowId, lane: int) -> list[tuple[int, int, int]]:
        return self._queues.get((WorkflowId(-2 if self.asking is None else self.asking), lane), [])


class MappedJobs:
    """The workflow in a store, and a placeholder in every allocation that runs."""

    def __init__(
        self,
        intake: Intake,
        seconds: Sequence[Seconds],
        heap: Heap,
        told: Callable[[Sequence[int]], None],
        follow: Callable[[Sequence[Order]], None],
        loose: Manager | None = None,
    ) -> None:
        """`told` is called when jobs have ended, once the placeholder has started what it was given.

        `loose`: who says what runs where in loose mapping; `follow` is given what it orders.
        """
        self._store, self._heap, self._told = MappedStore(loose), heap, told
        self._loose, self._follow = loose, follow
        self._workflow = self._store.add(intake)
        self.newly = self._store.newly
        self._world = World(self._store, heap, lambda lease: End(seconds[lease.job]))
        self._placeholders: dict[Name, Placeholder] = {}

    def map(self, jobs: Sequence[int], name: Name) -> None:
        self._store.map(self._workflow, jobs, name)

    def eligible(self) -> list[int]:
        return self._store.eligible(self._workflow)

    def is_there(self, name: Name) -> bool:
        return name in self._placeholders

    def close(self) -> None:
        self._told = lambda done: None
        self._follow = lambda orders: None
        self._placeholders.clear()
        self._world.placeholders.clear()

    def join(self, name: Name, slots: int, until: Seconds) -> None:
        port = _Port(self, name)
        self._placeholders[name] = self._world.join(str(name), slots, [self._workflow], port)

    def leave(self, name: Name) -> dict[int, Seconds]:
        ran = self._placeholders.pop(name).leave()
        if self._loose is not None and ran:  # others may take what was cut off
            for one in self._placeholders.values():
                self._heap.after(0.0, one.ask)
        return ran

    def exchange(
        self, name: Name, finished: Sequence[Finish], room: Room, workflows: Sequence[WorkflowId], done: Sequence[int]
    ) -> Answer:
        self._store.asking, self._store.now, self._store.done = name, self._heap.now, done
        is_empty = room.is_whole and room.most > 0
        answer = self._store.exchange(finished, room, workflows, self._heap.now)
        if self._loose is not None and answer.leases:
            self._follow(self._loose.took(name, [lease.job for lease in answer.leases], self._heap.now))
        elif self._loose is not None and is_empty:
            self._heap.after(0.0, partial(self._idle, name), late=True)  # once it is known what it has ended
        return answer

    def _idle(self, name: Name) -> None:
        if self._loose is not None and self.is_there(name):
            self._follow(self._loose.idle(name, self._heap.now, self.eligible()))

    def ended(self, done: Sequence[int]) -> None:
        self._heap.after(0.0, partial(self._told, done))


class _Port:
    """The store as one allocation's placeholder sees it."""

    def __init__(self, jobs: MappedJobs, name: Name) -> None:
        self._all, self._name = jobs, name
        self._jobs: dict[LeaseId, int] = {}

    def exchange(
        self,
        finished: Sequence[Finish],
        room: Room,
        workflows: Sequence[WorkflowId],
        now: Seconds,
        idle: Sequence[WorkflowId] = (),
    ) -> Answer:
        done = [self._jobs.pop(finish.lease) for finish in finished if finish.exit_code == 0]
        answer = self._all.exchange(self._name, finished, room, workflows, done)
        for lease in answer.leases:
            self._jobs[lease.id] = lease.job
        if done:  # once the placeholder has started what it was given
            self._all.ended(done)
        return answer
