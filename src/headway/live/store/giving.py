"""A store in the hands of one placeholder that wants jobs: what the engine asks of it, in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.engine.claim import Taken, Traits
from headway.engine.outlook import Outlook
from headway.engine.progress import Changes, Node, Row
from headway.engine.ready import Candidate
from headway.live.store.shared import row
from headway.live.store.taken import TakenJob
from headway.model.messages import JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.states import Kind, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.store.claims import Claims


class Giving:
    """Inside one transaction of a store."""

    def __init__(self, store: Claims, placeholder: PlaceholderId, now: Seconds) -> None:
        self._store, self._placeholder, self._now = store, placeholder, now
        self.leases: list[Lease] = []

    # --- a workflow --------------------------------------------------------------------------------------------------

    def traits(self, workflow: WorkflowId) -> Traits:
        return self._store._traits(workflow)

    def is_halted(self, workflow: WorkflowId) -> bool:
        return bool(self._store._run("halted", workflow=workflow)[0][0])

    def outlook(self, workflow: WorkflowId) -> Outlook:
        return self._store._outlook(workflow)

    def offers(self, workflow: WorkflowId, lane: int, most: int) -> list[Candidate]:
        found = self._store._run("eligible", workflow=workflow, lane=lane, most=most)
        return [Candidate(one, one[3], one[7], lane, one[8], (one[9], one[10], one[0])) for one in found]

    def last(self, workflow: WorkflowId, final: JobId) -> Candidate:
        (one,) = self._store._run("final", workflow=workflow, job=final)
        return Candidate(one, one[3], one[7], 0, one[8])

    def running(self, workflow: WorkflowId) -> Mapping[int, int]:
        self._store._run("lock_lanes", workflow=workflow)
        return dict(self._store._run("running_lanes", workflow=workflow))

    def due(self, workflow: WorkflowId, now: Seconds) -> list[JobId]:
        return [JobId(job) for (job,) in self._store._run("due", workflow=workflow, now=now)]

    def next_due(self, workflow: WorkflowId, now: Seconds) -> Seconds | None:
        ((due,),) = self._store._run("next_due", workflow=workflow, now=now)
        return None if due is None else float(due)

    # --- rows --------------------------------------------------------------------------------------------------------

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        return row(self._store._run("job_locked", workflow=workflow, job=job)[0])

    def node(self, row: Row) -> Node:
        return self._store._node(row.workflow, row.job)

    def parts(self, row: Row) -> list[Row]:
        return rows(self._store._run("parts", workflow=row.workflow, owner=row.job))

    def leased(self, lease: LeaseId) -> Row | None:
        raise NotImplementedError  # ends are written before anything is given

    def children(self, row: Row) -> Sequence[tuple[Row, bool]]:
        raise NotImplementedError

    def next_arrival(self, workflow: WorkflowId) -> int:
        raise NotImplementedError

    def save(self, changes: Changes) -> None:
        self._store._change_rows(changes.rows.values())
        for changed in changes.rows.values():
            if changed.state is State.RUNNING:  # in the hands of its processes
                self._store._run("unlease", workflow=changed.workflow, job=changed.job)
        self._store._write_nodes(changes.nodes)

    def give(self, workflow: WorkflowId, taken: Sequence[Taken]) -> None:
        jobs = [TakenJob.of(one, cores, named) for one, cores, named in taken]
        for job in jobs:
            if job.kind >= Kind.NODE:
                self._store._prepare(workflow, job, self._store._node(workflow, job.job))
        self.leases += self._store._leases(self._placeholder, workflow, jobs, self._now)


def rows(found: Sequence[Sequence[Any]]) -> list[Row]:
    return [row(values) for values in found]
