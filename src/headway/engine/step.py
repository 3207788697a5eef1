"""What follows when attempts end: who becomes eligible, who is tried again, who has failed.

Every store calls this inside its one transaction, so the rules are here once, whatever the database.
"""

from __future__ import annotations

from collections.abc import Iterable

from headway.engine.progress import Changes, Row, Rows, settle
from headway.model.messages import Finish, Seconds
from headway.model.states import Kind, State


def step(rows: Rows, finished: Iterable[Finish], now: Seconds) -> Changes:
    """The consequences of attempts that ended, in the order given."""
    changes = Changes()
    for finish in finished:
        row = rows.leased(finish.lease)
        if row is None:
            changes.refused.append(finish)
            continue
        changes.ended.append(finish)
        changes.rows[row.workflow, row.job] = row
        row.lease = None
        if row.kind >= Kind.NODE:
            from headway.engine.nodes import attempt_ended  # most workflows do without

            attempt_ended(rows, row, finish.exit_code, now, changes)
        elif finish.exit_code is None:
            row.ready()  # keeps its arrival: it was next, and is again
        else:
            _job_ended(rows, row, finish.exit_code, changes)
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
