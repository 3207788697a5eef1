"""The rows of jobs in PostgreSQL. What a step touches is read twice: without locks to learn what it is, then locked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from headway.engine.progress import Changes, Key, Node, Row
from headway.engine.step import step
from headway.live.store.postgres_server import once
from headway.live.store.rows import MovedError, good, node_of, row
from headway.live.store.statements import statements
from headway.live.store.text import encode
from headway.model.messages import Finish, JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.states import Kind

if TYPE_CHECKING:
    from headway.live.store.database import Database
    from headway.live.store.giving import TakenJob
    from headway.live.store.postgres import PostgresDatabase
    from headway.live.store.submission import Submission

_SQL = statements("postgresql")


class PostgresJobRows:
    """Keeps to database.JobRows. Rows are locked in one order, so that nobody waits in a circle."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def insert(
        self, submission: Submission, source: str, directory: str, now: Seconds, follows: WorkflowId
    ) -> WorkflowId:
        """Of two that bring the same file at once one is refused."""
        new = submission
        with once():
            ((number,),) = self._database.run(
                "add_workflow",
                owner=encode(self._database.owner),
                follows=follows,
                name=encode(new.name),
                source=encode(source),
                directory=encode(directory),
                digest=new.digest,
                submitted=now,
                special=int(new.special),
                final=new.final,
                what_next=new.what_next,
            )
        self._copy("copy_jobs", ((number, *values, 0, 0) for values in new.rows()))
        self._copy("copy_specs", ((number, *values) for values in new.specs()))
        self._copy("copy_arcs", ((number, parent, child, int(weak)) for parent, child, weak in new.arcs()))
        self._copy("copy_nodes", ((number, *values, values[1], 0, 0) for values in new.nodes()))
        self._copy("copy_groups", ((number, *values) for values in new.groups()))
        self._database.many(
            "add_affinity", [{"workflow": number, "job": job, "after": after} for job, after in new.affinities()]
        )
        attributes = [{"workflow": number, "job": job, "pairs": pairs} for job, pairs in new.attributes()]
        self._database.many("add_attributes", attributes)
        for lane, category, most, named in new.lanes():
            self._database.run("add_lane", workflow=number, lane=lane, category=category, most=most, named=named)
        return WorkflowId(number)

    def _copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self._database.connection.cursor() as cursor, cursor.copy(_SQL[name].text) as copy:
            for values in rows:
                copy.write_row(values)

    def lease(
        self, placeholder: PlaceholderId, workflow: WorkflowId, taken: Sequence[TakenJob], now: Seconds
    ) -> list[Lease]:
        ids = dict(
            self._database.run(
                "lease",
                workflow=workflow,
                jobs=[one.job for one in taken],
                numbers=[one.attempts + 1 for one in taken],
                steps=[one.step for one in taken],
                placeholder=placeholder,
                now=now,
            )
        )
        return [one.lease(LeaseId(ids[one.job]), workflow) for one in taken]

    def change(self, rows: Iterable[Row]) -> None:
        rows = list(rows)
        self._database.run(
            "change_jobs",
            state=[int(row.state) for row in rows],
            waiting_for=[row.waiting_for for row in rows],
            tries=[row.tries for row in rows],
            arrival=[row.arrival for row in rows],
            workflow=[row.workflow for row in rows],
            job=[row.job for row in rows],
        )

    def step(self, finished: Sequence[Finish], now: Seconds, holds: Collection[LeaseId] = ()) -> Changes:
        """Rehearses the step on rows as they are now to learn which it touches, locks those in order, and does it."""
        rehearsal = Rehearsal(self._database, finished, holds)
        step(rehearsal, finished, now, holds)
        keys = list(rehearsal.used)
        locked = (
            self._database.run("lock", workflows=[key[0] for key in keys], jobs=[key[1] for key in keys])
            if keys
            else []
        )
        changes = step(Locked(self._database, rehearsal, locked), finished, now, holds)
        for lease in changes.retaken:
            self._database.run("retake", lease=lease)
        ended = changes.ended
        if ended:
            self._database.run(
                "end_attempts",
                started=[end.started for end in ended],
                ended=[end.ended for end in ended],
                exit_code=[end.exit_code for end in ended],
                max_rss=[end.max_rss for end in ended],
                cpu_seconds=[end.cpu_seconds for end in ended],
                reason=[encode(end.reason) or None for end in ended],
                lease=[end.lease for end in ended],
            )
        if changes.rows:
            self.change(changes.rows.values())
        for workflow, parent in changes.spent:
            self._database.run("spend", workflow=workflow, parent=parent)
        return changes


class Rehearsal:
    """Rows without locks. What it learns of leases and arcs stays true if the leases are still held once locked."""

    def __init__(self, database: Database, finished: Sequence[Finish], holds: Collection[LeaseId]) -> None:
        self._database = database
        self._rows: dict[Key, Row] = {}
        self.jobs: dict[LeaseId, Key] = {}
        self.counts: dict[LeaseId, bool] = {}  # whether the end of an attempt that was thought lost would count
        self.arcs: dict[Key, list[tuple[Key, int]]] = {}
        self.processes: dict[Key, list[Key]] = {}
        self._nodes: dict[Key, Node] = {}
        self.used: set[Key] = set()  # what the step looked at
        leases = [*(finish.lease for finish in finished), *holds]
        for *values, lease, counts in database.run("leased", leases=leases) if leases else ():
            self.jobs[lease] = self._seen(values)
            self.counts[lease] = bool(counts)
        parents: dict[WorkflowId, list[JobId]] = {}
        for finish in finished:
            if finish.exit_code is not None and finish.lease in self.jobs:
                workflow, job = self.jobs[finish.lease]
                parents.setdefault(workflow, []).append(job)
        for workflow, jobs in parents.items():
            self._load(workflow, jobs)

    def _seen(self, values: Sequence[Any]) -> Key:
        key = (WorkflowId(values[0]), JobId(values[1]))
        if key not in self._rows:
            self._rows[key] = row(values)
        return key

    def _load(self, workflow: WorkflowId, parents: list[JobId]) -> None:
        for parent in parents:
            self.arcs[workflow, parent] = []
        for *values, needs, parent in self._database.run("children", workflow=workflow, parents=parents):
            self.arcs[workflow, parent].append((self._seen(values), needs))

    def leased(self, lease: LeaseId) -> Row | None:
        key = self.jobs.get(lease)
        if key is None:
            return None
        found = good(self._database, self._rows[key], lease, self.counts[lease])
        if found is not None:
            self.used.add(key)
        return found

    def children(self, parent: Row) -> Sequence[tuple[Row, int]]:
        if (parent.workflow, parent.job) not in self.arcs:
            self._load(parent.workflow, [parent.job])
        arcs = self.arcs[parent.workflow, parent.job]
        self.used.update(key for key, _ in arcs)
        return [(self._rows[key], needs) for key, needs in arcs]

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        key = self._seen(self._database.run("job", workflow=workflow, job=job)[0])
        self.used.add(key)
        return self._rows[key]

    def node(self, row: Row) -> Node:
        """As it is before its job is locked: good enough to learn what a step touches."""
        if row.key not in self._nodes:
            self._nodes[row.key] = node_of(self._database, row.workflow, row.job)
        return self._nodes[row.key]

    def parts(self, owner: Row) -> Sequence[Row]:
        found = self._database.run("parts", workflow=owner.workflow, owner=owner.job)
        self.processes[owner.key] = [self._seen(values) for values in found]
        self.used.update(self.processes[owner.key])
        return [self._rows[key] for key in self.processes[owner.key]]

    def next_arrival(self, workflow: WorkflowId) -> int:
        return 0


class Locked:
    """The rows that are locked, as they are now."""

    def __init__(self, database: Database, rehearsal: Rehearsal, locked: Sequence[Sequence[Any]]) -> None:
        self._database = database
        self._nodes: dict[Key, Node] = {}
        self._jobs = rehearsal.jobs
        self._arcs = rehearsal.arcs
        self._processes = rehearsal.processes
        self._rows = {(values[0], values[1]): row(values[:10]) for values in locked}
        self._arrival = locked[0][10] if locked else 0

    def leased(self, lease: LeaseId) -> Row | None:
        key = self._jobs.get(lease)
        found = None if key is None else self._rows.get(key)  # not locked: its lease was stale, and stays so
        if found is None or found.lease == lease:
            return found
        ((*_, counts),) = self._database.run("leased", leases=[lease])  # as it is now that its job is locked
        return good(self._database, found, lease, counts)

    def children(self, parent: Row) -> Sequence[tuple[Row, int]]:
        if parent.kind == Kind.PROVISIONER and parent.key in self._arcs:  # it may have said since that it is ready
            self._arcs[parent.key] = _arcs(self._database, parent)
        try:
            return [(self._rows[key], needs) for key, needs in self._arcs[parent.workflow, parent.job]]
        except KeyError:
            raise MovedError from None

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        try:
            return self._rows[workflow, job]
        except KeyError:
            raise MovedError from None

    def node(self, row: Row) -> Node:
        """Who changes a node has its job locked, as we have now."""
        if row.key not in self._nodes:
            self._nodes[row.key] = node_of(self._database, row.workflow, row.job)
        return self._nodes[row.key]

    def parts(self, owner: Row) -> Sequence[Row]:
        try:
            return [self._rows[key] for key in self._processes[owner.key]]
        except KeyError:
            raise MovedError from None

    def next_arrival(self, workflow: WorkflowId) -> int:
        self._arrival += 1
        return int(self._arrival)


def _arcs(database: Database, parent: Row) -> list[tuple[Key, int]]:
    """Who waits for a job, as it is now."""
    found = database.run("children", workflow=parent.workflow, parents=[parent.job])
    return [((WorkflowId(values[0]), JobId(values[1])), values[10]) for values in found]
