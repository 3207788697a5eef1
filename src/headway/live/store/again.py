"""What a store does when a workflow is run again; inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.engine import again
from headway.engine.board import Board
from headway.engine.progress import Changes
from headway.live.store.consequences import write_nodes, write_renewed
from headway.live.store.rows import node, row
from headway.model.messages import WorkflowId

if TYPE_CHECKING:
    from headway.live.store.database import Database


def resume(database: Database, workflow: WorkflowId) -> None:
    """If something of it can run, what ended it early does not keep that from it any more."""
    board = _board(database, workflow, "outside")
    ((goes_on, is_provided),) = database.run("goes_on", workflow=workflow)
    if is_provided:
        database.run("unhalt", workflow=workflow)
    _save(database, again.resume(board, board.rows.values(), bool(goes_on), bool(is_provided)))
    database.news.tell(workflow)


def retry_failed(database: Database, workflow: WorkflowId) -> int:
    """Failed jobs become eligible again; how many."""
    board = _board(database, workflow, "failed")
    if not board.rows:
        return 0
    ((board.arrivals,),) = database.run("arrivals", workflow=workflow)
    changes = again.retry(board, board.rows.values())
    _save(database, changes)
    database.run("keep_arrivals", workflow=workflow, arrivals=board.arrivals)
    database.news.tell(workflow)
    return len(changes.rows)


def _board(database: Database, workflow: WorkflowId, which: str) -> Board:
    board = Board(row(values) for values in database.run(f"{which}_jobs", workflow=workflow))
    for job, *values in database.run(f"{which}_nodes", workflow=workflow) if board.rows else ():
        board.nodes[workflow, job] = node(values)
    return board


def _save(database: Database, changes: Changes) -> None:
    if changes.rows:
        database.jobs.change(changes.rows.values())
    write_nodes(database, changes.nodes)
    write_renewed(database, changes)
