"""What follows when attempts end: who becomes eligible, who is tried again, who has failed.

Every store calls this inside its one transaction, so the rules are here once, whatever the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from headway.model.messages import Finish, JobId, LeaseId, WorkflowId
from headway.model.states import TRANSITIONS, State


@dataclass(slots=True)
class Row:
    """What the rules look at and change of one job."""

    workflow: WorkflowId
    job: JobId
    state: State
    waiting_for: int  # parents that are not done
    tries: int  # attempts that count: started and not given back
    retries: int  # tries beyond the first that it may have
    milestone: bool
    lease: LeaseId | None = None
    arrival: int = 0  # when it became eligible, in order

    def to(self, state: State) -> None:
        """Moves on; a way that the table does not have is a bug here, not an input to judge."""
        if (self.state, state) not in TRANSITIONS:
            raise AssertionError(f"no way from {self.state.name} to {state.name}")
        self.state = state


class Rows(Protocol):
    """The rows of the store, as they are inside the transaction."""

    def leased(self, lease: LeaseId) -> Row | None:
        """The job that this lease is for; None if the lease is stale."""

    def children(self, row: Row) -> Sequence[tuple[Row, bool]]:
        """The jobs that wait for this one, and whether they only wait for its end (a weak arc, not spent)."""

    def next_arrival(self, workflow: WorkflowId) -> int:
        """Numbers in order: who became eligible first."""


@dataclass(slots=True)
class Changes:
    """What a step changed: rows to write, and finishes to record or to refuse."""

    rows: dict[tuple[WorkflowId, JobId], Row] = field(default_factory=dict)
    ended: list[Finish] = field(default_factory=list)
    refused: list[Finish] = field(default_factory=list)
    spent: list[tuple[WorkflowId, JobId]] = field(default_factory=list)  # jobs whose weak arcs count no second time


def step(rows: Rows, finished: Iterable[Finish]) -> Changes:
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
        if finish.exit_code is None:
            row.to(State.ELIGIBLE)  # keeps its arrival: it was next, and is again
            continue
        row.tries += 1
        if finish.exit_code == 0:
            row.to(State.DONE)
        elif row.tries <= row.retries:
            row.to(State.ELIGIBLE)
            row.arrival = rows.next_arrival(row.workflow)
        else:
            row.to(State.FAILED)
        if row.state in (State.DONE, State.FAILED):
            _release(rows, row, changes)
        if row.state is State.FAILED:
            changes.spent.append((row.workflow, row.job))
    return changes


def _release(rows: Rows, ended: Row, changes: Changes) -> None:
    """Counts an end down in all that wait for it; milestones that thereby wait no more end at once."""
    stack = [ended]
    while stack:
        row = stack.pop()
        for child, weak in rows.children(row):
            if row.state is State.FAILED and not weak:
                continue
            child = changes.rows.setdefault((child.workflow, child.job), child)
            child.waiting_for -= 1
            if child.waiting_for == 0 and child.state is State.WAITING:
                if child.milestone:
                    child.to(State.DONE)
                    stack.append(child)
                else:
                    child.to(State.ELIGIBLE)
                    child.arrival = rows.next_arrival(child.workflow)
