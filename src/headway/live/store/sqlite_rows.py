"""The rows of jobs in SQLite: workflows that come, leases that are given, and what follows from ends."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from headway.engine.progress import Changes, Node, Row
from headway.engine.step import step
from headway.live.store.rows import good, node, row
from headway.live.store.statements import Texts, statements
from headway.live.store.text import encode
from headway.model.messages import Finish, JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from typing import Any

    from headway.live.store.giving import TakenJob
    from headway.live.store.sqlite import SqliteDatabase
    from headway.live.store.submission import Submission

_TEXT = Texts(statements("sqlite"))


class SqliteJobRows:
    """Keeps to database.JobRows. It uses the connection itself, as every job waits for this."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database, self._db = database, database.connection

    def insert(
        self, submission: Submission, source: str, directory: str, now: Seconds, follows: WorkflowId
    ) -> WorkflowId:
        new, db = submission, self._db
        number = db.execute(
            _TEXT["add_workflow"],
            (
                *(encode(new.name), encode(source), encode(directory), new.digest, now),
                *(new.special, new.final, new.what_next, self._database.owner, follows, new.arrivals),
            ),
        ).lastrowid
        db.executemany(_TEXT["add_job"], ((number, *values) for values in new.rows()))
        db.executemany(_TEXT["add_spec"], ((number, *values) for values in new.specs()))
        db.executemany(_TEXT["add_arc"], ((number, *arc) for arc in new.arcs()))
        db.executemany(_TEXT["add_node"], ((number, *values) for values in new.nodes()))
        db.executemany(_TEXT["add_lane"], ((number, *values) for values in new.lanes()))
        db.executemany(_TEXT["add_group"], ((number, *values) for values in new.groups()))
        if affinities := new.affinities():
            db.executemany(_TEXT["add_affinity"], [(number, *values) for values in affinities])
        if attributes := new.attributes():
            db.executemany(_TEXT["add_attributes"], [(number, *values) for values in attributes])
        return WorkflowId(number or 0)

    def lease(
        self, placeholder: PlaceholderId, workflow: WorkflowId, taken: Sequence[TakenJob], now: Seconds
    ) -> list[Lease]:
        db = self._db
        if len(taken) == 1:  # in a chain all are such
            job = taken[0]
            values = (None, workflow, job.job, job.attempts + 1, placeholder, now, job.step)
            lease = job.lease(LeaseId(db.execute(_TEXT["lease"], values).lastrowid or 0), workflow)
            db.execute(_TEXT["take"], (lease.id, lease.attempt, workflow, lease.job))
            return [lease]
        (last,) = db.execute(_TEXT["last_lease"]).fetchone()
        leases = [one.lease(LeaseId(last + at), workflow) for at, one in enumerate(taken, 1)]
        db.executemany(
            _TEXT["lease"],
            [(lease.id, workflow, lease.job, lease.attempt, placeholder, now, lease.step) for lease in leases],
        )
        db.executemany(_TEXT["take"], [(lease.id, lease.attempt, workflow, lease.job) for lease in leases])
        return leases

    def change(self, rows: Iterable[Row]) -> None:
        self._db.executemany(
            _TEXT["change_jobs"], [(r.state, r.waiting_for, r.tries, r.arrival, r.workflow, r.job) for r in rows]
        )

    def step(self, finished: Sequence[Finish], now: Seconds, holds: Collection[LeaseId] = ()) -> Changes:
        rows = _Rows(self._database)
        changes = step(rows, finished, now, holds)
        many = self._db.executemany
        if changes.retaken:
            many(_TEXT["retake"], [(lease,) for lease in changes.retaken])
        if changes.ended:
            many(
                _TEXT["end_attempts"],
                [
                    (e.started, e.ended, e.exit_code, e.max_rss, e.cpu_seconds, encode(e.reason) or None, e.lease)
                    for e in changes.ended
                ],
            )
        if changes.rows:
            self.change(changes.rows.values())
        if changes.spent:
            many(_TEXT["spend"], changes.spent)
        if rows.given:
            many(_TEXT["set_arrivals"], [(rows.arrivals[workflow], workflow) for workflow in rows.given])
        return changes


class _Rows:
    """The rows that a step looks at, read inside its transaction; a row read twice is one object."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database, self._db = database, database.connection
        self._seen: dict[tuple[int, int], Row] = {}
        self._nodes: dict[tuple[int, int], Node] = {}
        self.arrivals: dict[WorkflowId, int] = {}
        self.given: set[WorkflowId] = set()  # workflows where a job has become eligible

    def leased(self, lease: LeaseId) -> Row | None:
        values = self._db.execute(_TEXT["leased"], (lease,)).fetchone()
        if values is None:
            return None
        key = values[:2]
        found = self._seen.get(key)
        if found is None:
            self.arrivals.setdefault(values[0], values[10])
            found = self._seen[key] = row(values[:10])
        return found if found.lease == lease else good(self._database, found, lease, values[11])

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        return self._row(self._db.execute(_TEXT["job"], (workflow, job)).fetchone())

    def node(self, row: Row) -> Node:
        found = self._nodes.get(row.key)
        if found is None:
            found = self._nodes[row.key] = node(self._db.execute(_TEXT["node"], row.key).fetchone())
        return found

    def parts(self, owner: Row) -> Sequence[Row]:
        return [self._row(values) for values in self._db.execute(_TEXT["parts"], owner.key).fetchall()]

    def _row(self, values: Sequence[Any]) -> Row:
        key = (values[0], values[1])
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = row(values)
        return found

    def children(self, parent: Row) -> Sequence[tuple[Row, int]]:
        found: list[tuple[Row, int]] = []
        for values in self._db.execute(_TEXT["children"], (parent.workflow, parent.job)).fetchall():
            key = values[:2]
            child = self._seen.get(key)
            if child is None:
                child = self._seen[key] = row(values[:10])
            found.append((child, values[10]))
        return found

    def next_arrival(self, workflow: WorkflowId) -> int:
        self.given.add(workflow)
        self.arrivals[workflow] += 1
        return self.arrivals[workflow]
