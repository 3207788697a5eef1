"""A workflow is run again: what failed may be retried, and what runs beside the rest, or last, does so once more."""

from __future__ import annotations

from collections.abc import Iterable

from headway.engine.progress import Changes, Row, Rows
from headway.model.states import Kind, State


def retry(rows: Rows, failed: Iterable[Row]) -> Changes:
    """Jobs that have failed get all their tries again, from their first step; the last one is called again."""
    changes = Changes()
    for row in failed:
        if row.kind == Kind.FINAL:
            row.call_back()
        else:
            row.ready()
        row.arrival = rows.next_arrival(row.workflow)
        changes.renewed.add(row.workflow)
        _begin(rows, row, changes)
    return changes


def resume(rows: Rows, outside: Iterable[Row], goes_on: bool, is_provided: bool) -> Changes:
    """What of a workflow that goes on runs once more. `outside`: its nodes outside the order.

    `goes_on`: one of the other jobs runs or could; `is_provided`: and if it is only a provisioner. Then the store lets
    new jobs begin though a job had ended the workflow; else nothing has changed, and it stays ended.
    """
    changes = Changes()
    for row in outside:
        if row.kind == Kind.FINAL:
            if is_provided and row.state in (State.ELIGIBLE, State.DONE, State.FAILED):
                row.call_back()
                _begin(rows, row, changes)
        elif goes_on and row.state is State.DONE:  # a service, or a provisioner
            row.ready()
            row.tries = 0
            changes.rows[row.key] = row
    return changes


def _begin(rows: Rows, row: Row, changes: Changes) -> None:
    row.tries = 0
    changes.rows[row.key] = row
    if row.kind >= Kind.NODE:
        changes.nodes.setdefault(row.key, rows.node(row)).begin_anew()
