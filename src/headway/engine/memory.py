"""A store in memory: whole workflows on a board, for simulations and for tests of the rules.

It answers as a store does, by the same rules and in the same order; it only has no database, and forgets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush

from headway.engine.board import Board
from headway.engine.claim import Taken, Traits
from headway.engine.exchange import give
from headway.engine.intake import Intake
from headway.engine.outlook import Outlook
from headway.engine.progress import Changes, Key, Node, Row
from headway.engine.ready import Candidate, Lane, Room, Within
from headway.engine.step import step
from headway.model.messages import Answer, Finish, JobId, Lease, LeaseId, Seconds, WorkflowId
from headway.model.record import record, replace
from headway.model.states import MET, Halt, Kind, Needs, State

_BESIDE = (Kind.SERVICE, Kind.PROVISIONER)
STATES = tuple(State)
_Place = tuple[int, int, int]  # rank, arrival, place in its workflow


@record
class Wants:
    """What of a job does not change while it runs."""

    name: str
    rank: int
    cores: int
    lane: int
    memory: int
    limit: Seconds | None = None
    expected: Seconds | None = None


class Memory(Board):
    """Rows of workflows, and who holds them."""

    def __init__(self) -> None:
        super().__init__()
        self.leases: list[Lease] = []  # that the exchange which is under way gives
        self.stops: dict[LeaseId, Key] = {}  # attempts that are to end
        self.returned: dict[WorkflowId, tuple[Halt, int]] = {}  # workflows that one of their jobs has ended
        self._traits: dict[WorkflowId, Traits] = {}
        self._wants: dict[Key, Wants] = {}
        self._held: dict[LeaseId, Key] = {}
        self._attempts: dict[Key, int] = {}
        self._last_lease = 0
        self._queues: dict[tuple[WorkflowId, int], list[_Place]] = {}  # eligible jobs
        self._seen: dict[Key, tuple[State, bool]] = {}  # the last state, and whether it is a node that is open
        self._counts: dict[tuple[WorkflowId, State], dict[int, int]] = {}  # by kind, without nodes that are open
        self._lanes: dict[tuple[WorkflowId, int], int] = {}  # jobs that run in each
        self._later: set[Key] = set()

    def add(self, intake: Intake) -> WorkflowId:
        """Takes a workflow in. Jobs that one end makes eligible come by their place, as in every store."""
        workflow = WorkflowId(len(self._traits) + 1)
        lanes = {lane: Lane(category, most, named) for lane, category, most, named in intake.all_lanes()}
        final = None if intake.final is None else JobId(intake.final)
        self._traits[workflow] = Traits(intake.special, final, lanes)
        names = [*intake.flat.dag.names, *(entry.name for entry in intake.extra)]
        jobs = [*intake.flat.jobs, *(entry.job for entry in intake.extra)]
        for job, rules, parts, owner, late in intake.all_nodes():
            owned = None if owner is None else JobId(owner)
            self.nodes[workflow, JobId(job)] = Node(
                rules, rules.begins, parts=parts, owner=owned, late=None if late is None else JobId(late)
            )
        for parent, child, weak in sorted(intake.arcs()):
            self.arcs.setdefault((workflow, JobId(parent)), []).append((JobId(child), int(weak)))
        first = self.arrivals
        self.arrivals += intake.arrivals
        self._parts = None
        for job, kind, state, rank, arrival, waiting, retries, cores, lane, memory in intake.rows():
            row = Row(workflow, JobId(job), STATES[state], waiting, 0, retries, kind, arrival=first + arrival)
            known = jobs[job]
            times = (None, None) if known is None else (known.resources.time, known.seconds)
            self._wants[row.key] = Wants(names[job], rank, cores, lane, memory, *times)
            self.rows[row.key] = row
            self._index(row)
        return workflow

    def name(self, workflow: WorkflowId, job: JobId) -> str:
        return self._wants[workflow, job].name

    def states(self, workflow: WorkflowId) -> dict[str, State]:
        """The state of every job; milestones and processes left out."""
        return {
            self._wants[key].name: row.state
            for key, row in self.rows.items()
            if row.workflow == workflow and row.kind not in (Kind.MILESTONE, Kind.PART)
        }

    # --- the exchange ------------------------------------------------------------------------------------------------

    def exchange(
        self,
        finished: Sequence[Finish],
        room: Room,
        workflows: Sequence[WorkflowId],
        now: Seconds,
        idle: Sequence[WorkflowId] = (),
        holds: Collection[LeaseId] = (),
    ) -> Answer:
        """Attempts that ended go in, and the next jobs come out."""
        changes = None
        if finished or holds:
            changes = step(self, finished, now, holds)
            self.save(changes)
        self.leases = []
        return give(self, changes, room, workflows, now, idle)

    def leased(self, lease: LeaseId) -> Row | None:
        key = self._held.get(lease)
        row = None if key is None else self.rows[key]
        return row if row is not None and row.lease == lease else None

    def save(self, changes: Changes) -> None:
        """Takes in what a rule has changed; rows and nodes are what they are by now."""
        for key in changes.spent:
            self.arcs[key] = [
                (child, Needs.END_MET if needs == Needs.END else needs) for child, needs in self.arcs.get(key, ())
            ]
        for key in changes.counted:
            self.arcs[key] = [(child, MET.get(needs, needs)) for child, needs in self.arcs.get(key, ())]
        for key, factor in changes.grown:
            old = self._wants[key]
            self._wants[key] = replace(old, memory=int(old.memory * factor))
        for workflow, returns in changes.aborts.items():
            self.returned[workflow] = returns
            held = (row.lease for row in self.rows.values() if row.workflow == workflow)
            changes.stops += [lease for lease in held if lease is not None]
        for lease in changes.stops:
            self.stops[lease] = self._held[lease]
        for (_, job), because in changes.premature_starts:
            if (job, because) not in self.premature_starts:
                self.premature_starts.append((job, because))
        for finish in changes.ended:
            self._held.pop(finish.lease, None)
            self.stops.pop(finish.lease, None)
        for row in changes.rows.values():
            self._index(row)

    def _index(self, row: Row) -> None:
        """Keeps what is asked for often: who is eligible, how many are in each state, how many run in each lane."""
        key, state, wants = row.key, row.state, self._wants[row.key]
        if state is State.ELIGIBLE:
            heappush(self._queue_for(row, wants.lane), (wants.rank, row.arrival, row.job))
        before = self._seen.get(key, (None, False))
        is_open = state is State.RUNNING and row.lease is None  # in the hands of its processes
        if before == (state, is_open):
            return
        for (known, was_open), change in ((before, -1), ((state, is_open), 1)):
            if known is not None and not was_open:
                counts = self._counts.setdefault((row.workflow, known), {})
                counts[row.kind] = counts.get(row.kind, 0) + change
            if known is State.RUNNING:
                lane = (row.workflow, wants.lane)
                self._lanes[lane] = self._lanes.get(lane, 0) + change
        self._seen[key] = state, is_open
        (self._later.add if state is State.LATER else self._later.discard)(key)

    def _queue_for(self, row: Row, lane: int) -> list[tuple[int, int, int]]:
        """Where a row waits that has become eligible."""
        return self._queues.setdefault((row.workflow, lane), [])

    def _queue_of(self, workflow: WorkflowId, lane: int) -> list[tuple[int, int, int]]:
        """From where the next jobs of a lane are offered."""
        return self._queues.get((workflow, lane), [])

    # --- what giving out jobs looks at -------------------------------------------------------------------------------

    @property
    def supply(self) -> Memory:
        return self

    def traits(self, workflow: WorkflowId) -> Traits:
        return self._traits[workflow]

    def is_halted(self, workflow: WorkflowId) -> bool:
        return workflow in self.returned

    def outlook(self, workflow: WorkflowId) -> Outlook:
        final = self._traits[workflow].final
        return Outlook(
            self.is_halted(workflow),
            self._is_any(workflow, State.RUNNING, *_BESIDE) or self._is_awaited(workflow),
            self.is_eligible(workflow),
            self._is_any(workflow, State.LATER, Kind.SERVICE),
            final is not None and self.rows[workflow, final].state in (State.WAITING, State.ELIGIBLE),
        )

    def is_eligible(self, workflow: WorkflowId) -> bool:
        """Whether a job could be given, other than a service."""
        return self._is_any(workflow, State.ELIGIBLE, Kind.SERVICE)

    def _is_any(self, workflow: WorkflowId, state: State, *without: Kind) -> bool:
        counts = self._counts.get((workflow, state))
        return counts is not None and any(count for kind, count in counts.items() if kind not in without)

    def _is_awaited(self, workflow: WorkflowId) -> bool:
        """Whether a provisioner runs for which others wait."""
        if not self._counts.get((workflow, State.RUNNING), {}).get(Kind.PROVISIONER):
            return False
        running = (row for row in self.rows.values() if row.workflow == workflow and row.state is State.RUNNING)
        return any(row.kind == Kind.PROVISIONER and self.children(row) for row in running)

    def offers(self, workflow: WorkflowId, lane: int, most: int, within: Within | None = None) -> list[Candidate]:
        queue, found, others = self._queue_of(workflow, lane), list[_Place](), list[_Place]()
        while queue and len(found) < most:
            place = heappop(queue)
            row = self.rows[workflow, JobId(place[2])]
            if row.state is State.ELIGIBLE and row.arrival == place[1] and place not in (*found[-1:], *others[-1:]):
                wants = self._wants[row.key]
                fits = within is None or within.holds(wants.limit, wants.expected)
                (found if fits else others).append(place)
        for place in (*found, *others):  # who is given out is passed over next time
            heappush(queue, place)
        return [self._candidate(workflow, JobId(job), lane, (rank, arrival, job)) for rank, arrival, job in found]

    def last(self, workflow: WorkflowId, final: JobId) -> Candidate:
        return self._candidate(workflow, final, 0, (0, 0, final))

    def _candidate(self, workflow: WorkflowId, job: JobId, lane: int, place: tuple[int, int, int]) -> Candidate:
        wants, row = self._wants[workflow, job], self.rows[workflow, job]
        return Candidate(row.key, wants.cores, wants.memory, lane, row.kind, place, wants.limit, wants.expected)

    def running(self, workflow: WorkflowId) -> Mapping[int, int]:
        lanes = self._traits[workflow].lanes
        return {lane: count for lane in lanes if (count := self._lanes.get((workflow, lane), 0))}

    def due(self, workflow: WorkflowId, now: Seconds) -> list[JobId]:
        return [JobId(job) for (of, job), when in self._put_off() if of == workflow and when <= now]

    def next_due(self, workflow: WorkflowId, now: Seconds) -> Seconds | None:
        return min((when for (of, _), when in self._put_off() if of == workflow and when > now), default=None)

    def _put_off(self) -> list[tuple[Key, Seconds]]:
        found = ((key, self.nodes[key].not_before) for key in sorted(self._later))
        return [(key, when) for key, when in found if when is not None]

    def give(self, workflow: WorkflowId, taken: Sequence[Taken]) -> None:
        for key, cores, named in taken:
            row, wants = self.rows[key], self._wants[key]
            row.to(State.RUNNING)
            self._last_lease += 1
            row.lease = LeaseId(self._last_lease)
            self._held[row.lease] = key
            self._attempts[key] = number = self._attempts.get(key, 0) + 1
            node = self.nodes.get(key)
            step_of = 0 if node is None else int(node.step)
            self.leases.append(
                Lease(
                    *(row.lease, workflow, row.job, wants.name, number, cores, ""),
                    *(None, None, wants.memory, named, step_of, row.kind),
                )
            )
            self._index(row)
