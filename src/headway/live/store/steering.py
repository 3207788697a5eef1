"""How people, and jobs themselves, change what is to be done: rules on rows that nobody else changes meanwhile."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from headway.engine import steering
from headway.engine.board import Board
from headway.engine.progress import Row
from headway.engine.steering import Steered
from headway.live.store import boards
from headway.live.store.consequences import write_nodes, write_renewed
from headway.live.store.giving import traits
from headway.live.store.rows import names
from headway.live.store.rows import row as row_of
from headway.live.store.text import encode
from headway.model.errors import HeadwayError, UsageError, unquoted
from headway.model.messages import JobId, LeaseId, WorkflowId
from headway.model.states import Halt, Kind, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database

Range = tuple[int, int]  # places of jobs, the first and the last
_SWITCHES = ("enable", "disable", "stop")


class Steering:
    """Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def steer(
        self, verb: str, workflow: WorkflowId, ranges: Sequence[Range], only: bool = False
    ) -> tuple[list[str], list[LeaseId]]:
        """Enables, disables, stops, calls done or runs again (`redo`) the jobs from one place to another.

        The jobs that this changed, and the attempts that are to end. `only`: not what depends on them.
        """
        if verb not in (*_SWITCHES, "done", "redo"):
            raise UsageError(f"there is no verb {verb}.", "Expected enable, disable, stop, done or redo.")
        return self._database.retried(lambda: self._steered(verb, workflow, sorted(ranges), only))

    def _steered(
        self, verb: str, workflow: WorkflowId, ranges: Sequence[Range], only: bool
    ) -> tuple[list[str], list[LeaseId]]:
        database = self._database
        with database.transaction():
            if verb in _SWITCHES:
                board = boards.between(database, workflow, ranges)
            else:
                board = boards.following(database, workflow, ranges, only or verb == "done")
            rows = _steered_rows(board, ranges)
            try:
                changes = self._changes(verb, workflow, board, rows, only)
            except steering.StillRunningError as error:
                raise _refusal(names(database, workflow), verb, error.jobs) from None
            if verb != "enable":
                _void(database, verb, [*rows, *changes.rows.values()])
            if verb in _SWITCHES:
                _switch(database, workflow, ranges, changes, off=verb != "enable")
            _write(database, workflow, board, changes, {"stop": "its user has stopped it"}.get(verb, ""))
            called = names(database, workflow) if changes.changed else {}
            database.news.tell(workflow, stops=True)
        return [called[job] for job in changes.changed], changes.stops

    def _changes(self, verb: str, workflow: WorkflowId, board: Board, rows: Sequence[Row], only: bool) -> Steered:
        if verb == "enable":
            return steering.enable(board, rows)
        if verb == "disable":
            return steering.disable(board, rows)
        if verb == "stop":
            return steering.stop(board, rows)
        if verb == "done":
            return steering.done(board, rows)
        final = traits(self._database, workflow).final
        return steering.redo(board, rows, None if final is None else board.row(workflow, final), only)

    def remove(self, workflow: WorkflowId) -> list[LeaseId] | None:
        """Ends a workflow but for its final job, which then runs: attempts that are to end. None: there is none."""
        database = self._database
        with database.transaction():
            job = traits(database, workflow).final
            final = None if job is None else row_of(database.run("job", workflow=workflow, job=job)[0])
            if final is None or final.state not in (State.WAITING, State.ELIGIBLE, State.RUNNING):
                return None
            ((halted, _),) = database.run("halted", workflow=workflow)
            if halted or final.state is State.RUNNING:  # nothing but the final job is left
                return []
            leases = [LeaseId(lease) for (lease,) in database.run("running", workflow=workflow)]
            database.run("halt", workflow=workflow, halted=int(Halt.REMOVED), returns=None)
            for lease in leases:
                database.run("stop", lease=lease, reason=encode("the DAG that this is part of was ended"))
            database.news.tell(workflow, stops=True)
        return leases

    def call_off(self, workflow: WorkflowId) -> int:
        """Has all that runs of a workflow end, wherever it is; how many attempts. They run again another time."""
        leases = [LeaseId(lease) for (lease,) in self._database.run("running", workflow=workflow)]
        self.stop_attempts(workflow, leases)
        return len(leases)

    def stop_attempts(self, workflow: WorkflowId, leases: Sequence[LeaseId]) -> None:
        """Has some of its attempts end."""
        with self._database.transaction():
            for lease in leases:
                self._database.run("stop", lease=lease, reason=encode("its workflow was stopped"))
            self._database.news.tell(workflow, stops=True)

    # --- what jobs say of themselves -------------------------------------------------------------------------------

    def say(self, lease: LeaseId, status: str) -> bool:
        """Keeps what a job says of itself; whether it still has its lease."""
        with self._database.transaction():
            found = self._database.run("attempt_kind", lease=lease)
            self._database.run("say", lease=lease, status=encode(status))
        return bool(found)

    def ready(self, lease: LeaseId) -> bool:
        """A provisioner says that the rest may start; whether it is one that had not said so."""
        return self._database.retried(lambda: self._made_ready(lease))

    def _made_ready(self, lease: LeaseId) -> bool:
        database = self._database
        with database.transaction():
            found = database.run("attempt_kind", lease=lease)
            if not found or found[0][2] != Kind.PROVISIONER:
                return False
            workflow, job, _ = found[0]
            board = boards.following(database, workflow, [(job, job)], only=True)
            own = board.row(workflow, job)
            if own.lease != lease or not board.children(own):
                return False
            _write(database, workflow, board, steering.ready(board, own), "")
            database.news.tell(workflow)
        return True

    # --- a check -----------------------------------------------------------------------------------------------------

    def miscounted(self, workflow: WorkflowId) -> list[tuple[int, int, int]]:
        """Jobs whose counters are wrong: what they say, and what counting again says. There must never be one."""
        with self._database.transaction():
            board = boards.whole(self._database, workflow)
        counts = steering.waiting_counts(board)
        return [
            (row.job, row.waiting_for, counts[row.key])
            for row in board.rows.values()
            if row.kind != Kind.FINAL and row.waiting_for != counts[row.key]
        ]


def _void(database: Database, verb: str, rows: Iterable[Row]) -> None:
    """Ends that may still come of attempts thought lost do not count any more: their user wants something else."""
    leases = {row.last_lease for row in rows if row.last_lease is not None}
    for lease in sorted(leases):
        database.run("void", lease=lease, reason=encode(f"its user has said {verb} since"))


def _switch(database: Database, workflow: WorkflowId, ranges: Sequence[Range], changes: Steered, off: bool) -> None:
    for first, last in ranges:
        database.run("switch", workflow=workflow, first=first, last=last, off=int(off))
    for row in changes.rows.values():
        if row.kind == Kind.PART:
            database.run("switch_part", workflow=workflow, job=row.job, off=int(row.is_disabled))


def _write(database: Database, workflow: WorkflowId, board: Board, changes: Steered, reason: str) -> None:
    database.jobs.change(changes.rows.values())
    write_nodes(database, changes.nodes)
    write_renewed(database, changes)
    for _, parent in changes.counted:
        database.run("count_arcs", workflow=workflow, parent=parent)
    for parent in changes.unspent:
        database.run("unspend", workflow=workflow, parent=parent)
    for job, because in changes.certain:
        database.run("settle_doubt", workflow=workflow, job=job, because=because)
    for lease in changes.stops:
        database.run("stop", lease=lease, reason=encode(reason))
    if board.arrivals:
        database.run("keep_arrivals", workflow=workflow, arrivals=board.arrivals)


def _refusal(called: dict[JobId, str], verb: str, jobs: Sequence[JobId]) -> HeadwayError:
    some = ", ".join(unquoted(called[job]) for job in jobs[:5]) + (f" and {len(jobs) - 5} more" * (len(jobs) > 5))
    what = "be called done" if verb == "done" else "be run again"
    return HeadwayError(
        f"{some} {'runs' if len(jobs) == 1 else 'run'} now and cannot {what}.",
        f"Stop {'it' if len(jobs) == 1 else 'them'} first (headway stop), or wait for the end.",
    )


def _steered_rows(board: Board, ranges: Sequence[Range]) -> list[Row]:
    """Rows of ranges, in their order; processes are their nodes' business."""
    rows = [row for _, row in sorted(board.rows.items()) if row.kind != Kind.PART]
    places = [row.job for row in rows]
    found: dict[JobId, Row] = {}
    for first, last in ranges:
        for row in rows[bisect_left(places, first) : bisect_right(places, last)]:
            found[row.job] = row
    return list(found.values())
