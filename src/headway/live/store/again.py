"""What a store does when a workflow is run again; inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.engine import again
from headway.engine.board import Board
from headway.engine.progress import Changes
from headway.live.store.shared import node, row
from headway.model.messages import WorkflowId

if TYPE_CHECKING:
    from headway.live.store.claims import Claims


def resume(store: Claims, workflow: WorkflowId) -> None:
    """If something of it can run, what ended it early does not keep that from it any more."""
    board = _board(store, workflow, "outside")
    ((goes_on, is_provided),) = store._run("goes_on", workflow=workflow)
    if is_provided:
        store._run("unhalt", workflow=workflow)
    _save(store, again.resume(board, board.rows.values(), bool(goes_on), bool(is_provided)))
    store._news(workflow)


def retry_failed(store: Claims, workflow: WorkflowId) -> int:
    """Failed jobs become eligible again; how many."""
    board = _board(store, workflow, "failed")
    if not board.rows:
        return 0
    ((board.arrivals,),) = store._run("arrivals", workflow=workflow)
    changes = again.retry(board, board.rows.values())
    _save(store, changes)
    store._run("keep_arrivals", workflow=workflow, arrivals=board.arrivals)
    store._news(workflow)
    return len(changes.rows)


def _board(store: Claims, workflow: WorkflowId, which: str) -> Board:
    board = Board(row(values) for values in store._run(f"{which}_jobs", workflow=workflow))
    for job, *values in store._run(f"{which}_nodes", workflow=workflow) if board.rows else ():
        board.nodes[workflow, job] = node(values)
    return board


def _save(store: Claims, changes: Changes) -> None:
    if changes.rows:
        store._change_rows(changes.rows.values())
    store._write_nodes(changes.nodes)
    store._renew(changes)
