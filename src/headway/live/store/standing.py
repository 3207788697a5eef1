"""What a store says of a job, and of what happened out of the ordinary."""

from __future__ import annotations

from headway.model.messages import JobId, Seconds, WorkflowId
from headway.model.record import record
from headway.model.states import State


@record
class Event:
    """Something out of the ordinary: attempts are the history, these are the exceptions."""

    id: int
    time: Seconds
    kind: str  # refused: a result came from a stale lease; reclaimed: a placeholder was silent for too long
    workflow: WorkflowId | None
    job: JobId | None
    text: str


@record
class Standing:
    """Where one job is."""

    job: JobId
    name: str
    state: State
    rank: int
    waiting_for: int  # parents that are not done
    attempts: int
