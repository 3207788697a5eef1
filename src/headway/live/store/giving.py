"""A database in the hands of one placeholder that wants jobs: what the engine asks of it, in SQL."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from headway.engine.claim import Taken, Traits
from headway.engine.outlook import NOTHING, Outlook
from headway.engine.progress import Changes, Node, Row
from headway.engine.ready import Candidate, Lane, Within
from headway.live.store.rows import node_of, row
from headway.live.store.text import decode
from headway.model.messages import JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.record import mutable
from headway.model.states import Kind, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.store.database import Database


ALL_TIME = 1e300  # seconds: no job takes longer


def traits(database: Database, workflow: WorkflowId) -> Traits:
    """What of a workflow does not change."""
    ((special, final, affine),) = database.run("traits", workflow=workflow) or [(0, None, 0)]
    lanes = {}
    if special:
        for lane, category, most, named in database.run("lanes", workflow=workflow):
            pairs = tuple((name, count) for name, count in json.loads(named))
            lanes[lane] = Lane(None if category is None else decode(category), most, pairs)
    return Traits(bool(special), final, lanes, bool(affine))


def outlook(database: Database, workflow: WorkflowId) -> Outlook:
    """What there is of a workflow."""
    found = database.run("outlook", workflow=workflow)
    return Outlook(*map(bool, found[0])) if found else NOTHING


@mutable
class TakenJob:
    """A job that a placeholder gets, on its way from a row to a lease: what its lease will say."""

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
    settling: tuple[int, ...] = ()

    @classmethod
    def of(cls, found: Sequence[Any], cores: int, named: tuple[tuple[str, int], ...] = ()) -> TakenJob:
        """By the values of an eligible job, with the cores that it gets."""
        job, name, attempts, _, time, spec, final, memory, kind, *_ = found
        return cls(job, name, attempts, cores, time, spec, final, memory, kind, 0, named)

    def prepare(self, database: Database, workflow: WorkflowId) -> None:
        """If it is a node, fills in what that runs just now: its command as it is at this try, or a script."""
        if self.kind >= Kind.NODE:
            from headway.live.store.scripts import prepared

            prepared(database, workflow, self, node_of(database, workflow, self.job))

    def lease(self, number: LeaseId, workflow: WorkflowId) -> Lease:
        return Lease(
            number,
            workflow,
            self.job,
            decode(self.name),
            self.attempts + 1,
            self.cores,
            self.spec,
            self.time,
            None if self.final is None else bool(self.final),
            self.memory,
            self.named,
            self.step,
            self.kind,
            self.settling,
        )


class Supply:
    """What there is to give to one placeholder, inside one transaction of a database."""

    def __init__(self, database: Database, traits: Callable[[WorkflowId], Traits], placeholder: PlaceholderId) -> None:
        self._database, self.traits, self._placeholder = database, traits, placeholder

    def is_halted(self, workflow: WorkflowId) -> bool:
        return bool(self._database.run("halted", workflow=workflow)[0][0])

    def outlook(self, workflow: WorkflowId) -> Outlook:
        return outlook(self._database, workflow)

    def offers(self, workflow: WorkflowId, lane: int, most: int, within: Within | None = None) -> list[Candidate]:
        if within is None and not (self._database.is_shared and self.traits(workflow).affine):
            found = self._database.run("eligible", workflow=workflow, lane=lane, most=most)
            return [Candidate(one, one[3], one[7], lane, one[8], (one[9], one[10], one[0])) for one in found]
        left, unknown = (ALL_TIME, 0.0) if within is None else (within.left, within.unknown)
        given = {"left": left, "unknown": unknown, "placeholder": self._placeholder}
        return [
            Candidate(
                *(one, one[3], one[7], lane, one[8], (one[9], one[10], one[0]), one[4], one[11]),
                "" if one[12] is None else decode(one[12]),
            )
            for one in self._database.run("eligible_for", workflow=workflow, lane=lane, most=most, **given)
        ]

    def last(self, workflow: WorkflowId, final: JobId) -> Candidate:
        (one,) = self._database.run("final", workflow=workflow, job=final)
        return Candidate(one, one[3], one[7], 0, one[8], limit=one[4], expected=one[11])

    def running(self, workflow: WorkflowId) -> Mapping[int, int]:
        self._database.run("lock_lanes", workflow=workflow)
        return dict(self._database.run("running_lanes", workflow=workflow))

    def due(self, workflow: WorkflowId, now: Seconds) -> list[JobId]:
        return [JobId(job) for (job,) in self._database.run("due", workflow=workflow, now=now)]

    def next_due(self, workflow: WorkflowId, now: Seconds) -> Seconds | None:
        ((due,),) = self._database.run("next_due", workflow=workflow, now=now)
        return None if due is None else float(due)


class Giving:
    """The rows of what a placeholder gets, inside one transaction of a database."""

    def __init__(self, database: Database, supply: Supply, placeholder: PlaceholderId, now: Seconds) -> None:
        self._database, self.supply, self._placeholder, self._now = database, supply, placeholder, now
        self.leases: list[Lease] = []

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        return row(self._database.run("job_locked", workflow=workflow, job=job)[0])

    def node(self, row: Row) -> Node:
        return node_of(self._database, row.workflow, row.job)

    def parts(self, owner: Row) -> list[Row]:
        return [row(values) for values in self._database.run("parts", workflow=owner.workflow, owner=owner.job)]

    def leased(self, lease: LeaseId) -> Row | None:
        raise NotImplementedError  # ends are written before anything is given

    def children(self, row: Row) -> Sequence[tuple[Row, int]]:
        raise NotImplementedError

    def next_arrival(self, workflow: WorkflowId) -> int:
        raise NotImplementedError

    def save(self, changes: Changes) -> None:
        from headway.live.store.consequences import write_nodes

        self._database.jobs.change(changes.rows.values())
        for changed in changes.rows.values():
            if changed.state is State.RUNNING:  # in the hands of its processes
                self._database.run("unlease", workflow=changed.workflow, job=changed.job)
        write_nodes(self._database, changes.nodes)

    def give(self, workflow: WorkflowId, taken: Sequence[Taken]) -> None:
        jobs = [TakenJob.of(one, cores, named) for one, cores, named in taken]
        for job in jobs:
            if job.kind >= Kind.NODE:
                job.prepare(self._database, workflow)
        self.leases += self._database.jobs.lease(self._placeholder, workflow, jobs, self._now)
