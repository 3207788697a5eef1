"""The embedded store: one SQLite file next to the workflow, for one host."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from headway.engine.progress import Changes, Node, Row
from headway.engine.ready import Room
from headway.engine.step import step
from headway.live.failpoint import here
from headway.live.store import migration
from headway.live.store.claims import Claims
from headway.live.store.relative import Paths
from headway.live.store.shared import node, row
from headway.live.store.sqlite_file import checked, create, explained, migrated, told
from headway.live.store.statements import Texts, statements
from headway.live.store.taken import TakenJob
from headway.live.store.text import encode
from headway.model.messages import PATIENCE, Answer, Finish, JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from typing import Any

    from headway.live.store.submission import Submission

_SQL = statements("sqlite")
_TEXT = Texts(_SQL)

__all__ = ["SqliteStore", "create"]


class SqliteStore(Claims):
    """Every method is one transaction. Durable means: survives the death of every process (WAL, synchronous NORMAL).

    With sync "full" it survives a power cut as well. Without a path it is in memory, for one process.
    """

    is_shared = False

    def __init__(self, path: Path | None, sync: str = "normal", migrations: Path = migration.FOLDER) -> None:
        super().__init__()
        self.path = path
        self._name = "the store in memory" if path is None else str(path)
        if path is not None:
            self._paths = Paths(str(path.parent))
            checked(path)
            create(path, migrations)
        with explained(self._name):
            self._db = sqlite3.connect(
                ":memory:" if path is None else path, isolation_level=None, timeout=60, cached_statements=128
            )
            self._db.execute(f"PRAGMA synchronous = {'FULL' if sync == 'full' else 'NORMAL'}")
            migrated(self._db, migrations, self._name, new=path is None)
            (self.id,) = self._db.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Takes the write lock first, so that what is read stays true until it is written."""
        db = self._db
        try:
            db.execute("BEGIN IMMEDIATE")
            yield
            here("commit.before")
            db.execute("COMMIT")
            here("commit.after")
        except BaseException as error:
            if db.in_transaction:
                with explained(self._name):
                    db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise told(self._name, error) from error
            raise

    def _run(self, name: str, /, **values: object) -> list[tuple[Any, ...]]:
        statement = _SQL[name]
        try:
            return self._db.execute(statement.text, [values[key] for key in statement.names]).fetchall()
        except sqlite3.Error as error:
            raise told(self._name, error) from error

    def _many(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        statement = _SQL[name]
        try:
            self._db.executemany(statement.text, [[values[key] for key in statement.names] for values in rows])
        except sqlite3.Error as error:
            raise told(self._name, error) from error

    def _list(self, values: Sequence[int] | Sequence[str]) -> object:
        return json.dumps(values)

    def shrink(self) -> None:
        """Gives back the room of what was forgotten."""
        with explained(self._name):
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # --- progress --------------------------------------------------------------------------------------------------

    def add(self, submission: Submission, now: Seconds, follows: WorkflowId | None = None) -> WorkflowId:
        """Takes a workflow in, whole or not at all."""
        new = submission
        source, directory = self._paths.kept_source(new.source), self._paths.kept(new.directory)
        with self._transaction():
            follows = self._follows(new.source, follows)
            number = self._db.execute(
                _TEXT["add_workflow"],
                (
                    *(encode(new.name), encode(source), encode(directory), new.digest, now),
                    *(new.special, new.final, new.what_next, self.owner, follows, new.arrivals),
                ),
            ).lastrowid
            self._db.executemany(_TEXT["add_job"], ((number, *values) for values in new.rows()))
            self._db.executemany(_TEXT["add_spec"], ((number, *values) for values in new.specs()))
            self._db.executemany(_TEXT["add_arc"], ((number, *arc) for arc in new.arcs()))
            self._db.executemany(_TEXT["add_node"], ((number, *values) for values in new.nodes()))
            self._db.executemany(_TEXT["add_lane"], ((number, *values) for values in new.lanes()))
            self._db.executemany(_TEXT["add_group"], ((number, *values) for values in new.groups()))
        return WorkflowId(number or 0)

    def enter(self, host: str, pid: int, now: Seconds, patience: Seconds = PATIENCE) -> PlaceholderId:
        """A new placeholder."""
        with self._transaction():
            return PlaceholderId(self._db.execute(_TEXT["enter"], (encode(host), pid, now, patience)).lastrowid or 0)

    def exchange(
        self,
        placeholder: PlaceholderId,
        finished: Sequence[Finish],
        room: Room,
        workflows: Sequence[WorkflowId],
        now: Seconds,
        idle: Sequence[WorkflowId] = (),
        holds: Collection[LeaseId] | None = None,
    ) -> Answer:
        """The only way a job makes progress: attempts that ended go in, and the next jobs come out."""
        with self._transaction():
            return self._answer(placeholder, finished, room, workflows, now, idle, holds)

    def _leases(
        self, placeholder: PlaceholderId, workflow: WorkflowId, taken: Sequence[TakenJob], now: Seconds
    ) -> list[Lease]:
        if len(taken) == 1:  # in a chain all are such
            job = taken[0]
            values = (None, workflow, job.job, job.attempts + 1, placeholder, now, job.step)
            lease = job.lease(LeaseId(self._db.execute(_TEXT["lease"], values).lastrowid or 0), workflow)
            self._db.execute(_TEXT["take"], (lease.id, lease.attempt, workflow, lease.job))
            return [lease]
        (last,) = self._db.execute(_TEXT["last_lease"]).fetchone()
        leases = [one.lease(LeaseId(last + at), workflow) for at, one in enumerate(taken, 1)]
        self._db.executemany(
            _TEXT["lease"],
            [(lease.id, workflow, lease.job, lease.attempt, placeholder, now, lease.step) for lease in leases],
        )
        self._db.executemany(_TEXT["take"], [(lease.id, lease.attempt, workflow, lease.job) for lease in leases])
        return leases

    def _change_rows(self, rows: Iterable[Row]) -> None:
        self._db.executemany(
            _TEXT["change_jobs"], [(r.state, r.waiting_for, r.tries, r.arrival, r.workflow, r.job) for r in rows]
        )

    def _finish(self, finished: Sequence[Finish], now: Seconds, holds: Collection[LeaseId] = ()) -> Changes:
        rows = _Rows(self)
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
            self._change_rows(changes.rows.values())
        if changes.spent:
            many(_TEXT["spend"], changes.spent)
        if rows.given:
            many(_TEXT["set_arrivals"], [(rows.arrivals[workflow], workflow) for workflow in rows.given])
        if changes.nodes or changes.renewed:  # whoever ends a workflow is a node
            self._consequences(changes, now)
        if changes.refused:
            self._refuse(changes.refused, now)
        return changes


class _Rows:
    """The rows that a step looks at, read inside its transaction; a row read twice is one object."""

    def __init__(self, store: SqliteStore) -> None:
        self._store, self._db = store, store._db
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
        return found if found.lease == lease else self._store._good(found, lease, values[11])

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

    def children(self, parent: Row) -> Sequence[tuple[Row, bool]]:
        found: list[tuple[Row, bool]] = []
        for values in self._db.execute(_TEXT["children"], (parent.workflow, parent.job)).fetchall():
            key = values[:2]
            child = self._seen.get(key)
            if child is None:
                child = self._seen[key] = row(values[:10])
            found.append((child, values[10] == 1))
        return found

    def next_arrival(self, workflow: WorkflowId) -> int:
        self.given.add(workflow)
        self.arrivals[workflow] += 1
        return self.arrivals[workflow]
