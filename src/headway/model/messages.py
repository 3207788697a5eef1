"""What placeholders and the store say to each other."""

from __future__ import annotations

from headway.model.record import field, mutable, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NewType

    JobId = NewType("JobId", int)  # a node's place in its workflow
    WorkflowId = NewType("WorkflowId", int)
    LeaseId = NewType("LeaseId", int)  # one attempt at one job, never used again: a stale one fits nothing
    PlaceholderId = NewType("PlaceholderId", int)
else:
    JobId = WorkflowId = LeaseId = PlaceholderId = int

Seconds = float
LOCAL = "local"  # the site that every store has: the computer that it is on
NODES = "nodes"  # the named resource that only allocations of several hosts have: as many as there are
PATIENCE: Seconds = 120.0  # of silence, after which a placeholder's jobs may be run again, unless it says otherwise


@record
class Finish:
    """How an attempt ended. A signal is a negative exit code; None: it never ran and is given back."""

    lease: LeaseId
    exit_code: int | None
    started: Seconds = 0.0
    ended: Seconds = 0.0
    max_rss: int = 0  # bytes
    cpu_seconds: Seconds = 0.0
    reason: str = ""  # why it ended so, where its exit code does not tell: "time limit", "lost"
    tail: str = ""  # the last lines that it printed, if it failed where its log cannot be seen


@record
class Lease:
    """A placeholder's right to run a job, and all it needs for that."""

    id: LeaseId
    workflow: WorkflowId
    job: JobId
    name: str
    attempt: int  # 1 for the first
    cores: int
    spec: str  # what to run, as the store keeps it (live.store.spec)
    time: Seconds | None = None  # its limit
    final: bool | None = True  # if it fails, the job has failed; None: that is not for this attempt to decide
    memory: int = 0  # bytes it wants
    named: tuple[tuple[str, int], ...] = ()  # resources it takes, by name
    step: int = 0  # model.states.Step
    kind: int = 0  # model.states.Kind
    settling: tuple[int, ...] = ()  # exit codes after which it is not tried again, though it could be

    def is_final(self, exit_code: int | None) -> bool:
        """Whether the job has failed if this attempt fails so."""
        return bool(self.final) or (self.final is False and exit_code in self.settling)


@mutable
class Answer:
    """What a placeholder hears when it has told how its attempts ended. Times are durations: clocks differ."""

    leases: list[Lease]  # jobs to run
    wake: Seconds | None = None  # seconds after which there may be more, though nothing happens until then
    stops: tuple[LeaseId, ...] = ()  # attempts that are to end
    done: dict[WorkflowId, int] = field(default_factory=dict)  # how many jobs of each workflow are done by it
    over: tuple[WorkflowId, ...] = ()  # nothing of these runs or could run anywhere
    stuck: tuple[WorkflowId, ...] = ()  # nothing of these runs anywhere, and what could was not given to this one
    contended: bool = False  # there are eligible jobs that were not given: ask again soon
    lost: tuple[LeaseId, ...] = ()  # leases that are not good any more: their jobs are to end before others begin
