"""How people steer a workflow, the same in every database: rules on rows that nobody else changes meanwhile."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from headway.engine.progress import Row
from headway.live.store.claims import Claims
from headway.live.store.text import decode, encode
from headway.model.errors import HeadwayError, UsageError, unquoted
from headway.model.messages import JobId, LeaseId, WorkflowId
from headway.model.states import Kind

if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from headway.engine.board import Board
    from headway.engine.steering import Steered

T = TypeVar("T")
Range = tuple[int, int]  # places of jobs, the first and the last


class Steering(Claims):
    """The part of a store that people's verbs use."""

    def _in_turn(self, work: Callable[[], T]) -> T:
        """Does a transaction; once more if the database gave it up for another one."""
        return work()

    def steer(
        self, verb: str, workflow: WorkflowId, ranges: Sequence[Range], only: bool = False
    ) -> tuple[list[str], list[LeaseId]]:
        """Enables, disables, stops, calls done or has done anew; the jobs that this changed, and who is to end."""
        return self._in_turn(lambda: self._steered(verb, workflow, sorted(ranges), only))

    def _steered(
        self, verb: str, workflow: WorkflowId, ranges: Sequence[Range], only: bool
    ) -> tuple[list[str], list[LeaseId]]:
        from headway.engine import steering
        from headway.live.store import boards

        switches = verb in ("enable", "disable", "stop")
        if not switches and verb not in ("done", "redo"):
            raise UsageError(f"there is no verb {verb}.", "Expected enable, disable, stop, done or redo.")
        with self._transaction():
            if switches:
                board = boards.between(self, workflow, ranges)
            else:
                board = boards.following(self, workflow, ranges, only or verb == "done")
            rows = _steered_rows(board, ranges)
            try:
                if verb == "enable":
                    changes = steering.enable(board, rows)
                elif verb == "disable":
                    changes = steering.disable(board, rows)
                elif verb == "stop":
                    changes = steering.stop(board, rows)
                elif verb == "done":
                    changes = steering.done(board, rows)
                else:
                    final = self._traits(workflow).final
                    changes = steering.redo(board, rows, None if final is None else board.row(workflow, final), only)
            except steering.StillRunningError as error:
                raise self._refusal(workflow, verb, error.jobs) from None
            if verb != "enable":
                self._void(verb, [*rows, *changes.rows.values()])
            if switches:
                self._switch(workflow, ranges, changes, off=verb != "enable")
            self._write(workflow, board, changes, {"stop": "its user has stopped it"}.get(verb, ""))
            names = self._names(workflow) if changes.changed else {}
            self._news(workflow, stops=True)
        return [names[job] for job in changes.changed], changes.stops

    def _void(self, verb: str, rows: Iterable[Row]) -> None:
        """Ends that may still come of attempts thought lost do not count any more: their user wants something else."""
        leases = {row.last_lease for row in rows if row.last_lease is not None}
        for lease in sorted(leases):
            self._run("void", lease=lease, reason=encode(f"its user has said {verb} since"))

    def _switch(self, workflow: WorkflowId, ranges: Sequence[Range], changes: Steered, off: bool) -> None:
        for first, last in ranges:
            self._run("switch", workflow=workflow, first=first, last=last, off=int(off))
        for row in changes.rows.values():
            if row.kind == Kind.PART:
                self._run("switch_part", workflow=workflow, job=row.job, off=int(row.off))

    def _write(self, workflow: WorkflowId, board: Board, changes: Steered, reason: str) -> None:
        self._change_rows(changes.rows.values())
        self._write_nodes(changes.nodes)
        self._renew(changes)
        for _, parent in changes.counted:
            self._run("count_arcs", workflow=workflow, parent=parent)
        for parent in changes.unspent:
            self._run("unspend", workflow=workflow, parent=parent)
        for job, because in changes.certain:
            self._run("settle_doubt", workflow=workflow, job=job, because=because)
        for lease in changes.stops:
            self._run("stop", lease=lease, reason=encode(reason))
        if board.arrivals:
            self._run("keep_arrivals", workflow=workflow, arrivals=board.arrivals)

    def _names(self, workflow: WorkflowId) -> dict[JobId, str]:
        return {JobId(job): decode(name) for job, name in self._run("names", workflow=workflow)}

    def _refusal(self, workflow: WorkflowId, verb: str, jobs: Sequence[JobId]) -> HeadwayError:
        names = self._names(workflow)
        some = ", ".join(unquoted(names[job]) for job in jobs[:5]) + (f" and {len(jobs) - 5} more" * (len(jobs) > 5))
        what = "be called done" if verb == "done" else "be done anew"
        return HeadwayError(
            f"{some} {'runs' if len(jobs) == 1 else 'run'} now and cannot {what}.",
            f"Stop {'it' if len(jobs) == 1 else 'them'} first (headway stop), or wait for the end.",
        )

    # --- what jobs say of themselves -------------------------------------------------------------------------------

    def say(self, lease: LeaseId, status: str) -> bool:
        """Keeps what a job says of itself; whether it still has its lease."""
        with self._transaction():
            found = self._run("attempt_kind", lease=lease)
            self._run("say", lease=lease, status=encode(status))
        return bool(found)

    def ready(self, lease: LeaseId) -> bool:
        """A provisioner says that the rest may start; whether it is one that had not said so."""
        return self._in_turn(lambda: self._made_ready(lease))

    def _made_ready(self, lease: LeaseId) -> bool:
        from headway.engine.steering import ready
        from headway.live.store.boards import following

        with self._transaction():
            found = self._run("attempt_kind", lease=lease)
            if not found or found[0][2] != Kind.PROVISIONER:
                return False
            workflow, job, _ = found[0]
            board = following(self, workflow, [(job, job)], only=True)
            own = board.row(workflow, job)
            if own.lease != lease or not board.children(own):
                return False
            self._write(workflow, board, ready(board, own), "")
            self._news(workflow)
        return True

    def miscounted(self, workflow: WorkflowId) -> list[tuple[int, int, int]]:
        """Jobs whose counters are wrong: what they say, and what counting anew says. There must never be one."""
        from headway.engine.steering import waiting_counts
        from headway.live.store.boards import whole

        with self._transaction():
            board = whole(self, workflow)
        counts = waiting_counts(board)
        return [
            (row.job, row.waiting_for, counts[row.key])
            for row in board.rows.values()
            if row.kind != Kind.FINAL and row.waiting_for != counts[row.key]
        ]


def _steered_rows(board: Board, ranges: Sequence[Range]) -> list[Row]:
    """Rows of ranges, in their order; processes are their nodes' business."""
    rows = [row for _, row in sorted(board.rows.items()) if row.kind != Kind.PART]
    places = [row.job for row in rows]
    found: dict[JobId, Row] = {}
    for first, last in ranges:
        for row in rows[bisect_left(places, first) : bisect_right(places, last)]:
            found[row.job] = row
    return list(found.values())
