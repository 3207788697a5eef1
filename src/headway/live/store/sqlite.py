"""The embedded database: one SQLite file next to the workflow, for one host."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from headway.engine.progress import Changes, Node, Row
from headway.engine.step import step
from headway.live.failpoint import failpoint
from headway.live.store import SITES, migration
from headway.live.store.relative import Paths
from headway.live.store.rows import good, node, row
from headway.live.store.sqlite_file import checked, create, explained, migrated, told
from headway.live.store.statements import Texts, statements
from headway.live.store.text import encode
from headway.model.messages import Finish, JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from contextlib import AbstractContextManager
    from typing import Any

    from headway.live.store.database import T
    from headway.live.store.giving import TakenJob
    from headway.live.store.sqlite_news import SqliteNews
    from headway.live.store.submission import Submission

_SQL = statements("sqlite")
_TEXT = Texts(_SQL)


class NoNews:
    """A database of one runner: nobody else changes it."""

    def tell(self, workflow: WorkflowId, stops: bool = False) -> None: ...

    def listen(self) -> None: ...

    def also_tell(self, whom: Callable[[dict[WorkflowId, bool]], None]) -> None: ...

    def fileno(self) -> int:
        return -1

    def heard(self) -> dict[WorkflowId, bool]:
        return {}

    def close(self) -> None: ...


class SqliteDatabase:
    """Keeps to database.Database. Durable means: survives the death of every process (WAL, synchronous NORMAL).

    With sync "full" it survives a power cut as well. Without a path it is in memory, for one process.
    """

    owner = ""

    def __init__(self, path: Path | None, sync: str = "normal", migrations: Path = migration.FOLDER) -> None:
        self.path = path
        # A run with sites has made that folder: placeholders on several hosts use the store, through processes here.
        self.is_shared = path is not None and os.path.isdir(f"{path.parent}/{SITES}")  # noqa: PTH112 - each run asks
        self.news: NoNews | SqliteNews = NoNews()
        self.paths = Paths(None if path is None else str(path.parent))
        self._name = "the store in memory" if path is None else str(path)
        if path is not None:
            checked(path)
            create(path, migrations)
        with explained(self._name):
            self.connection = sqlite3.connect(
                ":memory:" if path is None else path, isolation_level=None, timeout=60, cached_statements=128
            )
            self.connection.execute(f"PRAGMA synchronous = {'FULL' if sync == 'full' else 'NORMAL'}")
            migrated(self.connection, migrations, self._name, new=path is None)
            (self.id,) = self.connection.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
        self._transaction = _Transaction(self.connection, self._name)
        if self.is_shared:
            from headway.live.store.sqlite_news import SqliteNews

            self.news = news = SqliteNews(str(path.parent))  # type: ignore[union-attr]
            self._transaction = _SharedTransaction(self.connection, self._name, news)

    @property
    def remark(self) -> str:
        return ""

    def clock(self) -> Seconds:
        return time.time()

    def set_clock(self) -> None:
        """It is this host's."""

    def close(self) -> None:
        self.news.close()
        self.connection.close()

    def shrink(self) -> None:
        with explained(self._name):
            self.connection.execute("VACUUM")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # --- statements --------------------------------------------------------------------------------------------------

    def transaction(self) -> AbstractContextManager[None]:
        return self._transaction

    def retried(self, work: Callable[[], T]) -> T:
        return work()  # there is one writer: nothing is ever given up

    def run(self, name: str, /, **values: object) -> list[tuple[Any, ...]]:
        statement = _SQL[name]
        try:
            return self.connection.execute(statement.text, [values[key] for key in statement.names]).fetchall()
        except sqlite3.Error as error:
            raise told(self._name, error) from error

    def many(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        statement = _SQL[name]
        try:
            self.connection.executemany(statement.text, [[values[key] for key in statement.names] for values in rows])
        except sqlite3.Error as error:
            raise told(self._name, error) from error

    def array(self, values: Sequence[int] | Sequence[str]) -> object:
        return json.dumps(values)

    # --- inside a transaction ----------------------------------------------------------------------------------------

    def insert(
        self, submission: Submission, source: str, directory: str, now: Seconds, follows: WorkflowId
    ) -> WorkflowId:
        new, db = submission, self.connection
        number = db.execute(
            _TEXT["add_workflow"],
            (
                *(encode(new.name), encode(source), encode(directory), new.digest, now),
                *(new.special, new.final, new.what_next, self.owner, follows, new.arrivals),
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
        db = self.connection
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

    def change_rows(self, rows: Iterable[Row]) -> None:
        self.connection.executemany(
            _TEXT["change_jobs"], [(r.state, r.waiting_for, r.tries, r.arrival, r.workflow, r.job) for r in rows]
        )

    def step(self, finished: Sequence[Finish], now: Seconds, holds: Collection[LeaseId] = ()) -> Changes:
        rows = _Rows(self)
        changes = step(rows, finished, now, holds)
        many = self.connection.executemany
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
            self.change_rows(changes.rows.values())
        if changes.spent:
            many(_TEXT["spend"], changes.spent)
        if rows.given:
            many(_TEXT["set_arrivals"], [(rows.arrivals[workflow], workflow) for workflow in rows.given])
        return changes


class _Transaction:
    """Takes the write lock first, so that what is read stays true until it is written. A class, as that is quicker."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._db, self._name = connection, name

    def __enter__(self) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise told(self._name, error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._give_up()
            if isinstance(error, sqlite3.Error):
                raise told(self._name, error) from error
            return
        failpoint("commit.before")
        try:
            self._db.execute("COMMIT")
        except BaseException as failure:
            self._give_up()
            if isinstance(failure, sqlite3.Error):
                raise told(self._name, failure) from failure
            raise
        failpoint("commit.after")

    def _give_up(self) -> None:
        if self._db.in_transaction:
            with explained(self._name):
                self._db.execute("ROLLBACK")


class _SharedTransaction(_Transaction):
    """The same in a store that several processes use: they hear of what was committed."""

    def __init__(self, connection: sqlite3.Connection, name: str, news: SqliteNews) -> None:
        super().__init__(connection, name)
        self._news = news

    def __enter__(self) -> None:
        super().__enter__()
        self._news.begin()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        super().__exit__(kind, error, trace)
        if error is None:
            self._news.send()


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
