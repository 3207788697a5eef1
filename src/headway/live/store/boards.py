"""Boards of a store: the rows that a rule will look at, locked and read inside a transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from headway.engine.board import Board
from headway.live.store.giving import traits
from headway.live.store.rows import node, row
from headway.model.messages import JobId, WorkflowId

if TYPE_CHECKING:
    from headway.live.store.database import Database

Range = tuple[int, int]  # places of jobs, the first and the last
ALL: Range = (0, 1 << 62)


def between(database: Database, workflow: WorkflowId, ranges: Sequence[Range]) -> Board:
    """The jobs from one place to another, and the processes of those that are nodes."""
    board = Board()
    for first, last in ranges:
        for name in ("range_jobs", "range_parts"):
            _add_rows(board, database.run(name, workflow=workflow, first=first, last=last))
        _add_nodes(board, workflow, database.run("range_nodes", workflow=workflow, first=first, last=last))
    return board


def following(database: Database, workflow: WorkflowId, ranges: Sequence[Range], only: bool) -> Board:
    """Those jobs, and all that depends on them or began on them too early; the last job, which follows everything.

    `only`: no further than what waits for them, or for a milestone behind them.
    """
    board = Board()
    board.premature_starts = _premature_starts(database, workflow)
    name = "waiting" if only else "following"
    found = {job for first, last in ranges for (job,) in database.run(name, workflow=workflow, first=first, last=last)}
    early = () if only else board.premature_starts
    while more := {job for job, because in early if because in found and job not in found}:
        found |= {after for job in more for (after,) in database.run(name, workflow=workflow, first=job, last=job)}
    final = traits(database, workflow).final
    _load(board, database, workflow, found if final is None else {*found, final})
    return board


def whole(database: Database, workflow: WorkflowId) -> Board:
    """All there is of a workflow."""
    board = between(database, workflow, [ALL])
    board.premature_starts = _premature_starts(database, workflow)
    _add_arcs(board, workflow, database.run("all_arcs", workflow=workflow))
    ((board.arrivals,),) = database.run("arrivals", workflow=workflow) or [(0,)]
    return board


def _premature_starts(database: Database, workflow: WorkflowId) -> list[tuple[JobId, JobId]]:
    return [(JobId(job), JobId(because)) for because, job in database.run("all_doubts", workflow=workflow)]


def _load(board: Board, database: Database, workflow: WorkflowId, jobs: Collection[int]) -> None:
    some = database.array(sorted(jobs))
    for name in ("some_jobs", "some_parts"):
        _add_rows(board, database.run(name, workflow=workflow, jobs=some))
    _add_nodes(board, workflow, database.run("some_nodes", workflow=workflow, jobs=some))
    _add_arcs(board, workflow, database.run("some_arcs", workflow=workflow, jobs=some))
    ((board.arrivals,),) = database.run("arrivals", workflow=workflow) or [(0,)]


def _add_rows(board: Board, found: Iterable[Sequence[Any]]) -> None:
    for values in found:
        one = row(values)
        board.rows.setdefault(one.key, one)


def _add_nodes(board: Board, workflow: WorkflowId, found: Iterable[Sequence[Any]]) -> None:
    for job, *values in found:
        board.nodes[workflow, job] = node(values)


def _add_arcs(board: Board, workflow: WorkflowId, found: Iterable[Sequence[Any]]) -> None:
    for parent, child, needs in found:
        board.arcs.setdefault((workflow, parent), []).append((child, needs))
