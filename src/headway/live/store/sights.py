"""What people see of a store."""

from __future__ import annotations

from headway.model.messages import JobId, LeaseId, Seconds, WorkflowId
from headway.model.record import field, mutable, record
from headway.model.states import State


@record
class Submitted:
    """A workflow in the store."""

    id: WorkflowId
    name: str
    source: str  # its file, and the arguments it was read with
    submitted: Seconds


@mutable
class Counted:
    """How many jobs of a workflow are in each state, and who has those that are given out."""

    counts: dict[State, int] = field(default_factory=dict)
    leases: list[LeaseId] = field(default_factory=list)


@record
class Span:
    """A group: its jobs are those from one place to another. A group of one job is that job."""

    path: str
    first: int
    last: int

    @property
    def places(self) -> tuple[int, int]:
        return self.first, self.last


@record
class Seen:
    """A job, as far as it is."""

    job: JobId
    name: str
    state: State
    off: bool
    lease: LeaseId | None = None  # its last


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
