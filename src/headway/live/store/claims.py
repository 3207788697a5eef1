"""How jobs are given to placeholders, the same in every database: by lane and rank, node by node and step by step."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from headway.engine.claim import Traits
from headway.engine.exchange import give
from headway.engine.outlook import NOTHING, Outlook, result
from headway.engine.progress import Changes, Key, Node, Row
from headway.engine.ready import Lane, Room
from headway.live.store.giving import Giving
from headway.live.store.shared import Shared, node
from headway.live.store.taken import TakenJob
from headway.live.store.text import decode, encode
from headway.model.messages import Answer, Finish, JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.states import Kind, State


class Claims(Shared):
    """The part of an exchange that gives jobs out."""

    is_shared = False

    def __init__(self) -> None:
        self._known: dict[WorkflowId, Traits] = {}

    def _leases(
        self, placeholder: PlaceholderId, workflow: WorkflowId, taken: Sequence[TakenJob], now: Seconds
    ) -> list[Lease]:
        """Writes down who has these jobs now."""
        raise NotImplementedError

    def _change_rows(self, rows: Iterable[Row]) -> None:
        """Writes state, counters and arrival of rows."""
        raise NotImplementedError

    def _list(self, values: Sequence[int] | Sequence[str]) -> object:
        """Numbers, or texts, as one parameter of a statement."""
        return values

    def _traits(self, workflow: WorkflowId) -> Traits:
        traits = self._known.get(workflow)
        if traits is None:
            ((special, final),) = self._run("traits", workflow=workflow) or [(0, None)]
            lanes = {}
            if special:
                for lane, category, most, named in self._run("lanes", workflow=workflow):
                    pairs = tuple((name, count) for name, count in json.loads(named))
                    lanes[lane] = Lane(None if category is None else decode(category), most, pairs)
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
        answer = give(Giving(self, placeholder, now), changes, room, workflows, now, idle)
        if changes is not None and self.is_shared:
            self._spread(changes, answer.leases)
        if holds is not None:
            answer.stops += tuple(lease for lease, _ in self.stop_requests(placeholder) if lease not in answer.stops)
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

    # --- nodes -----------------------------------------------------------------------------------------------------

    def _node(self, workflow: WorkflowId, job: JobId) -> Node:
        return node(self._run("node", workflow=workflow, job=job)[0])

    def _write_nodes(self, nodes: Mapping[Key, Node]) -> None:
        """Writes steps, results and counters of nodes."""
        if nodes:
            self._many(
                "change_node",
                [
                    {
                        "workflow": workflow,
                        "job": job,
                        "step": int(own.step),
                        "result": own.result,
                        "pre_result": own.pre_result,
                        "not_before": own.not_before,
                        "parts_left": own.parts_left,
                        "parts_failed": own.parts_failed,
                    }
                    for (workflow, job), own in nodes.items()
                ],
            )

    def _many(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Runs a statement that returns nothing for each of these."""
        raise NotImplementedError

    def _prepare(self, workflow: WorkflowId, taken: TakenJob, own: Node) -> None:
        """What a node runs just now: its command as it is at this try, or one of its scripts."""
        from headway.live.store.scripts import prepared

        prepared(self, workflow, taken, own)

    def _consequences(self, changes: Changes, now: Seconds) -> None:
        """Writes what a step changed beyond rows: nodes, workflows that end, attempts that are to end, doubts."""
        self._write_nodes(changes.nodes)
        for workflow in changes.renewed:
            if self._traits(workflow).special:
                self._run("renew_failed", workflow=workflow)
        for (workflow, job), factor in changes.grown:
            self._run("grow", workflow=workflow, job=job, factor=factor)
        for workflow, parent in changes.counted:
            self._run("count_arcs", workflow=workflow, parent=parent)
        for workflow, (how, returns) in changes.aborts.items():
            self._run("halt", workflow=workflow, halted=int(how), returns=returns)
            changes.stops += [LeaseId(lease) for (lease,) in self._run("running", workflow=workflow)]
        for lease in changes.stops:
            self._run("stop", lease=lease, reason=encode("its workflow or node has failed"))
        for (workflow, job), because in changes.premature_starts:
            self._run("add_doubt", workflow=workflow, job=job, because=because)

    def adopt(self, placeholder: PlaceholderId, leases: Sequence[LeaseId]) -> list[Lease]:
        """Gives attempts that go on to another placeholder; those of them that have not ended, as they were given."""
        adopted = []
        with self._transaction():
            for lease in sorted(leases):
                for workflow, lane, *found in self._run("adoptable", lease=lease):
                    traits = self._traits(workflow)
                    taken = TakenJob.of(found, found[3], traits.lanes[lane].named if lane else ())
                    taken.attempts -= 1  # this one is counted already
                    if taken.kind >= Kind.NODE:
                        self._prepare(workflow, taken, self._node(workflow, taken.job))
                    self._run("adopt", lease=lease, placeholder=placeholder)
                    adopted.append(taken.lease(lease, workflow))
        return adopted

    def stop_requests(self, placeholder: PlaceholderId) -> list[tuple[LeaseId, str]]:
        """Attempts of a placeholder that are to end, and why."""
        found = self._run("held", placeholder=placeholder)
        return [(LeaseId(lease), decode(reason)) for lease, reason in found if reason is not None]

    def resume(self, workflow: WorkflowId, in_place: bool = False) -> None:
        """A workflow is run: what ended it early does not count any more. `in_place`: as a job of another."""
        with self._transaction():
            if self._traits(workflow).special:
                from headway.live.store.again import resume

                resume(self, workflow)
            if not in_place:
                self._run("note_run", workflow=str(workflow))

    def retry_failed(self, workflow: WorkflowId) -> int:
        """Failed jobs become eligible again, with all their retries; how many."""
        from headway.live.store.again import retry_failed

        with self._transaction():
            return retry_failed(self, workflow)

    def _renew(self, changes: Changes) -> None:
        for workflow in changes.renewed:
            self._run("renew", workflow=workflow)

    def returned(self, workflow: WorkflowId) -> int | None:
        """What a workflow returns that one of its jobs has ended; None if none has."""
        found = self._run("halted", workflow=workflow)
        if not found or found[0][1] is None:
            return None
        halted, returns = found[0]
        return result(bool(halted), returns, self.counts(workflow).keys() <= {State.DONE})

    def final_state(self, workflow: WorkflowId) -> State | None:
        """How the job has ended that runs last, whatever happened; None if it has not run to its end."""
        from headway.live.store.final import final_state  # few workflows have one

        return final_state(self, workflow)

    def remove(self, workflow: WorkflowId) -> list[LeaseId] | None:
        """Ends a workflow but for its final job, which then runs: attempts that are to end. None: there is none."""
        from headway.live.store.final import remove

        return remove(self, workflow)

    def is_under_way(self, workflow: WorkflowId) -> bool:
        """Whether something of a workflow runs or could: services do not count."""
        return self._outlook(workflow).is_under_way

    def _outlook(self, workflow: WorkflowId) -> Outlook:
        found = self._run("outlook", workflow=workflow)
        return Outlook(*map(bool, found[0])) if found else NOTHING
