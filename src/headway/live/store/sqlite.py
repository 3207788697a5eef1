"""The embedded store: one SQLite file next to the workflow, for one host."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from headway.engine.ready import chosen
from headway.engine.step import Changes, Row, step
from headway.live.store.submission import Submission
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.states import State

SCHEMA = 1
_ROW = "workflow, job, state, waiting_for, tries, retries, spec IS NULL, lease, arrival"


class SqliteStore:
    """Every method is one transaction. Durable means: survives the death of every process (WAL, synchronous NORMAL)."""

    def __init__(self, path: Path, sync: str = "normal") -> None:
        self.path = path
        create(path)
        self._db = sqlite3.connect(path, isolation_level=None, timeout=60, cached_statements=64)
        self._db.execute(f"PRAGMA synchronous = {'FULL' if sync == 'full' else 'NORMAL'}")
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA:
            raise HeadwayError(
                f"{path} was written by a newer Headway (schema {version}, this one knows {SCHEMA}).",
                "Use that version, or another --store.",
            )

        (self.id,) = self._db.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Takes the write lock first, so that what is read stays true until it is written."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise HeadwayError(
                f"{self.path}: the store cannot be written: {error}.", "See to it and run again."
            ) from None

    # --- workflows -------------------------------------------------------------------------------------------------

    def add(self, submission: Submission, now: Seconds) -> WorkflowId:
        """Takes a workflow in, whole or not at all."""
        with self._transaction() as db:
            (number,) = db.execute("SELECT COALESCE(MAX(id), 0) + 1 FROM workflows").fetchone()
            db.execute(
                "INSERT INTO workflows VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    number,
                    submission.name,
                    submission.source,
                    submission.directory,
                    submission.digest,
                    now,
                    submission.arrivals,
                ),
            )
            db.executemany(
                "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?, NULL, ?, ?, ?, ?)",
                ((number, *row) for row in submission.rows()),
            )
            db.executemany("INSERT INTO arcs VALUES (?, ?, ?, ?)", ((number, *arc) for arc in submission.arcs()))
        return WorkflowId(number)

    def latest(self, source: str) -> tuple[WorkflowId, str] | None:
        """The last workflow submitted from a file, and its digest."""
        found: tuple[WorkflowId, str] | None = self._db.execute(
            "SELECT id, digest FROM workflows WHERE source = ? ORDER BY id DESC LIMIT 1", (source,)
        ).fetchone()
        return found

    def counts(self, workflow: WorkflowId) -> dict[State, int]:
        """How many jobs are in each state; milestones left out."""
        rows = self._db.execute(
            "SELECT state, COUNT(*) FROM jobs WHERE workflow = ? AND spec IS NOT NULL GROUP BY state", (workflow,)
        )
        return {State(state): count for state, count in rows}

    def directory(self, workflow: WorkflowId) -> str:
        """Where the jobs of a workflow run."""
        (found,) = self._db.execute("SELECT directory FROM workflows WHERE id = ?", (workflow,)).fetchone()
        return str(found)

    def retry_failed(self, workflow: WorkflowId) -> int:
        """Failed jobs become eligible again, with all their retries."""
        with self._transaction() as db:
            return db.execute(
                "UPDATE jobs SET state = ?, tries = 0 WHERE workflow = ? AND state = ?",
                (State.ELIGIBLE, workflow, State.FAILED),
            ).rowcount

    # --- progress --------------------------------------------------------------------------------------------------

    def exchange(
        self,
        placeholder: PlaceholderId,
        finished: Sequence[Finish],
        free: int,
        slots: int,
        ahead: int,
        workflows: Sequence[WorkflowId],
        now: Seconds,
    ) -> list[Lease]:
        """The only way a job makes progress: attempts that ended go in, and the next jobs come out."""
        with self._transaction() as db:
            rows = _Rows(db)
            changes = step(rows, finished)
            self._write(db, rows, changes)
            leases: list[Lease] = []
            for workflow in workflows:
                if free > 0 or ahead > 0:
                    some = self._lease(db, placeholder, workflow, free, slots, ahead, now)
                    leases += some
                    free -= sum(lease.cores for lease in some)
        return leases

    def _write(self, db: sqlite3.Connection, rows: _Rows, changes: Changes) -> None:
        db.executemany(
            "UPDATE attempts SET started = ?, ended = ?, exit_code = ?, max_rss = ?, cpu_seconds = ?, reason = ?"
            " WHERE id = ?",
            (
                (end.started, end.ended, end.exit_code, end.max_rss, end.cpu_seconds, end.reason or None, end.lease)
                for end in changes.ended
            ),
        )
        db.executemany(
            "UPDATE jobs SET state = ?, waiting_for = ?, tries = ?, lease = ?, arrival = ?"
            " WHERE workflow = ? AND job = ?",
            (
                (row.state, row.waiting_for, row.tries, row.lease, row.arrival, row.workflow, row.job)
                for row in changes.rows.values()
            ),
        )
        db.executemany("UPDATE arcs SET weak = 2 WHERE workflow = ? AND parent = ? AND weak = 1", changes.spent)
        db.executemany("UPDATE workflows SET arrivals = ? WHERE id = ?", ((n, w) for w, n in rows.arrivals.items()))

    def _lease(
        self,
        db: sqlite3.Connection,
        placeholder: PlaceholderId,
        workflow: WorkflowId,
        free: int,
        slots: int,
        ahead: int,
        now: Seconds,
    ) -> list[Lease]:
        candidates = db.execute(
            "SELECT job, name, attempts, cores, time, spec FROM jobs WHERE workflow = ? AND state = 1"
            " ORDER BY rank, arrival LIMIT ?",
            (workflow, max(free, 0) + ahead),
        ).fetchall()
        taken = chosen(((row, row[3]) for row in candidates), free, slots, ahead)
        if not taken:
            return []
        (last,) = db.execute("SELECT COALESCE(MAX(id), 0) FROM attempts").fetchone()
        leases = [
            Lease(LeaseId(last + at), workflow, JobId(job), name, attempts + 1, cores, spec, time)
            for at, ((job, name, attempts, _, time, spec), cores) in enumerate(taken, 1)
        ]
        db.executemany(
            "INSERT INTO attempts (id, workflow, job, number, placeholder, leased) VALUES (?, ?, ?, ?, ?, ?)",
            ((lease.id, workflow, lease.job, lease.attempt, placeholder, now) for lease in leases),
        )
        db.executemany(
            "UPDATE jobs SET state = 2, lease = ?, attempts = attempts + 1 WHERE workflow = ? AND job = ?",
            ((lease.id, workflow, lease.job) for lease in leases),
        )
        return leases

    # --- placeholders ----------------------------------------------------------------------------------------------

    def enter(self, host: str, pid: int, now: Seconds) -> PlaceholderId:
        """A new placeholder."""
        with self._transaction() as db:
            cursor = db.execute(
                "INSERT INTO placeholders (host, pid, started, beat) VALUES (?, ?, ?, ?)", (host, pid, now, now)
            )
            return PlaceholderId(cursor.lastrowid or 0)

    def beat(self, placeholder: PlaceholderId, now: Seconds) -> None:
        """It is still there."""
        with self._transaction() as db:
            db.execute("UPDATE placeholders SET beat = ? WHERE id = ?", (now, placeholder))

    def leave(self, placeholder: PlaceholderId, now: Seconds) -> None:
        """It ends, and holds nothing any more."""
        with self._transaction() as db:
            db.execute("UPDATE placeholders SET ended = ?, beat = ? WHERE id = ?", (now, now, placeholder))

    def open_leases(self, host: str) -> list[LeaseId]:
        """Attempts of this host's placeholders that have not ended."""
        return [
            LeaseId(lease)
            for (lease,) in self._db.execute(
                "SELECT a.id FROM attempts a JOIN placeholders p ON p.id = a.placeholder"
                " WHERE a.ended IS NULL AND p.host = ? ORDER BY a.id",
                (host,),
            )
        ]

    # --- looking ---------------------------------------------------------------------------------------------------

    def failures(self, workflow: WorkflowId) -> list[tuple[str, int, int, int | None, str | None]]:
        """Failed jobs: name, place, last attempt's number, exit code and reason."""
        return self._db.execute(
            "SELECT j.name, j.job, MAX(a.number), a.exit_code, a.reason FROM jobs j"
            " JOIN attempts a ON a.workflow = j.workflow AND a.job = j.job"
            " WHERE j.workflow = ? AND j.state = 4 GROUP BY j.job ORDER BY j.job",
            (workflow,),
        ).fetchall()

    def attempts(self, workflow: WorkflowId) -> list[tuple[object, ...]]:
        """Every attempt: job, number, host, started, ended, exit code, memory, CPU time, reason."""
        return self._db.execute(
            "SELECT j.name, a.number, p.host, a.started, a.ended, a.exit_code, a.max_rss, a.cpu_seconds, a.reason"
            " FROM attempts a JOIN jobs j ON j.workflow = a.workflow AND j.job = a.job"
            " JOIN placeholders p ON p.id = a.placeholder WHERE a.workflow = ? ORDER BY a.id",
            (workflow,),
        ).fetchall()


class _Rows:
    """The rows that a step looks at, read inside its transaction; a row read twice is one object."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._seen: dict[tuple[int, int], Row] = {}
        self.arrivals: dict[WorkflowId, int] = {}

    def _row(self, values: tuple[int, ...]) -> Row:
        workflow, job, state, waiting_for, tries, retries, milestone, lease, arrival = values
        return self._seen.setdefault(
            (workflow, job),
            Row(
                WorkflowId(workflow),
                JobId(job),
                State(state),
                waiting_for,
                tries,
                retries,
                bool(milestone),
                lease if lease is None else LeaseId(lease),
                arrival,
            ),
        )

    def leased(self, lease: LeaseId) -> Row | None:
        found = self._db.execute("SELECT workflow, job FROM attempts WHERE id = ?", (lease,)).fetchone()
        if found is None:
            return None
        values = self._db.execute(f"SELECT {_ROW} FROM jobs WHERE workflow = ? AND job = ?", found).fetchone()  # noqa: S608
        row = self._row(values)
        return row if row.lease == lease else None

    def children(self, row: Row) -> Sequence[tuple[Row, bool]]:
        found = self._db.execute(
            "SELECT a.weak, j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.spec IS NULL, j.lease,"
            " j.arrival FROM arcs a JOIN jobs j ON j.workflow = a.workflow AND j.job = a.child"
            " WHERE a.workflow = ? AND a.parent = ? AND a.weak < 2 ORDER BY a.child",
            (row.workflow, row.job),
        )
        return [(self._row(values), bool(weak)) for weak, *values in found.fetchall()]

    def next_arrival(self, workflow: WorkflowId) -> int:
        last = self.arrivals.get(workflow)
        if last is None:
            (last,) = self._db.execute("SELECT arrivals FROM workflows WHERE id = ?", (workflow,)).fetchone()
        self.arrivals[workflow] = last + 1
        return int(last) + 1


def create(path: Path) -> None:
    """Makes the file if it is not there: built aside and linked into place, so that nobody sees half of one."""
    if path.exists():
        return
    handle, aside = tempfile.mkstemp(prefix=".store-", dir=path.parent)
    os.close(handle)
    try:
        db = sqlite3.connect(aside, isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(files("headway.live.store").joinpath("schema.sql").read_text())
        db.execute("INSERT INTO meta VALUES ('id', ?)", (secrets.token_hex(8),))
        db.execute(f"PRAGMA user_version = {SCHEMA}")
        db.close()
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    finally:
        for ending in ("", "-wal", "-shm"):
            Path(aside + ending).unlink(missing_ok=True)
