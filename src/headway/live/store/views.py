"""What a store says: workflows, jobs and attempts as people and other modules see them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from headway.model.messages import LOCAL, JobId, LeaseId, Seconds, WorkflowId
from headway.model.record import field, mutable, record, replace
from headway.model.states import Kind, State, Step

_ZERO = ord("0")


@record
class Submitted:
    """A workflow in the store."""

    id: WorkflowId
    name: str
    source: str  # its file, and the arguments it was read with
    submitted: Seconds


@mutable
class Counted:
    """How the jobs of a workflow are, and who has those that are given out."""

    digits: bytearray = field(default_factory=bytearray)  # of every place: its state, 9 for what is no job
    leases: dict[LeaseId, JobId] = field(default_factory=dict)

    @property
    def counts(self) -> dict[State, int]:
        return self.between(0, len(self.digits))

    def between(self, first: int, end: int) -> dict[State, int]:
        """How many jobs are in each state, from one place to before another."""
        return {state: count for state in State if (count := self.digits.count(_ZERO + state, first, end))}

    def are(self, state: State, first: int, end: int) -> Iterator[int]:
        """The places of the jobs in a state."""
        at = self.digits.find(_ZERO + state, first, end)
        while at >= 0:
            yield at
            at = self.digits.find(_ZERO + state, at + 1, end)

    def without(self, waiting: Container[LeaseId]) -> Counted:
        """The same, where jobs that a runner took ahead and has not begun are eligible."""
        digits = bytearray(self.digits)
        for lease, job in self.leases.items():
            if digits[job] == _ZERO + State.RUNNING and lease in waiting:
                digits[job] = _ZERO + State.ELIGIBLE
        return Counted(digits, self.leases)


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
class JobState:
    """How one row of a workflow is: a job, a milestone, a node or one of its processes."""

    workflow: WorkflowId
    job: JobId
    kind: Kind
    state: State
    off: bool  # disabled, or left out of the latest run
    attempts: int
    lease: LeaseId | None  # its last


@record
class Changes:
    """Rows that have changed, and where to go on: what to ask with the next time."""

    jobs: Sequence[JobState]
    after: int


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
    site: str = LOCAL


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
class JobRow:
    """Where one job is."""

    job: JobId
    name: str
    state: State
    rank: int
    waiting_for: int  # parents that are not done
    attempts: int


@record
class Run:
    """A workflow that was submitted, and how far it is."""

    workflow: WorkflowId
    name: str
    source: str  # the file and its arguments, as a command line
    directory: str
    submitted: Seconds
    what_next: str
    halted: bool
    returns: int | None
    counts: dict[State, int] = field(default_factory=dict)  # milestones left out
    leases: int = 0  # jobs that placeholders hold
    held: Sequence[LeaseId] = ()  # and who has those that are counted as running
    attempts: int = 0
    started: Seconds | None = None  # its first attempt
    ended: Seconds | None = None  # its last

    def without(self, waiting: int) -> Run:
        """The same, where so many jobs that a runner took ahead and has not begun are eligible."""
        if not waiting:
            return self
        running, eligible = self.count(State.RUNNING) - waiting, self.count(State.ELIGIBLE) + waiting
        return replace(self, counts={**self.counts, State.RUNNING: running, State.ELIGIBLE: eligible})

    @property
    def jobs(self) -> int:
        return sum(self.counts.values())

    def count(self, *states: State) -> int:
        return sum(self.counts.get(state, 0) for state in states)

    @property
    def is_done(self) -> bool:
        return self.count(State.DONE) == self.jobs

    @property
    def is_under_way(self) -> bool:
        """Whether some of its jobs run, or could."""
        could = () if self.halted else (State.ELIGIBLE, State.LATER, State.DISABLED)
        return bool(self.count(State.RUNNING, *could))

    @property
    def last_sign(self) -> Seconds:
        """When something last happened to it."""
        return max(self.submitted, self.ended or 0.0)


@record
class Attempt:
    """One execution of a job, or of one of its scripts."""

    lease: LeaseId
    job: JobId
    name: str
    number: int
    step: Step
    host: str
    started: Seconds | None  # when it was given out, while it runs; None: it never began, or nobody knows when
    ended: Seconds | None
    exit_code: int | None
    max_rss: int | None
    cpu_seconds: Seconds | None
    reason: str | None
    status: str | None  # what the job says of itself
    site: str = LOCAL
    home: str = ""  # the placeholder's folder at the site; "": that of the store
    tail: str = ""  # the last lines that it printed, if it failed elsewhere
    by_script: bool = False  # its placeholder is a script, which keeps its log in `home`

    @property
    def is_lost(self) -> bool:
        """Whether nobody saw its end; that it has ended was noticed later."""
        return self.exit_code is None and (self.reason or "").startswith("lost")

    @property
    def seconds(self) -> Seconds | None:
        """How long it took, if it began and its end was seen."""
        if self.started is None or self.ended is None or self.is_lost:
            return None
        return max(0.0, self.ended - self.started)

    @property
    def outcome(self) -> str:
        """running, done, failed, or given back: it did not run to its end and counts for nothing."""
        if self.ended is None:
            return "running"
        if self.exit_code is None:
            return "given back"
        return "failed" if self.exit_code else "done"


@record
class Member:
    """One node of a workflow."""

    job: JobId
    kind: Kind
    state: State
    owner: JobId | None  # the node that it is a process of
    name: str  # milestones have none
    spec: str = ""


@record
class Web:
    """All nodes of a workflow, in order, and the arcs between them."""

    members: Sequence[Member]
    arcs: Sequence[tuple[JobId, JobId]]
