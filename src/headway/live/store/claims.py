"""How jobs are given to placeholders, the same in every database: by lane and rank, node by node and step by step."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from headway.engine.outlook import Outlook
from headway.engine.progress import Changes, Node
from headway.engine.ready import Candidate, Lane, Room
from headway.live.store.shared import Shared, node
from headway.live.store.words import kept, said
from headway.model.messages import Answer, Finish, JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.record import field, mutable, record
from headway.model.states import COUNTED, Kind, State, Step


@record
class Traits:
    """What of a workflow does not change: whether it is more than jobs and arcs, its last job, and its lanes."""

    special: bool
    final: JobId | None = None
    lanes: dict[int, Lane] = field(default_factory=dict)


@mutable
class Taken:
    """A job that a placeholder gets."""

    job: JobId
    name: str
    attempts: int
    cores: int
    time: Seconds | None
    spec: str
    final: bool | None
    memory: int = 0
    kind: int = 0
    step: int = 0
    named: tuple[tuple[str, int], ...] = ()

    def lease(self, number: LeaseId, workflow: WorkflowId) -> Lease:
        return Lease(
            number,
            workflow,
            self.job,
            said(self.name),
            self.attempts + 1,
            self.cores,
            self.spec,
            self.time,
            None if self.final is None else bool(self.final),
            self.memory,
            self.named,
            self.step,
            self.kind,
        )


def _taken(found: Sequence[Any], cores: int, named: tuple[tuple[str, int], ...] = ()) -> Taken:
    job, name, attempts, _, time, spec, final, memory, kind, *_ = found
    return Taken(job, name, attempts, cores, time, spec, final, memory, kind, named=named)


class Claims(Shared):
    """The part of an exchange that gives jobs out."""

    is_shared = False

    def __init__(self) -> None:
        self._known: dict[WorkflowId, Traits] = {}

    def _leases(
        self, placeholder: PlaceholderId, workflow: WorkflowId, taken: Sequence[Taken], now: Seconds
    ) -> list[Lease]:
        """Writes down who has these jobs now."""
        raise NotImplementedError

    def _traits(self, workflow: WorkflowId) -> Traits:
        traits = self._known.get(workflow)
        if traits is None:
            ((special, final),) = self._run("traits", workflow=workflow) or [(0, None)]
            lanes = {}
            if special:
                for lane, category, most, named in self._run("lanes", workflow=workflow):
                    pairs = tuple((name, count) for name, count in json.loads(named))
                    lanes[lane] = Lane(None if category is None else said(category), most, pairs)
            traits = self._known[workflow] = Traits(bool(special), final, lanes)
        return traits

    def _answer(
        self,
        placeholder: PlaceholderId,
        finished: Sequence[Finish],
        room: Room,
        workflows: Sequence[WorkflowId],
        now: Seconds,
        idle: Sequence[WorkflowId],
        holds: Collection[LeaseId] | None,
    ) -> Answer:
        """An exchange, inside its transaction."""
        if holds is not None:
            self._beat(placeholder, now)
            finished = [*finished, *self._strays(placeholder, finished, holds, now)]
        changes = self._finish(finished, now, holds or ()) if finished or holds else None
        answer = self._given(placeholder, room, workflows, changes, now, idle)
        if changes is not None and self.is_shared:
            self._spread(changes, answer.leases)
        if holds is not None:
            answer.stops += tuple(lease for lease, _ in self.told(placeholder) if lease not in answer.stops)
        return answer

    def _spread(self, changes: Changes, leases: Sequence[Lease]) -> None:
        """Lets others know of what they may wait for: jobs that this exchange left to them, or the end of it all."""
        left: dict[WorkflowId, int] = {}
        for row in changes.rows.values():
            left[row.workflow] = left.get(row.workflow, 0) + (row.state is State.ELIGIBLE)
        given = dict.fromkeys(left, 0)
        for lease in leases:
            given[lease.workflow] = given.get(lease.workflow, 0) + 1
        for workflow, count in left.items():
            if self._traits(workflow).special:  # throttles, nodes and stops: any end may concern anybody
                self._news(workflow, stops=bool(changes.stops))
            elif count > given[workflow] or not (given[workflow] or self._run("is_running", workflow=workflow)):
                self._news(workflow)

    def _given(
        self,
        placeholder: PlaceholderId,
        room: Room,
        workflows: Sequence[WorkflowId],
        changes: Changes | None,
        now: Seconds,
        idle: Sequence[WorkflowId] = (),
    ) -> Answer:
        """The answer of an exchange, once what has ended is written."""
        is_whole = room.is_whole
        leases: list[Lease] = []
        wake: Seconds | None = None
        for workflow in workflows:
            if not room.most:
                break
            traits = self._traits(workflow)
            if not traits.special:
                found = self._run("eligible", workflow=workflow, lane=0, most=room.most)
                taken = room.take([Candidate(one, one[3], one[7]) for one in found])
                if taken:
                    jobs = [_taken(one, cores) for one, cores in taken]
                    leases += self._leases(placeholder, workflow, jobs, now)
                continue
            more, due = self._special(placeholder, room, workflow, traits, now)
            leases += more
            if due is not None:
                wake = due if wake is None else min(wake, due)
        answer = Answer(leases, None if wake is None else max(0.0, wake - now))
        if idle:
            self._look_ahead(answer, idle, is_whole)
        if changes is None:
            return answer
        done: dict[WorkflowId, int] = {}
        for row in changes.rows.values():
            if row.state is State.DONE and row.kind in COUNTED:
                done[row.workflow] = done.get(row.workflow, 0) + 1
        answer.stops, answer.done, answer.lost = tuple(changes.stops), done, tuple(changes.lost)
        return answer

    def _look_ahead(self, answer: Answer, idle: Sequence[WorkflowId], is_whole: bool) -> None:
        """Says of workflows that a placeholder has nothing of whether anything is to come."""
        given = {lease.workflow for lease in answer.leases}
        for workflow in idle:
            if workflow in given:
                continue
            found = self._run("outlook", workflow=workflow)
            outlook = Outlook(*map(bool, found[0])) if found else Outlook(False, False, False, False, False)
            if outlook.is_over:
                answer.over += (workflow,)
            elif outlook.is_stuck(is_whole):
                answer.stuck += (workflow,)
            answer.contended = answer.contended or outlook.eligible

    def _special(
        self, placeholder: PlaceholderId, room: Room, workflow: WorkflowId, traits: Traits, now: Seconds
    ) -> tuple[list[Lease], Seconds | None]:
        """The same where there are nodes, lanes or a final job; and when what was put off may run."""
        leases: list[Lease] = []
        wake = None
        ((halted, _),) = self._run("halted", workflow=workflow)
        if not halted:
            self._run("wake", workflow=workflow, now=now)
            self._run("woken", workflow=workflow, now=now)
            while room.most:
                jobs, opened = self._taken(room, workflow, traits)
                if jobs:
                    leases += self._leases(placeholder, workflow, jobs, now)
                if not opened:
                    break
            ((wake,),) = self._run("next_wake", workflow=workflow, now=now)
        if traits.final is not None and not leases and room.most:
            leases += self._last(placeholder, room, workflow, traits.final, halted, now)
        return leases, wake

    def _taken(self, room: Room, workflow: WorkflowId, traits: Traits) -> tuple[list[Taken], bool]:
        """What is taken of the next jobs over all lanes; and whether a node was opened, whose processes come next."""
        candidates = self._candidates(room, workflow, traits)
        running: dict[str, int] = {}
        if traits.lanes:
            for lane, count in self._run("running_lanes", workflow=workflow):
                category = traits.lanes[lane].category
                if category is not None:
                    running[category] = running.get(category, 0) + count
        jobs, opened = list[Taken](), False
        for (lane, one), cores in room.take(candidates, traits.lanes, running):
            taken = _taken(one, cores, traits.lanes[lane].named if lane else ())
            if taken.kind >= Kind.NODE:
                own = self._node(workflow, taken.job)
                if own.parts and own.step is Step.MAIN:
                    self._open(workflow, taken.job, one[10])
                    opened = True
                    continue
                self._prepare(workflow, taken, own)
            jobs.append(taken)
        return jobs, opened

    def _candidates(self, room: Room, workflow: WorkflowId, traits: Traits) -> list[Candidate[tuple[int, Any]]]:
        if traits.lanes:
            self._run("lock_lanes", workflow=workflow)
        found: list[tuple[Any, int]] = []
        for lane in (0, *traits.lanes):
            found += [(one, lane) for one in self._run("eligible", workflow=workflow, lane=lane, most=room.most)]
        if traits.lanes:
            found.sort(key=lambda pair: (pair[0][9], pair[0][10], pair[0][0]))  # rank, arrival, place
        return [Candidate((lane, one), one[3], one[7], lane) for one, lane in found]

    def _open(self, workflow: WorkflowId, job: JobId, arrival: int) -> None:
        """A node's processes may run: it is in their hands now."""
        self._run("open", workflow=workflow, job=job)
        self._run("open_parts", workflow=workflow, job=job, arrival=arrival)
        own = self._node(workflow, job)
        own.parts_left, own.parts_failed, own.result = own.parts, 0, None
        self._write_node(workflow, job, own)

    def _last(
        self, placeholder: PlaceholderId, room: Room, workflow: WorkflowId, final: JobId, halted: int, now: Seconds
    ) -> list[Lease]:
        """The final job, if nothing else of the workflow can run any more."""
        found = self._run("final", workflow=workflow, job=final)
        if not found:
            if self._run("under_way", workflow=workflow, halted=halted):
                return []
            self._run("call_final", workflow=workflow, job=final)
            found = self._run("final", workflow=workflow, job=final)
        jobs = []
        for one, cores in room.take([Candidate(one, one[3], one[7]) for one in found]):
            taken = _taken(one, cores)
            self._prepare(workflow, taken, self._node(workflow, taken.job))
            jobs.append(taken)
        return self._leases(placeholder, workflow, jobs, now) if jobs else []

    # --- nodes -----------------------------------------------------------------------------------------------------

    def _node(self, workflow: WorkflowId, job: JobId) -> Node:
        return node(self._run("node", workflow=workflow, job=job)[0])

    def _write_node(self, workflow: WorkflowId, job: JobId, own: Node) -> None:
        self._run(
            "change_node",
            workflow=workflow,
            job=job,
            step=int(own.step),
            result=own.result,
            pre_result=own.pre_result,
            not_before=own.not_before,
            parts_left=own.parts_left,
            parts_failed=own.parts_failed,
        )

    def _prepare(self, workflow: WorkflowId, taken: Taken, own: Node) -> None:
        """What a node runs just now: its command as it is at this try, or one of its scripts."""
        from headway.live.store.scripts import prepared

        prepared(self, workflow, taken, own)

    def _consequences(self, changes: Changes, now: Seconds) -> None:
        """Writes what a step changed beyond rows: nodes, workflows that end, attempts that are to end, doubts."""
        for (workflow, job), own in changes.nodes.items():
            self._write_node(workflow, job, own)
        for (workflow, job), factor in changes.grown:
            self._run("grow", workflow=workflow, job=job, factor=factor)
        for workflow, parent in changes.counted:
            self._run("count_arcs", workflow=workflow, parent=parent)
        for workflow, returns in changes.aborts.items():
            self._run("halt", workflow=workflow, returns=returns)
            changes.stops += [LeaseId(lease) for (lease,) in self._run("running", workflow=workflow)]
        for lease in changes.stops:
            self._run("stop", lease=lease, reason=kept("its workflow or node has failed"))
        for (workflow, job), because in changes.doubts:
            self._run("add_doubt", workflow=workflow, job=job, because=because)

    def adopt(self, placeholder: PlaceholderId, leases: Sequence[LeaseId]) -> list[Lease]:
        """Gives attempts that go on to another placeholder; those of them that have not ended, as they were given."""
        adopted = []
        with self._transaction():
            for lease in sorted(leases):
                for workflow, lane, *found in self._run("adoptable", lease=lease):
                    traits = self._traits(workflow)
                    taken = _taken(found, found[3], traits.lanes[lane].named if lane else ())
                    taken.attempts -= 1  # this one is counted already
                    if taken.kind >= Kind.NODE:
                        self._prepare(workflow, taken, self._node(workflow, taken.job))
                    self._run("adopt", lease=lease, placeholder=placeholder)
                    adopted.append(taken.lease(lease, workflow))
        return adopted

    def told(self, placeholder: PlaceholderId) -> list[tuple[LeaseId, str]]:
        """Attempts of a placeholder that are to end, and why."""
        found = self._run("held", placeholder=placeholder)
        return [(LeaseId(lease), said(reason)) for lease, reason in found if reason is not None]

    def resume(self, workflow: WorkflowId, in_place: bool = False) -> None:
        """A workflow is run: what ended it early does not count any more. `in_place`: as a job of another."""
        with self._transaction():
            if self._traits(workflow).special:
                self._run("unhalt", workflow=workflow)
                self._run("reset_final_node", workflow=workflow)
                self._run("reset_final", workflow=workflow)
                self._run("reset_services", workflow=workflow)
                self._news(workflow)
            if not in_place:
                self._run("note_run", workflow=str(workflow))

    def returned(self, workflow: WorkflowId) -> int | None:
        """What a workflow returns that one of its jobs has ended; None if none has, or if nothing was said."""
        found = self._run("halted", workflow=workflow)
        return found[0][1] if found and found[0][0] else None

    def is_under_way(self, workflow: WorkflowId) -> bool:
        """Whether something of a workflow runs or could: services do not count."""
        ((halted, _),) = self._run("halted", workflow=workflow)
        return bool(self._run("under_way", workflow=workflow, halted=halted))
