"""Rows in memory: all of a workflow for simulations and tests, what a rule asked for inside a store's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headway.engine.progress import Key, Node, Row
from headway.model.messages import JobId, LeaseId, WorkflowId
from headway.model.states import Needs

Arc = tuple[JobId, int]  # a child, and what it needs of this parent: Needs


class Board:
    """What the rules look at and change. A row is one object, however often it is asked for."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows: dict[Key, Row] = {row.key: row for row in rows}
        self.nodes: dict[Key, Node] = {}
        self.arcs: dict[Key, list[Arc]] = {}
        self.premature_starts: list[tuple[JobId, JobId]] = []  # a job, and one of the group it began on that failed
        self.arrivals = 0  # the last number given to a job that became eligible
        self._parts: dict[Key, list[Row]] | None = None

    def leased(self, lease: LeaseId) -> Row | None:
        return next((row for row in self.rows.values() if row.lease == lease), None)

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        return self.rows[workflow, job]

    def node(self, row: Row) -> Node:
        return self.nodes[row.workflow, row.job]

    def parts(self, row: Row) -> Sequence[Row]:
        if self._parts is None:
            self._parts = {}
            for (workflow, job), node in self.nodes.items():
                if node.owner is not None:
                    self._parts.setdefault((workflow, node.owner), []).append(self.rows[workflow, job])
        return self._parts.get(row.key, ())

    def children(self, row: Row) -> Sequence[tuple[Row, int]]:
        arcs, workflow = self.arcs.get(row.key, ()), row.workflow
        return [(self.rows[workflow, child], needs) for child, needs in arcs if needs < Needs.END_MET]

    def next_arrival(self, workflow: WorkflowId) -> int:
        self.arrivals += 1
        return self.arrivals
