"""The one write: attempts that ended go in, the next jobs come out. The same in every store and in simulations."""

from __future__ import annotations

from collections.abc import Sequence

from headway.engine.claim import Supply, Table, claim
from headway.engine.progress import Changes
from headway.engine.ready import Room
from headway.model.messages import Answer, Lease, Seconds, WorkflowId
from headway.model.states import COUNTED, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object


class Giving(Table, Protocol):
    """A table in the hands of one placeholder."""

    leases: list[Lease]  # that it gets


def give(
    table: Giving,
    changes: Changes | None,
    room: Room,
    workflows: Sequence[WorkflowId],
    now: Seconds,
    idle: Sequence[WorkflowId] = (),
) -> Answer:
    """What a placeholder hears once what it told is written: `changes` is what followed from that.

    `idle`: workflows of which it has nothing, to be told whether they are over.
    """
    is_whole = room.is_whole
    wake: Seconds | None = None
    for workflow in workflows:
        if not room.most:
            break
        due = claim(table, room, workflow, now)
        if due is not None:
            wake = due if wake is None else min(wake, due)
    answer = Answer(table.leases, None if wake is None else max(0.0, wake - now))
    if idle and (not table.leases or len(idle) > 1):
        _look_ahead(table.supply, answer, idle, is_whole)
    if changes is not None:
        answer.stops, answer.lost = tuple(changes.stops), tuple(changes.lost)
        for row in changes.rows.values():
            if row.state is State.DONE and row.kind in COUNTED:
                answer.done[row.workflow] = answer.done.get(row.workflow, 0) + 1
    return answer


def _look_ahead(supply: Supply, answer: Answer, idle: Sequence[WorkflowId], is_whole: bool) -> None:
    """Says of workflows that a placeholder has nothing of whether anything is to come."""
    given = {lease.workflow for lease in answer.leases}
    for workflow in idle:
        if workflow in given:
            continue
        outlook = supply.outlook(workflow)
        if outlook.is_over:
            answer.over += (workflow,)
        elif outlook.is_stuck(is_whole):
            answer.stuck += (workflow,)
        answer.contended = answer.contended or outlook.eligible
