"""The shared database: a PostgreSQL server that many placeholders on many hosts use at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from headway.engine.progress import Changes, Row
from headway.engine.step import step
from headway.live.clock import since_boot
from headway.live.store import migration
from headway.live.store.postgres_news import PostgresNews
from headway.live.store.postgres_rows import Locked, Rehearsal
from headway.live.store.postgres_server import connected, explained, migrated, once, server_time, user
from headway.live.store.relative import Paths
from headway.live.store.statements import statements
from headway.live.store.text import encode
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId

if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from headway.live.store.database import T
    from headway.live.store.giving import TakenJob
    from headway.live.store.submission import Submission

_SQL = statements("postgresql")
_DEADLOCK = "40P01"
_TRIES = 10


class PostgresDatabase:
    """Keeps to database.Database. Jobs are locked in one order (READ COMMITTED), so nobody waits in a circle.

    A connection that broke is an error to those who use it then; the next call makes a new one.
    """

    is_shared = True
    remark = ""

    def __init__(self, url: str, migrations: Path = migration.FOLDER) -> None:
        self._url = url
        self._migrations = migrations
        self.connection = connected(url)
        self.news = PostgresNews(lambda: self.connection)
        self.id = migrated(self.connection, migrations)
        self.owner, self.paths = user(), Paths()
        self.set_clock()

    def clock(self) -> Seconds:
        """The time by the server's clock; a host's own may be wrong."""
        return since_boot() + self._ahead

    def set_clock(self) -> None:
        self._ahead = server_time(self.connection)

    def close(self) -> None:
        self.connection.close()

    def shrink(self) -> None:
        """Gives back the room of what was forgotten, for others to use."""
        self._reconnect()
        with explained():
            self.connection.execute("VACUUM jobs, specs, arcs, nodes, attempts, events, placeholders")

    def _reconnect(self) -> None:
        if self.connection.closed:
            self.connection = connected(self._url)
            migrated(self.connection, self._migrations)
            self.set_clock()
            self.news.reconnected()

    # --- statements --------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        self._reconnect()
        self.news.begin()
        with explained(), self.connection.transaction():
            yield
            self.news.send()
        self.news.committed()

    def retried(self, work: Callable[[], T]) -> T:
        """Others lock few rows where steering locks many; if they wait in a circle PostgreSQL gives one of them up."""
        for _ in range(_TRIES):
            try:
                return work()
            except HeadwayError as error:
                if getattr(error.__cause__, "sqlstate", "") != _DEADLOCK:
                    raise
        return work()

    def run(self, name: str, /, **values: object) -> list[tuple[Any, ...]]:
        self._reconnect()
        with explained():
            cursor = self.connection.execute(_text(name), cast(Mapping[str, Any], values), prepare=True)
            return cursor.fetchall() if cursor.description is not None else []

    def many(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        with explained(), self.connection.cursor() as cursor:
            cursor.executemany(_text(name), rows)

    def array(self, values: Sequence[int] | Sequence[str]) -> object:
        return values

    # --- inside a transaction ----------------------------------------------------------------------------------------

    def insert(
        self, submission: Submission, source: str, directory: str, now: Seconds, follows: WorkflowId
    ) -> WorkflowId:
        """Of two that bring the same file at once one is refused."""
        new = submission
        with once():
            ((number,),) = self.run(
                "add_workflow",
                owner=encode(self.owner),
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
        self.many("add_affinity", [{"workflow": number, "job": job, "after": after} for job, after in new.affinities()])
        attributes = [{"workflow": number, "job": job, "pairs": pairs} for job, pairs in new.attributes()]
        self.many("add_attributes", attributes)
        for lane, category, most, named in new.lanes():
            self.run("add_lane", workflow=number, lane=lane, category=category, most=most, named=named)
        return WorkflowId(number)

    def _copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self.connection.cursor() as cursor, cursor.copy(_text(name)) as copy:
            for values in rows:
                copy.write_row(values)

    def lease(
        self, placeholder: PlaceholderId, workflow: WorkflowId, taken: Sequence[TakenJob], now: Seconds
    ) -> list[Lease]:
        ids = dict(
            self.run(
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

    def change_rows(self, rows: Iterable[Row]) -> None:
        rows = list(rows)
        self.run(
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
        rehearsal = Rehearsal(self, finished, holds)
        step(rehearsal, finished, now, holds)
        keys = list(rehearsal.used)
        locked = self.run("lock", workflows=[key[0] for key in keys], jobs=[key[1] for key in keys]) if keys else []
        changes = step(Locked(self, rehearsal, locked), finished, now, holds)
        for lease in changes.retaken:
            self.run("retake", lease=lease)
        ended = changes.ended
        if ended:
            self.run(
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
            self.change_rows(changes.rows.values())
        for workflow, parent in changes.spent:
            self.run("spend", workflow=workflow, parent=parent)
        return changes


def _text(name: str) -> str:
    return _SQL[name].text
