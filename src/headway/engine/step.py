"""What follows when attempts end: who becomes eligible, who is tried again, who has failed.

Every store calls this inside its one transaction, so the rules are here once, whatever the database.
"""

from __future__ import annotations

from collections.abc import Iterable

from headway.engine.progress import Changes, Row, Rows, settle
from headway.model.messages import Finish, LeaseId, Seconds
from headway.model.states import Kind, State


def step(rows: Rows, finished: Iterable[Finish], now: Seconds, holds: Iterable[LeaseId] = ()) -> Changes:
    """The consequences of attempts that ended, in the order given. `holds`: leases whose jobs are still under way.

    A lease is good until its job is leased again, redone, disabled or edited, even if its placeholder was thought lost
    and the job became eligible: then the job is taken back first.
    """
    changes = Changes()
    told: set[LeaseId] = set()
    for finish in finished:
        row = None if finish.lease in told else rows.leased(finish.lease)
        if row is None:
            changes.refused.append(finish)
            continue
        told.add(finish.lease)
        changes.ended.append(finish)
        changes.rows[row.workflow, row.job] = row
        if row.state is State.ELIGIBLE:
            row.to(State.RUNNING)
        row.lease = None
        if row.kind >= Kind.NODE:
            from headway.engine.nodes import attempt_ended  # most workflows do without

            attempt_ended(rows, row, finish.exit_code, now, changes)
        elif finish.exit_code is None:
            row.ready()  # keeps its arrival: it was next, and is again
        else:
            _job_ended(rows, row, finish.exit_code, changes)
    for lease in holds:
        row = rows.leased(lease)
        if row is None:
            changes.lost.append(lease)
        elif row.state is State.ELIGIBLE:
            row.to(State.RUNNING)
            changes.rows[row.workflow, row.job] = row
            changes.retaken.append(lease)
    return changes


def _job_ended(rows: Rows, row: Row, exit_code: int, changes: Changes) -> None:
    """A job of one command and no rules."""
    row.tries += 1
    if exit_code == 0:
        row.to(State.DONE)
    elif row.tries <= row.retries:
        row.ready()
        row.arrival = rows.next_arrival(row.workflow)
        return
    else:
        row.to(State.FAILED)
    settle(rows, row, changes)
