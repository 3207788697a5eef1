"""What the rules of progress look at and change: rows of jobs, and the nodes behind those that have rules."""

from __future__ import annotations

from collections.abc import Sequence

from headway.model.messages import Finish, JobId, LeaseId, Seconds, WorkflowId
from headway.model.record import field, mutable
from headway.model.states import TRANSITIONS, Halt, Kind, Needs, Off, State, Step

TYPE_CHECKING = False
if TYPE_CHECKING:  # a runner, which every run waits for, does without until a workflow has rules
    from typing import Protocol

    from headway.model.job import Rules
else:
    Protocol = object

Key = tuple[WorkflowId, JobId]


@mutable
class Row:
    """What the rules look at and change of one job."""

    workflow: WorkflowId
    job: JobId
    state: State
    waiting_for: int  # parents that are not done
    tries: int  # attempts that count: started and not given back
    retries: int  # tries beyond the first that it may have
    kind: int  # model.states.Kind
    lease: LeaseId | None = None
    arrival: int = 0  # when it became eligible, in order
    off: int = 0  # why it is not to be started: members of model.states.Off
    last_lease: LeaseId | None = None  # of an eligible job that was leased before: if that was lost, its end may come

    def to(self, state: State) -> None:
        """Moves on; a way that the table does not have is a bug here, not an input to judge."""
        if (self.state, state) not in TRANSITIONS:
            raise AssertionError(f"no way from {self.state.name} to {state.name}")
        self.state = state

    def ready(self) -> None:
        """May run, as far as it depends on others; it waits for a parent that runs again."""
        self.to(State.WAITING if self.waiting_for > 0 else State.DISABLED if self.off else State.ELIGIBLE)

    @property
    def is_disabled(self) -> bool:
        """Whether its user has disabled it."""
        return bool(self.off & Off.BY_USER)

    def call_back(self) -> None:
        """The last job of a workflow waits until it is called."""
        if self.state is not State.WAITING:
            self.to(State.WAITING)
        self.waiting_for = 1

    @property
    def key(self) -> Key:
        return self.workflow, self.job


@mutable
class Node:
    """What a job has beyond one command: steps, rules, and processes of its own."""

    rules: Rules
    step: Step = Step.MAIN
    result: int | None = None  # how its main step ended, or the first of its processes that failed
    pre_result: int | None = None
    not_before: Seconds | None = None
    parts: int = 0  # processes of its own
    parts_left: int = 0
    parts_failed: int = 0
    owner: JobId | None = None  # the node that this is a process of
    late: JobId | None = None  # the early release that this one comes after

    def begin_anew(self) -> None:
        """It is at its first step, and nothing is known of the others."""
        self.step = self.rules.begins
        self.result = self.pre_result = self.not_before = None
        self.parts_left = self.parts_failed = 0


class Rows(Protocol):
    """The rows of the store, as they are inside the transaction."""

    def leased(self, lease: LeaseId) -> Row | None:
        """The job that this lease is for, running, or eligible if its placeholder was thought lost; None: stale."""

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        """A job by its place."""

    def node(self, row: Row) -> Node:
        """What there is beyond its row."""

    def parts(self, row: Row) -> Sequence[Row]:
        """The processes of a node."""

    def children(self, row: Row) -> Sequence[tuple[Row, int]]:
        """The jobs that wait for this one, and what they need of it: Needs.SUCCESS or Needs.END."""

    def next_arrival(self, workflow: WorkflowId) -> int:
        """Numbers in order: who became eligible first."""


@mutable
class Changes:
    """What a step changed: rows to write, and finishes to record or to refuse."""

    rows: dict[Key, Row] = field(default_factory=dict)
    nodes: dict[Key, Node] = field(default_factory=dict)
    ended: list[Finish] = field(default_factory=list)
    refused: list[Finish] = field(default_factory=list)
    lost: list[LeaseId] = field(default_factory=list)  # leases that are not good any more: their jobs are to end
    retaken: list[LeaseId] = field(default_factory=list)  # leases that were thought lost, and hold again
    spent: list[Key] = field(default_factory=list)  # jobs whose weak arcs count no second time
    counted: list[Key] = field(default_factory=list)  # jobs whose arcs, weak or not, count no second time
    grown: list[tuple[Key, float]] = field(default_factory=list)  # jobs that want more memory now, by which factor
    stops: list[LeaseId] = field(default_factory=list)  # attempts that are to end
    aborts: dict[WorkflowId, tuple[Halt, int]] = field(default_factory=dict)  # workflows that end, what they return
    renewed: set[WorkflowId] = field(default_factory=set)  # workflows that do not return any more what they did
    premature_starts: list[tuple[Key, JobId]] = field(default_factory=list)  # who began too early, and why


def settle(rows: Rows, row: Row, changes: Changes) -> None:
    """A job is done, or has failed for good: jobs that wait for that are told."""
    release(rows, row, changes)
    if row.state is State.FAILED:
        changes.spent.append(row.key)
        changes.renewed.add(row.workflow)
    elif row.kind == Kind.PROVISIONER:  # it runs again when its workflow does
        changes.counted.append(row.key)


def release(rows: Rows, ended: Row, changes: Changes) -> None:
    """Decrements `waiting_for` in the children of a job that has ended; milestones that reach 0 end at once.

    This is the rule. Where rows are many or are not there, the same is worked out in bulk: engine.intake,
    engine.arrangement, policies.what_next.eligible, sim.kernels.grid and site_parts. Tests hold each to this one.
    """
    stack = [ended]
    while stack:
        row = stack.pop()
        for child, needs in rows.children(row):
            if row.state is State.FAILED and needs == Needs.SUCCESS:
                continue
            child = changes.rows.setdefault(child.key, child)
            child.waiting_for -= 1
            if child.waiting_for == 0 and child.state is State.WAITING:
                if child.kind == Kind.MILESTONE:
                    child.to(State.DONE)
                    stack.append(child)
                else:
                    child.ready()
                    child.arrival = rows.next_arrival(child.workflow)
