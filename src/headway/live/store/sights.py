"""What people see of a store."""

from __future__ import annotations

from headway.model.messages import JobId, LeaseId, Seconds, WorkflowId
from headway.model.record import record
from headway.model.states import State


@record
class Submitted:
    """A workflow in the store."""

    id: WorkflowId
    name: str
    source: str  # its file, and the arguments it was read with
    submitted: Seconds


@record
class Span:
    """A group: its jobs are those from one place to another. A group of one job is that job."""

    path: str
    first: int
    last: int


@record
class Seen:
    """A job, as far as it is."""

    job: JobId
    name: str
    state: State
    off: bool


@record
class RunningJob:
    """A job under way."""

    workflow: WorkflowId
    job: JobId
    name: str
    lease: LeaseId
    attempt: int
    command: str
    host: str
    started: Seconds
    status: str  # what it says of itself
