"""The shared store: a PostgreSQL database that many placeholders on many hosts use at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from headway.engine.progress import Changes, Key, Node, Row
from headway.engine.ready import Room
from headway.engine.step import step
from headway.live.store import migration
from headway.live.store.claims import Claims, Taken
from headway.live.store.postgres_news import CHANNEL, Heard
from headway.live.store.postgres_server import connected, explained, migrated, once, server_time, since_boot, user
from headway.live.store.shared import row
from headway.live.store.statements import statements
from headway.live.store.steering import T
from headway.live.store.words import kept
from headway.model.errors import HeadwayError
from headway.model.messages import PATIENCE, Answer, Finish, JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.states import Kind

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
                owner=kept(self.owner),
                follows=self._follows(new.source, follows),
                name=kept(new.name),
                source=kept(new.source),
                directory=kept(new.directory),
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

    def retry_failed(self, workflow: WorkflowId) -> int:
        """Failed jobs become eligible again, with all their retries; how many."""
        with self._transaction():
            self._run("retry_nodes", workflow=workflow)
            self._news(workflow)
            return self._db.execute(_text("retry_failed"), {"workflow": workflow}).rowcount

    def enter(self, host: str, pid: int, now: Seconds, patience: Seconds = PATIENCE) -> PlaceholderId:
        """A new placeholder."""
        with self._transaction():
            return PlaceholderId(self._run("enter", host=kept(host), pid=pid, now=now, patience=patience)[0][0])

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
            with contextlib.suppress(_MovedError), self._transaction():
                return self._answer(placeholder, finished, room, workflows, now, idle, holds)

    def _leases(
        self, placeholder: PlaceholderId, workflow: WorkflowId, taken: Sequence[Taken], now: Seconds
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
        rehearsal = _Rehearsal(self, finished, holds)
        step(rehearsal, finished, now, holds)
        keys = list(rehearsal.used)
        locked = self._run("lock", workflows=[key[0] for key in keys], jobs=[key[1] for key in keys]) if keys else []
        changes = step(_Locked(self, rehearsal, locked), finished, now, holds)
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
                reason=[kept(end.reason) or None for end in ended],
                lease=[end.lease for end in ended],
            )
        if changes.rows:
            self._change_rows(changes.rows.values())
        for workflow, parent in changes.spent:
            self._run("spend", workflow=workflow, parent=parent)
        if changes.nodes or changes.aborts:
            self._consequences(changes, now)
        if changes.refused:
            self._refuse(changes.refused, now)
        return changes

    def _arcs(self, parent: Row) -> list[tuple[Key, bool]]:
        """Who waits for a job, as it is now."""
        found = self._run("children", workflow=parent.workflow, parents=[parent.job])
        return [((WorkflowId(values[0]), JobId(values[1])), values[10] == 1) for values in found]


class _MovedError(HeadwayError):
    """Somebody else changed what a rehearsal had seen, so that more rows are touched than are locked: once more."""

    def __init__(self) -> None:
        super().__init__("somebody else has just changed the store.", "Try again.")


class _Rehearsal:
    """Rows without locks. What it learns of leases and arcs stays true if the leases are still held once locked."""

    def __init__(self, store: PostgresStore, finished: Sequence[Finish], holds: Collection[LeaseId]) -> None:
        self._store = store
        self._rows: dict[Key, Row] = {}
        self.jobs: dict[LeaseId, Key] = {}
        self.counts: dict[LeaseId, bool] = {}  # whether the end of an attempt that was thought lost would count
        self.arcs: dict[Key, list[tuple[Key, bool]]] = {}
        self.processes: dict[Key, list[Key]] = {}
        self._nodes: dict[Key, Node] = {}
        self.used: set[Key] = set()  # what the step looked at
        leases = [*(finish.lease for finish in finished), *holds]
        for *values, lease, counts in store._run("leased", leases=leases) if leases else ():
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
        for *values, weak, parent in self._store._run("children", workflow=workflow, parents=parents):
            self.arcs[workflow, parent].append((self._seen(values), weak == 1))

    def leased(self, lease: LeaseId) -> Row | None:
        key = self.jobs.get(lease)
        if key is None:
            return None
        found = self._store._good(self._rows[key], lease, self.counts[lease])
        if found is not None:
            self.used.add(key)
        return found

    def children(self, parent: Row) -> Sequence[tuple[Row, bool]]:
        if (parent.workflow, parent.job) not in self.arcs:
            self._load(parent.workflow, [parent.job])
        arcs = self.arcs[parent.workflow, parent.job]
        self.used.update(key for key, _ in arcs)
        return [(self._rows[key], weak) for key, weak in arcs]

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        key = self._seen(self._store._run("job", workflow=workflow, job=job)[0])
        self.used.add(key)
        return self._rows[key]

    def node(self, row: Row) -> Node:
        """As it is before its job is locked: good enough to learn what a step touches."""
        if row.key not in self._nodes:
            self._nodes[row.key] = self._store._node(row.workflow, row.job)
        return self._nodes[row.key]

    def parts(self, owner: Row) -> Sequence[Row]:
        found = self._store._run("parts", workflow=owner.workflow, owner=owner.job)
        self.processes[owner.key] = [self._seen(values) for values in found]
        self.used.update(self.processes[owner.key])
        return [self._rows[key] for key in self.processes[owner.key]]

    def next_arrival(self, workflow: WorkflowId) -> int:
        return 0


class _Locked:
    """The rows that are locked, as they are now."""

    def __init__(self, store: PostgresStore, rehearsal: _Rehearsal, locked: Sequence[Sequence[Any]]) -> None:
        self._store = store
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
        ((*_, counts),) = self._store._run("leased", leases=[lease])  # as it is now that its job is locked
        return self._store._good(found, lease, counts)

    def children(self, parent: Row) -> Sequence[tuple[Row, bool]]:
        if parent.kind == Kind.PROVISIONER and parent.key in self._arcs:  # it may have said since that it is ready
            self._arcs[parent.key] = self._store._arcs(parent)
        try:
            return [(self._rows[key], weak) for key, weak in self._arcs[parent.workflow, parent.job]]
        except KeyError:
            raise _MovedError from None

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        try:
            return self._rows[workflow, job]
        except KeyError:
            raise _MovedError from None

    def node(self, row: Row) -> Node:
        """Whoever changes a node has its job locked, as we have now."""
        if row.key not in self._nodes:
            self._nodes[row.key] = self._store._node(row.workflow, row.job)
        return self._nodes[row.key]

    def parts(self, owner: Row) -> Sequence[Row]:
        try:
            return [self._rows[key] for key in self._processes[owner.key]]
        except KeyError:
            raise _MovedError from None

    def next_arrival(self, workflow: WorkflowId) -> int:
        self._arrival += 1
        return int(self._arrival)


def _text(name: str) -> str:
    return _SQL[name].text
