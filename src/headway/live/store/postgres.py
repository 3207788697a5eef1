"""The shared store: a PostgreSQL database that many placeholders on many hosts use at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from headway.engine.progress import Changes, Key, Row
from headway.engine.ready import Room
from headway.engine.step import step
from headway.live.clock import since_boot
from headway.live.store import migration
from headway.live.store.claims import Claims
from headway.live.store.postgres_news import CHANNEL, Heard
from headway.live.store.postgres_rows import Locked, MovedError, Rehearsal
from headway.live.store.postgres_server import connected, explained, migrated, once, server_time, user
from headway.live.store.statements import statements
from headway.live.store.steering import T
from headway.live.store.taken import TakenJob
from headway.live.store.text import encode
from headway.model.errors import HeadwayError
from headway.model.messages import PATIENCE, Answer, Finish, JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId

if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from headway.live.store.submission import Submission

_SQL = statements("postgresql")
_DEADLOCK = "40P01"


class PostgresStore(Claims):
    """Every method is one transaction (READ COMMITTED). Jobs are locked in one order, so nobody waits in a circle.

    A connection that broke is an error to whoever uses it then; the next call makes a new one.
    """

    is_shared = True

    def __init__(self, url: str, migrations: Path = migration.FOLDER) -> None:
        super().__init__()
        self._url = url
        self._migrations = migrations
        self._told: set[tuple[WorkflowId, bool]] = set()  # what others are to know of this transaction
        self._heard = Heard()
        self._db = connected(url)
        self.id = migrated(self._db, migrations)
        self._ahead = server_time(self._db)
        self.owner = user()

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._reconnect()
        self._told.clear()
        with explained(), self._db.transaction():
            yield
            for workflow, stops in self._told:
                self._db.execute("SELECT pg_notify(%s, %s)", (CHANNEL, f"{workflow}{'!' * stops}"), prepare=True)

    def _reconnect(self) -> None:
        if self._db.closed:
            self._db = connected(self._url)
            migrated(self._db, self._migrations)
            self._ahead = server_time(self._db)
            if self._heard.is_listening:
                self._heard.listen(self._db)

    # --- what other connections do ---------------------------------------------------------------------------------

    def clock(self) -> Seconds:
        """The time by the server's clock; a host's own may be wrong."""
        return since_boot() + self._ahead

    def _beat(self, placeholder: PlaceholderId, now: Seconds) -> None:
        self._ahead = server_time(self._db)
        super()._beat(placeholder, now)

    def _news(self, workflow: WorkflowId, stops: bool = False) -> None:
        self._told.add((workflow, stops))

    def listen(self) -> None:
        """From now on this connection hears what others change."""
        with explained():
            self._heard.listen(self._db)

    def fileno(self) -> int:
        """What to wait for: it is ready to be read when there is something to hear. -1: the connection is broken."""
        return -1 if self._db.closed else self._db.fileno()

    def heard(self) -> dict[WorkflowId, bool]:
        """The workflows that others have changed since this was last asked; True: attempts may have to end."""
        if not self._db.closed:
            with explained():
                self._heard.take_in(self._db)
        return self._heard.news()

    def _run(self, name: str, /, **values: object) -> list[tuple[Any, ...]]:
        self._reconnect()
        with explained():
            cursor = self._db.execute(_text(name), cast(Mapping[str, Any], values), prepare=True)
            return cursor.fetchall() if cursor.description is not None else []

    def _many(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        with explained(), self._db.cursor() as cursor:
            cursor.executemany(_text(name), rows)

    def shrink(self) -> None:
        """Gives back the room of what was forgotten, for others to use."""
        self._reconnect()
        with explained():
            self._db.execute("VACUUM jobs, specs, arcs, nodes, attempts, events, placeholders")

    # --- progress --------------------------------------------------------------------------------------------------

    def add(self, submission: Submission, now: Seconds, follows: WorkflowId | None = None) -> WorkflowId:
        """Takes a workflow in, whole or not at all. Of two that bring the same file at once one is refused."""
        new = submission
        with once(), self._transaction():
            ((number,),) = self._run(
                "add_workflow",
                owner=encode(self.owner),
                follows=self._follows(new.source, follows),
                name=encode(new.name),
                source=encode(new.source),
                directory=encode(new.directory),
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
            for lane, category, most, named in new.lanes():
                self._run("add_lane", workflow=number, lane=lane, category=category, most=most, named=named)
        return WorkflowId(number)

    def _copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self._db.cursor() as cursor, cursor.copy(_text(name)) as copy:
            for values in rows:
                copy.write_row(values)

    def enter(self, host: str, pid: int, now: Seconds, patience: Seconds = PATIENCE) -> PlaceholderId:
        """A new placeholder."""
        with self._transaction():
            return PlaceholderId(self._run("enter", host=encode(host), pid=pid, now=now, patience=patience)[0][0])

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
        while True:
            with contextlib.suppress(MovedError), self._transaction():
                return self._answer(placeholder, finished, room, workflows, now, idle, holds)

    def _leases(
        self, placeholder: PlaceholderId, workflow: WorkflowId, taken: Sequence[TakenJob], now: Seconds
    ) -> list[Lease]:
        ids = dict(
            self._run(
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

    def _change_rows(self, rows: Iterable[Row]) -> None:
        rows = list(rows)
        self._run(
            "change_jobs",
            state=[int(row.state) for row in rows],
            waiting_for=[row.waiting_for for row in rows],
            tries=[row.tries for row in rows],
            arrival=[row.arrival for row in rows],
            workflow=[row.workflow for row in rows],
            job=[row.job for row in rows],
        )

    def _in_turn(self, work: Callable[[], T]) -> T:
        """Others lock few rows where steering locks many; if they wait in a circle PostgreSQL gives one of them up."""
        for _ in range(10):
            try:
                return work()
            except HeadwayError as error:
                if getattr(error.__cause__, "sqlstate", "") != _DEADLOCK:
                    raise
        return work()

    def _finish(self, finished: Sequence[Finish], now: Seconds, holds: Collection[LeaseId] = ()) -> Changes:
        """Rehearses the step on rows as they are now to learn which it touches, locks those in order, and does it."""
        rehearsal = Rehearsal(self, finished, holds)
        step(rehearsal, finished, now, holds)
        keys = list(rehearsal.used)
        locked = self._run("lock", workflows=[key[0] for key in keys], jobs=[key[1] for key in keys]) if keys else []
        changes = step(Locked(self, rehearsal, locked), finished, now, holds)
        for lease in changes.retaken:
            self._run("retake", lease=lease)
        ended = changes.ended
        if ended:
            self._run(
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
            self._change_rows(changes.rows.values())
        for workflow, parent in changes.spent:
            self._run("spend", workflow=workflow, parent=parent)
        if changes.nodes or changes.renewed:  # whoever ends a workflow is a node
            self._consequences(changes, now)
        if changes.refused:
            self._refuse(changes.refused, now)
        return changes

    def _arcs(self, parent: Row) -> list[tuple[Key, bool]]:
        """Who waits for a job, as it is now."""
        found = self._run("children", workflow=parent.workflow, parents=[parent.job])
        return [((WorkflowId(values[0]), JobId(values[1])), values[10] == 1) for values in found]


def _text(name: str) -> str:
    return _SQL[name].text
